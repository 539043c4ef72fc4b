// SPDX-License-Identifier: Apache-2.0
#include "gate/provenance_change.hpp"

#include <fmt/format.h>

#include <array>
#include <set>
#include <string_view>

#include "gate/batch_rule.hpp"
#include "gate/series.hpp"
#include "model/quantity.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

namespace {

using model::BaselineCase;
using model::MetricSeries;
using model::OnChange;

struct ProvenanceChange {
    OnChange policy;
    std::string note;  ///< empty: nothing changed, or it is not known
    bool timing_only = false;
};

/// With one board its provenance says which.
std::set<std::string> all_boards_of(const BaselineCase& expected) {
    std::set<std::string> boards{expected.provenance.board};
    for (const auto& [name, series] : expected.metrics) {
        const auto several = boards_of(series);
        if (several.size() < 2) continue;
        for (const auto& [board, processes] : several) boards.insert(board);
    }
    return boards;
}

/// Empty if either is not known: that is not a change.
std::string change_note(std::string_view what, const std::string& before, const std::string& now) {
    if (before.empty() || now.empty() || before == now) return {};
    return fmt::format("{} changed since the baseline: {} → {}", what, util::printable(before),
                       util::printable(now));
}

std::array<ProvenanceChange, 5> provenance_changes(const model::Run& run,
                                                   const model::CaseResult& result,
                                                   const BaselineCase& expected,
                                                   const model::ChangePolicy& policy) {
    const model::Environment& now = run.environment;
    const model::Provenance& then = expected.provenance;
    std::string board;
    if (other_board(run, result, expected) && run.backend == "imported") {
        board = "measured on another host than the baseline's";  // of its name there is a hash
    } else if (other_board(run, result, expected)) {
        board = "another board than the baseline's";
        const std::size_t boards = all_boards_of(expected).size();
        if (boards < least_boards) {
            board += fmt::format(
                "; it has {} of the {} boards from which the gate learns how much boards differ "
                "('perfgate baseline refresh SUITE --add-board')",
                boards, least_boards);
        }
    }
    return {
        {{policy.board, std::move(board), true},
         {policy.driver, change_note("driver", then.driver, now.driver)},
         {policy.cuda_toolkit, change_note("CUDA toolkit", then.cuda_toolkit, now.cuda_toolkit)},
         {policy.cupti, change_note("CUPTI", then.cupti, now.cupti)},
         {policy.tool_version, change_note("perfgate", then.tool_version, run.tool_version)}}};
}

const MetricSeries* find(const std::map<std::string, MetricSeries>& metrics,
                         const std::string& name) {
    const auto found = metrics.find(name);
    return found == metrics.end() ? nullptr : &found->second;
}

constexpr double most = 0.8;
constexpr double little = 0.2;

/// How much larger the second is, as a fraction of the first.
std::optional<double> rise(const MetricSeries* before, const MetricSeries* after) {
    if (before == nullptr || after == nullptr || !comparable(*before, *after)) {
        return std::nullopt;
    }
    return model::change_fraction(before->value, after->value);
}

/// Energy is a timing, too, and another clock changes it in another way.
bool is_a_time(const Comparison& comparison) {
    return comparison.definition->metric_class == model::MetricClass::timing &&
           comparison.definition->unit == "ns";
}

}  // namespace

bool other_board(const model::Run& run, const model::CaseResult& result,
                 const BaselineCase& expected) {
    const std::string board = model::board_of(run, result);
    return !board.empty() && !expected.provenance.board.empty() &&
           !all_boards_of(expected).contains(board);
}

std::vector<std::string> provenance_notes(const model::Run& run, const model::CaseResult& result,
                                          const BaselineCase& expected,
                                          const model::ChangePolicy& policy) {
    std::vector<std::string> notes;
    for (const ProvenanceChange& changed : provenance_changes(run, result, expected, policy)) {
        if (!changed.note.empty() && changed.policy != OnChange::accept) {
            notes.push_back(changed.note);
        }
    }
    return notes;
}

std::string refused_provenance_change(const model::Run& run, const model::CaseResult& result,
                                      const BaselineCase& expected, model::MetricClass metric_class,
                                      const model::ChangePolicy& policy) {
    for (const ProvenanceChange& changed : provenance_changes(run, result, expected, policy)) {
        if (changed.note.empty() || changed.policy != OnChange::refuse) continue;
        if (changed.timing_only && metric_class != model::MetricClass::timing) continue;
        return changed.note;
    }
    return {};
}

std::optional<double> mean_clock_mhz(const MetricSeries& series) {
    double sum = 0;
    double count = 0;
    for (const model::Batch* batch : batches_in_use(series)) {
        if (!batch->sm_clock_mhz || !(*batch->sm_clock_mhz > 0)) return std::nullopt;
        sum += *batch->sm_clock_mhz;
        ++count;
    }
    if (count == 0) return std::nullopt;
    return sum / count;
}

std::string clock_explanation(const Comparison& comparison, const Judgement& judgement,
                              const model::CaseResult& result, const BaselineCase& expected) {
    // The clock must explain most of the change in time, and the cycles almost none of it.
    using model::Verdict;
    const bool worse =
        judgement.verdict == Verdict::regressed || judgement.verdict == Verdict::inconclusive;
    if (!is_a_time(comparison) || !worse || !(judgement.baseline > 0) ||
        judgement.measured <= judgement.baseline) {
        return {};
    }
    const double slower = judgement.measured / judgement.baseline - 1;
    const auto cycles = rise(find(expected.metrics, "cycles"), find(result.metrics, "cycles"));
    if (!cycles || *cycles > little * slower) return {};

    const std::optional<double> before = mean_clock_mhz(*comparison.baseline);
    const std::optional<double> now = mean_clock_mhz(*comparison.measured);
    if (!before || !now || *before / *now - 1 < most * slower) return {};
    return fmt::format("explained by the clock: SM clock {:.0f} → {:.0f} MHz, cycles {}", *before,
                       *now, model::change_text(*cycles));
}

std::string hidden_by_clock(const Comparison& comparison, const Judgement& judgement,
                            const model::CaseResult& result, const BaselineCase& expected) {
    using model::Verdict;
    const bool calm = judgement.verdict == Verdict::pass || judgement.verdict == Verdict::improved;
    if (!is_a_time(comparison) || !calm || !(judgement.baseline > 0) || !(judgement.measured > 0)) {
        return {};
    }
    const std::optional<double> before = mean_clock_mhz(*comparison.baseline);
    const std::optional<double> now = mean_clock_mhz(*comparison.measured);
    if (!before || !now || *now <= *before) return {};
    const double scaled = judgement.measured * *now / *before;
    const Change change = change_between(comparison, judgement.baseline, scaled);
    const auto cycles = rise(find(expected.metrics, "cycles"), find(result.metrics, "cycles"));
    if (!change.counts || change.good_way) return {};
    // What is not known does not excuse a time, as in clock_explanation().
    if (cycles && *cycles < most * (scaled / judgement.baseline - 1)) return {};
    return fmt::format(
        "a higher clock may hide a regression: SM clock {:.0f} → {:.0f} MHz, cycles {}; at the "
        "baseline's clock it would be {}: refresh the baseline at today's clock",
        *before, *now, cycles ? model::change_text(*cycles) : "not known",
        model::quantity_text(scaled, comparison.definition->unit));
}

}  // namespace perfgate::gate
