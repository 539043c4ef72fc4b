// SPDX-License-Identifier: Apache-2.0
#include "runner/record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "activity/communication.hpp"
#include "kinds/command/device_watch.hpp"
#include "kinds/command/draft.hpp"
#include "kinds/command/recorder.hpp"
#include "program/program.hpp"
#include "runner/installation.hpp"
#include "runner/interruption.hpp"
#include "suite/suite.hpp"
#include "traces/traces.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

namespace fs = std::filesystem;

/// Files come and go meanwhile: what cannot be read counts as nothing.
std::uint64_t bytes_in(const fs::path& folder) {
    std::uint64_t bytes = 0;
    std::error_code error;
    for (const fs::directory_entry& file : fs::directory_iterator(folder, error)) {
        const std::uintmax_t size = file.file_size(error);
        if (!error) bytes += size;
    }
    return bytes;
}

/// Says how far the recording is, about once a second, whenever it is called.
class Ticker {
  public:
    Ticker(const ProfileRequest& request, const fs::path& folder)
        : request_(request), folder_(folder) {}

    void tick() {
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
        if (!request_.progress || elapsed.count() < next_s_) return;
        request_.progress(elapsed.count(), bytes_in(folder_));
        next_s_ = elapsed.count() + 1;
    }

  private:
    const ProfileRequest& request_;
    const fs::path& folder_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    double next_s_ = 1;
};

/// Runs the program until it ends, is interrupted, or reaches its time limit. Returns why it did
/// not end normally; nothing if it did.
std::optional<std::string> record(const ProfileRequest& request, const fs::path& folder,
                                  command::DeviceWatch& watch) {
    inject::Settings settings = request.settings;
    settings.folder = folder.native();
    const fs::path library = injection_library();
    command::require_recorder(library);
    program::Program program;
    program.words = request.words;
    program.environment = environment_for(settings, library.native());
    if (request.time_limit_s > 0) {
        program.time_limit = std::chrono::duration<double>(request.time_limit_s);
    }
    program.watch = [&](const auto& processes) { watch.look(processes); };
    Ticker ticker(request, folder);
    const program::End end = program::run(program, [&] {
        ticker.tick();
        return interrupted();
    });
    if (end.outcome != program::Outcome::exited || end.status != 0) {
        return fmt::format("the program {}", program::describe(end, program));
    }
    if (end.survivors != 0) {
        return fmt::format("{} of the program still ran after it and had to be ended",
                           util::counted(static_cast<std::size_t>(end.survivors), "process"));
    }
    return std::nullopt;
}

/// Checked before the program runs, which may take long.
void check_suite_request(const ProfileRequest& request) {
    const activity::ProfileOptions& part = request.analysis;
    if (part.restricted() || part.own_thread || request.settings.level == inject::Level::records) {
        throw util::InputError(
            "a suite needs the whole recording: leave out --capture, --own-thread and --level "
            "records");
    }
    command::check_suite_words(request.words);
    if (fs::exists(request.suite)) {
        throw util::InputError("{} exists: name a new file for the suite",
                               util::printable(request.suite));
    }
}

void analyse(const fs::path& folder, const activity::ProfileOptions& options,
             ProfiledProgram& result) {
    result.recordings = traces::read_recordings(folder);
    std::vector<std::string> missing;
    // The timelines refer to the recordings, which do not move any more.
    for (const activity::Recording& recording : result.recordings) {
        if (!recording.incomplete.empty()) result.exit_code = 3;
        activity::Timeline timeline(recording);
        std::string why = activity::part_of(timeline, options).missing;
        if (!why.empty()) {
            missing.push_back(
                fmt::format("process {}: {}", util::printable(recording.field("pid")), why));
            continue;
        }
        result.profiles.push_back(activity::profile_of(timeline, options));
        result.timelines.push_back(std::move(timeline));
    }
    activity::add_communication(result.timelines, result.profiles);
    if (!result.profiles.empty()) {
        for (const std::string& each : missing) result.notes.push_back("left out: " + each);
    } else if (!missing.empty()) {
        result.problems = std::move(missing);
        result.exit_code = 3;
    }
}

}  // namespace

ProfiledProgram profile_program(const ProfileRequest& request) {
    ProfiledProgram result;
    if (!request.recording.empty()) {
        if (!request.words.empty()) {
            throw util::InputError("--recording reads what is stored: name no program with it");
        }
        if (!request.suite.empty()) {
            throw util::InputError(
                "a suite needs the program's words: record it again, without --recording");
        }
        analyse(request.recording, request.analysis, result);
        return result;
    }
    if (request.words.empty()) {
        throw util::InputError("name the program to record after --: perfgate profile -- ./app");
    }
    if (!request.suite.empty()) check_suite_request(request);
    catch_interruptions();
    const command::RecordingFolder folder(request.out);
    command::DeviceWatch watch;
    const std::optional<std::string> failure = record(request, folder.path(), watch);
    if (program::hurry) {
        result.exit_code = 130;
        return result;
    }
    if (fs::is_empty(folder.path())) {
        result.problems.push_back(
            fmt::format("nothing was recorded: the program did not initialise CUDA{}",
                        failure ? "" : ", or clears the environment of the processes it starts"));
    } else {
        analyse(folder.path(), request.analysis, result);
    }
    for (std::string& note : command::unrecorded_notes(watch.unrecorded(result.recordings))) {
        result.notes.push_back(std::move(note));
    }
    if (failure) result.problems.push_back(*failure);
    if (!result.problems.empty()) result.exit_code = 3;
    if (interrupted()) result.exit_code = 130;
    return result;
}

std::string suite_file_of(const std::vector<std::string>& words, const std::string& folder) {
    std::string file = (fs::path(folder) / (command::suite_name(words) + ".yaml")).native();
    std::error_code error;
    if (!fs::exists(file, error)) return file;
    for (const suite::Suite& suite : suite::load_suites({file}, {})) {
        for (const suite::SuiteCase& suite_case : suite.cases) {
            model::CaseResult result;
            suite_case.subject->describe(result);
            if (result.command == words) continue;
            throw util::InputError(
                "{}:{}: it gates another command: '{}'; name another folder with --out, or edit "
                "the suite and pass it to 'perfgate run'",
                util::printable(file), suite_case.at.line,
                util::printable(fmt::format("{}", fmt::join(result.command, " ")), 200));
        }
    }
    return file;
}

std::string suite_draft(const ProfileRequest& request, const ProfiledProgram& program) {
    // A suite's programs run in its folder; this one ran in the current one.
    const fs::path folder = fs::absolute(request.suite).parent_path().lexically_normal();
    const fs::path here = fs::current_path();
    return command::suite_draft(request.words,
                                folder == here ? "" : here.lexically_relative(folder).native(),
                                program.profiles);
}

}  // namespace perfgate::runner
