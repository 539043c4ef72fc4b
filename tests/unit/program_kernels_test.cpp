// SPDX-License-Identifier: Apache-2.0
// The kernels of a program's case on the way from the run to the baseline and back to the verdict.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "baseline/refresh.hpp"
#include "gate/batch_rule.hpp"
#include "gate/machine_code.hpp"
#include "unit/gate_documents.hpp"

namespace perfgate::gate {
namespace program_kernels_test {

using model::CodeChange;

model::Kernel kernel(const std::string& name, const std::string& code) {
    model::Kernel kernel;
    kernel.name = name;
    kernel.code = code;
    kernel.launches = 2;
    kernel.time_ns = 600;
    kernel.duration_ns = 300;
    return kernel;
}

model::Run run_of_program(const std::vector<model::Kernel>& kernels) {
    model::CaseResult result = documents::measured_case();
    result.command = {"./app"};
    result.kernels = kernels;
    return documents::run_of({result});
}

model::Baseline accepted(const model::Run& run) {
    return baseline::refresh(run, run.suites[0], std::nullopt, {}).baseline;
}

CodeComparison compared(const std::vector<model::Kernel>& before,
                        const std::vector<model::Kernel>& now) {
    const model::Baseline baseline = accepted(run_of_program(before));
    const model::Run run = run_of_program(now);
    return compare_code(code_of(run.suites[0].cases[0], run.environment),
                        code_of(baseline.cases.begin()->second));
}

TEST(ProgramKernels, TheBaselineKeepsTheirTimesAndTheVerdictHasThem) {
    const model::Run run = run_of_program({kernel("norm", "c1"), kernel("gemm", "c2")});
    const model::Baseline baseline = accepted(run);
    EXPECT_EQ(baseline.cases.begin()->second.kernels, run.suites[0].cases[0].kernels);
    const auto document = judge(run, {{"s", {"b.json", baseline}}}, {}, BatchRule({}));
    EXPECT_EQ(document.suites[0].cases[0].baseline_kernels, run.suites[0].cases[0].kernels);
    // Of a plugin's case the code is compared, and there is nothing else to explain with.
    model::Run plugin = run;
    plugin.suites[0].cases[0].command.clear();
    const auto other = judge(plugin, {{"s", {"b.json", baseline}}}, {}, BatchRule({}));
    EXPECT_TRUE(other.suites[0].cases[0].baseline_kernels.empty());
}

TEST(ProgramKernels, OtherCodeOfTheSameNameIsAChange) {
    const CodeComparison found = compared({kernel("norm", "c1"), kernel("gemm", "c2")},
                                          {kernel("gemm", "c3"), kernel("norm", "c1")});
    EXPECT_EQ(found.change, CodeChange::changed);
    EXPECT_EQ(found.difference, "machine code changed: kernel gemm");
}

TEST(ProgramKernels, ThatNothingChangedIsNeverSaidAndThatLaunchesDidNotOnlyOfAll) {
    using Kernels = std::vector<model::Kernel>;
    const Kernels before = {kernel("norm", "c1"), kernel("gemm", "c2")};
    for (const Kernels& now :
         {Kernels{kernel("norm", "c1")},
          Kernels{kernel("norm", "c1"), kernel("gemm", "c2"), kernel("x", "c3")},
          Kernels{kernel("norm", ""), kernel("gemm", "c2")}, Kernels{}}) {
        EXPECT_EQ(compared(before, now).change, CodeChange::unknown);
    }
    for (const Kernels& now : {before, Kernels{kernel("gemm", "c2"), kernel("norm", "c1")}}) {
        EXPECT_EQ(compared(before, now).change, CodeChange::device_unchanged);
    }
    EXPECT_EQ(compared({kernel("norm", "")}, {kernel("norm", "c1")}).change, CodeChange::unknown);
    EXPECT_EQ(compared({}, before).change, CodeChange::unknown);
    // One of two configurations of a name.
    EXPECT_EQ(compared({kernel("norm", "c1"), kernel("norm", "c2")}, {kernel("norm", "c2")}).change,
              CodeChange::unknown);
}

}  // namespace program_kernels_test
}  // namespace perfgate::gate
