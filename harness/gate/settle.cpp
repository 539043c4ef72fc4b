// SPDX-License-Identifier: Apache-2.0
#include "gate/settle.hpp"

#include <algorithm>
#include <utility>

#include "gate/batch_rule.hpp"
#include "gate/provenance_change.hpp"
#include "gate/sentence.hpp"
#include "gate/significance.hpp"

namespace perfgate::gate {

namespace {

using model::Doubt;
using model::Verdict;

class Settling {
  public:
    Settling(const Comparison& comparison, const CodeComparison& code,
             const model::CaseResult& result, const model::BaselineCase& expected, double too_good,
             const Judgement& judgement)
        : comparison_(comparison),
          code_(code),
          result_(result),
          expected_(expected),
          too_good_(too_good),
          settled_{judgement, false, {}, {}} {}

    /// The stages in order; the first that says true decides.
    Settled settled() && {
        if (judged().verdict == Verdict::invalid) return std::move(settled_);
        explain();
        if (!is_beyond_any_machine() && !is_beyond_spread() && !is_too_good() &&
            !is_of_a_baseline_that_disagrees() && !is_shown_by_its_code() &&
            !is_hidden_by_the_clock()) {
            require_shown();
        }
        return std::move(settled_);
    }

  private:
    /// What else than the code under review explains that it is worse: the clock, or the machine,
    /// if the code is the baseline's.
    void explain() {
        if (const std::string clock = clock_explanation(comparison_, judged(), result_, expected_);
            !clock.empty()) {
            explained_ = doubt(Doubt::clock, clock);
        }
        const CodeAside aside = code_aside(code_, comparison_, judged());
        settled_.aside = aside.words;
        if (aside.excuses) explained_ = doubt(aside.doubt, aside.detail);
        if (!aside.excuses) settled_.reasons.push_back(aside.detail);
    }

    /// Neither an explanation nor a spread that is too large to decide excuses this much.
    bool is_beyond_any_machine() {
        const bool decided = judged().verdict != Verdict::pass && !inconclusive();
        return (explained_ || (is_all_the_same() && !decided)) &&
               beyond_any_machine(comparison_, judged()) &&
               invalid(beyond_any_machine_words(comparison_, judged()));
    }

    bool is_beyond_spread() {
        settled_.undecided = judged().beyond_spread && !explained_;
        return settled_.undecided && invalid(beyond_spread_words(judged()));
    }

    /// No code explains it: what did not do its work is fast, too.
    bool is_too_good() {
        const Change change = change_between(comparison_, judged().baseline, judged().measured);
        const model::Tolerance& tolerance = comparison_.tolerance;
        if (!is_time(comparison_) || !change.good_way || change.size <= tolerance.abs) return false;
        // What the tolerance allows to get worse may have been so in the baseline.
        const double most = std::max(too_good_, 1 + tolerance.better.value_or(tolerance.worse));
        const auto [least, greatest] = std::minmax(judged().baseline, judged().measured);
        return most * least < greatest && doubt(Doubt::too_good, too_good_words(most));
    }

    bool is_of_a_baseline_that_disagrees() {
        const bool calm =
            judged().verdict == Verdict::pass || judged().verdict == Verdict::improved;
        return calm && judged().baseline_disagrees && !is_all_the_same() &&
               doubt(Doubt::baseline_disagrees, disagreement_words);
    }

    /// A time that is not shown to be within its tolerance, and whose code is not the baseline's.
    /// Where only what is launched is the same, that says nothing of a time that looks worse.
    bool is_shown_by_its_code() {
        const Change change = change_between(comparison_, judged().baseline, judged().measured);
        const bool shown = shown_by_code(code_, *comparison_.definition) &&
                           (is_all_the_same() || !change.counts || change.good_way);
        if (shown && judged().verdict == Verdict::pass && !judged().shown) {
            settled_.aside = "shown by its code";
        }
        return shown;
    }

    bool is_hidden_by_the_clock() {
        const std::string why = hidden_by_clock(comparison_, judged(), result_, expected_);
        return !why.empty() && doubt(Doubt::clock_hides, why);
    }

    void require_shown() {
        if (judged().verdict == Verdict::pass && is_time(comparison_) &&
            judged().basis != Basis::tolerance && !judged().shown) {
            doubt(Doubt::not_shown, not_shown_words(judged()));
        }
    }

    const Judgement& judged() const { return settled_.judgement; }
    bool inconclusive() const { return judged().verdict == Verdict::inconclusive; }

    /// All that makes a device's time is the baseline's.
    bool is_all_the_same() const {
        return is_device_time(comparison_.definition->name) &&
               code_.change == model::CodeChange::unchanged;
    }

    bool doubt(Doubt why, std::string words) {
        settled_.judgement.verdict = Verdict::inconclusive;
        settled_.judgement.doubt = why;
        settled_.reasons.push_back(std::move(words));
        return true;
    }

    bool invalid(std::string words) {
        settled_.judgement.verdict = Verdict::invalid;
        settled_.reasons.push_back(std::move(words));
        return true;
    }

    const Comparison& comparison_;
    const CodeComparison& code_;
    const model::CaseResult& result_;
    const model::BaselineCase& expected_;
    const double too_good_;
    bool explained_ = false;
    Settled settled_;
};

}  // namespace

Settled settle(const Comparison& comparison, const CodeComparison& code,
               const model::CaseResult& result, const model::BaselineCase& expected,
               double too_good, const Judgement& judgement) {
    return Settling(comparison, code, result, expected, too_good, judgement).settled();
}

}  // namespace perfgate::gate
