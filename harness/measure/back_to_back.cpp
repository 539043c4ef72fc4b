// SPDX-License-Identifier: Apache-2.0
#include "measure/back_to_back.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "measure/batches.hpp"
#include "measure/device_chain.hpp"
#include "measure/preparation.hpp"
#include "measure/steadiness.hpp"

namespace perfgate::measure {
namespace {

/// Whatever `again` says, there is an end.
constexpr int most_rounds = 20;

bool measured(const Item& item) {
    return item.result->status == model::CaseStatus::measured;
}

/// One side on its way. Stays where it is: others point into it.
class Build {
  public:
    Build(const Side& side, const MeasureOptions& options)
        : side_(side),
          options_(options),
          shared_(*side.capabilities, options_, *side.journal),
          chain_(0, *side.workers, shared_),
          run_(empty_run(*side.plan, *side.capabilities, options_)),
          items_(items_of(*side.plan, run_)) {}
    Build(const Build&) = delete;
    Build& operator=(const Build&) = delete;

    void ask_facts() { measure::ask_facts(items_, *side_.workers, shared_); }

    void skip_unsupported() {
        std::erase_if(items_, [](Item& item) {
            if (item.facts.unsupported.empty()) return false;
            item.result->reason = item.facts.unsupported;
            return true;
        });
    }

    void tell_with(const std::function<void(const Progress&)>& progress) {
        options_.progress = progress;
    }

    void begin() {
        side_.workers->count_from(0);  // pairs have one number
        std::vector<Item*> order;
        for (Item& item : items_) order.push_back(&item);
        shared_.total = order.size() * (options_.verify_only ? 1 : options_.processes);
        CaseQueue queue(std::move(order));
        chain_.begin(queue);
    }

    /// The cases at these places of the run that can go on.
    std::vector<Item*> at(const std::vector<const model::CaseResult*>& results) {
        std::vector<Item*> found;
        for (Item& item : items_)
            if (measured(item) &&
                std::find(results.begin(), results.end(), item.result) != results.end())
                found.push_back(&item);
        return found;
    }

    void pass(const std::vector<Item*>& items, std::int64_t round) { chain_.pass(items, round); }

    void finish(bool was_interrupted) {
        run_.interrupted = was_interrupted;
        for (const auto& [phase, seconds] : chain_.phase_s()) run_.phase_s[phase] = seconds;
        if (was_interrupted) {
            note_interrupted(items_);
        } else if (!options_.verify_only) {
            conclude(items_, options_.processes);
        }
    }

    Shared& shared() { return shared_; }
    std::vector<Item>& items() { return items_; }
    model::Run& run() { return run_; }

  private:
    const Side& side_;
    MeasureOptions options_;
    Shared shared_;
    DeviceChain chain_;
    model::Run run_;
    std::vector<Item> items_;
};

class BackToBack {
  public:
    BackToBack(const Side& base, const Side& head, const MeasureOptions& options)
        : options_(options), base_(base, options), head_(head, options) {
        for (Build* build : {&base_, &head_}) {
            if (!options.progress) break;
            const bool is_base = build == &base_;
            build->tell_with([this, is_base](const Progress& step) { tell(step, is_base); });
        }
    }

    BothRuns measure(const AgainOfBoth& again) {
        try {
            head_.ask_facts();
            require_supported(head_.items());
            base_.ask_facts();
            base_.skip_unsupported();
        } catch (const Interrupted&) {
            head_.shared().interrupted = true;
        }
        if (!interrupted()) base_.begin();
        if (!interrupted()) head_.begin();
        if (!options_.verify_only) {
            usual_passes();
            rounds(again);
        }
        const bool ended_early = interrupted();
        base_.finish(ended_early);
        head_.finish(ended_early);
        return {std::move(base_.run()), std::move(head_.run())};
    }

  private:
    bool interrupted() { return base_.shared().interrupted || head_.shared().interrupted; }

