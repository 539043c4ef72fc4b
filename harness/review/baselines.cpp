// SPDX-License-Identifier: Apache-2.0
// Baselines and their ledgers: what is expected, what is acknowledged, who accepted it.
#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "metrics/catalogue.hpp"
#include "model/quantity.hpp"
#include "model/text.hpp"
#include "review/findings.hpp"
#include "stats/quantiles.hpp"

namespace perfgate::review {

namespace {

using model::BaselineCase;
using model::MetricSeries;

std::string value_text(double value, const std::string& unit) {
    return model::quantity_text(value, unit);
}

/// The value that the gate compares with: someone may have edited the samples but not the value.
double middle(const MetricSeries& series) {
    const std::vector<double> samples = model::all_samples(series);
    return samples.empty() ? series.value : stats::median(samples);
}

/// The middle of each board's processes.
std::map<std::string, double> middles(const MetricSeries& series) {
    std::map<std::string, std::vector<double>> samples;
    for (const model::Batch& batch : series.batches) {
        std::vector<double>& of_board = samples[batch.device];
        of_board.insert(of_board.end(), batch.samples.begin(), batch.samples.end());
    }
    std::map<std::string, double> result;
    for (const auto& [board, values] : samples) {
        if (!values.empty()) result.emplace(board, stats::median(values));
    }
    return result;
}

struct Metric {
    const std::string& id;  ///< of the case
    const std::string& name;
    const model::SourcePlace& place;
};

void compare_series(const Metric& metric, const MetricSeries& before, const MetricSeries& after,
                    Findings& findings) {
    if (!comparable(before, after)) {
        findings.add(Loosening::not_compared, metric.place, metric.name,
                     before.method + ", " + before.unit, after.method + ", " + after.unit,
                     metric.id);
        return;
    }
    double old_value = before.value;
    double new_value = after.value;
    if (!is_worse(metric.name, old_value, new_value)) {
        old_value = middle(before);
        new_value = middle(after);
    }
    // A run is judged against its own board's values, which those of other boards may hide here.
    if (!is_worse(metric.name, old_value, new_value)) {
        const std::map<std::string, double> now = middles(after);
        for (const auto& [board, value] : middles(before)) {
            const auto found = now.find(board);
            if (found == now.end() || !is_worse(metric.name, value, found->second)) continue;
            old_value = value;
            new_value = found->second;
        }
    }
    if (!is_worse(metric.name, old_value, new_value)) return;
    const std::string change = model::moved_text(old_value, new_value, after.unit);
    std::string words = value_text(new_value, after.unit);
    if (!change.empty()) words += " (" + change + ")";
    findings.add(Loosening::baseline_raised, metric.place, metric.name,
                 value_text(old_value, before.unit), words, metric.id);
}

double anchor_of(const BaselineCase& baseline_case, const std::string& metric,
                 const MetricSeries& series) {
    const auto anchor = baseline_case.anchors.find(metric);
    return anchor == baseline_case.anchors.end() ? series.value : anchor->second;
}

void compare_acknowledgement(const Metric& metric, const BaselineCase& before,
                             const model::Acknowledgement& after, Findings& findings) {
    const auto words = [](const model::Acknowledgement& acknowledgement) {
        return fmt::format("{} until {}",
                           value_text(acknowledgement.known.value, acknowledgement.known.unit),
                           acknowledgement.until);
    };
    const auto found = before.acknowledged.find(metric.name);
    if (found == before.acknowledged.end()) {
        findings.add(Loosening::acknowledged, metric.place, metric.name, "none", words(after),
                     metric.id);
    } else if (after.until > found->second.until ||
               is_worse(metric.name, found->second.known.value, after.known.value) ||
               is_worse(metric.name, middle(found->second.known), middle(after.known))) {
        findings.add(Loosening::acknowledged, metric.place, metric.name, words(found->second),
                     words(after), metric.id);
    }
}

void compare_cases(const std::string& id, const BaselineCase& before, const BaselineCase& after,
                   const model::SourcePlace& place, Findings& findings) {
    for (const auto& [name, old_series] : before.metrics) {
        const Metric metric{id, name, place};
        const auto found = after.metrics.find(name);
        if (found == after.metrics.end()) {
            findings.add(Loosening::baseline_removed, place, name,
                         value_text(old_series.value, old_series.unit), "none", id);
            continue;
        }
        compare_series(metric, old_series, found->second, findings);
        const double old_anchor = anchor_of(before, name, old_series);
        const double new_anchor = anchor_of(after, name, found->second);
        if (is_worse(name, old_anchor, new_anchor)) {
            findings.add(Loosening::anchor_raised, place, name,
                         value_text(old_anchor, old_series.unit),
                         value_text(new_anchor, found->second.unit), id);
        }
    }
    for (const auto& [name, acknowledgement] : after.acknowledged) {
        compare_acknowledgement({id, name, place}, before, acknowledgement, findings);
    }
}

std::set<std::string_view> lines_of(std::string_view text) {
    std::set<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.insert(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

/// Lines are only added, but a merge may reorder them.
void compare_ledgers(const std::string& path, std::string_view before, std::string_view after,
                     Findings& findings) {
    const std::set<std::string_view> kept = lines_of(after);
    std::size_t lost = 0;
    for (const std::string_view line : lines_of(before)) lost += kept.contains(line) ? 0 : 1;
    if (lost == 0) return;
    findings.add(Loosening::history_rewritten, {path, 0}, "ledger", "",
                 fmt::format("{} {} gone or changed", lost, lost == 1 ? "line is" : "lines are"));
}

}  // namespace

bool is_worse(const std::string& metric, double before, double after) {
    const auto found = metrics::find_metric(metric);
    switch (found ? found->definition.direction : model::Direction::none) {
        case model::Direction::lower:
            return after > before;
        case model::Direction::higher:
            return after < before;
        default:
            return after != before;
    }
}

void compare_baselines(const Expectations& before, const Expectations& after, Findings& findings) {
    for (const auto& [path, old_baseline] : before.baselines) {
        const auto found = after.baselines.find(path);
        const model::SourcePlace place{path, 0};
        if (found == after.baselines.end()) {
            if (after.unreadable.contains(path)) continue;
            findings.add(Loosening::baseline_removed, place, old_baseline.suite,
                         model::counted(old_baseline.cases.size(), "case"), "none");
            continue;
        }
        for (const auto& [id, old_case] : old_baseline.cases) {
            const auto new_case = found->second.cases.find(id);
            if (new_case == found->second.cases.end()) {
                findings.add(Loosening::baseline_removed, place, old_baseline.suite,
                             "in the baseline", "not in it", id);
            } else {
                compare_cases(id, old_case, new_case->second, place, findings);
            }
        }
    }
    // A new baseline may already contain acknowledgements.
    for (const auto& [path, baseline] : after.baselines) {
        const auto old_baseline = before.baselines.find(path);
        for (const auto& [id, new_case] : baseline.cases) {
            if (old_baseline != before.baselines.end() && old_baseline->second.cases.contains(id)) {
                continue;
            }
            for (const auto& [name, acknowledgement] : new_case.acknowledged) {
                compare_acknowledgement({id, name, {path, 0}}, {}, acknowledgement, findings);
            }
        }
    }
    for (const auto& [path, old_text] : before.ledgers) {
        const auto found = after.ledgers.find(path);
        if (found != after.ledgers.end()) {
            compare_ledgers(path, old_text, found->second, findings);
        } else if (!after.unreadable.contains(path)) {
            findings.add(Loosening::history_rewritten, {path, 0}, "ledger", "", "removed");
        }
    }
}

}  // namespace perfgate::review
