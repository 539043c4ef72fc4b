// SPDX-License-Identifier: Apache-2.0
#include "measure/preparation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "measure/clock_stability.hpp"
#include "metrics/catalogue.hpp"
#include "model/host_time.hpp"
#include "util/error.hpp"

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
            entry.skipped_by_suite = planned.skipped_by_suite;
            entry.measured_as = planned.measured_as;
            entry.was = planned.was;
            planned.subject->describe(entry);
            for (const model::MetricDefinition& own : planned.subject->own_metrics()) {
                run.metric_definitions[own.name] = own;
            }
            for (const std::string& name : planned.metrics) {
                if (const auto metric = metrics::find_metric(name)) {
                    run.metric_definitions[name] = metric->definition;
                }
            }
            result.cases.push_back(std::move(entry));
        }
        run.suites.push_back(std::move(result));
    }
    return run;
}

namespace {

/// The cases that relations name with a metric of which this holds.
template <class Holds>
std::set<std::string> related_by(const std::vector<model::Relation>& relations,
                                 const Holds& holds) {
    std::set<std::string> ids;
    for (const model::Relation& relation : relations) {
        for (const model::PostfixExpression* side : {&relation.left, &relation.right}) {
            for (const model::ExpressionStep& step : *side) {
                const auto* of = std::get_if<model::OperandMetric>(&step);
                if (of == nullptr || !holds(of->metric)) continue;
                for (const auto& instance : relation.instances) {
                    ids.insert(instance.at(of->operand));
                }
            }
        }
    }
    return ids;
}

bool is_of_bare_runs(const std::string& name) {
    const auto metric = metrics::find_metric(name);
    return metric && metric->from_bare_runs;
}

bool gates_host_time(const model::PlannedCase& planned) {
    return std::any_of(planned.gates.begin(), planned.gates.end(), [](const model::GateRule& gate) {
        return model::contains_host_time(gate.metric);
    });
}

}  // namespace

std::vector<Item> items_of(const model::Plan& plan, model::Run& run) {
    std::vector<Item> items;
    for (std::size_t s = 0; s < plan.suites.size(); ++s) {
        const auto& relations = plan.suites[s].relations;
        const std::set<std::string> by_host = related_by(relations, model::contains_host_time);
        const std::set<std::string> by_bare = related_by(relations, is_of_bare_runs);
        const std::set<std::string> by_any =
            related_by(relations, [](const auto&) { return true; });
        for (std::size_t c = 0; c < plan.suites[s].cases.size(); ++c) {
            const model::PlannedSuite& suite = plan.suites[s];
            const model::PlannedCase& planned = suite.cases[c];
            if (!planned.skip_reason.empty()) continue;
            items.push_back(
                {.at = {s, c},
                 .planned = &planned,
                 .suite = &suite.name,
                 .result = &run.suites[s].cases[c],
                 .facts = {},
                 .chain = {},
                 .host_time =
                     gates_host_time(planned) || by_host.contains(model::case_id(planned.spec)),
                 .bare_time = by_bare.contains(model::case_id(planned.spec)),
                 .gated = !planned.gates.empty() || by_any.contains(model::case_id(planned.spec))});
        }
    }
    return items;
}

namespace {

/// Plugins derive the answer from a case's parameters, in microseconds.
constexpr double facts_limit_s = 5;
constexpr double more_for_each_case_s = 0.001;
/// After this many failures of a variant, its other cases are not asked for: each could take as
/// long.
constexpr int most_failures = 3;

Workers::Answer ask_facts_of(const std::vector<const Item*>& items, Workers& workers) {
    FactsRequest request;
    for (const Item* item : items) request.cases.push_back(*item->result);
    Workers::Answer answer = workers.ask(
        request, facts_limit_s + more_for_each_case_s * static_cast<double>(items.size()), nullptr);
    if (answer.interrupted) throw Interrupted();
    const auto* failed = answer.reply ? std::get_if<FailedReply>(&*answer.reply) : nullptr;
    if (failed && failed->usage) throw util::InputError(failed->message);
    return answer;
}

bool take_facts(const std::vector<Item*>& items, const Workers::Answer& answer) {
    const auto* told = answer.reply ? std::get_if<FactsReply>(&*answer.reply) : nullptr;
    if (!told || told->facts.size() != items.size()) return false;
    for (std::size_t i = 0; i < items.size(); ++i) items[i]->facts = told->facts[i];
    return true;
}

/// Takes over the problem of a case that is an error whatever is measured.
void take_problem(Item& item, Shared& shared) {
    model::set_error(*item.result, item.planned->problem, item.planned->log);
    item.begun = true;
    shared.journal.add(*item.suite, *item.result);
}

}  // namespace

