// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/texts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "baseline/diff.hpp"
#include "metrics/catalogue.hpp"
#include "model/case.hpp"
#include "model/quantity.hpp"
#include "report/columns.hpp"
#include "util/text.hpp"

namespace perfgate::cli {

namespace {

/// Most cases share their settings and the reason for which they are skipped: the table numbers the
/// settings, and describes each once below.
class Legend {
  public:
    std::string number_of(const model::PlannedCase& planned) {
        Key key{metrics_of(planned), gates_text(planned.gates),
                fmt::format("precision {:g} %, {:g} ms of launching, seed {}",
                            planned.precision * 100, planned.time_budget_s * 1000, planned.seed)};
        const auto [found, inserted] = numbers_.emplace(std::move(key), numbers_.size() + 1);
        if (inserted) in_order_.push_back(&found->first);
        return fmt::format("#{}", found->second);
    }

    void note_skipped(const std::string& reason) { ++skipped_[reason]; }

    std::string text() const {
        std::string text;
        for (const auto& [reason, count] : skipped_) {
            text += fmt::format("\n{} skipped: {}\n", count, util::printable(reason));
        }
        for (std::size_t i = 0; i < in_order_.size(); ++i) {
            const auto& [metrics, gates, sampling] = *in_order_[i];
            text += fmt::format("\n#{}  gates: {}\n    {}: {}\n    {}\n", i + 1, gates,
                                util::counted(metrics.size(), "metric"), fmt::join(metrics, ", "),
                                sampling);
        }
        return text;
    }

  private:
    using Key = std::tuple<std::vector<std::string>, std::string, std::string>;

    /// Those that its target has: a suite's metrics are of all its variants.
    static std::vector<std::string> metrics_of(const model::PlannedCase& planned) {
        std::vector<std::string> names;
        for (const std::string& name : planned.metrics) {
            const auto metric = metrics::find_metric(name);
            if (!metric || suite::applies(*metric, planned.target)) names.push_back(name);
        }
        return names;
    }

    static std::string gates_text(const std::vector<model::GateRule>& gates) {
        std::vector<std::string> texts;
        for (const model::GateRule& gate : gates) {
            const auto metric = metrics::find_metric(gate.metric);
            texts.push_back(fmt::format(
                "{} ({}{})", gate.metric,
                model::to_text(gate.tolerance, metric ? metric->definition.unit : ""),
                gate.tolerance.severity == model::Severity::warn ? ", only warns" : ""));
        }
        return fmt::format("{}", fmt::join(texts, ", "));
    }

