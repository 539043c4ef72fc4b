// SPDX-License-Identifier: Apache-2.0
// The worker processes of one device, one at a time: started when needed, replaced when one dies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "measure/item.hpp"
#include "measure/protocol.hpp"
#include "measure/worker_process.hpp"
#include "util/error.hpp"

namespace perfgate::measure {

/// The user has ended the run before there was anything to report.
class Interrupted : public util::Error {
  public:
    Interrupted() : Error("interrupted before anything was measured") {}
};

class Workers {
  public:
    /// `command`: absolute path and arguments. `stop`, if set, is polled about ten times a second
    /// while waiting for a worker.
    Workers(std::vector<std::string> command, std::function<bool()> stop) : stop_(std::move(stop)) {
        add_host(std::move(command), {});
    }

    /// Cases of these workloads are measured by processes of another command. There is one process
    /// at a time: another takes the place of the one that lives.
    void add_host(std::vector<std::string> command, std::set<std::string> workloads);
    /// Cases of different hosts share no request. 0: those of the constructor's command.
    std::size_t host_of(const std::string& workload) const;

    /// Where several processes are expected, starts up to so many of them at once, because each
    /// takes long to load what it measures, and waits until all have loaded it, so that nothing is
    /// loaded while another measures. A process whose scripts use the device as they load is not
    /// started ahead.
    void start_together(std::size_t most) { together_ = most; }
    /// So many processes will be needed next, of each command.
    void expect(std::size_t processes);
    std::size_t expected() const { return hosts_[host_].expected; }

    /// Others of the same device, whose processes leave CUPTI alone; numbered from 0.
    Workers untraced() const;

    /// The number of the process that answers the next request, within this device, from 0, which
    /// is about a case of this workload; empty: about none. Starts it.
    std::int64_t process(const std::string& workload = {});

    struct Answer {
        std::optional<Reply> reply;  ///< nothing: the worker has ended
        std::string why;             ///< how it ended, or the time limit, and in which phase
        std::string log;             ///< last lines of its stderr
        bool interrupted = false;
        bool timed_out = false;  ///< the request, not the start of a process, took too long
        /// It died before it began the request, so the request did not kill it, nor did a file that
        /// it loaded, unless something killed it meanwhile, as for want of memory.
        bool not_begun = false;
    };
    /// One request, answered. `observe` receives phases; the limit of a request with phases counts
    /// from the first. Loading plugins and opening a device have limits of their own.
    ///
    /// A reply without this request's label ends the worker; `why` says so.
    Answer ask(const Request& request, double limit_s,
               const std::function<void(const std::string&)>& observe);

    /// The same for requests whose failure ends the run; if the worker dies, a few others are
    /// tried. Throws util::InputError if the worker reports wrong input, Interrupted, or
    /// util::Error if workers died, or one hung or failed.
    Reply must_ask(const Request& request, double limit_s);

    /// How workers died before they began a request, since the last call.
    std::vector<std::string> take_deaths() { return std::exchange(deaths_, {}); }

    /// Ends the process, if any, and everything it started; the next request starts another.
    void end() { process_.reset(); }

    /// Processes are numbered from here; lower numbers belong to an earlier execution. A running
    /// process gets this number.
    void count_from(std::int64_t number) { started_ = number + (process_ ? 1 : 0); }

  private:
    struct Host {
        std::vector<std::string> command;
        std::set<std::string> workloads;
        std::vector<std::unique_ptr<WorkerProcess>> ahead = {};  ///< loaded, asked for nothing else
        std::size_t expected = 0;                                ///< those ahead among them
    };

    void start();
    void start_ahead(Host& host, std::size_t processes);

    std::vector<Host> hosts_;
    std::size_t host_ = 0;  ///< of the process
    std::function<bool()> stop_;
    std::unique_ptr<WorkerProcess> process_;
    std::int64_t started_ = 0;
    std::uint64_t requests_ = 0;
    bool fresh_ = false;  ///< the process has not answered yet
    std::size_t together_ = 1;
    std::vector<std::string> deaths_;
    std::optional<Answer> load_failure_;  ///< of one that was started ahead
};

// What a worker's answer says about the case that it was asked to measure.

constexpr const char* wrong_answer = "the worker's reply does not match the request";

/// Whether a worker's result is of this case: results of cases must not be mixed up.
bool is_about(const Item& item, const model::CaseResult& result);

/// Why an answer has no reply of the kind that was asked for.
std::string why_no_reply(const Workers::Answer& answer);

struct CaseReply {
    const MeasureReply* reply = nullptr;  ///< into the answer; null: there is no result
    std::string why;                      ///< why there is none
};
/// The reply in an answer to a MeasureRequest. Its result may itself be an error.
CaseReply case_reply(const Item& item, const Workers::Answer& answer);

/// The same of one more batch, which has to be `measured`: otherwise `why` has the result's reason.
CaseReply measured_reply(const Item& item, const Workers::Answer& answer);

}  // namespace perfgate::measure
