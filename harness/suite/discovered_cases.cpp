// SPDX-License-Identifier: Apache-2.0
#include "suite/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "model/case.hpp"
#include "suite/problems.hpp"
#include "suite/relations.hpp"
#include "suite/settings.hpp"
#include "suite/suite_checks.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

namespace {

/// The overrides of the suite that hold for the case; entries of benchmarks have none of their own.
std::vector<const Override*> overrides_for(const Suite& suite, const std::string& id) {
    std::vector<const Override*> found;
    for (const Override& over : suite.overrides) {
        if (util::glob_match(over.match, id)) found.push_back(&over);
    }
    return found;
}

auto discovered_for(const SuiteCase& suite_case,
                    const std::map<std::size_t, model::Discovered>& by_group) {
    return suite_case.group && model::stands_for_cases(suite_case.spec)
               ? by_group.find(*suite_case.group)
               : by_group.end();
}

/// A label of `measure` must not have the name of a result: their cases could not be told apart.
void check_labels(const Suite& suite, const std::map<std::size_t, model::Discovered>& by_group) {
    std::map<std::string, std::set<std::string>> results;  // by workload
    for (const SuiteCase& suite_case : suite.cases) {
        const auto found = discovered_for(suite_case, by_group);
        if (found == by_group.end()) continue;
        for (const model::DiscoveredCase& each : found->second.cases) {
            results[suite_case.spec.workload].insert(each.name);
        }
    }
    Problems problems(suite.file);
    for (const SuiteCase& suite_case : suite.cases) {
        const std::string& label = suite_case.spec.variant;
        const auto found = results.find(suite_case.spec.workload);
        if (found == results.end() || !found->second.contains(label)) continue;
        problems.add(suite.entries[suite_case.entry].at,
                     "the label {} of 'measure' and a result of the benchmark {} have the same "
                     "name; expected different names",
                     in_quotes(label), in_quotes(suite_case.spec.workload));
    }
    problems.throw_if_any();
}

/// The cases in place of `unknown`. A parameter that the matrix sets too must have its value.
std::vector<SuiteCase> known_cases(const Suite& suite, const SuiteCase& unknown,
                                   const model::Discovered& discovered, std::string& problem) {
    std::vector<SuiteCase> known;
    for (const model::DiscoveredCase& each : discovered.cases) {
        SuiteCase& added = known.emplace_back(unknown);
        added.spec = spec_of(each, unknown.spec);
        added.skipped = each.skipped;
        for (const auto& [axis, value] : each.params) {
            const std::string set = model::to_text(added.spec.params.at(axis));
            if (set == model::to_text(value)) continue;
            problem = fmt::format("the program reports {}={} and was given {}={}", axis,
                                  util::printable(model::to_text(value), 80), axis,
                                  util::printable(set, 80));
            return {};
        }
        added.subject = unknown.subject->discovered(each);
        added.discovered = true;
        added.id = model::case_id(added.spec);
        added.overrides = overrides_for(suite, added.id);
    }
    return known;
}

void check_overrides(const Suite& suite) {
    Problems problems(suite.file);
    for (const Override& over : suite.overrides) {
        const bool used = std::ranges::any_of(suite.cases, [&](const SuiteCase& known) {
            return util::glob_match(over.match, known.id);
        });
        if (!used && !may_match_unknown(suite, over)) {
            problems.add(over.at, matches_none_message(over, "suite"));
        }
    }
    problems.throw_if_any();
}

/// The workload with the discovered cases as variants, and their parameters.
model::WorkloadInfo reported_workload(const Suite& suite, const std::string& name) {
    model::WorkloadInfo info;
    info.name = name;
    std::set<std::string> variants;
    std::map<std::string, std::set<std::string>> params;
    for (const SuiteCase& suite_case : suite.cases) {
        if (suite_case.spec.workload != name || model::stands_for_cases(suite_case.spec)) continue;
        variants.insert(suite_case.spec.variant);
        for (const auto& [param, value] : suite_case.spec.params) {
            const auto* text = std::get_if<std::string>(&value);
            params[param].insert(text != nullptr ? *text : model::to_text(value));
        }
    }
    for (const std::string& variant : variants) {
        model::VariantInfo& added = info.variants.emplace_back();
        added.name = variant;
        added.target = model::Target::program;
    }
    for (const auto& [param, values] : params) {
        model::ParamInfo& added = info.params.emplace_back();
        added.name = param;
        added.type = model::ParamType::text;
        added.choices.assign(values.begin(), values.end());
    }
    return info;
}

void resolve_open_relations(Suite& suite) {
    if (suite.open_relations.empty()) return;
    model::WorkloadCatalogue programs = suite.programs;
    for (model::WorkloadInfo& program : programs) {
        if (suite.discovering.contains(program.name)) {
            program = reported_workload(suite, program.name);
        }
    }
    Problems problems(suite.file);
    Work work(problems);
    CollectedMetrics collected(
        problems, [&](std::size_t metrics, Position at) { work.spend(8 * metrics, at); });
    const RelationScope scope{suite.cases,
                              programs,
                              discovering_of(suite),
                              false,
                              true,
                              [&](std::size_t index) {
                                  const SuiteCase& suite_case = suite.cases[index];
                                  return &collected.of(layers_without_device(suite, suite_case),
                                                       suite_case.at);
                              },
                              [&](std::size_t steps, Position at) { work.spend(steps, at); }};
    std::vector<SuiteRelation> resolved =
        resolve_relations(suite.open_relations, suite.file, scope, problems);
    problems.throw_if_any();
    std::move(resolved.begin(), resolved.end(), std::back_inserter(suite.relations));
    suite.open_relations.clear();
}

}  // namespace

model::CaseSpec spec_of(const model::DiscoveredCase& found, const model::CaseSpec& in_place_of) {
    model::CaseSpec spec = in_place_of;
    spec.variant = found.name;
    spec.params.insert(found.params.begin(), found.params.end());
    return spec;
}

void set_discovered_cases(const std::map<std::size_t, model::Discovered>& by_group, Suite& suite) {
    check_labels(suite, by_group);
    std::vector<SuiteCase> cases;
    std::vector<std::size_t> moved_to;  // relations refer to cases by index
    for (SuiteCase& suite_case : suite.cases) {
        moved_to.push_back(cases.size());
        const auto found = discovered_for(suite_case, by_group);
        if (found == by_group.end()) {
            cases.push_back(std::move(suite_case));
            continue;
        }
        std::string problem = found->second.problem;
        std::vector<SuiteCase> known;
        if (problem.empty()) known = known_cases(suite, suite_case, found->second, problem);
        if (!problem.empty()) {
            suite_case.problem = std::move(problem);
            suite_case.log = found->second.log;
            cases.push_back(std::move(suite_case));
        }
        std::move(known.begin(), known.end(), std::back_inserter(cases));
        if (cases.size() > most_cases) {
            Problems problems(suite.file);
            problems.fail(cases.back().at, "more than {} cases; expected a smaller suite: split it",
                          most_cases);
        }
    }
    suite.cases = std::move(cases);
    for (SuiteRelation& relation : suite.relations) {
        for (std::vector<std::size_t>& instance : relation.instances) {
            for (std::size_t& index : instance) index = moved_to[index];
        }
        for (LoneCase& each : relation.lone) each.leading = moved_to[each.leading];
    }
    if (!by_group.empty()) check_overrides(suite);
    resolve_open_relations(suite);
}

}  // namespace perfgate::suite
