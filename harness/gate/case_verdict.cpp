// SPDX-License-Identifier: Apache-2.0
#include "gate/case_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "gate/batch_rule.hpp"
#include "gate/choices.hpp"
#include "gate/comparable.hpp"
#include "gate/invalid.hpp"
#include "gate/provenance_change.hpp"
#include "gate/sentence.hpp"
#include "gate/series.hpp"
#include "gate/significance.hpp"
#include "model/case.hpp"
#include "model/quantity.hpp"
#include "model/sorted_walk.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

namespace {

using model::BaselineCase;
using model::CaseResult;
using model::CaseStatus;
using model::CaseVerdict;
using model::CodeChange;
using model::GateRule;
using model::MetricDefinition;
using model::MetricSeries;
using model::MetricVerdict;
using model::Run;
using model::Verdict;

const MetricDefinition& definition_of(const Run& run, const std::string& metric,
                                      const std::string& id) {
    const auto found = run.metric_definitions.find(metric);
    if (found == run.metric_definitions.end()) {
        throw util::InputError(
            fmt::format("{}: the run gates '{}' and does not define it in metric_definitions; "
                        "measure again",
                        util::printable(id), util::printable(metric)));
    }
    return found->second;
}

MetricVerdict not_collected(const Run& run, const std::string& metric, std::string_view reason) {
    const auto definition = run.metric_definitions.find(metric);
    MetricVerdict verdict;
    verdict.metric = metric;
    if (definition != run.metric_definitions.end()) verdict.unit = definition->second.unit;
    verdict.verdict = Verdict::not_collected;
    verdict.sentence = not_collected_sentence(metric, reason);
    return verdict;
}

/// Only --changed-only and the suite itself may leave out what the baseline expects: a variant
/// that is no longer built, or needs a newer device, is no longer gated.
void set_skipped(const Run& run, const CaseResult& result, const BaselineCase* expected,
                 CaseVerdict& verdict) {
    verdict.verdict = Verdict::skipped;
    if (result.unchanged) verdict.code = CodeChange::unchanged;
    if (expected == nullptr || result.unchanged || run.interrupted) return;
    if (result.skipped_by_suite) {
        verdict.notes.emplace_back("the baseline has this case, and the suite skips it");
        return;
    }
    verdict.verdict = Verdict::missing;
    verdict.reason = fmt::format(
        "in the baseline and not measured: {}; make it run here again, or state in the suite "
        "that it need not ('skip' in an override)",
        result.reason);
}

/// Sets the verdict of a case of which nothing can be compared; false: there is something.
bool decided_by_status(const Run& run, const CaseResult& result, const BaselineCase* expected,
                       CaseVerdict& verdict) {
    switch (result.status) {
        case CaseStatus::incorrect:
            verdict.verdict = Verdict::incorrect;
            return true;
        case CaseStatus::error:
            verdict.verdict = Verdict::error;
            return true;
        case CaseStatus::invalid:
            verdict.verdict = Verdict::invalid;
            return true;
        case CaseStatus::skipped:
            set_skipped(run, result, expected, verdict);
            return true;
        case CaseStatus::measured:
            break;
    }
    if (result.verification && !result.verification->passed) {
        verdict.verdict = Verdict::incorrect;
        verdict.reason = "verification failed: " + result.verification->detail;
        return true;
    }
    if (run.verify_only) {
        verdict.verdict = Verdict::skipped;
        verdict.reason = result.verification
                             ? "verified and not measured (--verify-only)"
                             : "not verified: the suite states no 'check' (--verify-only)";
        return true;
    }
    if (std::string why = too_fast(result, run.environment); !why.empty()) {
        verdict.verdict = Verdict::invalid;
        verdict.reason = std::move(why);
        return true;
    }
    return false;
}

/// Why the host's time in a program's range says nothing: the device does none of the range's work
/// any more. Empty: it does some, or did none before.
std::string stopped_working(const CaseResult& result, const BaselineCase& expected) {
    const auto now = result.metrics.find("gpu_time");
    const auto then = expected.metrics.find("gpu_time");
    if (result.command.empty() || result.gates.empty() || now == result.metrics.end() ||
        then == expected.metrics.end() || then->second.value == 0) {
        return {};
    }
    const std::vector<double> values = batch_values(now->second);
    if (std::any_of(values.begin(), values.end(), [](double value) { return value != 0; })) {
        return {};
    }
    return fmt::format(
        "it did nothing on the device, where the baseline has {} of work: if that is meant, accept "
        "its values with 'perfgate baseline refresh {}'",
        model::quantity_text(then->second.value, then->second.unit),
        result.place.file.empty() ? "SUITE" : util::shell_word(result.place.file));
}

/// Whether a change of provenance forbids comparing values of this class.
bool refused(const Run& run, const model::Policy& policy, const ComparedCase& compared,
             model::MetricClass metric_class) {
    return !refused_provenance_change(run, *compared.result, *compared.expected, metric_class,
                                      policy.changed)
                .empty();
}

/// Metrics that are not judged: reports that explain a change need both values.
void add_baseline_values(const Run& run, const model::Policy& policy, const ComparedCase& compared,
                         CaseVerdict& verdict) {
    const CaseResult& result = *compared.result;
    const BaselineCase& expected = *compared.expected;
    std::set<std::string_view> gated;
    for (const GateRule& gate : result.gates) gated.insert(gate.metric);
    const bool times_refused = refused(run, policy, compared, model::MetricClass::timing);
    const bool others_refused = refused(run, policy, compared, model::MetricClass::counter);
    // All three are sorted by name and walked together.
    auto measured = result.metrics.begin();
    auto definition = run.metric_definitions.begin();
    for (const auto& [name, baseline] : expected.metrics) {
        if (!model::advance_to(name, measured, result.metrics.end()) ||
            !model::advance_to(name, definition, run.metric_definitions.end()) ||
            gated.contains(name) || !comparable(measured->second, baseline) ||
            !std::isfinite(baseline.value)) {
            continue;
        }
        const bool time = definition->second.metric_class == model::MetricClass::timing;
        if (time ? times_refused : others_refused) continue;
        verdict.baseline_values.emplace_hint(verdict.baseline_values.end(), name, baseline.value);
    }
}

/// Gated metrics too: a sentence about one has the values, and not what they consist of.
void add_baseline_details(const ComparedCase& compared, CaseVerdict& verdict) {
    const auto& metrics = compared.result->metrics;
    for (const auto& [name, baseline] : compared.expected->metrics) {
        const auto measured = metrics.find(name);
        if (measured == metrics.end() || !comparable(measured->second, baseline) ||
            measured->second.detail == baseline.detail) {
            continue;
        }
        verdict.baseline_details.emplace_hint(verdict.baseline_details.end(), name,
                                              baseline.detail);
    }
}

/// Values per instance do not show that a program has other instances than before. Empty: it has
/// not, it is not known, or the gate judges it.
std::string other_instances(const CaseResult& result, const BaselineCase& expected) {
    constexpr const char* metric = "instances";
    const auto now = result.metrics.find(metric);
    const auto then = expected.metrics.find(metric);
    if (now == result.metrics.end() || then == expected.metrics.end() ||
        std::any_of(result.gates.begin(), result.gates.end(),
                    [](const GateRule& gate) { return gate.metric == metric; })) {
        return {};
    }
    // Of a program that repeats for a given time, processes have different numbers.
    const std::vector<double> usual = batch_values(then->second);
    const double measured = estimate_of(now->second);
    const auto [least, most] = std::minmax_element(usual.begin(), usual.end());
    if (usual.empty() || (*least <= measured && measured <= *most)) return {};
    return fmt::format(
        "{:.6g} instances per process, the baseline has {:.6g}: values are per instance", measured,
        estimate_of(then->second));
}

/// Why a value cannot be judged: recording distorts it, or it is no measurement.
std::string why_invalid(const CaseResult& result, const GateRule& gate, bool is_measured,
                        const std::map<std::string, MetricSeries>& metrics) {
    std::string why = distortion(metrics, result.max_overhead, gate.metric);
    const auto series = metrics.find(gate.metric);
    if (!why.empty() || series == metrics.end()) return why;
    return no_measurement(result, gate, series->second, is_measured);
}

/// Why stored results are no second measurement. A run from which the baseline was accepted may be
/// judged again.
std::string why_the_same(const model::Run& run, const ComparedCase& compared, const GateRule& gate,
                         const MetricDefinition& definition, const MetricSeries* baseline) {
    const bool exact = gate.tolerance.worse == 0 && gate.tolerance.abs == 0;
    if (run.backend != "imported" || baseline == nullptr || exact ||
        definition.metric_class != model::MetricClass::timing) {
        return {};
    }
    const bool is_base_run = !compared.stored->base.empty();
    if (!is_base_run && compared.expected->provenance.recorded_at == run.started_at) return {};
    return repeated_baseline(*baseline, compared.result->metrics.at(gate.metric));
}

/// Null for a stored baseline, and for a case that the base run does not have.
const BaseCase* base_case(const StoredBaseline* stored, const std::string& id) {
    if (stored == nullptr) return nullptr;
    const auto found = stored->base.find(id);
    return found == stored->base.end() ? nullptr : &found->second;
}

/// In which way the head measures something else than the base, as its suite states it, and what is
/// doubtful in the base, too, or only there.
void add_remarks(const BaseCase& base, const CaseResult& head, CaseVerdict& verdict) {
    if (base.status != CaseStatus::measured) return;
    if (!base.measured_as.empty()) {
        const std::string difference = model::difference(base.measured_as, head.measured_as);
        if (!difference.empty()) {
            verdict.notes.push_back("the suites of base and head differ: " + difference);
        }
    }
    for (const std::string& remark : base.notes) {
        const auto same = std::find(verdict.notes.begin(), verdict.notes.end(), remark);
        if (same == verdict.notes.end()) {
            verdict.notes.push_back("in the base, " + remark);
        } else {
            *same = "in base and head, " + remark;
        }
    }
}

bool is_related(const model::SuiteResult& suite, const std::string& id) {
    return std::any_of(
        suite.relations.begin(), suite.relations.end(), [&](const model::Relation& relation) {
            return std::any_of(relation.instances.begin(), relation.instances.end(),
                               [&](const std::vector<std::string>& instance) {
                                   return std::find(instance.begin(), instance.end(), id) !=
                                          instance.end();
                               });
        });
}

/// Why the base run has no value of the metric; empty: it is no base run, or does not say.
std::string lost_in_base(const ComparedCase& compared, const std::string& id,
                         const std::string& metric) {
    const BaseCase* base = base_case(compared.stored, id);
    if (base == nullptr || base->status != CaseStatus::measured) return {};
    for (const model::NotCollected& lost : base->not_collected) {
        if (lost.metric != metric) continue;
        return fmt::format("{}: the base has no value: {}", metric,
                           util::printable(lost.reason, 1000));
    }
    return {};
}

/// Points the comparison to what was measured of the time back to back. Returns why that cannot
/// decide; empty: it does, or nothing was measured. A base that takes longer here than any machine
/// explains would hide that the case is slower.
std::string settle_here(const CaseResult& result, Comparison& comparison) {
    constexpr std::size_t least_pairs = 6;  // fewer have no interval at 95 %
    if (!result.settled || !result.settled->problem.empty()) return {};
    const std::string& metric = comparison.definition->name;
    const auto before = result.settled->before.find(metric);
    const auto after = result.settled->after.find(metric);
    if (before == result.settled->before.end() || after == result.settled->after.end() ||
        !comparable(before->second, *comparison.baseline) ||
        !comparable(after->second, *comparison.measured)) {
        return fmt::format("back to back, {} was not measured on both sides by the same method",
                           metric);
    }
    const std::size_t pairs =
        std::min(batches_in_use(before->second).size(), batches_in_use(after->second).size());
    const double here = estimate_of(before->second);
    const double then = estimate_of(*comparison.baseline);
    const auto [least, most] = std::minmax(here, then);
    if (pairs < least_pairs) {
        return fmt::format("of {} there are {}: {} decide", metric, util::counted(pairs, "pair"),
                           least_pairs);
    }
    if (!(least > 0) || most > slowest_machine * least) {
        return fmt::format(
            "{} of the base is {} here and {} in the baseline, a factor that no machine fit for "
            "measuring explains",
            metric, model::quantity_text(here, comparison.definition->unit),
            model::quantity_text(then, comparison.definition->unit));
    }
    comparison.baseline = &before->second;
    comparison.measured = &after->second;
    comparison.leeway = 0;
    comparison.new_board = false;
    comparison.most_between_boards = 0;
    comparison.paired = true;
    return {};
}

}  // namespace

