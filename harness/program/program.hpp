// SPDX-License-Identifier: Apache-2.0
// Runs a user's program without a shell, with a time limit for all of its processes.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "program/process_tree.hpp"
#include "util/error.hpp"
#include "util/other_work.hpp"

namespace perfgate::program {

struct Program {
    std::vector<std::string> words;  ///< the first is found through its PATH
    std::vector<std::pair<std::string, std::string>> environment;  ///< besides the inherited ones
    std::optional<std::chrono::duration<double>> time_limit;
    /// Time between TERM and KILL, and for processes that outlive the program.
    std::chrono::duration<double> grace{5};
    std::string folder;  ///< working folder; empty: ours
    /// Without them its standard streams are ours. With them it has no input, and its output and
    /// errors go to these files, each bounded (capture.hpp).
    std::string output_file, error_file;
    /// Gets the processes of the program about fifty times a second, less often where looking for
    /// them takes much processor time.
    std::function<void(const std::vector<Process>&)> watch;
    bool is_measured = false;  ///< whether End says what others' work took from it
};

/// Set by a signal handler: programs that are to end are killed without grace.
inline std::atomic<bool> hurry = false;
static_assert(std::atomic<bool>::is_always_lock_free);

enum class Outcome { exited, signalled, timed_out, interrupted };

struct End {
    Outcome outcome = Outcome::exited;
    int status = 0;             ///< exit status, or the number of the signal
    std::size_t survivors = 0;  ///< processes that outlived the program and had to be ended
    std::chrono::duration<double> time{0};
    std::optional<util::OtherWork> other_work;  ///< absent: not measured, or not known
    std::string last_errors;                    ///< the last lines that it wrote to `error_file`
};

/// The program cannot be started: "cannot run ./app: No such file or directory".
class NotStarted : public util::InputError {
  public:
    using InputError::InputError;
};

/// Runs the program to its end. `stop` is polled about a hundred times a second. Throws NotStarted.
End run(const Program& program, const std::function<bool()>& stop);

/// "exited with 3", "ended by signal 11 (Segmentation fault)", "took longer than 20 s".
std::string describe(const End& end, const Program& program);

}  // namespace perfgate::program
