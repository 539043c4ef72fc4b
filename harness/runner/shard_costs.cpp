// SPDX-License-Identifier: Apache-2.0
#include "runner/shard_costs.hpp"

#include "baseline/store.hpp"
#include "model/case.hpp"
#include "runner/run_file.hpp"

namespace perfgate::runner {

suite::CaseCosts shard_costs(const model::Plan& plan, const std::string& run,
                             const std::string& folder, const std::string& device_key) {
    suite::CaseCosts costs;
    if (!run.empty()) {
        for (const model::SuiteResult& suite : read_run(run).suites) {
            for (const model::CaseResult& result : suite.cases) {
                costs[{suite.name, model::case_id(result.spec)}] = result.wall_s;
            }
        }
        return costs;
    }
    for (const model::PlannedSuite& suite : plan.suites) {
        const auto stored = baseline::load_baseline(folder, device_key, suite.name);
        if (!stored) continue;
        for (const auto& [id, expected] : stored->baseline.cases) {
            costs[{suite.name, id}] = expected.provenance.wall_s;
        }
    }
    return costs;
}

}  // namespace perfgate::runner