CaseVerdict CaseVerdicts::open(std::size_t suite, std::size_t index, const StoredBaseline* stored) {
    const CaseResult& result = run_.suites[suite].cases[index];
    CaseVerdict verdict;
    verdict.workload = result.spec.workload;
    verdict.id = model::case_id(result.spec);
    verdict.place = result.place;
    verdict.reason = result.reason;
    verdict.log = result.log;
    verdict.wall_s = result.wall_s;
    begin(suite, index, stored, verdict);
    if (const BaseCase* base = base_case(stored, verdict.id)) add_remarks(*base, result, verdict);
    return verdict;
}

void CaseVerdicts::begin(std::size_t suite, std::size_t index, const StoredBaseline* stored,
                         CaseVerdict& verdict) {
    const CaseResult& result = run_.suites[suite].cases[index];
    const BaselineCase* expected = nullptr;
    if (stored != nullptr) {
        const auto found = stored->baseline.cases.find(verdict.id);
        if (found != stored->baseline.cases.end()) expected = &found->second;
    }
    if (decided_by_status(run_, result, expected, verdict)) return;
    if (expected != nullptr) {
        std::string why = measured_as_another(result, *expected);
        if (why.empty()) why = stopped_working(result, *expected);
        if (!why.empty()) {
            verdict.verdict = Verdict::invalid;
            verdict.reason = std::move(why);
            return;
        }
    }
    ComparedCase& compared = cases_.emplace_back();
    compared = {{suite, index}, &result, expected, stored, {}};
    // The code is of one process: where others chose otherwise, they ran other code.
    if (expected != nullptr && varying_choices(result).empty()) {
        compared.code = compare_code(code_of(result, run_.environment), code_of(*expected));
    }
    compare(compared, verdict);
}

