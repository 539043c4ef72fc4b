// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "activity/analysis.hpp"
#include "activity/profile_document.hpp"
#include "activity/recording.hpp"
#include "activity/trace.hpp"
#include "cli/terminal/profile_tables.hpp"
#include "cli/verbs/verb.hpp"
#include "command/draft.hpp"
#include "command/recorder.hpp"
#include "inject/settings.hpp"
#include "model/error.hpp"
#include "model/file.hpp"
#include "model/text.hpp"
#include "runner/interruption.hpp"
#include "runner/record.hpp"

namespace perfgate::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
    std::vector<std::string> words;
    std::string recording, out, json, trace, suite, level = "api", cupti;
    double time_limit_s = 0;
    std::uint64_t limit_mib = 2048;
    activity::ProfileOptions profile;
    ProfileTables tables;
};

inject::Settings settings_of(const Options& options, const fs::path& folder) {
    inject::Settings settings;
    settings.folder = folder.native();
    for (const inject::Level level : inject::levels) {
        if (options.level == inject::to_text(level)) settings.level = level;
    }
    settings.limit_bytes = options.limit_mib << 20;
    settings.cupti = options.cupti;
    return settings;
}

/// The suite's programs run in its folder; this one ran in the current one.
void write_suite(const Options& options, const std::vector<activity::Profile>& profiles) {
    const fs::path folder = fs::absolute(options.suite).parent_path().lexically_normal();
    const fs::path here = fs::current_path();
    model::write_file_atomically(
        options.suite,
        command::suite_draft(options.words,
                             folder == here ? "" : here.lexically_relative(folder).native(),
                             profiles));
    std::fprintf(stderr, "perfgate: wrote %s; next: perfgate baseline refresh %s\n",
                 options.suite.c_str(), options.suite.c_str());
}

/// 0, or 3 where a recording does not have everything.
int report(const Options& options, const fs::path& folder) {
    const std::vector<fs::path> files = activity::recordings_in(folder);
    std::vector<activity::Profile> profiles;
    std::vector<activity::Recording> recordings;
    recordings.reserve(files.size());
    for (const fs::path& file : files) recordings.push_back(activity::read_recording(file));
    std::vector<std::unique_ptr<activity::Timeline>> timelines;
    std::vector<const activity::Timeline*> all;
    int code = 0;
    for (const activity::Recording& recording : recordings) {
        timelines.push_back(std::make_unique<activity::Timeline>(recording));
        all.push_back(timelines.back().get());
        profiles.push_back(activity::profile_of(*timelines.back(), options.profile));
        const activity::Profile& profile = profiles.back();
        if (!profile.incomplete.empty()) code = 3;
        if (options.json != "-" && options.trace != "-") {
            if (profiles.size() > 1) std::fputs("\n", stdout);
            std::fputs(profile_text(profile, options.tables).c_str(), stdout);
        }
    }
    if (!options.json.empty()) {
        model::write_file_atomically(options.json, activity::write_profiles(profiles));
    }
    if (!options.trace.empty()) {
        model::write_file_atomically(options.trace, activity::write_trace(all));
    }
    if (!options.suite.empty()) write_suite(options, profiles);
    return code;
}

int run_and_report(const Options& options) {
    if (!options.recording.empty()) {
        if (!options.words.empty()) {
            throw model::InputError("--recording reads what is stored: name no program with it");
        }
        if (!options.suite.empty()) {
            throw model::InputError(
                "--suite-out needs the program's words: record it again, without --recording");
        }
        return report(options, options.recording);
    }
    if (options.words.empty()) {
        throw model::InputError("name the program to record after --: perfgate profile -- ./app");
    }
    if (!options.suite.empty() && fs::exists(options.suite)) {
        throw model::InputError(fmt::format("{} exists: name a new file for the suite",
                                            model::printable(options.suite)));
    }
    const command::RecordingFolder folder(options.out);
    const std::optional<std::string> failure = runner::record_program(
        options.words, settings_of(options, folder.path()), options.time_limit_s);
    int code = failure ? 3 : 0;
    if (fs::is_empty(folder.path())) {
        std::fprintf(stderr,
                     "perfgate: nothing was recorded: the program did not initialise CUDA%s\n",
                     failure ? "" : ", or clears the environment of the processes it starts");
        code = 3;
    } else if (const int reported = report(options, folder.path()); reported != 0) {
        code = reported;
    }
    if (failure) std::fprintf(stderr, "perfgate: %s\n", failure->c_str());
    return runner::interrupted() ? 130 : code;
}

}  // namespace

void add_profile(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "profile", "Records a program's GPU activity and reports where the GPU time goes");
    const auto options = std::make_shared<Options>();
    verb->add_option("PROGRAM", options->words, "The program and its arguments, after --");
    verb->add_option("--level", options->level,
                     "What is recorded: records (kernels, copies, memsets, NVTX; costs least), "
                     "callbacks (and a callback for each launch, which counts it), api (and API "
                     "calls, synchronisations, memory)")
        ->check(CLI::IsMember({"records", "callbacks", "api"}))
        ->capture_default_str();
    verb->add_option("--time-limit", options->time_limit_s,
                     "Ends the program and all of its processes after this many seconds")
        ->check(CLI::PositiveNumber)
        ->type_name("SECONDS");
    verb->add_option("--delay", options->profile.delay_s,
                     "Skips this many seconds after the first record")
        ->check(CLI::NonNegativeNumber)
        ->type_name("SECONDS");
    verb->add_option("--duration", options->profile.duration_s,
                     "Reports this many seconds from there")
        ->check(CLI::PositiveNumber)
        ->type_name("SECONDS");
    verb->add_option("--range", options->profile.range,
                     "Reports the time from the first to the last NVTX range with this name")
        ->type_name("NAME");
    verb->add_flag(
        "--own-thread", options->profile.own_thread,
        "Count for an NVTX range only the launches of its own thread, not of all threads");
    verb->add_option("--rows", options->tables.rows, "Rows of each table")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    verb->add_option("--json", options->json,
                     "Document perfgate.profile (- is standard output, without the tables)")
        ->type_name("FILE");
    verb->add_option("--trace", options->trace, "Trace Event Format, for Perfetto")
        ->type_name("FILE");
    verb->add_option("--suite-out", options->suite,
                     "A new suite that gates the program's ranges and hottest kernels: a draft")
        ->type_name("FILE");
    verb->add_option("--out", options->out, "Keeps the recordings in this new folder")
        ->type_name("DIR");
    verb->add_option("--recording", options->recording,
                     "Reports the recordings in this folder; runs no program")
        ->type_name("DIR");
    verb->add_option("--limit-mib", options->limit_mib, "Largest recording of one process")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20))
        ->capture_default_str();
    verb->add_option("--cupti", options->cupti,
                     "libcupti, for a program that does not bring one (found automatically if CUDA "
                     "is installed)")
        ->type_name("FILE");
    verb->footer(
        "The program runs as it is, with an injection library that the driver loads. Exit code: 0; "
        "2 for usage; 3 where the\nprogram failed or the recording is not complete.");
    verb->callback([&invocation, options] {
        invocation.body = [options] { return run_and_report(*options); };
    });
}

}  // namespace perfgate::cli
