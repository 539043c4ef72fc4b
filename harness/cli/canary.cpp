// SPDX-License-Identifier: Apache-2.0
#include "cli/canary.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <optional>

#include "cli/run_file.hpp"
#include "gate/batch_rule.hpp"
#include "gate/canary.hpp"
#include "gate/gate.hpp"

namespace perfgate::cli {

int try_canary(const model::Run& run, const std::vector<std::string>& suites,
               MeasuringChoice measuring, const GateOptions& options) {
    if (run.interrupted || run.verify_only) return 0;
    const std::optional<gate::Canary> canary = gate::choose_canary(run);
    if (!canary) {
        fmt::print(stderr, "perfgate: canary: no measured case gates a time: nothing to try\n");
        return 0;
    }
    measuring.out = (std::filesystem::path(measuring.out) / "canary").string();
    measuring.resume.clear();
    measuring.ceilings = false;
    measuring.divide = nullptr;
    measuring.unchanged = nullptr;
    measuring.again = nullptr;
    measuring.change_plan = [&](model::Plan& plan) { gate::keep_canary(plan, *canary); };
    const model::Run slower = measure_suites(suites, measuring);
    const int stored = store_run(slower, measuring.out);
    if (slower.interrupted) return 130;
    const model::Policy policy = policy_of(options);
    const gate::CanaryResult result = gate::judge_canary(
        *canary, gate::judge(slower, canary->baselines, policy, gate::BatchRule(policy)));
    fmt::print(stderr, "perfgate: canary: {}\n", result.sentence);
    return result.found ? stored : 3;
}

}  // namespace perfgate::cli
