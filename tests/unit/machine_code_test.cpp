// SPDX-License-Identifier: Apache-2.0
#include "gate/machine_code.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "baseline/pooling.hpp"
#include "baseline/refresh.hpp"
#include "gate/batch_rule.hpp"
#include "unit/gate_documents.hpp"
#include "unit/golden_sentence.hpp"

namespace perfgate::gate {
namespace machine_code_test {

using documents::measured_case;
using documents::run_of;
using model::CaseResult;
using model::CodeChange;
using model::MemoryKind;
using model::MemoryOperationKind;
using model::Verdict;

model::Kernel kernel(const std::string& name = "tiled", const std::string& code = "c0de") {
    model::Kernel result;
    result.name = name;
    result.grid = {8, 1, 1};
    result.block = {128, 1, 1};
    result.registers = 64;
    result.duration_ns = 1000;
    result.theoretical_occupancy = 50;
    result.metrics["instructions"] = 7;
    result.code = code;
    result.arguments = "a1";
    return result;
}

CaseResult coded_case() {
    CaseResult result = measured_case();
    result.kernels = {kernel()};
    result.host_code = "0057";
    result.libraries = model::Libraries{{"libhelper.so", "11b"}};
    result.memory_operations = {
        {MemoryOperationKind::host_to_device, 4 << 20, MemoryKind::pinned, MemoryKind::device},
        {MemoryOperationKind::memset, 4096, MemoryKind::unknown, MemoryKind::device}};
    return result;
}

model::Baseline accepted(const model::Run& run) {
    return baseline::refresh(run, run.suites.front(), std::nullopt, {}).baseline;
}

/// The baseline of coded_case(), against a case that differs from it by `change`.
template <class Change>
CodeComparison compared(const Change& change) {
    const model::Baseline baseline = accepted(run_of({coded_case()}));
    CaseResult now = coded_case();
    model::Run run = run_of({now});
    change(now, run);
    return compare_code(code_of(now, run.environment),
                        code_of(baseline.cases.at(model::case_id(now.spec))));
}

TEST(MachineCode, NothingChanged) {
    const CodeComparison found = compared([](CaseResult&, model::Run&) {});
    EXPECT_EQ(found.change, CodeChange::unchanged);
    EXPECT_EQ(found.difference, "");
}

TEST(MachineCode, ChangedCodeNamesTheKernel) {
    const CodeComparison found =
        compared([](CaseResult& now, model::Run&) { now.kernels[0].code = "0ther"; });
    EXPECT_EQ(found.change, CodeChange::changed);
    EXPECT_EQ(found.difference, "machine code changed: kernel tiled");
}

TEST(MachineCode, TheSetUpOfASourceIsItsInput) {
    const auto found = [](const std::string& set_up) {
        return compared([&](CaseResult& now, model::Run&) {
            now.source = "reduce.cu";
            now.host_code = set_up;
        });
    };
    EXPECT_EQ(found("0057").change, CodeChange::unchanged);
    EXPECT_TRUE(found("0057").runs_the_same);
    EXPECT_EQ(found("0058").change, CodeChange::device_unchanged);
    EXPECT_FALSE(found("0058").runs_the_same) << "such as other values in its buffers";
}

TEST(MachineCode, ANameIsShortenedToWhatPeopleLookFor) {
    const auto named = [](const std::string& name) {
        return compared([&](CaseResult& now, model::Run&) {
                   now.kernels[0].code = "0ther";
                   now.kernels[0].name = name;
               })
            .difference;
    };
    const std::string start = "machine code changed: kernel ";
    EXPECT_EQ(named("camera::(anonymous namespace)::blend(unsigned char const*, int (*)(int))"),
              start + "camera::blend");
    EXPECT_EQ(named("void gemm::(anonymous namespace)::naive<(gemm::Epilogue)0>(int, float*)"),
              start + "gemm::naive<(gemm::Epilogue)0>");
    EXPECT_EQ(named("(a))"), start + "(a))") << "no name: as it stands";
    EXPECT_EQ(named(")"), start + ")");
    EXPECT_EQ(named("my_kernel"), start + "my_kernel");
}

TEST(MachineCode, ALongNameIsCutAtSixtyBytes) {
    const auto named = [](std::size_t length) {
        return compared([&](CaseResult& now, model::Run&) {
                   now.kernels[0].code = "0ther";
                   now.kernels[0].name = std::string(length, 'k');
               })
            .difference;
    };
    EXPECT_TRUE(named(60).ends_with(" " + std::string(60, 'k'))) << named(60);
    EXPECT_EQ(named(61).find(std::string(61, 'k')), std::string::npos) << named(61);
}

TEST(MachineCode, OfSeveralChangedKernelsTheFirstIsNamedOnceAndTheOthersCounted) {
    const auto difference = [](const std::vector<std::pair<std::string, std::string>>& kernels,
                               std::size_t before = 3) {
        CaseResult then = coded_case();
        then.kernels.assign(before, kernel());
        CaseResult now = coded_case();
        now.kernels.clear();
        for (const auto& [name, code] : kernels) now.kernels.push_back(kernel(name, code));
        const model::Environment environment;
        return compare_code(code_of(now, environment), code_of(then, environment)).difference;
    };
    const std::string start = "machine code changed: ";
    EXPECT_EQ(difference({{"a", "c0de"}, {"b", "1"}, {"b", "2"}}), start + "kernel b");
    EXPECT_EQ(difference({{"a", "1"}, {"b", "2"}, {"c", "3"}}), start + "kernel a and 2 more");
    EXPECT_EQ(difference({{"a", "c0de"}}), start + "3 kernels → 1");
    EXPECT_EQ(difference({{"a", "c0de"}, {"a", "c0de"}}, 1), start + "1 kernel → 2");
    EXPECT_EQ(difference({{"a", "1"}, {"b", "2"}, {"c", "3"}}, 1),
              start + "1 kernel → 3, new: a and 2 more");
    EXPECT_EQ(difference({{"a", "c0de"}, {"b", ""}, {"c", "3"}}), "") << "one is not known";
}

TEST(MachineCode, TheFirstSampledMetricHasTheSeed) {
    CaseResult result = coded_case();
    const model::Environment environment;
    EXPECT_EQ(code_of(result, environment).seed, 1U);
    result.metrics["gpu_time"].batches.clear();
    EXPECT_EQ(code_of(result, environment).seed, 1U) << "that of the registers";
    result.metrics.clear();
    EXPECT_EQ(code_of(result, environment).seed, std::nullopt);
}

TEST(MachineCode, AnotherNumberOfKernelsIsChangedCode) {
    const CodeComparison found =
        compared([](CaseResult& now, model::Run&) { now.kernels.push_back(kernel("reduce")); });
    EXPECT_EQ(found.change, CodeChange::changed);
    expect_sentence(found.difference);
}

TEST(MachineCode, OfAnotherNumberOfKernelsThoseWithOtherCodeAreNamed) {
    const CodeComparison found = compared(
        [](CaseResult& now, model::Run&) { now.kernels.push_back(kernel("bias_silu", "0ther")); });
    EXPECT_EQ(found.changed_kernels, std::vector<std::string>{"bias_silu"});
    EXPECT_TRUE(found.difference.ends_with("1 kernel → 2, new: bias_silu")) << found.difference;
    const CodeComparison fused = compared([](CaseResult& now, model::Run&) {
        now.kernels[0].code = "an0ther";
        now.kernels.push_back(kernel("bias_silu", "0ther"));
    });
    ASSERT_EQ(fused.changed_kernels.size(), 2U);
    EXPECT_EQ(fused.changed_kernels.front(), "bias_silu") << "the new one is the reason";
}

TEST(MachineCode, WhateverElseDiffersLeavesTheDeviceCodeUnchanged) {
    using Change = void (*)(CaseResult&, model::Run&);
    struct Example {
        Change change;
        std::string difference;
    };
    const std::vector<Example> examples = {
        {[](CaseResult& now, model::Run&) {
             now.kernels[0].grid = {16, 1, 1};
         },
         "grid of tiled changed: 8x1x1 → 16x1x1"},
        {[](CaseResult& now, model::Run&) {
             now.kernels[0].block = {64, 1, 1};
         },
         "block of tiled changed: 128x1x1 → 64x1x1"},
        {[](CaseResult& now, model::Run&) {
             now.kernels[0].cluster = {2, 1, 1};
         },
         "cluster of tiled changed: 0x0x0 → 2x1x1"},
        {[](CaseResult& now, model::Run&) { now.kernels[0].dynamic_smem = 4096; },
         "dynamic shared memory of tiled changed: 0 → 4096"},
        {[](CaseResult& now, model::Run&) { now.kernels[0].static_smem = 48; },
         "static shared memory of tiled changed: 0 → 48"},
        {[](CaseResult& now, model::Run&) { now.kernels[0].registers = 65; },
         "number of registers of tiled changed: 64 → 65"},
        {[](CaseResult& now, model::Run&) { now.kernels[0].local_bytes = 16; },
         "local memory of tiled changed: 0 → 16"},
        {[](CaseResult& now, model::Run&) { now.kernels[0].carveout = 100; },
         "shared-memory carve-out of tiled changed: default → 100 %"},
        {[](CaseResult& now, model::Run&) { now.kernels[0].cooperative = true; },
         "kind of launch of tiled changed: regular → cooperative"},
        {[](CaseResult& now, model::Run&) { now.kernels[0].arguments = "a2"; },
         "the arguments of tiled changed"},
        {[](CaseResult& now, model::Run&) { now.kernels[0].arguments.clear(); },
         "the arguments of tiled are not known"},
        {[](CaseResult& now, model::Run&) {
             now.memory_operations->at(0).from = MemoryKind::pageable;
         },
         "copy 1: host to device 4.000 MiB, pinned → pageable"},
        {[](CaseResult& now, model::Run&) {
             now.memory_operations->at(0).to = MemoryKind::managed;
         },
         "copy 1: host to device 4.000 MiB, device → managed"},
        {[](CaseResult& now, model::Run&) { now.memory_operations->at(1).bytes = 8192; },
         "memset 2: memset 4.000 KiB, device → memset 8.000 KiB, device"},
        {[](CaseResult& now, model::Run&) {
             now.memory_operations->at(0).kind = MemoryOperationKind::device_to_device;
             now.memory_operations->at(0).from = MemoryKind::device;
         },
         "copy 1: host to device 4.000 MiB, pinned to device → device to device 4.000 MiB, "
         "device to device"},
        {[](CaseResult& now, model::Run&) { now.memory_operations->pop_back(); },
         "number of copies and memsets changed: 2 → 1"},
        {[](CaseResult& now, model::Run&) { (*now.libraries)["libhelper.so"] = "22c"; },
         "library libhelper.so changed"},
        {[](CaseResult& now, model::Run&) { (*now.libraries)["liblater.so"] = "22c"; },
         "library liblater.so was not loaded before"},
        {[](CaseResult& now, model::Run&) { now.libraries->clear(); },
         "library libhelper.so is not loaded any more"},
        {[](CaseResult& now, model::Run&) { now.libraries.reset(); },
         "libraries are not known: refresh the baseline if it is from before they were recorded"},
        {[](CaseResult& now, model::Run&) { now.memory_operations.reset(); },
         "copies and memsets are not known: refresh the baseline if it is from before they were "
         "recorded"},
        {[](CaseResult& now, model::Run&) { now.metrics["gpu_time"].batches[0].seed = 2; },
         "the inputs have another seed"},
        {[](CaseResult&, model::Run& run) { run.environment.driver = "590.2"; },
         "driver changed: 580.1 → 590.2"},
        {[](CaseResult& now, model::Run&) { now.host_code = "0058"; }, "host code changed"},
        {[](CaseResult& now, model::Run&) { now.host_code.clear(); }, "host code is not known"},
    };
    for (const Example& example : examples) {
        const CodeComparison found = compared(example.change);
        EXPECT_EQ(found.change, CodeChange::device_unchanged) << example.difference;
        EXPECT_EQ(found.difference, example.difference);
    }
}

TEST(MachineCode, WhatIsNotKnownIsNeitherChangedNorUnchanged) {
    EXPECT_EQ(compared([](CaseResult& now, model::Run&) { now.kernels[0].code.clear(); }).change,
              CodeChange::unknown);
    EXPECT_EQ(compared([](CaseResult& now, model::Run&) { now.kernels.clear(); }).change,
              CodeChange::unknown);
}

TEST(MachineCode, ArgumentsThatNeitherKnowsAreThoseOfTheSuite) {
    CaseResult result = coded_case();
    result.kernels[0].arguments.clear();
    const model::Run run = run_of({result});
    const model::Baseline baseline = accepted(run);
    EXPECT_EQ(
        compare_code(code_of(result, run.environment), code_of(baseline.cases.begin()->second))
            .change,
        CodeChange::unchanged);
}

TEST(MachineCode, AHostVariantIsItsHostCode) {
    const auto of_host = [](const std::string& now, const std::string& before) {
        const std::vector<model::Kernel> none;
        return compare_code({&none, &now, "", 1}, {&none, &before, "", 1}).change;
    };
    EXPECT_EQ(of_host("1", "1"), CodeChange::unchanged);
    EXPECT_EQ(of_host("1", "2"), CodeChange::changed);
    EXPECT_EQ(of_host("1", ""), CodeChange::unknown);
    EXPECT_EQ(of_host("", ""), CodeChange::unknown);
}

TEST(MachineCode, ACaseWithoutKernelsIsItsLibrariesCopiesAndMemsets) {
    const auto compared_without_kernels = [](const auto& change) {
        CaseResult before = coded_case();
        before.kernels.clear();
        CaseResult now = before;
        change(before, now);
        const model::Run run = run_of({now});
        return compare_code(code_of(now, run.environment), code_of(before, run.environment));
    };
    const auto same = [](CaseResult&, CaseResult&) {};
    EXPECT_EQ(compared_without_kernels(same).change, CodeChange::unchanged);

    const CodeComparison library = compared_without_kernels(
        [](CaseResult&, CaseResult& now) { (*now.libraries)["libhelper.so"] = "22c"; });
    EXPECT_EQ(library.change, CodeChange::changed);
    EXPECT_EQ(library.difference, "library libhelper.so changed");

    const CodeComparison copy = compared_without_kernels([](CaseResult&, CaseResult& now) {
        now.memory_operations->at(0).from = MemoryKind::pageable;
    });
    EXPECT_EQ(copy.change, CodeChange::changed);
    expect_sentence(copy.difference);

    const CodeComparison other_host =
        compared_without_kernels([](CaseResult&, CaseResult& now) { now.host_code = "0058"; });
    EXPECT_EQ(other_host.change, CodeChange::device_unchanged);
    EXPECT_EQ(other_host.difference, "host code changed");
    EXPECT_TRUE(other_host.copies_the_same);
    EXPECT_FALSE(other_host.runs_the_same) << "a row of another pitch has as many bytes";

    const CodeComparison other_seed = compared_without_kernels([](CaseResult&, CaseResult& now) {
        now.host_code = "0058";
        now.metrics["gpu_time"].batches[0].seed = 2;
    });
    EXPECT_EQ(other_seed.change, CodeChange::device_unchanged);
    EXPECT_FALSE(other_seed.copies_the_same);

    const CodeComparison other_copy = compared_without_kernels([](CaseResult&, CaseResult& now) {
        now.host_code = "0058";
        now.memory_operations->at(1).bytes = 8192;
    });
    EXPECT_EQ(other_copy.change, CodeChange::changed);
    EXPECT_FALSE(other_copy.copies_the_same);

    const CodeComparison unknown =
        compared_without_kernels([](CaseResult& before, CaseResult&) { before.libraries.reset(); });
    EXPECT_EQ(unknown.change, CodeChange::unknown);
}

TEST(MachineCode, ABaselineFromBeforeLibrariesAndCopies) {
    const auto old_baseline_of = [](const CaseResult& result) {
        CaseResult before = result;
        before.libraries.reset();
        before.memory_operations.reset();
        const model::Run run = run_of({result});
        const Code now = code_of(result, run.environment);
        const Code then = code_of(before, run.environment);
        const CodeComparison found = compare_code(now, then);
        return std::pair(found.change, found.runs_the_same);
    };
    // Of a case that has none it lacks nothing.
    CaseResult plain = coded_case();
    plain.libraries->clear();
    plain.memory_operations->clear();
    EXPECT_EQ(old_baseline_of(plain), std::pair(CodeChange::unchanged, true));
    // Another is measured, and what it has is not taken for a change of the machine code.
    EXPECT_EQ(old_baseline_of(coded_case()), std::pair(CodeChange::device_unchanged, false));
}

TEST(MachineCode, OverlappingCopiesMayComeInAnyOrder) {
    const CodeComparison found = compared([](CaseResult& now, model::Run&) {
        std::swap(now.memory_operations->at(0), now.memory_operations->at(1));
    });
    EXPECT_EQ(found.change, CodeChange::unchanged);
}

TEST(MachineCode, ACaseNeedNotBeMeasuredAgainWhereItLaunchesTheSame) {
    const model::Baseline baseline = accepted(run_of({coded_case()}));
    const auto same = [&](const auto& change) {
        CaseResult now = coded_case();
        model::Run run = run_of({});
        change(now, run);
        return compare_code(code_of(now, run.environment), code_of(baseline.cases.begin()->second))
            .runs_the_same;
    };
    EXPECT_TRUE(same([](CaseResult&, model::Run&) {}));
    // Another kernel of the same plugin changed, and with it the plugin's file.
    EXPECT_TRUE(same([](CaseResult& now, model::Run&) { now.host_code = "0058"; }));
    EXPECT_FALSE(same([](CaseResult& now, model::Run&) { now.kernels[0].code = "0ther"; }));
    EXPECT_FALSE(same([](CaseResult& now, model::Run&) { now.kernels[0].arguments = "a2"; }));
    EXPECT_FALSE(same([](CaseResult& now, model::Run&) {
        now.memory_operations->at(0).from = MemoryKind::pageable;
    }));
    EXPECT_FALSE(
        same([](CaseResult& now, model::Run&) { (*now.libraries)["libhelper.so"] = "22c"; }));
    EXPECT_FALSE(same([](CaseResult& now, model::Run&) { now.kernels[0].code.clear(); }));
    EXPECT_FALSE(same([](CaseResult&, model::Run& run) { run.environment.driver = "590.2"; }));
}

// ---- what the gate makes of it

model::VerdictDocument judged(CaseResult now) {
    const model::Run before = run_of({coded_case()});
    const model::Policy policy;
    return judge(run_of({std::move(now)}), documents::stored(accepted(before)), policy,
                 BatchRule(policy));
}

CaseResult slower() {
    CaseResult result = coded_case();
    result.metrics["gpu_time"] = documents::series({1100});
    return result;
}

TEST(MachineCode, ASlowerTimeOfTheSameCodeIsInconclusive) {
    const model::VerdictDocument document = judged(slower());
    const model::CaseVerdict& verdict = document.suites[0].cases[0];
    EXPECT_EQ(verdict.verdict, Verdict::inconclusive);
    EXPECT_EQ(verdict.code, CodeChange::unchanged);
    EXPECT_TRUE(verdict.reason.starts_with("gpu_time is inconclusive (nothing changed): 1.00"))
        << verdict.reason;
    EXPECT_NE(verdict.reason.find("look for the cause in the machine"), std::string::npos);
    EXPECT_EQ(document.exit_code, 0);
}

TEST(MachineCode, ATimeThatNoMachineExplainsIsInvalid) {
    CaseResult now = coded_case();
    now.metrics["gpu_time"] = documents::series({1'500});
    EXPECT_EQ(judged(now).suites[0].cases[0].verdict, Verdict::inconclusive) << "at the bound";
    for (const double measured : {1'501.0, 1e9}) {
        now.metrics["gpu_time"] = documents::series({measured});
        const model::VerdictDocument document = judged(now);
        const model::CaseVerdict& verdict = document.suites[0].cases[0];
        EXPECT_EQ(verdict.verdict, Verdict::invalid);
        EXPECT_TRUE(verdict.reason.starts_with("gpu_time cannot be judged (nothing changed): 1.00"))
            << verdict.reason;
        EXPECT_NE(verdict.reason.find("by more than a factor of 1.5"), std::string::npos);
        EXPECT_EQ(document.exit_code, 3);
    }
}

TEST(MachineCode, ASlowerTimeOfTheSameDeviceCodeIsRegressedAndSaysWhatElseChanged) {
    CaseResult now = slower();
    now.kernels[0].grid = {16, 1, 1};
    const model::VerdictDocument document = judged(now);
    const model::CaseVerdict& verdict = document.suites[0].cases[0];
    EXPECT_EQ(verdict.verdict, Verdict::regressed);
    EXPECT_TRUE(verdict.reason.starts_with("gpu_time regressed (device code unchanged): "))
        << verdict.reason;
    EXPECT_TRUE(verdict.reason.ends_with("; grid of tiled changed: 8x1x1 → 16x1x1"));
    EXPECT_EQ(document.exit_code, 1);
}

TEST(MachineCode, WhatOnlyLaunchesTheSameIsNeitherRegressedNorShown) {
    CaseResult now = slower();
    now.host_code = "0058";
    model::Policy policy;
    const auto judge_by = [&] {
        return judge(run_of({now}), documents::stored(accepted(run_of({coded_case()}))), policy,
                     BatchRule(policy));
    };
    policy.not_shown_fails = true;
    EXPECT_EQ(judge_by().exit_code, 4) << "what it reads may have changed";
    now.host_code = "0057";
    EXPECT_EQ(judge_by().exit_code, 0) << "all of it is the baseline's";
    now.host_code = "0058";
    now.metrics["gpu_time"] = documents::series({9000});
    EXPECT_EQ(judge_by().exit_code, 4) << "it is left to the policy";
    now.metrics["gpu_time"] = documents::series({10'001});
    EXPECT_EQ(judge_by().exit_code, 3);
    now = slower();
    now.host_code = "0058";
    const model::VerdictDocument document = judged(now);
    const model::CaseVerdict& verdict = document.suites[0].cases[0];
    EXPECT_EQ(verdict.verdict, Verdict::inconclusive);
    EXPECT_EQ(verdict.doubt, model::Doubt::nothing_launched_changed);
    EXPECT_TRUE(verdict.reason.starts_with("gpu_time is inconclusive (nothing launched changed): "))
        << verdict.reason;
    EXPECT_EQ(document.exit_code, 0);
}

/// A case of a program: 12 launches of a kernel in each instance, and a copy.
CaseResult program_case() {
    CaseResult result = measured_case();
    result.command = {"./app"};
    result.kernels = {kernel(), kernel("relu", "4e10")};
    for (model::Kernel& each : result.kernels) {
        each.launches = 12;
        each.arguments.clear();
    }
    result.memory_operations = coded_case().memory_operations;
    result.metrics["copies"] = documents::series({1});
    result.metrics["copied_bytes"] = documents::series({4096});
    return result;
}

template <class Change>
CodeComparison compared_program(const Change& change) {
    const model::Baseline baseline = accepted(run_of({program_case()}));
    CaseResult now = program_case();
    model::Run run = run_of({now});
    change(now, run);
    return compare_code(code_of(now, run.environment),
                        code_of(baseline.cases.at(model::case_id(now.spec))));
}

TEST(MachineCode, AProgramThatLaunchesTheSameRunsTheSame) {
    const CodeComparison same = compared_program([](CaseResult& now, model::Run&) {
        std::swap(now.kernels[0], now.kernels[1]);  // of streams that overlap
        now.kernels[0].duration_ns = 999;
        now.kernels[0].time_ns = 12'000;
    });
    EXPECT_EQ(same.change, CodeChange::device_unchanged);
    EXPECT_TRUE(same.runs_the_same);
    EXPECT_TRUE(same.of_program);
}

TEST(MachineCode, AProgramThatLaunchesAnythingElseDoesNotRunTheSame) {
    using Change = void (*)(CaseResult&, model::Run&);
    const Change changes[] = {
        [](CaseResult& now, model::Run&) {
            now.kernels[0].grid = {9, 1, 1};
        },
        [](CaseResult& now, model::Run&) {
            now.kernels[0].block = {64, 2, 1};
        },
        [](CaseResult& now, model::Run&) {
            now.kernels[0].cluster = {2, 1, 1};
        },
        [](CaseResult& now, model::Run&) { now.kernels[0].dynamic_smem = 1; },
        [](CaseResult& now, model::Run&) { now.kernels[0].launches = 12.5; },
        [](CaseResult& now, model::Run&) { now.kernels[0].code = "0ther"; },
        [](CaseResult& now, model::Run&) { now.kernels[0].code.clear(); },
        [](CaseResult& now, model::Run&) { now.kernels[0].name = "other"; },
        [](CaseResult& now, model::Run&) { now.kernels.pop_back(); },
        [](CaseResult& now, model::Run&) { now.kernels.push_back(now.kernels[0]); },
        [](CaseResult& now, model::Run&) { now.metrics.at("copies").value = 2; },
        [](CaseResult& now, model::Run&) { now.metrics.at("copied_bytes").value = 8192; },
        [](CaseResult& now, model::Run&) { now.metrics.erase("copies"); },
        [](CaseResult& now, model::Run&) { now.metrics["memsets"] = documents::series({1}); },
        [](CaseResult& now, model::Run&) {
            now.memory_operations->front().kind = MemoryOperationKind::device_to_host;
        },
        [](CaseResult& now, model::Run&) { now.memory_operations->back().bytes = 8192; },
        [](CaseResult&, model::Run& run) { run.environment.driver = "other"; },
        [](CaseResult&, model::Run& run) { run.environment.driver.clear(); },
    };
    for (std::size_t i = 0; i < std::size(changes); ++i) {
        EXPECT_FALSE(compared_program(changes[i]).runs_the_same) << i;
    }
}

TEST(MachineCode, AProgramsTimeIsExcusedOnlyAsFarAsAMachineExplainsIt) {
    const model::Baseline baseline = accepted(run_of({program_case()}));
    const auto judged_at = [&](double time_ns, bool not_shown_fails) {
        CaseResult now = program_case();
        now.metrics["gpu_time"] = documents::series({time_ns});
        model::Policy policy;
        policy.not_shown_fails = not_shown_fails;
        return judge(run_of({now}), documents::stored(baseline), policy, BatchRule(policy));
    };
    const model::VerdictDocument within = judged_at(1010, true);
    EXPECT_EQ(within.exit_code, 0);
    EXPECT_EQ(std::count_if(within.suites[0].notes.begin(), within.suites[0].notes.end(),
                            [](const std::string& note) {
                                return note.find("shown by its code") != std::string::npos;
                            }),
              1);
    const model::VerdictDocument beyond = judged_at(1200, true);
    EXPECT_EQ(beyond.exit_code, 4) << "what it reads may have changed";
    for (const std::string& note : beyond.suites[0].notes) {
        EXPECT_EQ(note.find("shown by its code"), std::string::npos) << note;
    }
    EXPECT_EQ(judged_at(1200, false).suites[0].cases[0].doubt,
              model::Doubt::nothing_launched_changed);
    EXPECT_EQ(judged_at(1501, false).exit_code, 3);
}

TEST(MachineCode, ARangeThatDoesNothingOnTheDeviceAnyMoreIsInvalid) {
    CaseResult working = program_case();
    working.metrics["spill_sectors"] = documents::series({5}, "count", "record");
    working.gates = {{"spill_sectors", {}, 0}};
    CaseResult idle = working;
    idle.kernels.clear();
    idle.metrics["gpu_time"] = documents::series({0});
    const auto code = [](const CaseResult& before, const CaseResult& now) {
        const model::Baseline baseline = accepted(run_of({before}));
        const model::Policy policy;
        return judge(run_of({now}), documents::stored(baseline), policy, BatchRule(policy))
            .exit_code;
    };
    EXPECT_EQ(code(working, idle), 3);
    EXPECT_EQ(code(idle, idle), 0) << "the host's time alone is meant";
}

TEST(MachineCode, ArgumentsThatDifferOnlyWhereTheyDifferBetweenProcessesAreTheSame) {
    model::Kernel kernel;
    kernel.arguments = "whole-1";
    kernel.argument_words = "aaaaaaaabbbbbbbbcccccccc";
    model::Kernel second = kernel;  // another process of the same run
    second.arguments = "whole-2";
    second.argument_words = "aaaaaaaa1bbbbbbbcccccccc";
    EXPECT_FALSE(model::same_arguments(kernel, second));
    model::Kernel masked = kernel;
    model::mask_arguments(second, masked);
    EXPECT_EQ(masked.argument_words, "aaaaaaaa--------cccccccc");
    EXPECT_EQ(masked.arguments, "whole-1");

    model::Kernel now = kernel;  // on another board
    now.arguments = "whole-3";
    now.argument_words = "aaaaaaaa2bbbbbbbcccccccc";
    EXPECT_TRUE(model::same_arguments(masked, now));
    EXPECT_TRUE(model::same_arguments(now, masked)) << "either may know it";
    now.argument_words = "aaaaaaaa2bbbbbbb1ccccccc";
    EXPECT_FALSE(model::same_arguments(masked, now)) << "a word that says something";
    EXPECT_FALSE(model::same_arguments(now, masked));
    now.argument_words = "aaaaaaaa2bbbbbbb";
    EXPECT_FALSE(model::same_arguments(masked, now)) << "other parameters";
    now.argument_words = "";
    EXPECT_FALSE(model::same_arguments(masked, now)) << "a document from before words";
    model::mask_arguments(now, masked);
    EXPECT_EQ(masked.argument_words, "aaaaaaaa--------cccccccc");
}

TEST(MachineCode, AddressesInArgumentsDoNotMakeARegression) {
    CaseResult then = coded_case();
    then.kernels[0].arguments = "whole-1";
    then.kernels[0].argument_words = "aaaaaaaa--------";
    const model::Baseline baseline = accepted(run_of({then}));
    CaseResult now = slower();
    now.kernels[0].arguments = "whole-2";
    now.kernels[0].argument_words = "aaaaaaaabbbbbbbb";
    const Code before = code_of(baseline.cases.begin()->second);
    const model::Run run = run_of({});
    EXPECT_EQ(compare_code(code_of(now, run.environment), before).change, CodeChange::unchanged);
    now.kernels[0].argument_words = "baaaaaaabbbbbbbb";
    const CodeComparison changed = compare_code(code_of(now, run.environment), before);
    EXPECT_EQ(changed.change, CodeChange::device_unchanged);
    EXPECT_EQ(changed.difference, "the arguments of tiled changed");
}

TEST(MachineCode, ChangedCodeIsShownWhateverTheVerdict) {
    CaseResult now = coded_case();
    now.kernels[0].code = "0ther";
    const model::CaseVerdict passed = judged(now).suites[0].cases[0];
    EXPECT_EQ(passed.verdict, Verdict::inconclusive) << "one process shows nothing of a time";
    EXPECT_EQ(passed.doubt, model::Doubt::not_shown);
    EXPECT_EQ(passed.code, CodeChange::changed);
    EXPECT_EQ(passed.notes, std::vector<std::string>{"machine code changed: kernel tiled"});

    now = slower();
    now.kernels[0].code = "0ther";
    const model::CaseVerdict regressed = judged(now).suites[0].cases[0];
    EXPECT_EQ(regressed.verdict, Verdict::regressed);
    EXPECT_TRUE(regressed.reason.ends_with("; machine code changed: kernel tiled"));
}

/// With a gated counter: lower is better for "spill_sectors", higher for "l2_hit_rate", and
/// "sm_clock" has no direction.
CaseResult counted_case(const std::string& counter, double value) {
    CaseResult result = coded_case();
    result.gates.push_back({counter, {0.1, std::nullopt, 0}, 0});
    const std::string unit = run_of({}).metric_definitions.at(counter).unit;
    result.metrics[counter] =
        documents::series({value}, unit, "counter/auto-range/user-replay/cold");
    return result;
}

model::CaseVerdict judged_against(const CaseResult& before, const CaseResult& now) {
    const model::Policy policy;
    return judge(run_of({now}), documents::stored(accepted(run_of({before}))), policy,
                 BatchRule(policy))
        .suites[0]
        .cases[0];
}

TEST(MachineCode, AWorseCounterOfUnchangedCodeIsInconclusive) {
    const CaseResult before = counted_case("spill_sectors", 100);
    const model::CaseVerdict verdict = judged_against(before, counted_case("spill_sectors", 150));
    EXPECT_EQ(verdict.verdict, Verdict::inconclusive);
    EXPECT_EQ(verdict.doubt, model::Doubt::nothing_changed);
    EXPECT_TRUE(verdict.reason.starts_with("spill_sectors is inconclusive (nothing changed): "))
        << verdict.reason;
}

TEST(MachineCode, ACounterThatIsTenTimesWorseIsInvalid) {
    struct Change {
        const char* counter;
        double before, now;
        Verdict expected;
    };
    for (const Change& change : {Change{"spill_sectors", 100, 1000, Verdict::inconclusive},
                                 Change{"spill_sectors", 100, 1001, Verdict::invalid},
                                 Change{"spill_sectors", 0, 9, Verdict::inconclusive},
                                 Change{"l2_hit_rate", 50, 5, Verdict::inconclusive},
                                 Change{"l2_hit_rate", 50, 4, Verdict::invalid},
                                 Change{"sm_clock", 100, 50, Verdict::inconclusive},
                                 Change{"sm_clock", 100, 9, Verdict::invalid},
                                 Change{"sm_clock", 100, 1001, Verdict::invalid}}) {
        const model::CaseVerdict verdict = judged_against(
            counted_case(change.counter, change.before), counted_case(change.counter, change.now));
        EXPECT_EQ(verdict.verdict, change.expected)
            << change.counter << ' ' << change.now << ": " << verdict.reason;
    }
}

TEST(MachineCode, AWorseCounterOfAnythingElseThatChangedIsRegressed) {
    const CaseResult before = counted_case("spill_sectors", 100);
    const CaseResult worse = counted_case("spill_sectors", 150);
    CaseResult now = worse;
    now.kernels[0].code = "0ther";
    EXPECT_EQ(judged_against(before, now).verdict, Verdict::regressed);
    now = worse;
    now.kernels[0].grid = {16, 1, 1};
    EXPECT_EQ(judged_against(before, now).verdict, Verdict::regressed);
    now = worse;
    now.host_code = "0058";
    const model::CaseVerdict filled = judged_against(before, now);
    EXPECT_EQ(filled.verdict, Verdict::regressed) << "it may fill buffers in another way";
    EXPECT_TRUE(filled.reason.ends_with("; host code changed")) << filled.reason;
    now = worse;
    now.kernels[0].code.clear();
    EXPECT_EQ(judged_against(before, now).verdict, Verdict::regressed) << "the code is not known";
}

TEST(MachineCode, WhatIsNeitherDeviceTimeNorCounterIsNotExcused) {
    CaseResult now = coded_case();
    now.metrics["registers"] = documents::series({65}, "registers", "record");
    EXPECT_EQ(judged(now).suites[0].cases[0].verdict, Verdict::regressed);
}

TEST(MachineCode, ARunOfUnchangedCasesPassesAndOneOfSkippedOnesDoesNot) {
    CaseResult left_out = coded_case();
    left_out.status = model::CaseStatus::skipped;
    left_out.unchanged = true;
    left_out.reason = "code and inputs are the baseline's (--changed-only)";
    const model::VerdictDocument document = judged(left_out);
    EXPECT_EQ(document.exit_code, 0);
    EXPECT_EQ(document.suites[0].cases[0].code, CodeChange::unchanged);
    EXPECT_TRUE(document.suites[0].cases[0].notes.empty());

    left_out.unchanged = false;
    EXPECT_EQ(judged(left_out).exit_code, 1) << "the baseline has it";
}

// ---- what a baseline keeps of it

TEST(MachineCode, ABaselineKeepsCodeAndLaunchWithoutTimesAndCounts) {
    const model::Baseline baseline = accepted(run_of({coded_case()}));
    const model::BaselineCase& kept = baseline.cases.begin()->second;
    ASSERT_EQ(kept.kernels.size(), 1U);
    EXPECT_EQ(kept.kernels[0].code, "c0de");
    EXPECT_EQ(kept.kernels[0].duration_ns, 0);
    EXPECT_EQ(kept.kernels[0].theoretical_occupancy, 0);
    EXPECT_TRUE(kept.kernels[0].metrics.empty());
    EXPECT_EQ(kept.host_code, "0057");
    EXPECT_EQ(kept.libraries, coded_case().libraries);
    EXPECT_EQ(kept.memory_operations, coded_case().memory_operations);
}

TEST(MachineCode, ARefreshRecordsWhatAnOldBaselineLacks) {
    const model::Run run = run_of({coded_case()});
    model::Baseline old = accepted(run);
    old.cases.begin()->second.libraries.reset();
    EXPECT_EQ(baseline::refresh(run, run.suites[0], old, {}).accepted.size(), 1U);
    old = accepted(run);
    old.cases.begin()->second.memory_operations.reset();
    EXPECT_EQ(baseline::refresh(run, run.suites[0], old, {}).accepted.size(), 1U);
}

TEST(MachineCode, ANewBuildWithTheSameValuesIsAccepted) {
    const model::Run before = run_of({coded_case()});
    const model::Baseline baseline = accepted(before);
    EXPECT_EQ(baseline::refresh(before, before.suites[0], baseline, {}).unchanged.size(), 1U);
    CaseResult now = coded_case();
    now.kernels[0].code = "0ther";
    const model::Run after = run_of({now});
    EXPECT_EQ(baseline::refresh(after, after.suites[0], baseline, {}).accepted.size(), 1U);
}

TEST(MachineCode, CodeThatRunsDoNotShareIsNotKnown) {
    CaseResult other = coded_case();
    other.kernels[0].name = "other";
    other.kernels[0].code = "0ther";
    other.kernels[0].arguments = "a2";
    other.host_code = "0058";
    other.libraries->clear();
    other.memory_operations->clear();
    const model::Run combined = baseline::combine_runs({run_of({coded_case()}), run_of({other})});
    const CaseResult& result = combined.suites[0].cases[0];
    EXPECT_EQ(result.kernels[0].code, "");
    EXPECT_EQ(result.kernels[0].arguments, "");
    EXPECT_EQ(result.host_code, "");
    EXPECT_FALSE(result.libraries.has_value());
    EXPECT_FALSE(result.memory_operations.has_value());

    const model::Run same =
        baseline::combine_runs({run_of({coded_case()}), run_of({coded_case()})});
    EXPECT_EQ(same.suites[0].cases[0].kernels, coded_case().kernels);
}

}  // namespace machine_code_test
}  // namespace perfgate::gate
