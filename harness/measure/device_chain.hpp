// SPDX-License-Identifier: Apache-2.0
// One device's part of a run: its worker processes, one after another, and the cases that they
// measure. Each device has a chain, and each chain a thread.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "measure/elapsed.hpp"
#include "measure/item.hpp"
#include "measure/shared.hpp"
#include "measure/workers.hpp"

namespace perfgate::measure {

/// The cases that no device has begun. Thread-safe.
class CaseQueue {
  public:
    explicit CaseQueue(std::vector<Item*> items) : items_(std::move(items)) {}

    /// The next case that is free, or bound to this chain; null: there is none.
    Item* take(std::size_t chain);

  private:
    std::mutex mutex_;
    std::vector<Item*> items_;
};

class DeviceChain {
  public:
    DeviceChain(std::size_t number, Workers& workers, Shared& shared)
        : number_(number), workers_(workers), shared_(shared) {}

    /// Takes cases until there are no more; in the first process verifies and times each and
    /// collects the counters.
    void begin(CaseQueue& queue);

    /// The usual run: the first process, then each further batch in a fresh process.
    void measure(CaseQueue& queue);

    /// Repeats passes until each of the cases has had this many processes. In the first of them,
    /// or in processes of their own, collects all cases' counters so many times again.
    void fill_up(const std::vector<Item*>& items, std::size_t processes,
                 std::size_t collections = 0);

    /// Repeats the cases with too many disturbed batches, with at most as many batches again.
    void replace_excluded();

    /// One more batch, in a fresh process, of each of the cases that is measured so far. It
    /// collects the counters of `counted` again.
    void pass(const std::vector<Item*>& items, std::int64_t round,
              const std::vector<Item*>& counted = {});

    /// Collects the counters of these cases once more, in a process of their own. What cannot be
    /// collected again keeps the values that it has.
    void collect_again(const std::vector<Item*>& items, std::int64_t round);

    /// What the device's time went to (model::Run::phase_s).
    const PhaseTimes& phases() const { return phases_; }

  private:
    void first(Item& item);
    void again(Item& item, std::int64_t round);
    /// `only_first`: of cases that have none yet, as a resumed run may have some.
    void untraced_pass(const std::vector<Item*>& items, std::int64_t round, bool only_first);
    void take_untraced(Item& item, std::int64_t round, Workers& workers);
    void take_batch(const std::vector<Item*>& cases, std::int64_t round);
    /// `again`: the round of cases that have counters.
    void collect_counters(const std::vector<Item*>& items, std::optional<std::int64_t> again);
    void collect_session(std::vector<Item*> session, std::optional<std::int64_t> again);
    Workers::Answer ask(Workers& workers,
                        const std::function<Request(std::int64_t process)>& request, double limit_s,
                        const Item& item);

    std::size_t number_;
    Workers& workers_;
    Shared& shared_;
    std::vector<Item*> items_;
    PhaseTimes phases_;
    bool backwards_ = false;  ///< the last of the further collections
};

}  // namespace perfgate::measure