namespace {

/// Whether a kernel of a case has another grid or block.
bool is_launched_otherwise(const std::vector<model::Kernel>& measured,
                           const std::vector<model::Kernel>& expected) {
    return !std::equal(measured.begin(), measured.end(), expected.begin(), expected.end(),
                       [](const model::Kernel& left, const model::Kernel& right) {
                           return left.grid == right.grid && left.block == right.block;
                       });
}

}  // namespace

void CaseVerdicts::compare(const ComparedCase& compared, CaseVerdict& verdict) {
    const CaseResult& result = *compared.result;
    const BaselineCase* expected = compared.expected;
    if (expected != nullptr) {
        verdict.notes = provenance_notes(run_, result, *expected, policy_.changed);
        verdict.code = compared.code.change;
        if (compared.code.change == CodeChange::changed) {
            verdict.notes.push_back(compared.code.difference);
        }
        verdict.changed_kernels = compared.code.changed_kernels;
        const bool is_base_run = !compared.stored->base.empty();
        for (std::string note : {other_instances(result, *expected),
                                 other_sample_count(result, *expected, is_base_run)}) {
            if (!note.empty()) verdict.notes.push_back(std::move(note));
        }
        add_baseline_values(run_, policy_, compared, verdict);
        add_baseline_details(compared, verdict);
        if (!result.command.empty() || result.code ||
            is_launched_otherwise(result.kernels, expected->kernels)) {
            verdict.baseline_kernels = expected->kernels;
        }
    }
    if (may_lack_verification(result) && !result.verification) {
        verdict.notes.emplace_back("not verified: the suite states no 'check'");
    }
    if (const std::string varying = varying_choices(result); !varying.empty()) {
        verdict.notes.push_back("its processes did not choose the same: " + varying);
    }
    verdict.notes.insert(verdict.notes.end(), result.notes.begin(), result.notes.end());
    if (const auto overhead = overhead_of(result.metrics)) {
        verdict.notes.push_back("recording overhead: " + to_text(*overhead));
    }
    add_metrics(compared, verdict);
}

