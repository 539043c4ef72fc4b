// SPDX-License-Identifier: Apache-2.0
#include "gate/renames.hpp"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "model/benchmark_settings.hpp"
#include "model/case.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

namespace {

Renamed stated(const model::SuiteResult& suite, const model::Baseline& baseline) {
    std::set<std::string> ids;
    for (const model::CaseResult& result : suite.cases) ids.insert(model::case_id(result.spec));
    Renamed renamed;
    std::map<std::string, std::string> taken;  // by id in the baseline
    for (const model::CaseResult& result : suite.cases) {
        const std::string id = model::case_id(result.spec);
        // One that the run has too is no former name.
        if (result.was.empty() || baseline.cases.contains(id) || ids.contains(result.was) ||
            !baseline.cases.contains(result.was)) {
            continue;
        }
        const auto [other, added] = taken.emplace(result.was, id);
        if (!added) {
            throw util::InputError(
                fmt::format("suite {}: {} and {} were both {} ('was'): state it for one of them",
                            util::printable(suite.name), util::printable(other->second),
                            util::printable(id), util::printable(result.was)));
        }
        renamed.emplace(id, result.was);
    }
    return renamed;
}

/// Adds the cases whose ids had parameters, if no two of them would have one name.
void add_former_params(const model::SuiteResult& suite, const model::Baseline& baseline,
                       Renamed& renamed) {
    std::map<std::string, std::vector<std::string>> former;
    for (const auto& [id, expected] : baseline.cases) {
        std::string now = without_former_params(id, expected);
        if (now != id) former[std::move(now)].push_back(id);
    }
    for (const model::CaseResult& result : suite.cases) {
        const std::string id = model::case_id(result.spec);
        const auto found = former.find(id);
        if (found == former.end() || found->second.size() != 1) continue;
        if (!baseline.cases.contains(id)) renamed.emplace(id, found->second.front());
    }
}

}  // namespace

std::string without_former_params(const std::string& id, const model::BaselineCase& expected) {
    if (expected.metrics.empty()) return id;
    const std::string& source = expected.metrics.begin()->second.method.source;
    return model::without_params(
        id, [&](std::string_view param) { return model::was_in_ids(source, param); });
}

void follow_renames(const model::Run& run, BaselineSet& baselines) {
    for (const model::SuiteResult& suite : run.suites) {
        const auto found = baselines.find(suite.name);
        if (found == baselines.end()) continue;
        StoredBaseline& stored = found->second;
        Renamed renamed = stated(suite, stored.baseline);
        add_former_params(suite, stored.baseline, renamed);
        rename(renamed, stored.baseline.cases);
        rename(renamed, stored.base);
        rename(renamed, stored.improved);
        for (const auto& [now, was] : renamed) {
            if (stored.renamed.size() < 3) {
                stored.notes.push_back(fmt::format("the baseline has {} as {}",
                                                   util::printable(now), util::printable(was)));
            }
            stored.renamed.emplace(now, was);
        }
    }
}

}  // namespace perfgate::gate