    void tell(const Progress& step, bool is_base) {
        Progress of_both = step;
        of_both.done = base_.shared().done + head_.shared().done;
        of_both.total = base_.shared().total + head_.shared().total;
        const std::string phase =
            std::string(is_base ? "base, " : "head, ") + std::string(step.phase);
        of_both.phase = phase;
        options_.progress(of_both);
    }

    /// The result of the same case on the other side.
    const model::CaseResult* partner(const model::CaseResult* result, model::Run& own,
                                     model::Run& other) {
        for (std::size_t s = 0; s < own.suites.size(); ++s) {
            const auto& cases = own.suites[s].cases;
            if (result < cases.data() || result >= cases.data() + cases.size()) continue;
            return &other.suites[s].cases[static_cast<std::size_t>(result - cases.data())];
        }
        return nullptr;
    }

    /// The head's cases that both sides have measured.
    std::vector<const model::CaseResult*> in_both() {
        std::vector<const model::CaseResult*> results;
        for (const Item& item : head_.items()) {
            const auto* other = partner(item.result, head_.run(), base_.run());
            if (measured(item) && other->status == model::CaseStatus::measured)
                results.push_back(item.result);
        }
        return results;
    }

    /// One process of each side for these cases of the head.
    void pass(std::vector<const model::CaseResult*> cases, std::int64_t round) {
        const std::vector<Item*> of_head = head_.at(cases);
        for (const model::CaseResult*& result : cases)
            result = partner(result, head_.run(), base_.run());
        const std::vector<Item*> of_base = base_.at(cases);
        const bool base_first = passes_++ % 2 != 0;  // the first processes were base, head
        for (const bool base_now : {base_first, !base_first}) {
            if (interrupted()) return;
            if (base_now) base_.pass(of_base, round);
            if (!base_now) head_.pass(of_head, round);
        }
        for (Item* item : of_head) set_aside_other_clocks(*item->result);
        for (Item* item : of_base) set_aside_other_clocks(*item->result);
    }

    void usual_passes() {
        for (std::size_t n = 1; n < options_.processes && !interrupted(); ++n) pass(in_both(), 0);
        // Where the environment has spoilt too much, as often again.
        for (std::size_t more = 0; more < options_.processes && !interrupted(); ++more) {
            std::vector<const model::CaseResult*> thin;
            for (const model::CaseResult* result : in_both()) {
                const auto* other = partner(result, head_.run(), base_.run());
                if (!too_thin(*result, options_.processes).empty() ||
                    !too_thin(*other, options_.processes).empty())
                    thin.push_back(result);
            }
            if (thin.empty()) break;
            pass(thin, 0);
        }
    }

    void rounds(const AgainOfBoth& again) {
        for (int n = 0; again && n < most_rounds && !interrupted(); ++n) {
            const std::vector<const model::CaseResult*> eligible = in_both();
            std::map<std::int64_t, std::vector<const model::CaseResult*>> by_round;
            for (const Suspicion& suspicion : again(base_.run(), head_.run())) {
                const model::CaseResult* result =
                    &head_.run().suites.at(suspicion.suite).cases.at(suspicion.index);
                if (std::find(eligible.begin(), eligible.end(), result) == eligible.end()) continue;
                by_round[last_round(*result) + 1].push_back(result);
            }
            if (by_round.empty()) return;
            for (const auto& [round, cases] : by_round) {
                const std::size_t size = options_.round_size(round);
                base_.shared().total += cases.size() * size;
                head_.shared().total += cases.size() * size;
                for (std::size_t i = 0; i < size; ++i) pass(cases, round);
            }
        }
    }

    const MeasureOptions& options_;
    Build base_, head_;
    std::size_t passes_ = 0;
};

}  // namespace

BothRuns measure_back_to_back(const Side& base, const Side& head, const MeasureOptions& options,
                              const AgainOfBoth& again) {
    return BackToBack(base, head, options).measure(again);
}

}  // namespace perfgate::measure
