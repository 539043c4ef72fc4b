// SPDX-License-Identifier: Apache-2.0
#include "measure/preparation.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <variant>

#include "measure/steadiness.hpp"
#include "metrics/catalogue.hpp"
#include "model/error.hpp"

namespace perfgate::measure {

model::Run empty_run(const model::Plan& plan, const Capabilities& capabilities,
                     const MeasureOptions& options) {
    model::Run run;
    run.verify_only = options.verify_only;
    run.environment = capabilities.environment;
    for (const model::PlannedSuite& suite : plan.suites) {
        model::SuiteResult result{suite.name, suite.file, suite.description, suite.partial, {}};
        result.relations = suite.relations;
        for (const model::PlannedCase& planned : suite.cases) {
            model::CaseResult entry;
            entry.spec = planned.spec;
            entry.place = planned.place;
            entry.tags = planned.tags;
            entry.gates = planned.gates;
            entry.reason = planned.skip_reason;
            for (const std::string& name : planned.metrics)
                if (const auto metric = metrics::find_metric(name))
                    run.metric_definitions[name] = metric->definition;
            result.cases.push_back(std::move(entry));
        }
        run.suites.push_back(std::move(result));
    }
    return run;
}

std::vector<Item> items_of(const model::Plan& plan, model::Run& run) {
    std::vector<Item> items;
    for (std::size_t s = 0; s < plan.suites.size(); ++s)
        for (std::size_t c = 0; c < plan.suites[s].cases.size(); ++c)
            if (plan.suites[s].cases[c].skip_reason.empty())
                items.push_back({.at = {s, c},
                                 .planned = &plan.suites[s].cases[c],
                                 .suite = &plan.suites[s].name,
                                 .result = &run.suites[s].cases[c],
                                 .facts = {},
                                 .chain = {}});
    return items;
}

void ask_facts(std::vector<Item>& items, Workers& workers, double limit_s) {
    FactsRequest request;
    for (const Item& item : items) request.cases.push_back(*item.result);
    const Reply reply = workers.must_ask(request, limit_s);
    const auto* facts = std::get_if<FactsReply>(&reply);
    if (!facts || facts->facts.size() != items.size())
        throw model::Error("worker: it answered something else than what was asked");
    for (std::size_t i = 0; i < items.size(); ++i) items[i].facts = facts->facts[i];
}

void require_supported(const std::vector<Item>& items) {
    std::string unsupported;
    for (const Item& item : items)
        if (!item.facts.unsupported.empty())
            unsupported +=
                fmt::format("\n{}:{}: {}: {}", item.planned->place.file, item.planned->place.line,
                            model::case_id(item.planned->spec), item.facts.unsupported);
    if (!unsupported.empty())
        throw model::InputError(
            "cases that their variants cannot run; take them out of the matrix:" + unsupported);
}

CaseSettings settings_of(const Item& item, const MeasureOptions& options, std::int64_t process) {
    CaseSettings settings;
    settings.metrics = item.planned->metrics;
    settings.seed = item.planned->seed;
    settings.verify_seed = options.verify_seed;
    settings.precision = item.planned->precision;
    settings.time_budget_s = item.planned->time_budget_s;
    settings.added_work = item.planned->added_work;
    settings.process = process;
    settings.verify_only = options.verify_only;
    return settings;
}

void conclude(std::vector<Item>& items, std::size_t processes) {
    for (Item& item : items) {
        model::CaseResult& result = *item.result;
        if (result.status != model::CaseStatus::measured) continue;
        set_aside_other_clocks(result);
        std::string why = too_thin(result, processes);
        if (why.empty()) continue;
        result.status = model::CaseStatus::invalid;
        result.reason = std::move(why);
    }
}

void note_interrupted(const std::vector<Item>& items) {
    for (const Item& item : items)
        if (item.result->status == model::CaseStatus::skipped && !item.result->unchanged)
            item.result->reason = "the run was interrupted before this case";
}

}  // namespace perfgate::measure
