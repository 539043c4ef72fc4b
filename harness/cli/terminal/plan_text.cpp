// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/texts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "metrics/catalogue.hpp"
#include "model/case.hpp"
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

}  // namespace perfgate::cli