void CaseVerdicts::add_metrics(const ComparedCase& compared, CaseVerdict& verdict) {
    const CaseResult& result = *compared.result;
    std::set<std::string_view> uncollected;
    for (const model::NotCollected& missing : result.not_collected) {
        uncollected.insert(missing.metric);
    }
    const std::set<std::string_view> inapplicable(result.not_applicable.begin(),
                                                  result.not_applicable.end());
    bool gated = false;
    for (const GateRule& gate : result.gates) {
        if (inapplicable.contains(gate.metric)) continue;
        gated = true;
        if (!uncollected.contains(gate.metric)) add_gated(compared, gate, verdict);
    }
    for (const model::NotCollected& missing : result.not_collected) {
        verdict.metrics.push_back(not_collected(run_, missing.metric, missing.reason));
    }
    // A program's case may be gated by a relation of its suite alone.
    const bool expected_only = !result.command.empty() && result.gates.empty();
    if (expected_only && !is_related(run_.suites[compared.at.suite], verdict.id)) {
        verdict.notes.emplace_back("nothing gates it: its values are only reported");
    }
    if (!gated && !expected_only) {
        verdict.verdict = Verdict::error;
        verdict.reason =
            "no gated metric applies to this case: give the suite a tolerance for a metric that is "
            "measured here, or exclude the case";
    }
}

