// SPDX-License-Identifier: Apache-2.0
#include "metrics/catalogue.hpp"
#include "suite/plan.hpp"

#include <gtest/gtest.h>

#include "kinds/command/command.hpp"
#include "suite_catalogue.hpp"

namespace perfgate::suite {
namespace suite_plan_test {

using model::Target;
using Texts = std::vector<std::string>;

Suite parse(const std::string& yaml) {
    return parse_suite(yaml, "s.yaml", test::workloads());
}

constexpr const char* copies =
    "name: s\n"
    "defaults:\n"
    "  metrics: [gpu_time, gpu_span, host_time, registers]\n"
    "  tolerances: {gpu_time: 3%, host_time: 50%, registers: 0}\n"
    "workloads:\n"
    "  - workload: copy\n"
    "    variants: [plain, memcpy, tma]\n"
    "    matrix: {bytes: [1, 2]}\n"
    "    tags: [small]\n"
    "  - workload: copy\n"
    "    variants: [plain]\n"
    "    params: {bytes: 4096}\n"
    "    tags: [large, slow]\n";

Texts ids(const model::PlannedSuite& suite) {
    Texts texts;
    for (const model::PlannedCase& planned : suite.cases) {
        texts.push_back(model::case_id(planned.spec));
    }
    return texts;
}

const model::PlannedCase& case_of(const SuitePlan& plan, const std::string& id) {
    for (const model::PlannedCase& planned : plan.suite.cases) {
        if (model::case_id(planned.spec) == id) return planned;
    }
    throw std::out_of_range(id);
}

std::string gates_of(const model::PlannedCase& planned) {
    std::string text;
    for (const model::GateRule& gate : planned.gates) {
        text +=
            (text.empty() ? "" : "; ") + gate.metric + ' ' + model::to_text(gate.tolerance, "u");
    }
    return text;
}

PlanOptions on(const std::string& device) {
    PlanOptions options;
    options.device_key = device;
    return options;
}

TEST(SuitePlan, CarriesOverWhatTheSuiteSays) {
    const Suite suite = parse(
        "name: s\n"
        "description: text\n"
        "defaults: {metrics: [gpu_time, registers], tolerances: {gpu_time: 3%}}\n"
        "workloads:\n"
        "  - workload: copy\n"
        "    variants: [plain]\n"
        "    cache: hot\n"
        "    tags: [a, b]\n"
        "    precision: 2%\n"
        "    time_budget: 250ms\n"
        "    seed: 42\n"
        "    deterministic: true\n"
        "    cross_board_tolerance: 7%\n");
    const SuitePlan plan = plan_suite(suite, {});
    EXPECT_EQ(plan.suite.name, "s");
    EXPECT_EQ(plan.suite.file, "s.yaml");
    EXPECT_EQ(plan.suite.description, "text");
    EXPECT_FALSE(plan.suite.partial);
    ASSERT_EQ(plan.suite.cases.size(), 1U);
    const model::PlannedCase& planned = plan.suite.cases[0];
    EXPECT_EQ(model::case_id(planned.spec), "copy/plain@hot");
    EXPECT_EQ(planned.place, (model::SourcePlace{"s.yaml", 5}));
    EXPECT_EQ(planned.tags, (Texts{"a", "b"}));
    EXPECT_EQ(planned.metrics, (Texts{"gpu_time", "registers"}));
    EXPECT_EQ(planned.precision, 0.02);
    EXPECT_EQ(planned.time_budget_s, 0.25);
    EXPECT_EQ(planned.seed, 42U);
    EXPECT_TRUE(planned.deterministic);
    ASSERT_EQ(planned.gates.size(), 1U);
    EXPECT_EQ(planned.gates[0].cross_board, 0.07);
    EXPECT_EQ(planned.skip_reason, "");
}

TEST(SuitePlan, HasDocumentedDefaults) {
    const SuitePlan plan = plan_suite(parse("name: s\n"
                                            "workloads:\n"
                                            "  - workload: copy\n"
                                            "    variants: [plain]\n"
                                            "    tolerances: {gpu_time: 3%}\n"),
                                      {});
    const model::PlannedCase& planned = plan.suite.cases.at(0);
    EXPECT_EQ(planned.spec.cache, model::Cache::cold);
    EXPECT_EQ(planned.precision, 0.005);
    EXPECT_EQ(planned.time_budget_s, 0.1);
    EXPECT_EQ(planned.seed, 1U);
    EXPECT_FALSE(planned.deterministic);
    EXPECT_EQ(planned.gates.at(0).cross_board, 0.05);
    EXPECT_NE(std::find(planned.metrics.begin(), planned.metrics.end(), "gpu_time"),
              planned.metrics.end());
}

TEST(SuitePlan, ExpandsMetricSetsInOrderWithoutRepeating) {
    const SuitePlan plan = plan_suite(parse("name: s\n"
                                            "workloads:\n"
                                            "  - workload: copy\n"
                                            "    variants: [plain]\n"
                                            "    metrics: [registers, time, gpu_time, registers]\n"
                                            "    tolerances: {gpu_time: 3%}\n"),
                                      {});
    const Texts& metrics = plan.suite.cases.at(0).metrics;
    EXPECT_EQ(metrics.at(0), "registers");
    EXPECT_EQ(std::count(metrics.begin(), metrics.end(), "gpu_time"), 1);
    EXPECT_EQ(std::count(metrics.begin(), metrics.end(), "registers"), 1);
    EXPECT_EQ(std::count(metrics.begin(), metrics.end(), "time"), 0);
}

TEST(SuitePlan, WritesTolerancesInTheMetricsUnit) {
    const SuitePlan plan =
        plan_suite(parse("name: s\n"
                         "workloads:\n"
                         "  - workload: copy\n"
                         "    variants: [plain]\n"
                         "    metrics: [gpu_time, gpu_span, registers, local_bytes, "
                         "sm__cycles_elapsed.max]\n"
                         "    tolerances:\n"
                         "      gpu_time: {worse: 2%, better: 10%, abs: 0.5us, tail: 20%}\n"
                         "      gpu_span: 300ns\n"
                         "      registers: {abs: 2}\n"
                         "      local_bytes: 0.25\n"
                         "      sm__cycles_elapsed.max: 1%\n"),
                   {});
    EXPECT_EQ(gates_of(plan.suite.cases.at(0)),
              "gpu_time worse 2 %, better 10 %, at least 500 u, its slowest tenth 20 %; "
              "gpu_span 300 u; "
              "registers 2 u; local_bytes 25 %; sm__cycles_elapsed.max 1 %");
}

TEST(SuitePlan, GatesOnlyWhatTheTargetHas) {
    const SuitePlan plan = plan_suite(parse(copies), {});
    EXPECT_EQ(gates_of(case_of(plan, "copy/plain[bytes=1]")), "gpu_time 3 %; registers 0 %");
    EXPECT_EQ(gates_of(case_of(plan, "copy/memcpy[bytes=1]")), "host_time 50 %");
}

TEST(SuitePlan, GivesCrossBoardLeewayToTimingMetricsAlone) {
    const SuitePlan plan = plan_suite(parse(copies), {});
    const auto& gates = case_of(plan, "copy/plain[bytes=1]").gates;
    ASSERT_EQ(gates.size(), 2U);
    EXPECT_EQ(gates[0].cross_board, 0.05);
    EXPECT_EQ(gates[1].cross_board, 0);
}

TEST(SuitePlan, LeavesOutCasesOfTheOtherTargetAndCountsThem) {
    const Suite suite = parse(copies);
    PlanOptions options;
    options.target = Target::host;
    const SuitePlan host = plan_suite(suite, options);
    EXPECT_EQ(ids(host.suite), (Texts{"copy/memcpy[bytes=1]", "copy/memcpy[bytes=2]"}));
    EXPECT_EQ(host.counts.total, 7U);
    EXPECT_EQ(host.counts.other_target, 5U);
    EXPECT_EQ(host.counts.planned, 2U);
    EXPECT_FALSE(host.suite.partial);
    options.target = Target::cuda;
    EXPECT_EQ(plan_suite(suite, options).suite.cases.size(), 5U);
}

TEST(SuitePlan, SkipsWhatIsNotBuiltOrAboveTheDevicesCapability) {
    const Suite suite = parse(
        "name: s\n"
        "defaults: {metrics: [gpu_time], tolerances: {gpu_time: 1%}}\n"
        "workloads:\n"
        "  - {workload: copy, variants: [plain, tma]}\n"
        "  - {workload: gemm, variants: [naive, tensor_core], params: {m: 1, n: 1, k: 1}}\n");
    PlanOptions options;
    options.compute_capability = "8.0";
    const SuitePlan old = plan_suite(suite, options);
    EXPECT_EQ(case_of(old, "copy/plain").skip_reason, "");
    EXPECT_EQ(case_of(old, "copy/tma").skip_reason,
              "not built: copy_cuda.so is not beside copy.so; build it with a CUDA toolkit");
    EXPECT_EQ(not_built(suite),
              (std::vector<std::string>{"s.yaml: 1 case is not built: copy_cuda.so is not beside "
                                        "copy.so; build it with a CUDA toolkit"}));
    EXPECT_EQ(not_built(old.suite), not_built(suite));
    EXPECT_EQ(case_of(old, "gemm/naive[k=1,m=1,n=1]").skip_reason, "");
    EXPECT_EQ(case_of(old, "gemm/tensor_core[k=1,m=1,n=1]").skip_reason,
              "needs compute capability 9.0, the device has 8.0");
    EXPECT_EQ(old.counts.skipped, 2U);
    EXPECT_EQ(old.counts.planned, 4U);
    for (const char* capability : {"9.0", "12.0", "", "none"}) {
        options.compute_capability = capability;
        EXPECT_EQ(plan_suite(suite, options).counts.skipped, 1U) << capability;
    }
}

TEST(SuitePlan, SelectsByFiltersAndTags) {
    const Suite suite = parse(copies);
    const struct {
        Texts filters, tags, expected;
    } table[] = {
        {{"copy/plain*"},
         {},
         {"copy/plain[bytes=1]", "copy/plain[bytes=2]", "copy/plain[bytes=4096]"}},
        {{"*[bytes=2]"}, {}, {"copy/plain[bytes=2]", "copy/memcpy[bytes=2]", "copy/tma[bytes=2]"}},
        {{"copy/plain[bytes=1]", "copy/tma[bytes=?]"},
         {},
         {"copy/plain[bytes=1]", "copy/tma[bytes=1]", "copy/tma[bytes=2]"}},
        {{}, {"large"}, {"copy/plain[bytes=4096]"}},
        {{}, {"slow", "large"}, {"copy/plain[bytes=4096]"}},
        {{"*memcpy*"}, {"small"}, {"copy/memcpy[bytes=1]", "copy/memcpy[bytes=2]"}},
        {{"*4096*"}, {"small"}, {}},
    };
    for (const auto& row : table) {
        PlanOptions options;
        options.filters = row.filters;
        options.tags = row.tags;
        const SuitePlan plan = plan_suite(suite, options);
        EXPECT_EQ(ids(plan.suite), row.expected);
        EXPECT_TRUE(plan.suite.partial);
        EXPECT_EQ(plan.counts.not_matched, 7 - row.expected.size());
    }
}

TEST(SuitePlan, IsNotPartialWhereTheSelectionLeavesNothingOut) {
    PlanOptions options;
    options.filters = {"copy/*"};
    EXPECT_FALSE(plan_suite(parse(copies), options).suite.partial);
}

TEST(SuitePlan, ACaseHasItsFormerNameUnlessThatIsAnotherCase) {
    const auto was = [](const std::string& name) {
        const SuitePlan plan =
            plan_suite(parse(copies + std::string("overrides:\n  - match: copy/plain*\n    was: ") +
                             name + "\n"),
                       {});
        return case_of(plan, "copy/plain[bytes=1]").was;
    };
    EXPECT_EQ(was("copy/simple"), "copy/simple[bytes=1]");
    EXPECT_EQ(was("copy/memcpy"), "");
}

TEST(SuitePlan, AppliesOverridesByCaseAndDeviceLaterOnesWinning) {
    const Suite suite = parse(
        "name: s\n"
        "defaults: {metrics: [gpu_time, registers], tolerances: {gpu_time: 1%, registers: 0}}\n"
        "overrides:\n"
        "  - match: '*bytes=1]'\n"
        "    tolerances: {gpu_time: 5%}\n"
        "    precision: 5%\n"
        "  - device: nvidia-h200*\n"
        "    tolerances: {gpu_time: 6%}\n"
        "workloads:\n"
        "  - workload: copy\n"
        "    variants: [plain]\n"
        "    matrix: {bytes: [1, 2, 3]}\n"
        "    tolerances: {gpu_time: 2%}\n"
        "    overrides:\n"
        "      - match: copy/plain[bytes=2]\n"
        "        device: nvidia-h100-*\n"
        "        tolerances: {gpu_time: 8%}\n"
        "      - match: copy/plain[bytes=3]\n"
        "        tolerances: {gpu_time: 9%, registers: none}\n"
        "        metrics: [gpu_time]\n"
        "        time_budget: 1s\n");
    const struct {
        const char* device;
        const char* id;
        const char* gates;
    } table[] = {
        {"", "copy/plain[bytes=1]", "gpu_time 5 %; registers 0 %"},
        {"", "copy/plain[bytes=2]", "gpu_time 2 %; registers 0 %"},
        {"", "copy/plain[bytes=3]", "gpu_time 9 %"},
        {"nvidia-h100-80gb-hbm3", "copy/plain[bytes=1]", "gpu_time 5 %; registers 0 %"},
        {"nvidia-h100-80gb-hbm3", "copy/plain[bytes=2]", "gpu_time 8 %; registers 0 %"},
        {"nvidia-h200", "copy/plain[bytes=1]", "gpu_time 6 %; registers 0 %"},
        {"nvidia-h200", "copy/plain[bytes=2]", "gpu_time 6 %; registers 0 %"},
        {"nvidia-h200", "copy/plain[bytes=3]", "gpu_time 9 %"},
    };
    for (const auto& row : table) {
        EXPECT_EQ(gates_of(case_of(plan_suite(suite, on(row.device)), row.id)), row.gates)
            << row.device << ' ' << row.id;
    }
    const SuitePlan plan = plan_suite(suite, {});
    EXPECT_EQ(case_of(plan, "copy/plain[bytes=1]").precision, 0.05);
    EXPECT_EQ(case_of(plan, "copy/plain[bytes=2]").precision, 0.005);
    EXPECT_EQ(case_of(plan, "copy/plain[bytes=3]").time_budget_s, 1);
    EXPECT_EQ(case_of(plan, "copy/plain[bytes=3]").metrics, (Texts{"gpu_time"}));
}

// Two globs that are good alone and leave no gate together are known when the device is.
TEST(SuitePlan, RefusesOverridesThatLeaveNoGateOnThisDevice) {
    const Suite suite = parse(
        "name: s\n"
        "defaults: {metrics: [gpu_time, registers], tolerances: {gpu_time: 1%, registers: 0}}\n"
        "overrides:\n"
        "  - device: nvidia-*\n"
        "    tolerances: {gpu_time: none}\n"
        "  - device: '*-h100-*'\n"
        "    tolerances: {registers: none}\n"
        "workloads: [{workload: copy, variants: [plain]}]\n");
    EXPECT_EQ(test::refusal([&] { plan_suite(suite, on("nvidia-h100-pcie")); }),
              "s.yaml:8:13: no gated metric applies to copy/plain on 'nvidia-h100-pcie'; expected "
              "a tolerance for a metric of CUDA variants, such as gpu_time");
    EXPECT_EQ(gates_of(plan_suite(suite, on("nvidia-h200")).suite.cases.at(0)), "registers 0 %");
}

std::vector<Suite> one(const char* yaml) {
    std::vector<Suite> suites;
    suites.push_back(parse(yaml));
    return suites;
}

TEST(SuitePlans, SayWhereTheCasesWentWhenNoneIsLeft) {
    const std::vector<Suite> suites = one(copies);
    PlanOptions options;
    options.filters = {"gemm/*"};
    EXPECT_EQ(test::refusal([&] { plan_suites(suites, options); }),
              "no case is left of 7: 7 not selected by --filter 'gemm/*'; there is " +
                  suites[0].cases[0].id + ", " + suites[0].cases[1].id + ", " +
                  suites[0].cases[2].id + " and 4 more");
    options.target = Target::host;
    options.tags = {"large"};
    EXPECT_EQ(
        test::refusal([&] { plan_suites(suites, options); }),
        "no case is left of 7: 5 of CUDA variants, which the host backend does not run, 2 not "
        "selected by --filter 'gemm/*' and --tag 'large'; there is copy/memcpy[bytes=1], "
        "copy/memcpy[bytes=2]");

    const std::vector<Suite> cuda_only =
        one("name: s\n"
            "workloads: [{workload: copy, variants: [plain], metrics: [gpu_time], "
            "tolerances: {gpu_time: 1%}}]\n");
    EXPECT_EQ(test::refusal([&] {
                  plan_suites(cuda_only, {Target::host, "", "", {}, {}});
              }),
              "no case is left of 1: 1 of CUDA variants, which the host backend does not run; they "
              "need a machine with an NVIDIA GPU, which 'perfgate doctor --backend cuda' checks");
}

TEST(SuitePlans, RefuseAFilterOrTagThatSelectsNothingInAnySuite) {
    std::vector<Suite> suites = one(copies);
    suites.push_back(
        parse("name: t\n"
              "defaults: {metrics: [gpu_time], tolerances: {gpu_time: 1%}}\n"
              "workloads: [{workload: gemm, variants: [naive], params: {m: 1, n: 1, k: 1}, "
              "tags: [fp32]}]\n"));
    PlanOptions options;
    options.filters = {"copy/*", "gemm/*"};
    const model::Plan plan = plan_suites(suites, options);
    ASSERT_EQ(plan.suites.size(), 2U);
    EXPECT_EQ(plan.suites[0].cases.size(), 7U);
    EXPECT_EQ(plan.suites[1].cases.size(), 1U);
    options.filters = {"copy/*", "copy/plane*"};
    EXPECT_TRUE(test::refusal([&] { plan_suites(suites, options); })
                    .starts_with("--filter 'copy/plane*' selects no case; there is " +
                                 suites[0].cases[0].id + ", "));
    options.filters = {"copy/*", "gemm/native[k=1,m=1,n=1]"};
    EXPECT_EQ(test::refusal([&] { plan_suites(suites, options); }),
              "--filter 'gemm/native[k=1,m=1,n=1]' selects no case; did you mean "
              "'gemm/naive[k=1,m=1,n=1]'?");
    options.filters = {"copy/plane*", "copy/*"};
    EXPECT_NE(test::refusal([&] { plan_suites(suites, options); }).find("'copy/plane*'"),
              std::string::npos);
    options.filters.clear();
    options.tags = {"small", "fp23"};
    EXPECT_EQ(test::refusal([&] { plan_suites(suites, options); }),
              "--tag 'fp23' selects no case; the tags are fp32, large, slow, small");
}

TEST(SuitePlans, AreNotEmptyWhereEveryCaseIsSkipped) {
    const auto plan = plan_suites(one("name: s\n"
                                      "workloads: [{workload: copy, variants: [tma], metrics: "
                                      "[gpu_time], tolerances: {gpu_time: 1%}}]\n"),
                                  {});
    EXPECT_NE(plan.suites.at(0).cases.at(0).skip_reason, "");
}

TEST(SuitePlans, SkipWhatTheSuiteSaysOnTheDevicesThatItNames) {
    const Suite suite = parse(std::string(copies) +
                              "    overrides: [{match: '*', skip: broken since 580}]\n"
                              "overrides:\n"
                              "  - {match: 'copy/tma*', device: 'nvidia-a100*', skip: no TMA}\n");
    const auto of = [&](const std::string& device, const std::string& id) {
        return case_of(plan_suite(suite, on(device)), id);
    };
    EXPECT_EQ(of("nvidia-a100-80gb", "copy/tma[bytes=1]").skip_reason, "the suite skips it: no TMA")
        << "which leads: the variant is not built either";
    EXPECT_TRUE(of("nvidia-a100-80gb", "copy/tma[bytes=1]").skipped_by_suite);
    EXPECT_TRUE(of("nvidia-h100", "copy/tma[bytes=1]").skip_reason.starts_with("not built"));
    EXPECT_FALSE(of("nvidia-h100", "copy/tma[bytes=1]").skipped_by_suite);
    EXPECT_EQ(of("nvidia-h100", "copy/plain[bytes=4096]").skip_reason,
              "the suite skips it: broken since 580");
    EXPECT_EQ(of("nvidia-h100", "copy/plain[bytes=1]").skip_reason, "");
}

constexpr const char* with_program = R"(
name: s
defaults: {tolerances: {gpu_time: 3%, registers: 0}}
workloads:
  - workload: copy
    variants: [plain, memcpy]
    metrics: [gpu_time, registers, host_time]
    tolerances: {host_time: 50%}
  - command: [./app, "--size={size}", "{mode}", "{}", "{a b}"]
    name: app
    env: {SIZE: "{size}"}
    cwd: build
    timeout: 90s
    exit: 3
    warmup: 2
    capture: {after_launches: 7, range: "{mode}"}
    matrix: {size: [8], mode: ["a b"]}
    measure:
      step: {nvtx: step*, threads: own, skip: 3}
      flash: {kernel: "*flash*", within: step}
    tolerances: {step.gpu_time: 2%, step.idle_share: 2pt, program.wall_time: 5%}
    expect: {flash.kernels: "== 12"}
    check: [./verify, "{mode}"]
)";

TEST(PlanSuite, AProgramHasACommandAndACaseForEachLabel) {
    const Suite suite = parse_suite(with_program, "s.yaml", test::workloads());
    const model::PlannedSuite planned = plan_suite(suite, {}).suite;
    const command::Command& command = command::command_of(*planned.cases[2].subject);
    EXPECT_EQ(command.name, "app");
    EXPECT_EQ(command.words, (std::vector<std::string>{"./app", "--size=8", "a b", "{}", "{a b}"}));
    EXPECT_EQ(command.check, (std::vector<std::string>{"./verify", "a b"}));
    ASSERT_EQ(command.environment.size(), 1U);
    EXPECT_EQ(command.environment[0], (std::pair<std::string, std::string>{"SIZE", "8"}));
    EXPECT_EQ(command.folder, "build");
    EXPECT_EQ(command.time_limit_s, 90);
    EXPECT_EQ(command.exit_status, 3);
    EXPECT_EQ(command.warm_up_runs, 2);
    EXPECT_EQ(command.capture, (model::CaptureRange{false, "{mode}", 7}));

    ASSERT_EQ(planned.cases.size(), 5U);
    const model::PlannedCase& step = planned.cases[2];
    EXPECT_EQ(model::case_id(step.spec), "app/step[mode=\"a b\",size=8]");
    EXPECT_EQ(step.target, model::Target::program);
    EXPECT_EQ(command::piece_of(*step.subject),
              (command::Piece{command::Piece::Kind::range, "step*", "", true, 3}));
    ASSERT_EQ(step.gates.size(), 2U);  // and none of the defaults'
    EXPECT_EQ(step.gates[1].metric, "idle_share");
    EXPECT_EQ(step.gates[1].tolerance, (model::Tolerance{0, {}, 2}));
    const model::PlannedCase& flash = planned.cases[3];
    EXPECT_EQ(command::piece_of(*flash.subject),
              (command::Piece{command::Piece::Kind::kernels, "*flash*", "step", false, 0}));
    EXPECT_TRUE(flash.gates.empty());
    EXPECT_EQ(command::piece_of(*planned.cases[4].subject), command::Piece{});
    ASSERT_EQ(planned.relations.size(), 1U);
    EXPECT_EQ(model::to_text(planned.relations[0]), "app/flash.kernels == 12");
}

TEST(PlanSuite, ProgramsAreMeasuredWithEitherBackend) {
    const Suite suite = parse_suite(with_program, "s.yaml", test::workloads());
    for (const model::Target target : {model::Target::host, model::Target::cuda}) {
        PlanOptions options;
        options.target = target;
        const SuitePlan planned = plan_suite(suite, options);
        EXPECT_EQ(planned.suite.cases.size(), 4U);
        EXPECT_EQ(planned.suite.relations.size(), 1U);
        EXPECT_EQ(planned.counts.other_target, 1U);
    }
}

// "core" has counters for plugins' cases.
TEST(PlanSuite, ACaseOfAProgramHasTheCountersThatItNames) {
    const Suite suite = parse(
        "name: s\n"
        "workloads:\n"
        "  - command: [./app]\n"
        "    name: app\n"
        "    measure: {step: {nvtx: step}, flash: {kernel: flash}}\n"
        "    tolerances: {step.gpu_time: 3%, flash.gpu_time: 3%, flash.dram_bytes: 1%}\n"
        "overrides:\n"
        "  - match: '*'\n"
        "    metrics: [core, dram_bytes, instructions]\n"
        "    tolerances: {dram_bytes: 2%, instructions: 0}\n");
    const SuitePlan plan = plan_suite(suite, {});
    EXPECT_EQ(gates_of(case_of(plan, "app/step")), "gpu_time 3 %");
    EXPECT_EQ(gates_of(case_of(plan, "app/flash")), "gpu_time 3 %; dram_bytes 2 %");
    const auto counters = [&](const char* id) {
        Texts names;
        for (const std::string& name : case_of(plan, id).metrics) {
            if (metrics::find_metric(name)->source == metrics::Source::counter) {
                names.push_back(name);
            }
        }
        return names;
    };
    EXPECT_EQ(counters("app/step"), Texts{});
    EXPECT_EQ(counters("app/flash"), Texts{"dram_bytes"});
}

TEST(PlanSuite, OnlyKernelsOfProgramsHaveLaunchFacts) {
    const Suite suite = parse(
        "name: s\n"
        "workloads:\n"
        "  - command: [./app]\n"
        "    name: app\n"
        "    measure: {step: {nvtx: step}, flash: {kernel: flash}, gemm: {kernel: gemm}}\n"
        "    tolerances: {step.gpu_time: 3%, flash.registers: 0, gemm.gpu_time: 3%}\n"
        "    expect: {flash.stack: '== 0 B', gemm.registers: '<= 128'}\n"
        "overrides:\n"
        "  - match: '*'\n"
        "    metrics: [core, stack]\n"
        "    tolerances: {static_smem: 0, theoretical_occupancy: 1%}\n");
    const SuitePlan plan = plan_suite(suite, {});
    EXPECT_EQ(gates_of(case_of(plan, "app/step")), "gpu_time 3 %");
    EXPECT_EQ(gates_of(case_of(plan, "app/flash")), "registers 0 %; static_smem 0 %");
    EXPECT_EQ(gates_of(case_of(plan, "app/gemm")), "gpu_time 3 %; static_smem 0 %");
    const auto has = [&](const char* id, const char* metric) {
        const std::vector<std::string>& names = case_of(plan, id).metrics;
        return std::find(names.begin(), names.end(), metric) != names.end();
    };
    EXPECT_FALSE(has("app/step", "registers"));
    EXPECT_FALSE(has("app/flash", "theoretical_occupancy"));
    EXPECT_TRUE(has("app/flash", "stack"));
    EXPECT_TRUE(has("app/gemm", "registers"));
    EXPECT_FALSE(has("app/gemm", "stack")) << "its label does not name it";
}

TEST(PlanSuite, AProgramHasUpToAHundredLabels) {
    const auto with_labels = [](int count) {
        std::string yaml =
            "name: s\nworkloads:\n  - command: [./app]\n    name: app\n    measure:\n";
        std::string tolerances = "    tolerances:\n";
        for (int i = 0; i < count; ++i) {
            const std::string label = "l" + std::to_string(i);
            yaml += "      " + label + ": {nvtx: " + label + "}\n";
            tolerances += "      " + label + ".gpu_time: 3%\n";
        }
        return yaml + tolerances;
    };
    EXPECT_EQ(plan_suite(parse(with_labels(100)), {}).suite.cases.size(), 100U);
    EXPECT_NE(test::refusal([&] { parse(with_labels(101)); }).find("101"), std::string::npos);
}

}  // namespace suite_plan_test
}  // namespace perfgate::suite
