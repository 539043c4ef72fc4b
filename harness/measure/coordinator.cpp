// SPDX-License-Identifier: Apache-2.0
#include "measure/coordinator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <map>
#include <thread>
#include <utility>

#include "measure/batches.hpp"
#include "measure/preparation.hpp"
#include "measure/steadiness.hpp"
#include "metrics/catalogue.hpp"
#include "model/board.hpp"
#include "model/error.hpp"

namespace perfgate::measure {
namespace {

/// Whatever `MeasureOptions::again` says, there is an end.
constexpr int most_rounds = 20;
/// A device that others wait for must answer within this time.
constexpr double open_limit_s = 60;

bool named(const std::vector<model::NotCollected>& entries, const std::string& metric) {
    return std::any_of(entries.begin(), entries.end(),
                       [&](const model::NotCollected& entry) { return entry.metric == metric; });
}

/// Whether the counters of a case that was measured before were asked for.
bool has_counters(const model::CaseResult& result, const std::vector<std::string>& metrics) {
    const std::vector<std::string> wanted = counter_metrics(metrics);
    const auto& inapplicable = result.not_applicable;
    return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
        return result.metrics.contains(name) || named(result.not_collected, name) ||
               std::find(inapplicable.begin(), inapplicable.end(), name) != inapplicable.end();
    });
}

/// Puts what an earlier execution has measured in its place.
void take_over(std::vector<Item>& items, const JournalContent& journal,
               const std::vector<MeasuredDevice>& devices) {
    for (Item& item : items) {
        const auto found = journal.cases.find({*item.suite, model::case_id(item.planned->spec)});
        // A case whose plugin no longer answers is not what it was.
        if (found == journal.cases.end() || item.begun) continue;
        *item.result = found->second;
        item.begun = true;
        item.counted = has_counters(*item.result, item.planned->metrics);
        item.passes = std::max<std::size_t>(1, processes_in_round(*item.result, 0));
        const std::string board = model::board_of(*item.result);
        for (std::size_t i = 0; i < devices.size(); ++i)
            if (devices[i].board == board) item.chain = i;
    }
}

/// The number after those that an earlier execution has used.
std::int64_t next_process(const std::vector<Item>& items, const MeasuredDevice& device) {
    std::int64_t last = -1;
    for (const Item& item : items) last = std::max(last, last_process(*item.result, device.board));
    return last + 1;
}

/// Calls `work(i)` for each chain, the first on this thread and the others on one each.
template <class Work>
void on_all(std::size_t chains, Shared& shared, const Work& work) {
    std::vector<std::exception_ptr> failures(chains);
    const auto guarded = [&](std::size_t i) {
        try {
            work(i);
        } catch (const Interrupted&) {
            shared.interrupted = true;  // what was measured before stands
        } catch (...) {
            failures[i] = std::current_exception();
            shared.interrupted = true;  // the others end early: the run fails
        }
    };
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 1; i < chains; ++i) threads.emplace_back(guarded, i);
        guarded(0);
    }
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
}

/// The rounds for cases that raised a suspicion, until `again` has none.
class Rounds {
  public:
    Rounds(std::deque<DeviceChain>& chains, Shared& shared, const MeasureOptions& options)
        : chains_(chains), shared_(shared), options_(options) {}

    void measure(const model::Run& run, std::vector<Item>& items) {
        finish_begun(items);
        for (int round = 0; round < most_rounds && !shared_.interrupted; ++round) {
            std::vector<Item*> suspects;
            for (const Suspicion& suspicion : options_.again(run)) {
                const model::CaseResult* result =
                    &run.suites.at(suspicion.suite).cases.at(suspicion.index);
                for (Item& item : items)
                    if (item.result == result && can_go_on(item)) suspects.push_back(&item);
            }
            if (suspects.empty()) return;
            std::map<Item*, std::int64_t> rounds;
            std::map<Item*, std::size_t> left;
            for (Item* item : suspects) {
                rounds[item] = last_round(*item->result) + 1;
                left[item] = options_.round_size(rounds[item]);
                shared_.total += left[item];
            }
            while (!suspects.empty()) {
                pass(suspects, rounds);
                std::erase_if(suspects, [&](Item* item) { return left[item]-- <= 1; });
            }
        }
    }

