// SPDX-License-Identifier: Apache-2.0
// How much the work of others took the processors away from the processes that are measured, from
// /proc. What it does not say is not known.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace perfgate::util {

/// Shares, from 0 to 1.
struct OtherWork {
    /// Of the processes' time: a thread waited for a processor that others had.
    double waited = 0;
    /// Of the time of the processors that the processes may use: others had them.
    double busy = 0;

    bool operator==(const OtherWork&) const = default;
};

/// Seconds that passed while processes were watched.
struct ProcessorTimes {
    double wall = 0;
    double waited = 0;      ///< for a processor: at each moment, the thread that waited longest
    double own = 0;         ///< processor time of the processes
    double all = 0;         ///< of everyone on these processors
    double stolen = 0;      ///< by other virtual machines, beside it
    double processors = 0;  ///< how many there are
    double used_on = 0, stolen_on = 0;  ///< on how many `all` and `stolen` have grown
    double tick = 0;                    ///< in which these two are counted, for each processor
    /// Processor time of the control group, if its quota stopped it: others outside of it did not.
    std::optional<double> group = std::nullopt;

    /// Of another processor.
    void add(double used, double taken);
};

/// Threads wait for each other, too: of their waiting at most the others' share of the processor
/// time is due to others.
OtherWork other_work_in(const ProcessorTimes& times);

/// Seconds of a control group; one without a quota is never stopped.
struct ControlGroup {
    double used = 0, stopped = 0;
};

/// Watches processes from its construction on.
class OtherWorkWatch {
  public:
    /// `known`: threads of these have waited before.
    explicit OtherWorkWatch(const std::vector<pid_t>& known = {});

    /// Sums up what their threads waited since the last look: of a thread that ends in between, the
    /// rest is not known. One of a lower priority than this process has chosen to wait.
    void look(const std::vector<pid_t>& processes);

    /// What happened until now. `own`: what the kernel says of the processes that have ended.
    /// Nothing if PERFGATE_OTHER_WORK is "ignore", if /proc does not say it, or the last look is
    /// older than half of the time.
    std::optional<OtherWork> result(std::chrono::duration<double> own) const;

  private:
    using Clock = std::chrono::steady_clock;

    /// Seconds since the boot, of one processor.
    struct Processor {
        double used = 0, stolen = 0;
    };
    static std::map<std::size_t, Processor> processors_now();

    /// Processor time of this process.
    static double used_by_self();

    /// Nanoseconds since a thread began.
    struct Thread {
        std::uint64_t ran = 0, waited = 0;
    };

    Clock::time_point begin_ = Clock::now(), last_look_ = begin_;
    int priority_ = 0;
    bool watches_itself_ = false;
    double self_ = 0;
    std::map<std::size_t, Processor> processors_;
    cpu_set_t usable_{};  ///< by the process that ran longest
    std::optional<std::vector<ControlGroup>>
        groups_;  ///< its own to the root; absent: quotas are not known
    std::map<std::pair<pid_t, pid_t>, Thread> threads_;
    std::uint64_t ran_ns_ = 0, waited_ns_ = 0;
    bool knows_threads_ = false;
};

}  // namespace perfgate::util
