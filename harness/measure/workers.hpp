// SPDX-License-Identifier: Apache-2.0
// The worker processes of one device, one after the other: started when needed, replaced when one
// dies.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/protocol.hpp"
#include "measure/worker_process.hpp"
#include "model/error.hpp"

namespace perfgate::measure {

/// The user has ended the run before there was anything to report.
class Interrupted : public model::Error {
  public:
    Interrupted() : Error("interrupted before anything was measured") {}
};

class Workers {
  public:
    /// `command`: absolute path and arguments. `stop`, where there is one, is asked about ten times
    /// a second while a worker is waited for.
    Workers(std::vector<std::string> command, std::function<bool()> stop)
        : command_(std::move(command)), stop_(std::move(stop)) {}

    /// The number of the process that answers the next request, within this device, from 0. Starts
    /// it.
    std::int64_t process();

    struct Answer {
        std::optional<Reply> reply;  ///< nothing: the worker is gone
        std::string why;             ///< it is gone: how it ended, or the time limit, and where
        std::string log;             ///< last lines of its stderr
        bool interrupted = false;
        bool timed_out = false;  ///< the request, not the start of a process, took too long
        /// It died before it had begun with the request: whatever killed it was not that.
        bool not_begun = false;
    };
    /// One request, answered. `observe` hears phases; the limit of a request that has them counts
    /// from the first. Loading plugins and opening a device have limits of their own.
    ///
    /// A reply that is not labelled as this request's ends the worker: `why` says so.
    Answer ask(const Request& request, double limit_s,
               const std::function<void(const std::string&)>& observe);

    /// The same for requests whose failure ends everything; where the worker dies, the next is
    /// asked, a few times. Throws model::InputError if the worker says that the input is at
    /// fault, Interrupted, or model::Error where workers died, one hung or failed.
    Reply must_ask(const Request& request, double limit_s);

    /// Ends the process, if there is one, with all that it has started; the next request starts
    /// another.
    void end() { process_.reset(); }

    /// Processes have this number and the following: those before it were another execution's. One
    /// that runs has it.
    void count_from(std::int64_t number) { started_ = number + (process_ ? 1 : 0); }

  private:
    std::vector<std::string> command_;
    std::function<bool()> stop_;
    std::unique_ptr<WorkerProcess> process_;
    std::int64_t started_ = 0;
    std::uint64_t requests_ = 0;
    bool fresh_ = false;  ///< the process has not answered yet
};

}  // namespace perfgate::measure
