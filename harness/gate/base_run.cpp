// SPDX-License-Identifier: Apache-2.0
#include "gate/base_run.hpp"

#include <fmt/format.h>

#include <map>

#include "model/board.hpp"
#include "model/case.hpp"
#include "model/text.hpp"

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
        StoredBaseline stored{name, {}};
        stored.baseline.suite = suite.name;
        stored.baseline.device = environment.device;
        stored.baseline.device.board.clear();
        for (const model::CaseResult& result : suite.cases) {
            if (result.status != model::CaseStatus::measured) continue;
            provenance.board = model::board_of(base, result);
            model::BaselineCase& expected = stored.baseline.cases[model::case_id(result.spec)];
            expected = {provenance,       result.metrics,   result.kernels,
                        result.host_code, result.libraries, result.memory_operations};
            expected.tags = result.tags;
        }
        baselines.insert_or_assign(suite.name, std::move(stored));
    }
    return baselines;
}

void explain_what_base_lacks(const model::Run& base, model::VerdictDocument& document) {
    std::map<std::string, std::map<std::string, const model::CaseResult*>> results;
    for (const model::SuiteResult& suite : base.suites) {
        for (const model::CaseResult& result : suite.cases) {
            results[suite.name][model::case_id(result.spec)] = &result;
        }
    }
    for (model::SuiteVerdict& suite : document.suites) {
        for (model::CaseVerdict& verdict : suite.cases) {
            if (verdict.verdict != model::Verdict::no_baseline) continue;
            const auto& of_suite = results[suite.name];
            const auto found = of_suite.find(verdict.id);
            if (found == of_suite.end() || found->second->status == model::CaseStatus::measured) {
                continue;
            }
            verdict.reason = fmt::format("nothing to compare with: in the base this case is {}: {}",
                                         model::to_text(found->second->status),
                                         model::printable(found->second->reason, 1000));
        }
    }
}

}  // namespace perfgate::gate
