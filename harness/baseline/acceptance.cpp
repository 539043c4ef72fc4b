// SPDX-License-Identifier: Apache-2.0
#include "baseline/acceptance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "gate/batch_rule.hpp"
#include "gate/choices.hpp"
#include "gate/invalid.hpp"
#include "gate/rule.hpp"
#include "model/case.hpp"
#include "model/quantity.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::baseline {

namespace {

using model::CaseResult;
using model::MetricSeries;

using Metrics = std::map<std::string, MetricSeries>;

const MetricSeries* find(const Metrics& metrics, const std::string& name) {
    const auto found = metrics.find(name);
    return found == metrics.end() ? nullptr : &found->second;
}

/// Seconds to three digits: the next run will not cost exactly the same.
double rounded(double seconds) {
    if (!(seconds > 0) || !std::isfinite(seconds)) return 0;
    const double unit = std::pow(10.0, std::floor(std::log10(seconds)) - 2);
    const double digits = std::round(seconds / unit);
    return unit >= 1 ? digits * unit : digits / std::round(1 / unit);
}

/// Of two values of a gated metric.
gate::Change change_of(const model::MetricDefinition& definition, const model::Tolerance& tolerance,
                       double before, double after) {
    gate::Comparison comparison;
    comparison.definition = &definition;
    comparison.tolerance = tolerance;
    return gate::change_between(comparison, before, after);
}

}  // namespace

std::string objection(const model::Run& run, const CaseResult& result) {
    if (result.status != model::CaseStatus::measured) {
        return fmt::format("{}: {}", model::to_text(result.status), result.reason);
    }
    const bool verified =
        result.verification ? result.verification->passed : may_lack_verification(result);
    if (!verified) return "not verified";
    if (std::string why = gate::too_fast(result, run.environment); !why.empty()) return why;
    if (!result.not_collected.empty()) {
        const model::NotCollected& first = result.not_collected.front();
        return fmt::format("{} was not collected: {}", first.metric, first.reason);
    }
    for (const model::GateRule& gate : result.gates) {
        const auto& inapplicable = result.not_applicable;
        const bool applies = std::ranges::find(inapplicable, gate.metric) == inapplicable.end();
        if (applies && !result.metrics.contains(gate.metric)) {
            return fmt::format("it has no value of {}", gate.metric);
        }
        if (std::string why = gate::distortion(result.metrics, result.max_overhead, gate.metric);
            !why.empty()) {
            return why;
        }
        if (!applies) continue;
        const MetricSeries& series = result.metrics.at(gate.metric);
        const auto definition = run.metric_definitions.find(gate.metric);
        const bool is_measured = definition != run.metric_definitions.end() &&
                                 gate::measures(definition->second, nullptr);
        if (std::string why = gate::no_measurement(result, gate, series, is_measured);
            !why.empty()) {
            return fmt::format("{}: {}", gate.metric, why);
        }
        if (definition != run.metric_definitions.end()) {
            if (std::string why =
                    gate::hidden_by_choices(result, definition->second, series, gate.tolerance);
                !why.empty()) {
                return fmt::format("{}: {}", gate.metric, why);
            }
        }
        if (definition != run.metric_definitions.end() &&
            gate::disagrees(definition->second, series, gate.tolerance)) {
            return fmt::format(
                "the processes disagree about {} by more than its tolerance of {}, so that a "
                "regression could hide in it: measure while nothing else uses the machine, {}or "
                "raise its tolerance",
                gate.metric, model::to_text(gate.tolerance, definition->second.unit),
                gate.metric == "real_time"
                    ? "gate cpu_time, if the benchmark reports it and computes on one CPU thread "
                      "(it spreads less on a busy machine), "
                    : "");
        }
    }
    if (result.metrics.empty()) return "it has no values";
    return {};
}

void require_finished(const model::Run& run) {
    if (run.verify_only) {
        throw util::InputError(
            "the run only verified and measured nothing: measure again without --verify-only");
    }
    if (run.interrupted) {
        throw util::InputError(
            "the run was interrupted and cannot become a baseline: measure again to the end");
    }
}

model::BaselineCase with_code_of(const model::Run& run, const CaseResult& result,
                                 const Acceptance& acceptance, model::BaselineCase expected) {
    expected.provenance = {model::board_of(run, result),
                           run.environment.driver,
                           run.environment.cuda_toolkit,
                           run.environment.cupti,
                           run.tool_version,
                           run.git_revision,
                           run.started_at,
                           acceptance.accepted_by,
                           acceptance.reason,
                           rounded(result.wall_s)};
    expected.kernels = result.kernels;
    for (model::Kernel& kernel : expected.kernels) {
        kernel.theoretical_occupancy = 0;
        if (kernel.launches == 0) kernel.duration_ns = 0;
        kernel.metrics.clear();
        kernel.source = {};
        kernel.waves.reset();
        kernel.code_bytes.reset();
        kernel.stack_bytes.reset();
    }
    expected.host_code = result.host_code;
    expected.libraries = result.libraries;
    expected.memory_operations = result.memory_operations;
    expected.tags = result.tags;
    return expected;
}

