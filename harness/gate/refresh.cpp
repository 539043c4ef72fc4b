// SPDX-License-Identifier: Apache-2.0
#include "gate/refresh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "gate/learning.hpp"
#include "model/case.hpp"
#include "model/error.hpp"
#include "model/text.hpp"

namespace perfgate::gate {

namespace {

using model::BaselineCase;
using model::CaseResult;
using model::CaseStatus;
using model::Provenance;

/// Why a case cannot be accepted; empty: it can.
std::string objection(const CaseResult& result) {
    if (result.status != CaseStatus::measured) {
        return fmt::format("{}: {}", model::to_text(result.status), result.reason);
    }
    if (!result.verification || !result.verification->passed) return "not verified";
    if (!result.not_collected.empty()) {
        const model::NotCollected& first = result.not_collected.front();
        return fmt::format("{} was not collected: {}", first.metric, first.reason);
    }
    for (const model::GateRule& gate : result.gates) {
        const auto& inapplicable = result.not_applicable;
        const bool applies =
            std::find(inapplicable.begin(), inapplicable.end(), gate.metric) == inapplicable.end();
        if (applies && !result.metrics.contains(gate.metric)) {
            return fmt::format("it has no value of {}", gate.metric);
        }
    }
    if (result.metrics.empty()) return "it has no values";
    return {};
}

/// Names the first few; a suite may have thousands.
void require_acceptable(const model::SuiteResult& suite) {
    constexpr std::size_t shown = 3;
    std::string listed;
    std::size_t refused = 0;
    for (const CaseResult& result : suite.cases) {
        if (result.status == CaseStatus::skipped) continue;
        const std::string why = objection(result);
        if (why.empty()) continue;
        if (++refused > shown) continue;
        if (!listed.empty()) listed += "; ";
        listed += fmt::format("{} ({})", model::printable(model::case_id(result.spec), 200),
                              model::printable(why, 300));
    }
    if (refused == 0) return;
    if (refused > shown) listed += fmt::format("; and {} more", refused - shown);
    throw model::InputError(
        fmt::format("suite {}: these cases cannot become a baseline: {}; measure them again, or "
                    "accept others with --filter",
                    model::printable(suite.name), listed));
}

Provenance provenance_of(const model::Run& run, const Acceptance& acceptance) {
    return {run.environment.device.board,
            run.environment.driver,
            run.environment.cuda_toolkit,
            run.environment.cupti,
            run.tool_version,
            run.git_revision,
            run.started_at,
            acceptance.accepted_by,
            acceptance.reason};
}

/// Whether accepting again would change nothing but when, and from which revision.
bool says_the_same(const BaselineCase& before, const BaselineCase& now) {
    const Provenance& then = before.provenance;
    Provenance candidate = now.provenance;
    candidate.git_revision = then.git_revision;
    candidate.recorded_at = then.recorded_at;
    if (candidate.accepted_by.empty()) candidate.accepted_by = then.accepted_by;
    if (candidate.reason.empty()) candidate.reason = then.reason;
    return before.metrics == now.metrics && before.kernels == now.kernels &&
           before.host_code == now.host_code && then == candidate;
}

/// What has to be the same again; what one launch took and counted is in the metrics.
std::vector<model::Kernel> as_expected(std::vector<model::Kernel> kernels) {
    for (model::Kernel& kernel : kernels) {
        kernel.theoretical_occupancy = 0;
        kernel.duration_ns = 0;
        kernel.metrics.clear();
    }
    return kernels;
}

}  // namespace

Refreshed refresh(const model::Run& run, const model::SuiteResult& suite,
                  const std::optional<model::Baseline>& existing, const Acceptance& acceptance) {
    if (run.verify_only) {
        throw model::InputError(
            "the run only verified and measured nothing: measure again without --verify-only");
    }
    if (run.interrupted) {
        throw model::InputError(
            "the run was interrupted and cannot become a baseline: measure again to the end");
    }
    require_acceptable(suite);

    Refreshed refreshed;
    refreshed.baseline.suite = suite.name;
    // A partial refresh leaves the file's head alone: most of it still speaks of the old run.
    const bool keep_head = existing && suite.partial;
    refreshed.baseline.device = keep_head ? existing->device : run.environment.device;
    refreshed.baseline.device.board.clear();

    std::map<std::string, BaselineCase> old_cases;
    if (existing) old_cases = existing->cases;
    const Provenance provenance = provenance_of(run, acceptance);
    for (const CaseResult& result : suite.cases) {
        std::string id = model::case_id(result.spec);
        if (refreshed.baseline.cases.contains(id)) {
            throw model::InputError(fmt::format("suite {}: case {} is in the run twice",
                                                model::printable(suite.name),
                                                model::printable(id)));
        }
        auto old_case = old_cases.extract(id);
        if (result.status == CaseStatus::skipped) {
            if (!old_case) continue;
            refreshed.kept.push_back(id);
            refreshed.baseline.cases.emplace(std::move(id), std::move(old_case.mapped()));
            continue;
        }
        BaselineCase accepted{provenance, result.metrics, as_expected(result.kernels),
                              result.host_code};
        for (auto& [metric, series] : accepted.metrics) series = condensed(series);
        const bool unchanged = old_case && says_the_same(old_case.mapped(), accepted);
        (unchanged ? refreshed.unchanged : refreshed.accepted).push_back(id);
        refreshed.baseline.cases.emplace(
            std::move(id), unchanged ? std::move(old_case.mapped()) : std::move(accepted));
    }
    if (refreshed.accepted.empty() && refreshed.unchanged.empty()) {
        throw model::InputError(
            fmt::format("suite {}: no case was measured: there is nothing to accept",
                        model::printable(suite.name)));
    }
    for (auto& [id, old_case] : old_cases) {
        if (suite.partial) {
            refreshed.kept.push_back(id);
            refreshed.baseline.cases.emplace(id, std::move(old_case));
        } else {
            refreshed.removed.push_back(id);
        }
    }
    return refreshed;
}

}  // namespace perfgate::gate