void CaseVerdicts::add_gated(const ComparedCase& compared, const GateRule& gate,
                             CaseVerdict& verdict) {
    const CaseResult& result = *compared.result;
    const BaselineCase* expected = compared.expected;
    const auto series = result.metrics.find(gate.metric);
    if (series == result.metrics.end()) {
        verdict.metrics.push_back(
            not_collected(run_, gate.metric, "the run has no value of it; measure again"));
        return;
    }
    const MetricSeries& measured = series->second;
    const MetricDefinition& definition = definition_of(run_, gate.metric, verdict.id);
    MetricVerdict& metric = verdict.metrics.emplace_back();
    metric.metric = gate.metric;
    metric.unit = definition.unit;
    metric.measured = estimate_of(measured);
    metric.verdict = Verdict::no_baseline;
    metric.warns = gate.tolerance.severity.value_or(policy_.severity.of(definition.metric_class)) ==
                   model::Severity::warn;
    const MetricSeries* baseline = nullptr;
    if (expected != nullptr) {
        const auto found = expected->metrics.find(gate.metric);
        if (found != expected->metrics.end()) baseline = &found->second;
    }
    const bool is_measured = measures(definition, baseline);
    std::string why = why_invalid(result, gate, is_measured, result.metrics);
    if (expected != nullptr && why.empty()) {
        why = why_invalid(result, gate, is_measured, expected->metrics);
        if (!why.empty()) why = "in the baseline, " + why;
        if (why.empty()) why = why_the_same(run_, compared, gate, definition, baseline);
    }
    if (!why.empty()) {
        metric.verdict = Verdict::invalid;
        metric.sentence = invalid_sentence(gate.metric, measured, why);
        return;
    }
    Comparison comparison{&definition, baseline, &measured, gate.tolerance, 0, compared.at.suite};
    if (baseline != nullptr) {
        consider_boards(run_, result, *expected, gate.cross_board, of_boards_, comparison);
        baseline = comparison.baseline;
    }
    metric.tolerance = tolerance_words(comparison);
    if (metric.warns) metric.tolerance += ", only warns";
    if (baseline == nullptr) {
        metric.sentence = lost_in_base(compared, verdict.id, gate.metric);
        if (!metric.sentence.empty()) {
            metric.verdict = Verdict::not_collected;
        } else {
            metric.sentence = no_baseline_sentence(gate.metric, measured);
        }
        return;
    }
    const auto direction = direction_then(*compared.stored, result, *expected, definition);
    if (why = incomparable(*baseline, measured, direction, definition.direction); !why.empty()) {
        metric.verdict = Verdict::invalid;
        metric.sentence = not_comparable_sentence(gate.metric, why);
        return;
    }
    if (std::string refused = refused_provenance_change(run_, result, *expected,
                                                        definition.metric_class, policy_.changed);
        !refused.empty()) {
        metric.verdict = Verdict::invalid;
        metric.sentence = refused_sentence(gate.metric, refused);
        return;
    }
    if (!direction && definition.direction != model::Direction::none) {
        verdict.notes.push_back(both_ways_note(gate.metric));
        comparison.definition = &both_ways_.emplace_back(definition);
        both_ways_.back().direction = model::Direction::none;
    }
    std::string unsettled;
    if (comparison.other_board) unsettled = settle_here(result, comparison);
    if (comparison.paired) {
        metric.tolerance = tolerance_words(comparison);
        if (metric.warns) metric.tolerance += ", only warns";
        const std::string note =
            fmt::format("settled here: its base, {}, was measured on this board, back to back",
                        util::printable(result.settled->base, 300));
        if (std::find(verdict.notes.begin(), verdict.notes.end(), note) == verdict.notes.end()) {
            verdict.notes.push_back(note);
        }
    }
    pending_.push_back({&compared, verdict.metrics.size() - 1, comparison, std::move(unsettled)});
}

void consider_boards(const Run& run, const CaseResult& result, const BaselineCase& expected,
                     double cross_board, std::deque<MetricSeries>& parts, Comparison& comparison) {
    constexpr std::size_t least_processes = 2;  // one says nothing about their spread
    if (!is_time(comparison)) return;
    const std::string board = model::board_of(run, result);
    const std::map<std::string, std::size_t> boards = boards_of(*comparison.baseline);
    const auto own = boards.find(board);
    if (boards.size() > 1 && own != boards.end() && own->second >= least_processes) {
        comparison.baseline = &parts.emplace_back(series_of_board(*comparison.baseline, board));
    } else if (other_board(run, result, expected) || boards.size() > 1) {
        comparison.other_board = true;
        comparison.new_board = boards.size() >= least_boards;
        if (comparison.new_board) {
            comparison.most_between_boards = cross_board;
        } else {
            comparison.leeway = cross_board;
        }
    }
}

}  // namespace perfgate::gate
