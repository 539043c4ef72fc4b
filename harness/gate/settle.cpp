// SPDX-License-Identifier: Apache-2.0
#include "gate/settle.hpp"

#include <utility>

#include "gate/batch_rule.hpp"
#include "gate/provenance_change.hpp"
#include "gate/sentence.hpp"
#include "gate/significance.hpp"

namespace perfgate::gate {

namespace {

using model::Verdict;

/// A judgement that must not stand becomes inconclusive.
void doubt(model::Doubt why, Judgement& judgement) {
    judgement.verdict = Verdict::inconclusive;
    judgement.doubt = why;
}

constexpr const char* too_few_to_judge =
    "more than the tolerance allows, and too few processes to judge it: measure in more processes";

/// The spread that there is puts a time beyond its tolerance, but no test of so few processes
/// reaches the level, however much slower it is: whatever the policy, it must not pass.
bool beyond_and_too_few(const Comparison& comparison, const Judgement& judgement) {
    return judgement.verdict == Verdict::inconclusive && judgement.doubt == model::Doubt::unclear &&
           judgement.too_few_processes && is_time(comparison) && shown_worse(comparison, judgement);
}

/// More than 10 times what the tolerance allows, and not shown to be: whatever the policy, too.
bool far_beyond_and_undecided(const Comparison& comparison, const Judgement& judgement) {
    const bool undecided = judgement.verdict == Verdict::inconclusive ||
                           (judgement.verdict == Verdict::pass && !judgement.shown);
    if (!undecided || !is_time(comparison)) return false;
    const bool rises = comparison.definition->direction != model::Direction::higher;
    const Allowance allowance = allowance_of(comparison, judgement.baseline, rises);
    const double allowed = allowance.factor * judgement.baseline + allowance.shift;
    return rises ? judgement.measured > slowest_machine * allowed
                 : judgement.measured * slowest_machine < allowed;
}

/// Possible, but more often a mistake than a success.
bool far_faster(const Comparison& comparison, const Judgement& judgement) {
    if (judgement.verdict != Verdict::improved || !is_time(comparison)) return false;
    return comparison.definition->direction == model::Direction::higher
               ? judgement.measured > slowest_machine * judgement.baseline
               : judgement.measured * slowest_machine < judgement.baseline;
}

}  // namespace

Settled settle(const Comparison& comparison, const CodeComparison& code,
               const model::CaseResult& result, const model::BaselineCase& expected,
               Judgement judgement) {
    const std::string clock = clock_explanation(comparison, judgement, result, expected);
    if (!clock.empty()) doubt(model::Doubt::clock, judgement);
    CodeAside aside = code_aside(code, comparison, judgement);
    if (aside.excuses) doubt(model::Doubt::nothing_changed, judgement);

    // A spread that is too large to decide does not excuse a time beyond any machine either.
    const bool undecided =
        is_device_time(comparison.definition->name) &&
        code.change == model::CodeChange::unchanged &&
        (judgement.verdict == Verdict::pass || judgement.verdict == Verdict::inconclusive);
    const std::string unlikely =
        far_faster(comparison, judgement)
            ? "more than 10 times as fast: does it still do all of its work, and "
              "is its unit the same?"
            : "";
    const bool same_code = shown_by_code(code, *comparison.definition);
    std::string why;
    bool too_few = false;
    if ((aside.excuses || undecided || !clock.empty()) &&
        beyond_any_machine(comparison, judgement)) {
        judgement.verdict = Verdict::invalid;
        why = beyond_any_machine_words(judgement);
    } else if (far_beyond_and_undecided(comparison, judgement)) {
        judgement.verdict = Verdict::invalid;
        why = too_few_to_judge;
    } else if (beyond_and_too_few(comparison, judgement)) {
        judgement.verdict = Verdict::invalid;
        too_few = true;
        why = too_few_to_judge;
    } else if (judgement.verdict == Verdict::pass && judgement.baseline_disagrees) {
        doubt(model::Doubt::baseline_disagrees, judgement);
        why = disagreement_words;
    } else if (std::string hidden =
                   same_code ? "" : hidden_by_clock(comparison, judgement, result, expected);
               !hidden.empty()) {
        doubt(model::Doubt::clock, judgement);
        why = std::move(hidden);
    } else if (judgement.verdict == Verdict::pass && is_time(comparison) &&
               judgement.basis != Basis::tolerance && !judgement.shown && !same_code) {
        doubt(model::Doubt::not_shown, judgement);
        why = not_shown_words(judgement);
    }

    if (judgement.verdict == Verdict::pass && same_code && !judgement.shown) {
        aside.words = "shown by its code";
    }
    return {judgement,
            too_few,
            std::move(aside.words),
            {clock, std::move(aside.detail), std::move(why), unlikely}};
}

}  // namespace perfgate::gate
