// SPDX-License-Identifier: Apache-2.0
#include "gate/base_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "model/board.hpp"
#include "model/case.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

BaselineSet baselines_of(const model::Run& base, const std::string& name) {
    const model::Environment& environment = base.environment;
    model::Provenance provenance;
    provenance.driver = environment.driver;
    provenance.cuda_toolkit = environment.cuda_toolkit;
    provenance.cupti = environment.cupti;
    provenance.tool_version = base.tool_version;
    BaselineSet baselines;
    for (const model::SuiteResult& suite : base.suites) {
        StoredBaseline stored{name, {}, {}, {}};
        stored.baseline.suite = suite.name;
        stored.definitions = base.metric_definitions;
        stored.baseline.device = environment.device;
        stored.baseline.device.board.clear();
        for (const model::CaseResult& result : suite.cases) {
            if (result.status != model::CaseStatus::measured) {
                stored.unmeasured[model::case_id(result.spec)] = {result.status, result.reason};
                continue;
            }
            if (!result.not_collected.empty()) {
                stored.uncollected[model::case_id(result.spec)] = result.not_collected;
            }
            if (!result.notes.empty()) stored.remarks[model::case_id(result.spec)] = result.notes;
            provenance.board = model::board_of(base, result);
            model::BaselineCase& expected = stored.baseline.cases[model::case_id(result.spec)];
            expected = {provenance,       result.metrics,   result.kernels,
                        result.host_code, result.libraries, result.memory_operations};
            expected.tags = result.tags;
            if (!result.measured_as.empty()) {
                stored.measured_as[model::case_id(result.spec)] = result.measured_as;
            }
        }
        baselines.insert_or_assign(suite.name, std::move(stored));
    }
    return baselines;
}

namespace {

/// Metrics that the head has and that the base could not collect.
void note_uncollected(const std::vector<model::NotCollected>& of_base,
                      model::CaseVerdict& verdict) {
    for (model::MetricVerdict& metric : verdict.metrics) {
        const auto missing = std::find_if(
            of_base.begin(), of_base.end(),
            [&](const model::NotCollected& each) { return each.metric == metric.metric; });
        if (missing == of_base.end() || metric.verdict != model::Verdict::no_baseline) continue;
        metric.verdict = model::Verdict::not_collected;
        metric.sentence = fmt::format("{}: the base has no value: {}", metric.metric,
                                      util::printable(missing->reason, 1000));
        if (model::severity(verdict.verdict) < model::severity(metric.verdict)) {
            verdict.verdict = metric.verdict;
            verdict.reason = metric.sentence;
        }
    }
}

/// What is doubtful in the base, too, or only there.
void add_remarks(const std::vector<std::string>& of_base, model::CaseVerdict& verdict) {
    for (const std::string& remark : of_base) {
        const auto same = std::find(verdict.notes.begin(), verdict.notes.end(), remark);
        if (same == verdict.notes.end()) {
            verdict.notes.push_back("in the base, " + remark);
        } else {
            *same = "in base and head, " + remark;
        }
    }
}

}  // namespace

void note_other_measurements(const StoredBaseline& base, const model::SuiteResult& head,
                             model::SuiteVerdict& verdict) {
    // The first verdicts are those of the head's cases, in their order.
    for (std::size_t i = 0; i < head.cases.size(); ++i) {
        const auto then = base.measured_as.find(verdict.cases.at(i).id);
        if (then == base.measured_as.end()) continue;
        const std::string difference = model::difference(then->second, head.cases[i].measured_as);
        if (difference.empty()) continue;
        verdict.cases[i].notes.push_back("the suites of base and head differ: " + difference);
    }
}

void add_what_base_says(const StoredBaseline& base, model::SuiteVerdict& verdict) {
    for (model::CaseVerdict& each : verdict.cases) {
        if (const auto said = base.remarks.find(each.id); said != base.remarks.end()) {
            add_remarks(said->second, each);
        }
        if (const auto lost = base.uncollected.find(each.id); lost != base.uncollected.end()) {
            note_uncollected(lost->second, each);
        }
        const auto found = base.unmeasured.find(each.id);
        if (found == base.unmeasured.end()) continue;
        const Unmeasured& unmeasured = found->second;
        const bool failed = unmeasured.status == model::CaseStatus::error ||
                            unmeasured.status == model::CaseStatus::invalid;
        // A head that is not measured further, because the base failed, is invalid for that reason.
        const bool of_the_base = each.verdict == model::Verdict::no_baseline ||
                                 (failed && each.verdict == model::Verdict::invalid);
        if (!of_the_base) continue;
        if (failed) each.verdict = model::Verdict::error;
        each.reason = fmt::format("nothing to compare with: in the base this case is {}: {}",
                                  model::to_text(unmeasured.status),
                                  util::printable(unmeasured.reason, 1000));
    }
}

}  // namespace perfgate::gate
