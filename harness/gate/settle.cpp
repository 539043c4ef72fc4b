// SPDX-License-Identifier: Apache-2.0
#include "gate/settle.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "gate/batch_rule.hpp"
#include "gate/choices.hpp"
#include "gate/invalid.hpp"
#include "gate/provenance_change.hpp"
#include "gate/sentence.hpp"
#include "gate/significance.hpp"

namespace perfgate::gate {

namespace {

using model::Doubt;
using model::Verdict;

/// What the doubts are decided from.
struct Known {
    const Comparison& comparison;
    const CodeComparison& code;
    const model::CaseResult& result;
    const model::BaselineCase& expected;
    double too_good;
    const Judgement& judged;
    bool explained;             ///< by the clock, or by a machine that runs the baseline's code
    const TailJudgement* tail;  ///< null: there are too few samples
    const Undisturbed* undisturbed;  ///< null: others' work explains nothing

    Verdict verdict() const { return judged.verdict; }
    bool calm() const { return verdict() == Verdict::pass || verdict() == Verdict::improved; }
    Change change() const { return change_between(comparison, judged.baseline, judged.measured); }
    /// All that makes a device's time is the baseline's.
    bool all_the_same() const {
        return is_device_time(comparison.definition->name) &&
               code.change == model::CodeChange::unchanged;
    }
    /// A time whose code is the baseline's. Where only what is launched is the same, that says
    /// nothing of a time that looks worse.
    bool shown_by_its_code() const {
        return shown_by_code(code, *comparison.definition) &&
               (all_the_same() || !change().counts || change().good_way);
    }
};

/// Why a judgement does not stand.
struct Objection {
    Verdict verdict = Verdict::inconclusive;
    Doubt doubt = Doubt::none;  ///< of what is inconclusive
    std::string words;
    bool undecided = false;  ///< see Decision
};

/// Neither an explanation nor a spread that is too large to decide excuses this much.
std::optional<Objection> beyond_machines(const Known& known) {
    const bool decided =
        known.verdict() != Verdict::pass && known.verdict() != Verdict::inconclusive;
    if (!(known.explained || (known.all_the_same() && !decided)) ||
        !beyond_any_machine(known.code, known.comparison, known.judged)) {
        return std::nullopt;
    }
    return Objection{Verdict::invalid, known.judged.doubt,
                     beyond_any_machine_words(known.code, known.comparison, known.judged)};
}

/// A time that is only slower because others had the processors, or is not because they had them
/// while its baseline was measured.
std::optional<Objection> other_work(const Known& known) {
    if (known.undisturbed == nullptr) return std::nullopt;
    const auto is_slower = [](const Judgement& judged) {
        return judged.verdict == Verdict::regressed || judged.beyond_spread;
    };
    const Judgement& without = known.undisturbed->judgement;
    const bool slower = is_slower(known.judged);
    if (slower == is_slower(without) || (!slower && !known.calm())) return std::nullopt;
    if (slower) {
        // A spread that is too large to decide is no excuse: what is left is within the tolerance.
        const Change left = change_between(known.comparison, without.baseline, without.measured);
        if (left.counts && !left.good_way) return std::nullopt;
    }
    return Objection{Verdict::inconclusive, Doubt::other_work,
                     other_work_words(*known.undisturbed)};
}

std::optional<Objection> undecided(const Known& known) {
    if (!known.judged.beyond_spread || known.explained) return std::nullopt;
    return Objection{Verdict::invalid, known.judged.doubt, beyond_spread_words(known.judged), true};
}

/// No code explains it: what did not do its work is fast, too.
std::optional<Objection> too_good(const Known& known) {
    const Change change = known.change();
    const model::Tolerance& tolerance = known.comparison.tolerance;
    // Without a unit it is a count, and a measurement all the same if it varies.
    const bool measured = is_time(known.comparison) ||
                          (known.comparison.definition->unit == "count" &&
                           reported_by_benchmark(known.result, *known.comparison.measured) &&
                           measures(*known.comparison.definition, known.comparison.baseline));
    if (!measured || !change.good_way || change.size <= tolerance.abs) return std::nullopt;
    // What the tolerance allows to get worse may have been so in the baseline.
    const double believed =
        std::max(known.too_good, 1 + tolerance.better.value_or(tolerance.worse));
    const auto [least, greatest] = std::minmax(known.judged.baseline, known.judged.measured);
    if (believed * least >= greatest) return std::nullopt;
    return Objection{Verdict::inconclusive, Doubt::too_good, too_good_words(believed)};
}

std::optional<Objection> baseline_disagrees(const Known& known) {
    if (!known.calm() || !known.judged.baseline_disagrees || known.all_the_same()) {
        return std::nullopt;
    }
    return Objection{Verdict::inconclusive, Doubt::baseline_disagrees, disagreement_words};
}

std::optional<Objection> choices_differ(const Known& known) {
    if (!known.calm()) return std::nullopt;
    std::string why = hidden_by_choices(known.result, *known.comparison.definition,
                                        *known.comparison.measured, known.comparison.tolerance);
    if (why.empty()) return std::nullopt;
    return Objection{Verdict::inconclusive, Doubt::choices_differ, std::move(why)};
}

std::optional<Objection> hidden_behind_clock(const Known& known) {
    if (known.shown_by_its_code()) return std::nullopt;
    std::string why = hidden_by_clock(known.comparison, known.judged, known.result, known.expected);
    if (why.empty()) return std::nullopt;
    return Objection{Verdict::inconclusive, Doubt::clock_hides, std::move(why)};
}

std::optional<Objection> slow_processes(const Known& known) {
    if (!known.calm() || known.judged.slow_processes == 0 || known.shown_by_its_code()) {
        return std::nullopt;
    }
    return Objection{Verdict::inconclusive, Doubt::slow_processes,
                     slow_processes_words(known.judged)};
}

std::optional<Objection> slow_tail(const Known& known) {
    const bool stands = known.calm() || known.judged.doubt == Doubt::not_shown;
    if (!stands || known.tail == nullptr || !known.tail->is_beyond()) return std::nullopt;
    return Objection{Verdict::inconclusive,
                     known.all_the_same() ? Doubt::nothing_changed : Doubt::slow_tail,
                     known.tail->verdict
                         ? "its slowest tenth is slower by more than what it may be"
                         : "the mean of all its samples is slower by more than its slowest tenth "
                           "may be; the baseline has none to compare that with: fewer than 10 "
                           "samples per process, or recorded by an earlier version, which "
                           "'perfgate baseline refresh' replaces"};
}

/// Differences of a share below its floor are noise, so that a small one may fall to nothing.
std::optional<Objection> cannot_fail(const Known& known) {
    if (!known.calm() || known.comparison.definition->unit == "%" ||
        !allows_nothing_left(known.comparison, known.judged.baseline)) {
        return std::nullopt;
    }
    return Objection{Verdict::invalid, Doubt::none, "no value fails it: its tolerance allows 0"};
}

std::optional<Objection> not_shown(const Known& known) {
    if (known.verdict() != Verdict::pass || !is_time(known.comparison) ||
        known.judged.basis == Basis::tolerance || known.judged.shown || known.shown_by_its_code()) {
        return std::nullopt;
    }
    return Objection{Verdict::inconclusive, Doubt::not_shown, not_shown_words(known.judged)};
}

/// In order; the first that objects decides.
constexpr std::optional<Objection> (*objections[])(const Known&) = {
    beyond_machines, cannot_fail,         other_work, undecided,      too_good, baseline_disagrees,
    choices_differ,  hidden_behind_clock, slow_tail,  slow_processes, not_shown};

void doubt(Doubt why, std::string words, Decision& decision) {
    decision.judgement.verdict = Verdict::inconclusive;
    decision.judgement.doubt = why;
    decision.reasons.push_back(std::move(words));
}

}  // namespace

Decision settle(const Comparison& comparison, const CodeComparison& code,
                const model::CaseResult& result, const model::BaselineCase& expected,
                double too_good, const Judgement& judgement, const TailJudgement* tail,
                const Undisturbed* undisturbed) {
    Decision decision{judgement, false, {}, {}, {}};
    Judgement& judged = decision.judgement;
    if (judged.verdict == Verdict::invalid) return decision;

    const std::string clock = clock_explanation(comparison, judged, result, expected);
    if (!clock.empty()) doubt(Doubt::clock, clock, decision);
    const CodeAside aside = code_aside(code, comparison, judged);
    decision.aside = aside.words;
    if (aside.excuses) {
        doubt(aside.doubt, aside.detail, decision);
    } else {
        decision.reasons.push_back(aside.detail);
    }

    if (comparison.paired) {
        decision.aside += decision.aside.empty() ? "settled here" : ", settled here";
    }

    const Known known{
        comparison, code,       result, expected, too_good, judged, !clock.empty() || aside.excuses,
        tail,       undisturbed};
    for (const auto& objects : objections) {
        auto objection = objects(known);
        if (!objection) continue;
        decision.undecided = objection->undecided;
        judged.verdict = objection->verdict;
        judged.doubt = objection->doubt;
        decision.reasons.push_back(std::move(objection->words));
        if (judged.doubt == Doubt::other_work) {
            // More processes may show the rest.
            judged.measure_again = undisturbed->judgement.measure_again;
            judged.first_look_processes = undisturbed->judgement.first_look_processes;
        }
        return decision;
    }
    if (judged.verdict == Verdict::pass && !judged.shown && known.shown_by_its_code()) {
        decision.aside =
            comparison.paired ? "settled here, shown by its code" : "shown by its code";
    }
    return decision;
}

Decision warn(Decision decision) {
    Verdict& verdict = decision.judgement.verdict;
    if (verdict == Verdict::regressed) verdict = Verdict::warned;
    if (verdict == Verdict::invalid && decision.undecided) verdict = Verdict::inconclusive;
    return decision;
}

}  // namespace perfgate::gate
