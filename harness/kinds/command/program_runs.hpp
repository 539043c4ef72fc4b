// SPDX-License-Identifier: Apache-2.0
// Runs the programs of a suite: what a recorded program and a benchmark have in common.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "kinds/command/command.hpp"
#include "kinds/kind.hpp"
#include "model/run.hpp"
#include "program/program.hpp"

namespace perfgate::command {

/// The user has ended the run.
struct Stopped {};

/// The program did not do what it should: all of its cases fail.
struct Failure {
    std::string reason;
    std::string log;
    bool exited = true;  ///< by itself, and left no process behind
};

using model::Variables;

struct ProgramRun {
    std::vector<std::string> words;
    std::string name;  ///< of the files with its output, without extension
    std::string kind;  ///< for messages
    Variables variables;
    int expected = 0;                                                      ///< exit status
    std::string who;                                                       ///< for messages
    std::function<void(const std::vector<program::Process>&)> watch = {};  ///< as of a Program
};

/// The runs of one command.
class ProgramRuns {
  public:
    /// Creates the folder for its output. Throws util::Error.
    ProgramRuns(const kinds::Machine& machine, const Command& command);

    /// Runs a program to its end, in the command's folder with its environment. A benchmark's
    /// `{out}` is the run's file, which does not exist before. Throws Failure, Stopped.
    program::End run(const ProgramRun& run) const;

    /// What a benchmark's `{out}` stands for in the run of this name.
    [[nodiscard]] std::filesystem::path out_file(const std::string& name) const;

    /// Runs the command's check: whether the result is correct, and the results say so. Throws
    /// Stopped.
    bool check(std::int64_t process, std::vector<model::CaseResult>& results) const;

    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  private:
    const kinds::Machine& machine_;
    const Command& command_;
    std::filesystem::path folder_;
};

/// Warns of the Python and shell scripts that commands name and that are not there: a build may
/// make them.
kinds::Findings check_scripts(const kinds::Machine& machine,
                              const std::vector<kinds::SuiteCase>& cases,
                              const std::vector<std::string>& architectures);

/// Takes a batch with `take`, as Programs::measure says: what it throws fails all of the cases.
bool take_batch(std::vector<model::CaseResult>& results, const std::function<void()>& take);

/// The status of what was measured, or is wrong.
void conclude(bool correct, std::vector<model::CaseResult>& results);

/// What a batch keeps of the samples of a process. Where there are more than 1000, one of each of
/// 1000 equal parts, at a random place that only the number of samples decides: at even distances,
/// what is slow in each second instance might never be kept.
std::vector<double> thinned(std::vector<double> values);

}  // namespace perfgate::command
