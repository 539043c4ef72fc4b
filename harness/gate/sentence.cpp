// SPDX-License-Identifier: Apache-2.0
#include "gate/sentence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gate/batch_rule.hpp"
#include "model/quantity.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

namespace {

using model::Verdict;

/// Names and methods come from documents, which are untrusted.
std::string name_text(std::string_view name) {
    return util::printable(name);
}

std::string_view verb_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::regressed:
        case Verdict::acknowledged:
            return "regressed";
        case Verdict::warned:
            return "draws a warning";
        case Verdict::improved:
            return "improved";
        case Verdict::inconclusive:
            return "is inconclusive";
        case Verdict::invalid:
            return "cannot be judged";
        default:
            return "passed";
    }
}

/// ", 95 % interval -0.3 % to +1.1 %".
std::string interval_words(const Judgement& judgement) {
    if (!judgement.interval) return {};
    return fmt::format(", {:g} % interval {}", 100 * judgement.interval->level,
                       model::interval_text(judgement.interval->low, judgement.interval->high));
}

/// ", 8 on each side are enough".
std::string enough_words(const Judgement& judgement) {
    if (judgement.enough_processes == 0) return {};
    return fmt::format(", {} on each side are enough", judgement.enough_processes);
}

}  // namespace

std::string tolerance_words(const Comparison& comparison) {
    std::string words = model::to_text(comparison.tolerance, comparison.definition->unit);
    const double by_abs =
        comparison.baseline == nullptr
            ? 0
            : share_by_abs(*comparison.definition, *comparison.baseline, comparison.tolerance);
    if (by_abs > 0) {
        words += by_abs < 1 ? fmt::format(" = {:.2g} %", by_abs * 100)
                            : fmt::format(" = {:.0f} %", by_abs * 100);
    }
    if (comparison.leeway > 0) {
        words += fmt::format(" and {:.6g} % more for another board", comparison.leeway * 100);
    }
    if (comparison.new_board && comparison.most_between_boards > 0) {
        words += fmt::format(" and at most {:.6g} % more for what the baseline's boards differ by",
                             comparison.most_between_boards * 100);
    }
    if (comparison.definition->direction == model::Direction::none) {
        words += ", in either direction";
    }
    return words;
}

std::string judged_sentence(std::string_view metric, const Comparison& comparison,
                            const Judgement& judgement, std::string_view aside) {
    const model::QuantityTexts values =
        model::quantity_texts(judgement.baseline, judgement.measured, comparison.definition->unit);
    const std::string change =
        model::moved_text(judgement.baseline, judgement.measured, comparison.definition->unit);
    std::string text = fmt::format(
        "{} {}{}: {} → {}{}, tolerance {}", name_text(metric), verb_of(judgement.verdict),
        aside.empty() ? "" : fmt::format(" ({})", aside), values.before, values.after,
        change.empty() ? "" : fmt::format(" ({}{})", change, interval_words(judgement)),
        tolerance_words(comparison));
    if (judgement.minimum_detectable_change) {
        text += ", detects " + model::detected_text(*judgement.minimum_detectable_change);
    }
    if (judgement.verdict == Verdict::inconclusive && judgement.doubt == model::Doubt::unclear &&
        judgement.probability) {
        text +=
            fmt::format("; not distinguishable from noise (p = {:.2g})", *judgement.probability);
        if (judgement.too_few_processes) {
            text += ", because there are too few processes" + enough_words(judgement);
        }
    }
    if (judgement.verdict == Verdict::regressed && judgement.slow_processes > 0 &&
        judgement.slow_processes < judgement.processes) {
        text += "; " + slow_processes_words(judgement);
    }
    if (judgement.basis == Basis::spread &&
        comparison.definition->metric_class == model::MetricClass::exact) {
        text += "; it does not repeat exactly in this case, so its spread decides";
    }
    if (judgement.basis == Basis::one_process && judgement.verdict == Verdict::regressed &&
        comparison.definition->metric_class == model::MetricClass::timing) {
        text += "; one process cannot tell a change from noise: the tolerance alone decides";
    }
    if (judgement.basis == Basis::exact && !all_equal(values_of_all_rounds(*comparison.measured))) {
        text += "; this run's processes disagree about it, and the worst one decides";
    }
    return text;
}