model::LedgerEntry ledger_entry(model::LedgerAction action, const std::string& id,
                                const Acceptance& acceptance) {
    model::LedgerEntry entry;
    entry.id = id;
    entry.at = acceptance.at;
    entry.action = action;
    entry.by = acceptance.accepted_by;
    entry.reason = acceptance.reason;
    return entry;
}

model::LedgerEntry ledger_entry(model::LedgerAction action, const std::string& id,
                                const Acceptance& acceptance, const model::Run& run) {
    model::LedgerEntry entry = ledger_entry(action, id, acceptance);
    entry.recorded_at = run.started_at;
    entry.git_revision = run.git_revision;
    entry.anchor_reset = action != model::LedgerAction::acknowledge && acceptance.reset_anchors;
    return entry;
}

std::map<std::string, double> moved_anchors(const model::Run& run, const CaseResult& result,
                                            const model::BaselineCase& before, const Metrics& after,
                                            bool reset) {
    std::map<std::string, double> anchors;
    for (const model::GateRule& gate : result.gates) {
        const MetricSeries* then = find(before.metrics, gate.metric);
        const MetricSeries* now = find(after, gate.metric);
        const auto definition = run.metric_definitions.find(gate.metric);
        if (then == nullptr || now == nullptr || definition == run.metric_definitions.end() ||
            !comparable(*then, *now)) {
            continue;
        }
        const auto anchored = before.anchors.find(gate.metric);
        const double anchor = anchored == before.anchors.end() ? then->value : anchored->second;
        if (then->value != now->value) {
            if (reset) continue;
            const gate::Change change =
                change_of(definition->second, gate.tolerance, anchor, now->value);
            if (change.good_way && change.counts) continue;
        }
        if (anchor != now->value) anchors.emplace(gate.metric, anchor);
    }
    return anchors;
}

std::vector<std::string> creeping(const model::Run& run, const CaseResult& result,
                                  const model::BaselineCase& before,
                                  const model::BaselineCase& after, FirstChange first,
                                  double bound) {
    std::vector<std::string> sentences;
    for (const model::GateRule& gate : result.gates) {
        const auto anchored = after.anchors.find(gate.metric);
        const auto definition = run.metric_definitions.find(gate.metric);
        const MetricSeries* then = find(before.metrics, gate.metric);
        const MetricSeries* now = find(after.metrics, gate.metric);
        if (anchored == after.anchors.end() || definition == run.metric_definitions.end() ||
            then == nullptr || now == nullptr) {
            continue;
        }
        const double anchor = anchored->second;
        const auto worse_by = [&](double from, double to, const model::Tolerance& allowed) {
            const gate::Change change = change_of(definition->second, allowed, from, to);
            return change.counts && !change.good_way;
        };
        const bool is_first = !worse_by(anchor, then->value, gate.tolerance);
        if (is_first && first == FirstChange::decided) continue;
        if (!worse_by(then->value, now->value, {0, std::nullopt, 0}) ||
            !worse_by(anchor, now->value,
                      {std::max(bound, gate.tolerance.worse), std::nullopt, gate.tolerance.abs})) {
            continue;
        }
        const model::QuantityTexts values = model::quantity_texts(anchor, now->value, now->unit);
        const auto fraction = model::change_fraction(anchor, now->value);
        sentences.push_back(fmt::format(
            "{}: {} goes from its anchor of {} to {}{}; changes since the anchor may add up to "
            "{:.3g} %",
            util::printable(model::case_id(result.spec)), util::printable(gate.metric),
            values.before, values.after,
            fraction ? fmt::format(" ({})", model::change_text(*fraction)) : "", bound * 100));
    }
    return sentences;
}

void refuse_if_any(const std::string& head, const std::vector<std::string>& problems) {
    constexpr std::size_t shown = 100;
    if (problems.empty()) return;
    std::string text = head;
    for (std::size_t i = 0; i < std::min(problems.size(), shown); ++i) {
        text += "\n  " + problems[i];
    }
    if (problems.size() > shown) text += fmt::format("\n  and {} more", problems.size() - shown);
    throw util::InputError(text);
}

}  // namespace perfgate::baseline