    std::map<Key, std::size_t> numbers_;
    std::vector<const Key*> in_order_;
    std::map<std::string, std::size_t> skipped_;
};

std::string count_text(const model::PlannedSuite& planned, std::size_t total) {
    const std::size_t count = planned.cases.size();
    const std::string of = count == total ? "" : fmt::format(" of {}", total);
    return fmt::format("{}{} {}", count, of, total == 1 ? "case" : "cases");
}

/// Cases that the list cannot have.
std::string unknown_text(const model::Plan& plan) {
    for (const model::PlannedSuite& planned : plan.suites) {
        for (const model::PlannedCase& item : planned.cases) {
            if (!model::stands_for_cases(item.spec)) continue;
            return "\n'/*' stands for cases that are known once their program has run\n";
        }
    }
    return {};
}

/// The relations between the cases, with their numbers of instances.
std::string relations_text(const model::Plan& plan, const std::vector<suite::Suite>& suites) {
    std::string text;
    for (std::size_t i = 0; i < plan.suites.size(); ++i) {
        const model::PlannedSuite& planned = plan.suites[i];
        const std::vector<suite::OpenRelation>& open = suites[i].open_relations;
        if (planned.relations.empty() && open.empty()) continue;
        text += fmt::format("\n{} expects\n", planned.name);
        for (const model::Relation& relation : planned.relations) {
            const std::size_t count = relation.instances.size();
            text += fmt::format("  {}  ({} {})\n", util::printable(to_text(relation)), count,
                                count == 1 ? "time" : "times");
        }
        for (const suite::OpenRelation& each : open) {
            text += fmt::format("  {}  (of cases that the benchmark reports)\n",
                                util::printable(to_text(each.relation)));
        }
    }
    return text;
}

}  // namespace

std::string plan_text(const model::Plan& plan, const std::vector<suite::Suite>& suites) {
    std::string text;
    Legend legend;
    std::size_t width = 0;
    for (const model::PlannedSuite& planned : plan.suites) {
        for (const model::PlannedCase& item : planned.cases) {
            width = std::max(width, model::case_id(item.spec).size());
        }
    }
    width = std::min<std::size_t>(width, 80);
    for (std::size_t i = 0; i < plan.suites.size(); ++i) {
        const model::PlannedSuite& planned = plan.suites[i];
        text +=
            fmt::format("{}{} ({}): {}\n", i == 0 ? "" : "\n", planned.name,
                        util::printable(planned.file), count_text(planned, suites[i].cases.size()));
        for (const model::PlannedCase& item : planned.cases) {
            std::vector<std::string> remarks = item.tags;
            if (!item.skip_reason.empty()) {
                remarks.emplace_back("(skipped)");
                legend.note_skipped(item.skip_reason);
            }
            std::string row = fmt::format(
                "  {:<{}}  {}  {:<3}  {}", util::printable(model::case_id(item.spec)), width,
                to_text(item.target), legend.number_of(item), fmt::join(remarks, " "));
            row.erase(row.find_last_not_of(' ') + 1);
            text += row + '\n';
        }
    }
    return text + unknown_text(plan) + relations_text(plan, suites) + legend.text();
}

namespace {

std::string change_line(const baseline::MetricChange& change) {
    if (!change.note.empty()) return change.note;
    if (!change.change || !change.before || !change.after) return {};
    return model::moved_text(*change.before, *change.after, change.after_unit);
}

model::QuantityTexts value_texts(const baseline::MetricChange& change) {
    if (change.before && change.after && change.before_unit == change.after_unit) {
        return model::quantity_texts(*change.before, *change.after, change.after_unit);
    }
    const auto text = [](const std::optional<double>& value, const std::string& unit) {
        return value ? model::quantity_text(*value, unit) : std::string("absent");
    };
    return {text(change.before, change.before_unit), text(change.after, change.after_unit)};
}

std::string diff_text(const baseline::BaselineDiff& difference) {
    std::string text;
    for (const std::string& id : difference.removed) {
        text += fmt::format("\n{}\n  only in the stored baseline\n", util::printable(id));
    }
    for (const std::string& id : difference.added) {
        text += fmt::format("\n{}\n  not in the stored baseline\n", util::printable(id));
    }
    for (auto change = difference.changes.begin(); change != difference.changes.end();) {
        const std::string& id = change->id;
        std::vector<std::vector<std::string>> rows;
        for (; change != difference.changes.end() && change->id == id; ++change) {
            const model::QuantityTexts values = value_texts(*change);
            rows.push_back({util::printable(change->metric), values.before + " → " + values.after,
                            change_line(*change)});
        }
        text += fmt::format("\n{}\n{}", util::printable(id), report::table(rows));
    }
    return text;
}

}  // namespace

std::string stored_diff_text(const runner::StoredDiff& result) {
    const baseline::BaselineDiff& difference = result.difference;
    return fmt::format("{}{}: metrics: {} changed, {} unchanged; cases: {} new{}\n{}",
                       util::printable(result.file), result.stored ? "" : " (does not exist)",
                       difference.changes.size(), difference.unchanged, difference.added.size(),
                       result.partial ? "" : fmt::format(", {} gone", difference.removed.size()),
                       diff_text(difference));
}

std::string self_test_text(const runner::SelfTestOutcome& outcome,
                           const runner::SelfTestRequest& request) {
    const gate::SelfTestReport& found = outcome.report;
    std::string text = fmt::format(
        "self-test on {}, tolerance {:g} %, {} processes against {}, seed {}, {:.1f} s\n\n",
        util::printable(outcome.environment.device.name), 100 * request.tolerance,
        request.measuring.processes.value_or(runner::usual_processes), request.processes_of_base,
        request.seed, outcome.wall_s);
    std::vector<std::vector<std::string>> sizes{
        {"slower", "cases", "regressed", "inconclusive", "improved", "pass", "not judged"}};
    for (const gate::SizeTally& size : found.sizes) {
        sizes.push_back({fmt::format("{:.4g}%", 100 * size.size), fmt::format("{}", size.cases),
                         model::share_text(size.regressed, size.cases),
                         model::share_text(size.inconclusive, size.cases),
                         fmt::format("{}", size.improved), fmt::format("{}", size.passed),
                         fmt::format("{}", size.unjudged)});
    }
    text +=
        report::table(sizes, {.align = std::vector(sizes.front().size(), report::Align::right)});
    std::vector<std::vector<std::string>> cases{{"detects", "found from", "case"}};
    for (const gate::CaseTally& of_case : found.cases) {
        const std::optional<double> from = gate::found_from(of_case);
        cases.push_back({of_case.minimum_detectable_change
                             ? fmt::format("{:.2f} %", 100 * *of_case.minimum_detectable_change)
                             : "-",
                         from ? fmt::format("{:g} %", 100 * *from) : "-",
                         util::printable(of_case.name.second, 200)});
    }
    text += '\n' + report::table(cases, {.align = {report::Align::right, report::Align::right}});
    text +=
        fmt::format("\nslowdowns at or above the minimum detectable change: {}, found: {} ({})\n",
                    found.promised, found.kept, model::share_text(found.kept, found.promised));
    for (const std::string& problem : found.problems) {
        text += fmt::format("problem: {}\n", util::printable(problem, 1000));
    }
    if (found.unjudged > 0) {
        text += fmt::format("not judged: {}; `perfgate report` of the runs in {} says why\n",
                            found.unjudged, util::printable(request.measuring.out));
    }
    if (found.proves_nothing) {
        text +=
            "no slowdown was as large as what the gate claims to detect: nothing was proved; use "
            "larger --sizes, or a quieter machine\n";
    }
    if (found.not_shown) {
        text +=
            "fewer than nine of ten were found, and with so few slowdowns this may be chance: it "
            "is not shown that the gate detects what it claims; use more cases or --sizes, or a "
            "quieter machine\n";
    }
    if (outcome.exit_code == 0 && found.promised > 0) {
        text +=
            fmt::format("{}: with 95 % confidence the gate finds at least {:.0f} %\n",
                        found.at_least >= gate::promised_share ? "the gate detects what it claims"
                                                               : "nine of ten or more were found",
                        std::floor(100 * found.at_least));
    }
    return text;
}

}  // namespace perfgate::cli