void ask_facts(std::vector<Item>& items, Workers& workers, Shared& shared) {
    std::vector<Item*> all;
    for (Item& item : items) {
        const model::SourceKernel* kernel = item.planned->subject->kernel();
        if (kernel != nullptr) item.facts = facts_of(*kernel);
        if (!item.planned->problem.empty()) {
            take_problem(item, shared);
        } else if (kernel == nullptr && !item.planned->group) {
            all.push_back(&item);
        }
    }
    std::map<std::size_t, std::vector<Item*>> by_host;
    for (Item* item : all) by_host[workers.host_of(item->planned->spec.workload)].push_back(item);
    all.clear();
    for (const auto& [host, items_of_host] : by_host) {
        if (take_facts(items_of_host,
                       ask_facts_of({items_of_host.begin(), items_of_host.end()}, workers))) {
            continue;
        }
        all.insert(all.end(), items_of_host.begin(), items_of_host.end());
    }

    // One case at a time, to find the failing ones.
    std::map<std::pair<std::string, std::string>, int> failures;
    for (Item* asked : all) {
        Item& item = *asked;
        const model::CaseSpec& spec = item.result->spec;
        int& of_variant = failures[{spec.workload, spec.variant}];
        std::string why = "not asked for: other cases of its variant failed";
        std::string log;
        if (of_variant < most_failures) {
            Workers::Answer answer = ask_facts_of({&item}, workers);
            // Perhaps killed from outside.
            if (!answer.reply && !answer.timed_out) answer = ask_facts_of({&item}, workers);
            if (take_facts({&item}, answer)) continue;
            why = why_no_reply(answer);
            log = answer.log;
        }
        ++of_variant;
        const model::WorkloadInfo* workload =
            model::find_workload(shared.capabilities.workloads, spec.workload);
        model::set_error(
            *item.result,
            fmt::format(
                "plugin {}, asked what the case needs (supports, memory_bytes, work): {}",
                workload ? std::filesystem::path(workload->plugin).filename().string() : "?", why),
            log);
        item.begun = true;
        shared.journal.add(*item.suite, *item.result);
    }
}

void require_supported(const std::vector<Item>& items) {
    std::string unsupported;
    for (const Item& item : items) {
        if (!item.facts.unsupported.empty()) {
            unsupported +=
                fmt::format("\n{}:{}: {}: {}", item.planned->place.file, item.planned->place.line,
                            model::case_id(item.planned->spec), item.facts.unsupported);
        }
    }
    if (!unsupported.empty()) {
        throw util::InputError(
            "cases that their variants cannot run; take them out of the matrix:" + unsupported);
    }
}

CaseSettings settings_of(const Item& item, const MeasureOptions& options, std::int64_t process) {
    CaseSettings settings;
    settings.metrics = item.planned->metrics;
    settings.seed = item.planned->seed;
    settings.verify_seed = options.verify_seed;
    settings.precision = item.planned->precision;
    settings.time_budget_s = item.planned->time_budget_s;
    settings.deterministic = item.planned->deterministic;
    settings.added_work = item.planned->added_work;
    settings.process = process;
    settings.verify_only = options.verify_only;
    if (const auto* kernel = item.planned->subject->kernel()) settings.kernel = *kernel;
    return settings;
}

void conclude(std::vector<Item>& items, std::size_t processes) {
    for (Item& item : items) {
        model::CaseResult& result = *item.result;
        if (result.status != model::CaseStatus::measured) continue;
        exclude_other_clocks(result);
        std::string why = too_thin(result, item.wanted == 0 ? processes : item.wanted);
        if (why.empty()) continue;
        result.status = model::CaseStatus::invalid;
        result.reason = std::move(why);
    }
}

void note_interrupted(const std::vector<Item>& items) {
    for (const Item& item : items) {
        if (item.result->status == model::CaseStatus::skipped && !item.result->unchanged) {
            item.result->reason = "the run was interrupted before this case";
        }
    }
}

}  // namespace perfgate::measure