std::string not_shown_words(const Judgement& judgement) {
    std::string what = "not shown to be within the tolerance";
    if (judgement.basis == Basis::one_process) {
        return what + ": the baseline has one process, which says nothing about the spread";
    }
    if (!judgement.interval) {
        return what + ": there are too few processes for an interval" + enough_words(judgement);
    }
    return what;
}

std::string beyond_spread_words(const Judgement& judgement) {
    if (judgement.too_few_processes) {
        return fmt::format(
            "more than the tolerance allows, and too few processes to judge it, which takes "
            "p ≤ {:.2g}: measure in more processes{}",
            judgement.needed_probability, enough_words(judgement));
    }
    return fmt::format(
        "more than twice what the tolerance allows, and not distinguishable from noise (p = "
        "{:.2g}, "
        "judging it takes p ≤ {:.2g}): measure in more processes, or on a quieter machine",
        judgement.probability.value_or(1), judgement.needed_probability);
}

std::string slow_processes_words(const Judgement& judgement) {
    return fmt::format(
        "{} of {} processes {} slower than each of the baseline's by more than the "
        "tolerance",
        judgement.slow_processes, judgement.processes,
        judgement.slow_processes == 1 ? "is" : "are");
}

std::string too_good_words(double factor) {
    return fmt::format(
        "more than {:.6g} times as good: does it still do all of its work, and is its unit the "
        "same? If so, accept it ('perfgate baseline accept RUN'), or raise 'too_good' in the "
        "policy",
        factor);
}

std::string not_shown_note(std::string_view metric, std::size_t cases,
                           const std::optional<model::ChangeInterval>& widest,
                           std::string_view id) {
    std::string text =
        fmt::format("{}: in {} case{} the change is not shown to be within the tolerance",
                    name_text(metric), cases, cases == 1 ? "" : "s");
    if (widest) {
        text += fmt::format(", at worst {} at {:g} % ({})",
                            model::interval_text(widest->low, widest->high), 100 * widest->level,
                            name_text(id));
    }
    return text;
}

std::string refused_sentence(std::string_view metric, std::string_view circumstance) {
    return fmt::format(
        "{} is not compared: {}, and the policy refuses that; accept this run's "
        "values with 'perfgate baseline refresh'",
        name_text(metric), circumstance);
}

std::string one_process_note(std::string_view metric, std::size_t cases) {
    return fmt::format(
        "{}: in {} case{} the baseline has one process, so its spread is unknown and the "
        "tolerance alone decides; 'perfgate baseline refresh SUITE' records several, --base takes "
        "several files",
        name_text(metric), cases, cases == 1 ? "" : "s");
}

std::string finer_note(std::string_view metric, std::size_t cases, double minimum_detectable_change,
                       std::string_view id) {
    return fmt::format(
        "{}: in {} case{} the spread hides changes as large as the tolerance: it detects {}{} "
        "({}); "
        "more processes in the baseline detect smaller ones",
        name_text(metric), cases, cases == 1 ? "" : "s",
        minimum_detectable_change > model::most_detected ? "" : "at worst ",
        model::detected_text(minimum_detectable_change), name_text(id));
}

std::string name_list(const std::vector<std::string>& names) {
    constexpr std::size_t shown = 10;
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), shown); ++i) {
        text += (i == 0 ? "" : ", ") + util::printable(names[i]);
    }
    if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
    return text;
}

std::string no_baseline_sentence(std::string_view metric, const model::MetricSeries& measured) {
    return fmt::format("{} has no baseline: measured {}", name_text(metric),
                       model::quantity_text(estimate_of(measured), measured.unit));
}

std::string not_comparable_sentence(std::string_view metric, std::string_view why) {
    return fmt::format(
        "{} cannot be compared: {}; measure both alike, or accept this run's values with 'perfgate "
        "baseline refresh'",
        name_text(metric), why);
}

std::string both_ways_note(std::string_view metric) {
    return fmt::format(
        "{}: the baseline does not say which way is better, so that a change in either way fails; "
        "'perfgate baseline refresh' stores it",
        name_text(metric));
}

std::string invalid_sentence(std::string_view metric, const model::MetricSeries& measured,
                             std::string_view why) {
    return fmt::format("{} is invalid: measured {}, but {}", name_text(metric),
                       model::quantity_text(estimate_of(measured), measured.unit), why);
}

std::string not_collected_sentence(std::string_view metric, std::string_view reason) {
    return fmt::format("{} was not collected: {}", name_text(metric),
                       reason.empty() ? "the run gives no reason" : util::printable(reason, 1000));
}

}  // namespace perfgate::gate
