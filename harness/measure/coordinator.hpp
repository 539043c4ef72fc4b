// SPDX-License-Identifier: Apache-2.0
// Carries out a Plan with worker processes and makes the Run. Loads no plugin, creates no context.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/protocol.hpp"
#include "measure/worker_process.hpp"
#include "model/plan.hpp"
#include "model/run.hpp"

namespace perfgate::measure {

class Journal;

/// One step of the work, for people who wait.
struct Progress {
    std::string_view suite, case_id, phase;
    std::size_t done = 0, total = 0;
};

struct MeasureOptions {
    std::vector<std::string> worker_command;  ///< absolute path and arguments
    bool verify_only = false;
    double case_limit_s = 120;  ///< a case that takes longer is an error
    std::uint64_t verify_seed = 0;
    std::function<void(const Progress&)> progress;
    std::function<bool()> stop;  ///< true: interrupted
};

/// A worker that is started when needed and replaced when it dies.
class Workers {
  public:
    explicit Workers(const MeasureOptions& options) : options_(options) {}

    /// One request, answered. `observe` hears phases. Throws model::InputError where the worker
    /// says that the input is at fault, model::Error where it died, hung or failed.
    struct Answer {
        std::optional<Reply> reply;  ///< nothing: the worker is gone
        std::string why;             ///< it is gone: how it ended, or the time limit
        std::string log;             ///< last lines of its stderr
        bool interrupted = false;
    };
    Answer ask(const Request& request, double limit_s,
               const std::function<void(const std::string&)>& observe);

    /// The same for requests whose failure ends everything: describe, facts.
    Reply must_ask(const Request& request, double limit_s);

    /// How many processes were started so far.
    std::int64_t started() const { return started_; }
    bool running() const { return process_ != nullptr; }
    void end() { process_.reset(); }

  private:
    const MeasureOptions& options_;
    std::unique_ptr<WorkerProcess> process_;
    std::int64_t started_ = 0;
};

/// Every case has a result in the Run, in the plan's order. Throws model::InputError where a case's
/// parameters are not supported (all of them named), before anything is measured.
model::Run measure(const model::Plan& plan, const Capabilities& capabilities, Workers& workers,
                   const MeasureOptions& options, Journal& journal);

}  // namespace perfgate::measure
