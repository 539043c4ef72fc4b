// SPDX-License-Identifier: Apache-2.0
#include "runner/canary.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <optional>

#include "gate/batch_rule.hpp"
#include "gate/canary.hpp"
#include "gate/gate.hpp"
#include "runner/devices.hpp"
#include "runner/execution.hpp"
#include "runner/plan.hpp"
#include "runner/run_file.hpp"

namespace perfgate::runner {

namespace {

model::Run measure_canary(const gate::Canary& canary, const std::vector<std::string>& suites,
                          const MeasuringChoice& choice) {
    OpenedBackend backend = open_to_measure(choice);
    model::Plan plan = plan_for(suites, choice, backend);
    gate::keep_canary(plan, canary);
    Execution execution(choice, backend, plan);
    execution.session().measure_all();
    execution.session().replace_excluded();
    return execution.finish(suites.front());
}

}  // namespace

int try_canary(const model::Run& run, const std::vector<std::string>& suites,
               MeasuringChoice measuring, const model::Policy& policy) {
    if (run.interrupted || run.verify_only) return 0;
    const std::optional<gate::Canary> canary = gate::choose_canary(run);
    if (!canary) {
        fmt::print(stderr, "perfgate: canary: no measured case gates a time: nothing to try\n");
        return 0;
    }
    measuring.out = (std::filesystem::path(measuring.out) / "canary").string();
    measuring.resume.clear();
    measuring.ceilings = false;
    measuring.changed_only = false;
    const model::Run slower = measure_canary(*canary, suites, measuring);
    const int stored = store_run(slower, measuring.out);
    if (slower.interrupted) return 130;
    const gate::CanaryResult result = gate::judge_canary(
        *canary, gate::judge(slower, canary->baselines, policy, gate::BatchRule(policy)));
    fmt::print(stderr, "perfgate: canary: {}\n", result.sentence);
    return result.found ? stored : 3;
}

}  // namespace perfgate::runner
