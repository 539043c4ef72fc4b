// SPDX-License-Identifier: Apache-2.0
#include "kinds/command/program_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <set>
#include <string_view>
#include <system_error>

#include "model/command_words.hpp"
#include "util/folder.hpp"
#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::command {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_samples = 1000;
constexpr std::size_t longest_last_line = 200;

/// A folder's name that says which program it is of, for people; two programs never share one.
std::string folder_name(const Command& command) {
    util::Sha256 sum;
    const auto add = [&](const std::string& text) {
        sum.add_number(text.size());
        sum.add(text);
    };
    add(command.folder);
    for (const std::string& word : command.words) add(word);
    for (const auto& [name, value] : command.environment) {
        add(name);
        add(value);
    }
    if (command.recorded) add("recorded");
    return command.name + (command.recorded ? "-recorded-" : "-") + sum.fingerprint().substr(0, 8);
}

std::string with_file(std::string text, const std::string& file) {
    constexpr std::string_view word = model::out_word;
    for (std::size_t at = text.find(word); at != std::string::npos;
         at = text.find(word, at + file.size())) {
        text.replace(at, word.size(), file);
    }
    return text;
}

std::string last_line(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    const std::size_t begin = text.rfind('\n');
    if (begin != std::string_view::npos) text.remove_prefix(begin + 1);
    return util::printable(text, longest_last_line);
}

}  // namespace

ProgramRuns::ProgramRuns(const kinds::Machine& machine, const Command& command)
    : machine_(machine),
      command_(command),
      folder_(util::Folder(util::Folder(machine.out).below("commands").path())
                  .below(folder_name(command))
                  .path()) {}

fs::path ProgramRuns::out_file(const std::string& name) const {
    return fs::absolute(folder_ / (name + command_.out_extension));
}

program::End ProgramRuns::run(const ProgramRun& run) const {
    program::Program program;
    program.words = run.words;
    program.environment = run.variables;
    for (const auto& [name, value] : command_.environment) {
        const bool replaced = std::ranges::any_of(
            run.variables, [&name = name](const auto& variable) { return variable.first == name; });
        if (!replaced) program.environment.emplace_back(name, value);
    }
    if (!command_.out_extension.empty()) {
        const fs::path file = out_file(run.name);
        for (std::string& word : program.words) word = with_file(word, file.native());
        for (auto& [name, value] : program.environment) value = with_file(value, file.native());
        // What an earlier run left must not be taken for this one's.
        std::error_code error;
        fs::remove_all(file, error);
        if (error) {
            throw Failure{fmt::format("cannot remove {}, which an earlier run left: {}",
                                      util::printable(file.native()), error.message()),
                          ""};
        }
    }
    if (!machine_.visible_devices.empty()) {
        program.environment.emplace_back("CUDA_VISIBLE_DEVICES", machine_.visible_devices);
    }
    program.time_limit = std::chrono::duration<double>(command_.time_limit_s);
    program.folder = command_.folder;
    program.output_file = folder_ / (run.name + ".stdout");
    program.error_file = folder_ / (run.name + ".stderr");
    program.watch = run.watch;
    program.is_measured = true;
    const auto end_of = [&] {
        try {
            return program::run(program, machine_.stop);
        } catch (const program::NotStarted& error) {
            throw util::InputError(error.what() + machine_.if_not_started);
        }
    };
    program::End end = end_of();
    if (end.outcome == program::Outcome::interrupted) throw Stopped();
    std::string why;
    if (end.outcome != program::Outcome::exited) {
        why = program::describe(end, program);
    } else if (end.status != run.expected) {
        why = fmt::format("{} and not with {}", program::describe(end, program), run.expected);
    } else if (end.survivors != 0) {
        why = fmt::format("left {} behind, which had to be ended",
                          util::counted(static_cast<std::size_t>(end.survivors), "process"));
    }
    if (why.empty()) return end;
    if (end.outcome == program::Outcome::timed_out) why += " and was ended: see 'timeout'";
    const std::string line = last_line(end.last_errors);
    throw Failure{fmt::format("{} ({}) {}{}", run.who, run.kind, why,
                              line.empty() ? "" : "; the last line of its stderr: " + line),
                  end.last_errors,
                  end.outcome != program::Outcome::timed_out && end.survivors == 0};
}

bool ProgramRuns::check(std::int64_t process, std::vector<model::CaseResult>& results) const {
    model::Verification verification{true, 0, "checked by " + command_.check.front()};
    try {
        run({command_.check, fmt::format("{}-check", process), "check", {}, 0, "the check"});
    } catch (const Failure& failure) {
        if (!failure.exited) throw;  // it says nothing of the results
        verification = {false, 0, failure.reason};
    }
    for (model::CaseResult& result : results) result.verification = verification;
    return verification.passed;
}

bool take_batch(std::vector<model::CaseResult>& results, const std::function<void()>& take) {
    const auto start = std::chrono::steady_clock::now();
    const auto fail = [&](const std::string& reason, const std::string& log) {
        for (model::CaseResult& result : results) {
            model::set_error(result, reason, log);
        }
    };
    try {
        take();
    } catch (const Stopped&) {
        return false;
    } catch (const Failure& failure) {
        fail(failure.reason, failure.log);
    } catch (const std::exception& error) {
        fail(error.what(), "");
    }
    const auto end = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(end - start).count();
    for (model::CaseResult& result : results) {
        result.wall_s += seconds / static_cast<double>(results.size());
    }
    return true;
}

void conclude(bool correct, std::vector<model::CaseResult>& results) {
    for (model::CaseResult& result : results) {
        if (!correct) {
            result.status = model::CaseStatus::incorrect;
            result.reason = "wrong result: " + result.verification->detail;
        } else if (result.status == model::CaseStatus::skipped) {
            result.status = model::CaseStatus::measured;
            result.reason.clear();
        }
    }
}

kinds::Findings check_scripts(const kinds::Machine& /*machine*/,
                              const std::vector<kinds::SuiteCase>& cases,
                              const std::vector<std::string>& /*architectures*/) {
    kinds::Findings found;
    std::set<fs::path> seen;
    for (const kinds::SuiteCase& each : cases) {
        const Command& command = command_of(*each.subject);
        for (const std::vector<std::string>& words : {command.words, command.check}) {
            const auto script =
                std::find_if(words.begin() + (words.empty() ? 0 : 1), words.end(),
                             [](const auto& word) { return !word.starts_with('-'); });
            if (script == words.end()) continue;
            const fs::path file = (fs::path(command.folder) / *script).lexically_normal();
            if (file.extension() != ".py" && file.extension() != ".sh") continue;
            std::error_code absent;
            if (fs::exists(file, absent) || !seen.insert(file).second) continue;
            found.warnings.push_back(
                fmt::format("{}: there is no file {}; if no build makes it, the program fails",
                            each.place, util::printable(file.string())));
        }
    }
    return found;
}

std::vector<double> thinned(std::vector<double> values) {
    if (values.size() <= most_samples) return values;
    std::mt19937_64 random;  // the same ones each time
    std::vector<double> kept;
    kept.reserve(most_samples);
    for (std::size_t i = 0; i < most_samples; ++i) {
        const std::size_t begin = i * values.size() / most_samples;
        const std::size_t end = (i + 1) * values.size() / most_samples;
        kept.push_back(values[begin + random() % (end - begin)]);
    }
    return kept;
}

}  // namespace perfgate::command
