// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include "cli/options/gate.hpp"
#include "cli/verbs/verb.hpp"
#include "document/json_writer.hpp"
#include "metrics/catalogue.hpp"
#include "model/file.hpp"
#include "model/text.hpp"
#include "runner/catalogue.hpp"
#include "suite/plan.hpp"

namespace perfgate::cli {
namespace {

/// Cases share their settings and the reason why they are skipped, mostly: the table numbers what
/// is measured and how, and each is told once below.
class Legend {
  public:
    std::string number_of(const model::PlannedCase& planned) {
        Key key{planned.metrics, gates_text(planned.gates),
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
            text += fmt::format("\n{} skipped: {}\n", count, model::printable(reason));
        }
        for (std::size_t i = 0; i < in_order_.size(); ++i) {
            const auto& [metrics, gates, sampling] = *in_order_[i];
            text += fmt::format("\n#{}  gates: {}\n    {} metrics: {}\n    {}\n", i + 1, gates,
                                metrics.size(), fmt::join(metrics, ", "), sampling);
        }
        return text;
    }

  private:
    using Key = std::tuple<std::vector<std::string>, std::string, std::string>;

    static std::string gates_text(const std::vector<model::GateRule>& gates) {
        std::vector<std::string> texts;
        for (const model::GateRule& gate : gates) {
            const auto metric = metrics::find_metric(gate.metric);
            texts.push_back(
                fmt::format("{} ({})", gate.metric,
                            model::to_text(gate.tolerance, metric ? metric->definition.unit : "")));
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

/// What must hold between the cases, and for how many of them.
std::string relations_text(const model::Plan& plan) {
    std::string text;
    for (const model::PlannedSuite& planned : plan.suites) {
        if (planned.relations.empty()) continue;
        text += fmt::format("\n{} expects\n", planned.name);
        for (const model::Relation& relation : planned.relations) {
            const std::size_t count = relation.instances.size();
            text += fmt::format("  {}  ({} {})\n", model::printable(to_text(relation)), count,
                                count == 1 ? "time" : "times");
        }
    }
    return text;
}

std::string as_text(const model::Plan& plan, const std::vector<suite::Suite>& suites) {
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
        text += fmt::format("{}{} ({}): {}\n", i == 0 ? "" : "\n", planned.name,
                            model::printable(planned.file),
                            count_text(planned, suites[i].cases.size()));
        for (const model::PlannedCase& item : planned.cases) {
            std::vector<std::string> remarks = item.tags;
            if (!item.skip_reason.empty()) {
                remarks.emplace_back("(skipped)");
                legend.note_skipped(item.skip_reason);
            }
            std::string row = fmt::format(
                "  {:<{}}  {}  {:<3}  {}", model::printable(model::case_id(item.spec)), width,
                to_text(item.target), legend.number_of(item), fmt::join(remarks, " "));
            row.erase(row.find_last_not_of(' ') + 1);
            text += row + '\n';
        }
    }
    return text + relations_text(plan) + legend.text();
}

void write_relation(document::JsonWriter& json, const model::Relation& relation) {
    json.begin_object(document::JsonLayout::compact);
    document::write_field(json, "relation", to_text(relation));
    document::write_field(json, "line", relation.place.line);
    document::write_field(json, "operands", relation.operands);
    document::write_field(json, "instances", relation.instances);
    json.end_object();
}

void write_gates(document::JsonWriter& json, const std::vector<model::GateRule>& gates) {
    json.key("gates");
    json.begin_array(document::JsonLayout::compact);
    for (const model::GateRule& gate : gates) {
        json.begin_object(document::JsonLayout::compact);
        document::write_field(json, "metric", gate.metric);
        document::write_field(json, "worse", gate.tolerance.worse);
        document::write_if_known(json, "better", gate.tolerance.better);
        document::write_field(json, "abs", gate.tolerance.abs);
        document::write_field(json, "cross_board", gate.cross_board);
        json.end_object();
    }
    json.end_array();
}

void write_case(document::JsonWriter& json, const model::PlannedCase& planned) {
    json.begin_object(document::JsonLayout::compact);
    document::write_field(json, "id", model::case_id(planned.spec));
    document::write_field(json, "workload", planned.spec.workload);
    document::write_field(json, "variant", planned.spec.variant);
    json.key("params");
    json.begin_object(document::JsonLayout::compact);
    for (const auto& [name, value] : planned.spec.params) {
        json.key(name);
        std::visit([&](const auto& held) { json.value(held); }, value);
    }
    json.end_object();
    document::write_field(json, "cache", to_text(planned.spec.cache));
    document::write_field(json, "target", to_text(planned.target));
    document::write_field(json, "submission", to_text(planned.submission));
    document::write_field(json, "line", planned.place.line);
    document::write_field(json, "tags", planned.tags);
    document::write_field(json, "metrics", planned.metrics);
    write_gates(json, planned.gates);
    document::write_field(json, "precision", planned.precision);
    document::write_field(json, "time_budget_s", planned.time_budget_s);
    document::write_field(json, "seed", planned.seed);
    document::write_unless_default(json, "skip_reason", planned.skip_reason);
    json.end_object();
}

std::string as_json(const model::Plan& plan) {
    document::JsonWriter json;
    json.begin_object(document::JsonLayout::lines);
    document::write_field(json, "schema", "perfgate.list");
    document::write_field(json, "version", std::int64_t{1});
    json.key("suites");
    json.begin_array(document::JsonLayout::lines);
    for (const model::PlannedSuite& planned : plan.suites) {
        json.begin_object(document::JsonLayout::lines);
        document::write_field(json, "name", planned.name);
        document::write_field(json, "file", planned.file);
        document::write_unless_default(json, "description", planned.description);
        document::write_field(json, "partial", planned.partial);
        json.key("cases");
        json.begin_array(document::JsonLayout::lines);
        for (const model::PlannedCase& item : planned.cases) write_case(json, item);
        json.end_array();
        if (!planned.relations.empty()) {
            json.key("relations");
            json.begin_array(document::JsonLayout::lines);
            for (const model::Relation& relation : planned.relations) {
                write_relation(json, relation);
            }
            json.end_array();
        }
        json.end_object();
    }
    json.end_array();
    json.end_object();
    return json.finish();
}

struct ListOptions {
    std::vector<std::string> suites;
    std::vector<std::string> plugins;
    gate::Selection selection;
    std::string backend = "any";
    std::string device_key;
    std::string json;
};

int list_cases(const ListOptions& options) {
    suite::PlanOptions plan_options;
    if (options.backend == "cuda") plan_options.target = model::Target::cuda;
    if (options.backend == "host") plan_options.target = model::Target::host;
    plan_options.device_key = options.device_key;
    plan_options.filters = options.selection.filters;
    plan_options.tags = options.selection.tags;

    const std::vector<suite::Suite> suites =
        suite::load_suites(options.suites, runner::load_workload_catalogue(options.plugins));
    const model::Plan plan = suite::plan_suites(suites, plan_options);
    if (!options.json.empty()) model::write_file_atomically(options.json, as_json(plan));
    if (options.json != "-") model::write_file_atomically("-", as_text(plan, suites));
    return 0;
}

}  // namespace

void add_list(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "list", "Lists the cases of suites with target, gates and tags; needs no GPU");
    const auto options = std::make_shared<ListOptions>();
    verb->add_option("SUITE", options->suites, "Suite files")->required()->type_name("FILE");
    add_selection_options(*verb, options->selection);
    verb->add_option("--backend", options->backend, "Only cases that this backend measures")
        ->check(CLI::IsMember({"any", "cuda", "host"}))
        ->capture_default_str();
    verb->add_option("--device-key", options->device_key,
                     "Show the settings on this device, as its baselines' folder is called "
                     "(default: without device overrides)")
        ->type_name("KEY");
    verb->add_option("--plugin", options->plugins,
                     "A plugin with workloads, in addition to the bundled ones (repeatable)")
        ->type_name("FILE")
        ->type_size(1)
        ->allow_extra_args(false);
    verb->add_option("--json", options->json, "Also write JSON to FILE (- is stdout)")
        ->type_name("FILE");
    verb->callback(
        [&invocation, options] { invocation.body = [options] { return list_cases(*options); }; });
}

}  // namespace perfgate::cli
