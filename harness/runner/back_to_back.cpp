// SPDX-License-Identifier: Apache-2.0
#include "runner/back_to_back.hpp"

#include <algorithm>
#include <iterator>

#include "measure/clock_stability.hpp"

namespace perfgate::runner {

void BackToBack::measure_all() {
    if (!interrupted()) base_.measure_first();
    if (!interrupted()) head_.measure_first();
    if (run().verify_only) return;
    for (std::size_t n = 1; n < processes_ && !interrupted(); ++n) {
        pass(in_both(), 0);
        // Cases that the base does not offer are still measured, and have no baseline.
        if (!interrupted()) head_.pass(in_head(model::CaseStatus::skipped), 0);
    }
    replace_excluded();
}

void BackToBack::replace_excluded() {
    for (std::size_t more = 0; more < processes_ && !interrupted(); ++more) {
        std::vector<model::CaseIndex> thin = in_both();
        std::erase_if(thin, [&](const model::CaseIndex& at) {
            return measure::too_thin(model::case_at(head_.run(), at), processes_).empty() &&
                   measure::too_thin(model::case_at(base_.run(), at), processes_).empty();
        });
        if (thin.empty()) return;
        pass(thin, 0);
    }
}

void BackToBack::measure_again(const std::vector<model::CaseIndex>& cases, std::int64_t round,
                               std::size_t processes) {
    for (measure::Session* side : {&base_, &head_}) side->announce(cases.size(), processes);
    for (std::size_t n = 0; n < processes && !interrupted(); ++n) pass(cases, round);
}

void BackToBack::collect_again(const std::vector<model::CaseIndex>& cases, std::int64_t round,
                               std::size_t times) {
    for (measure::Session* side : {&base_, &head_}) {
        if (!interrupted()) side->collect_again(cases, round, times);
    }
}

/// The cases that the head has measured, of those with this status in the base.
std::vector<model::CaseIndex> BackToBack::in_head(model::CaseStatus of_base) const {
    std::vector<model::CaseIndex> found = model::all_cases(head_.run());
    std::erase_if(found, [&](const model::CaseIndex& at) {
        return model::case_at(head_.run(), at).status != model::CaseStatus::measured ||
               model::case_at(base_.run(), at).status != of_base;
    });
    return found;
}

std::vector<model::CaseIndex> BackToBack::in_both() const {
    return in_head(model::CaseStatus::measured);
}

/// One process of each side.
void BackToBack::pass(const std::vector<model::CaseIndex>& cases, std::int64_t round) {
    // A case that has failed on one side is not measured again.
    const std::vector<model::CaseIndex> both = in_both();
    std::vector<model::CaseIndex> left;
    std::ranges::copy_if(cases, std::back_inserter(left),
                         [&](const auto& at) { return std::ranges::binary_search(both, at); });
    const bool base_first = passes_++ % 2 != 0;  // the first processes were base, head
    for (measure::Session* side : {base_first ? &base_ : &head_, base_first ? &head_ : &base_}) {
        if (!interrupted()) side->pass(left, round);
    }
}

}  // namespace perfgate::runner
