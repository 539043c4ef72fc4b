// SPDX-License-Identifier: Apache-2.0
#include "suite/benchmark_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

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

/// A label of `measure` must not have the name of a result: their cases could not be told apart.
void check_labels(const Suite& suite, const std::map<std::size_t, ReportedCases>& by_command) {
    std::map<std::string, std::set<std::string>> results;  // by benchmark
    for (const SuiteCase& suite_case : suite.cases) {
        if (!has_unknown_cases(suite_case)) continue;
        const auto reported = by_command.find(suite_case.program->command);
        if (reported == by_command.end()) continue;
        for (const benchmark::Result& each : reported->second.results) {
            results[suite_case.spec.workload].insert(each.name);
        }
    }
    Problems problems(suite.file);
    for (const SuiteCase& suite_case : suite.cases) {
        const std::string& label = suite_case.spec.variant;
        const auto found = results.find(suite_case.spec.workload);
        if (found == results.end() || !found->second.contains(label)) continue;
        problems.add(suite.entries[suite_case.entry].at,
                     fmt::format("the label {} of 'measure' and a result of the benchmark {} have "
                                 "the same name; expected different names",
                                 in_quotes(label), in_quotes(suite_case.spec.workload)));
    }
    problems.throw_if_any();
}

/// The cases in place of `unknown`. A parameter that the matrix sets too must have its value.
std::vector<SuiteCase> known_cases(const Suite& suite, const SuiteCase& unknown,
                                   const ReportedCases& reported, std::string& problem) {
    std::vector<SuiteCase> known;
    for (const benchmark::Result& each : reported.results) {
        SuiteCase& added = known.emplace_back(unknown);
        added.spec.variant = each.name;
        added.skipped = each.skipped;
        for (const auto& [axis, value] : each.params) {
            const auto [param, fresh] = added.spec.params.emplace(axis, value);
            if (fresh || model::to_text(param->second) == model::to_text(value)) continue;
            problem = fmt::format("the benchmark reports {}={} and was given {}={}", axis,
                                  util::printable(model::to_text(value), 80), axis,
                                  util::printable(model::to_text(param->second), 80));
            return {};
        }
        added.program->piece.kind = model::Piece::Kind::result;
        added.program->piece.pattern = benchmark::id_of(each);
        added.id = model::case_id(added.spec);
        added.overrides = overrides_for(suite, added.id);
    }
    return known;
}

void check_overrides(const Suite& suite) {
    Problems problems(suite.file);
    for (const Override& over : suite.overrides) {
        const bool used = std::any_of(
            suite.cases.begin(), suite.cases.end(),
            [&](const SuiteCase& known) { return util::glob_match(over.match, known.id); });
        if (!used && !may_match_unknown(suite, over)) {
            problems.add(over.at, matches_none_message(over, "suite"));
        }
    }
    problems.throw_if_any();
}

/// The benchmark with the results that it has reported as variants, and their parameters.
model::WorkloadInfo reported_workload(const Suite& suite, const std::string& name) {
    model::WorkloadInfo info;
    info.name = name;
    std::set<std::string> variants;
    std::map<std::string, std::set<std::string>> params;
    for (const SuiteCase& suite_case : suite.cases) {
        if (suite_case.spec.workload != name || has_unknown_cases(suite_case)) continue;
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
        if (suite.benchmarks.contains(program.name)) {
            program = reported_workload(suite, program.name);
        }
    }
    Problems problems(suite.file);
    Work work(problems);
    CollectedMetrics collected(
        problems, [&](std::size_t metrics, Position at) { work.spend(8 * metrics, at); });
    const RelationScope scope{suite.cases,
                              programs,
                              benchmarks_of(suite),
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

void set_reported_cases(const std::map<std::size_t, ReportedCases>& by_command, Suite& suite) {
    check_labels(suite, by_command);
    std::vector<SuiteCase> cases;
    std::vector<std::size_t> moved_to;  // relations refer to cases by index
    for (SuiteCase& suite_case : suite.cases) {
        moved_to.push_back(cases.size());
        const auto found = has_unknown_cases(suite_case)
                               ? by_command.find(suite_case.program->command)
                               : by_command.end();
        if (found == by_command.end()) {
            cases.push_back(std::move(suite_case));
            continue;
        }
        std::string problem = found->second.problem;
        std::vector<SuiteCase> known;
        if (problem.empty()) known = known_cases(suite, suite_case, found->second, problem);
        if (!problem.empty()) {
            model::BenchmarkReading& reading =
                *suite.commands[suite_case.program->command].benchmark;
            reading.problem = std::move(problem);
            reading.log = found->second.log;
            cases.push_back(std::move(suite_case));
        }
        std::move(known.begin(), known.end(), std::back_inserter(cases));
        if (cases.size() > most_cases) {
            Problems problems(suite.file);
            problems.fail(cases.back().at, fmt::format("more than {} cases; expected a smaller "
                                                       "suite: split it",
                                                       most_cases));
        }
    }
    suite.cases = std::move(cases);
    for (SuiteRelation& relation : suite.relations) {
        for (std::vector<std::size_t>& instance : relation.instances) {
            for (std::size_t& index : instance) index = moved_to[index];
        }
    }
    if (!by_command.empty()) check_overrides(suite);
    resolve_open_relations(suite);
}

}  // namespace perfgate::suite