  private:
    static bool can_go_on(const Item& item) {
        return item.result->status == model::CaseStatus::measured && item.chain;
    }

    /// A round that an earlier execution did not finish.
    void finish_begun(std::vector<Item>& items) {
        for (;;) {
            std::vector<Item*> missing;
            std::map<Item*, std::int64_t> rounds;
            for (Item& item : items) {
                const std::int64_t round = can_go_on(item) ? last_round(*item.result) : 0;
                if (round == 0) continue;
                if (processes_in_round(*item.result, round) >= options_.round_size(round)) continue;
                missing.push_back(&item);
                rounds[&item] = round;
            }
            if (missing.empty() || shared_.interrupted) return;
            pass(missing, rounds);
        }
    }

    /// One process on each device, for that device's cases.
    void pass(const std::vector<Item*>& items, std::map<Item*, std::int64_t>& rounds) {
        on_all(chains_.size(), shared_, [&](std::size_t chain) {
            std::map<std::int64_t, std::vector<Item*>> by_round;
            for (Item* item : items)
                if (item->chain == chain) by_round[rounds.at(item)].push_back(item);
            for (const auto& [round, of_round] : by_round) chains_[chain].pass(of_round, round);
        });
        for (Item* item : items)
            if (can_go_on(*item)) set_aside_other_clocks(*item->result);
    }

    std::deque<DeviceChain>& chains_;
    Shared& shared_;
    const MeasureOptions& options_;
};

}  // namespace

model::Run measure(const model::Plan& plan, const Capabilities& capabilities,
                   const std::vector<MeasuredDevice>& devices, const MeasureOptions& options,
                   Journal& journal) {
    model::Run run = empty_run(plan, capabilities, options);
    std::vector<Item> items = items_of(plan, run);

    Shared shared(capabilities, options, journal);
    std::deque<DeviceChain> chains;
    for (std::size_t i = 0; i < devices.size(); ++i)
        chains.emplace_back(i, *devices[i].workers, shared);
    try {
        ask_facts(items, *devices.front().workers, shared);
        require_supported(items);
    } catch (const Interrupted&) {
        shared.interrupted = true;
    }
    if (options.resumed) take_over(items, *options.resumed, devices);
    if (options.unchanged) leave_out_unchanged(items, *devices.front().workers, shared, run);
    for (const MeasuredDevice& device : devices)
        device.workers->count_from(next_process(items, device));

    std::vector<Item*> order;
    for (Item& item : items)
        if (!item.result->unchanged) order.push_back(&item);
    if (devices.size() > 1)
        std::stable_sort(order.begin(), order.end(), [](const Item* left, const Item* right) {
            const auto work = [](const Item* item) {
                return std::pair(item->facts.work.flops, item->facts.work.bytes);
            };
            return work(left) > work(right);
        });
    shared.total = order.size() * (options.verify_only ? 1 : options.processes);
    CaseQueue queue(std::move(order));
    for (const Item& item : items) shared.done += item.passes;

    on_all(chains.size(), shared, [&](std::size_t i) {
        // A device that cannot be opened must not fail case after case while others work.
        if (i > 0 && !shared.interrupted)
            devices[i].workers->must_ask(BoardStateRequest{}, open_limit_s);
        chains[i].measure(queue);
    });
    if (options.again && !options.verify_only && !shared.interrupted)
        Rounds(chains, shared, options).measure(run, items);
    if (!options.verify_only && !shared.interrupted) conclude(items, options.processes);

    for (const DeviceChain& chain : chains)
        for (const auto& [phase, seconds] : chain.phase_s())
            run.phase_s[phase] = std::max(run.phase_s[phase], seconds);
    run.interrupted = shared.interrupted;
    if (run.interrupted) note_interrupted(items);
    return run;
}

}  // namespace perfgate::measure
