// SPDX-License-Identifier: Apache-2.0
#include "review/review.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "document/baseline.hpp"
#include "suite/profile.hpp"
#include "suite_catalogue.hpp"

namespace perfgate::review {
namespace {

constexpr const char* suite_text = R"(name: gemm
defaults:
  metrics: [gpu_time, registers]
  tolerances: {gpu_time: 3%, registers: {worse: 0%, abs: 2}}
workloads:
  - workload: gemm
    variants: [naive, tiled]
    tags: [quick, nightly]
    params: {m: 64, n: 64}
    matrix: {k: [64, 128]}
expect:
  gemm/tiled.gpu_time: "<= 0.5 * gemm/naive.gpu_time"
)";
constexpr const char* profile_text = R"(backend: cuda
policy: {no_baseline: fail, inconclusive: fail, false_alarms: 1%, changed: {driver: refuse}}
junit_profile: strict
baselines: baselines
processes: 8
creep: 5%
canary: true
prove: true
)";
constexpr const char* suite_path = "suites/gemm.yaml";
constexpr const char* profile_path = "configs/ci.yaml";
constexpr const char* baseline_path = "baselines/nvidia-x/gemm.json";
constexpr const char* ledger_path = "baselines/nvidia-x/gemm.ledger.jsonl";

model::MetricSeries series(double value) {
    model::Batch batch;
    batch.device = "b888";
    batch.samples = {value, value, value};
    model::Batch other = batch;
    other.process = 1;
    other.samples = {value * 1.25, value, value * 0.75};
    return {"ns", value, "activity/cold", {batch, other}};
}

model::Baseline baseline() {
    model::Baseline result;
    result.suite = "gemm";
    result.device.key = "nvidia-x";
    model::BaselineCase expected;
    expected.metrics["gpu_time"] = series(100);
    expected.metrics["ipc"] = series(2);
    expected.metrics["ipc"].unit = "ratio";
    expected.acknowledged["gpu_time"] = {"2026-12-31", "ada", "known", series(120)};
    expected.anchors["gpu_time"] = 90;
    result.cases["gemm/naive[k=64]"] = expected;
    result.cases["gemm/tiled[k=64]"] = expected;
    return result;
}

Files files() {
    return {
        {suite_path, {FileRole::suite, suite_text, ""}},
        {profile_path, {FileRole::profile, profile_text, ""}},
        {baseline_path, {FileRole::baseline, document::write_baseline(baseline()), ""}},
        {ledger_path, {FileRole::ledger, "head\nfirst\nsecond\n", ""}},
    };
}

std::vector<Finding> reviewed(const Files& before, const Files& after) {
    return review(before, after, suite::test::workloads()).findings;
}

/// The files with `from` replaced once in one of them.
Files edited(const std::string& path, const std::string& from, const std::string& to,
             Files result = files()) {
    std::string& text = result.at(path).content;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
    return result;
}

Files with_baseline(const std::function<void(model::Baseline&)>& edit) {
    model::Baseline changed = baseline();
    edit(changed);
    Files result = files();
    result.at(baseline_path).content = document::write_baseline(changed);
    return result;
}

std::vector<Finding> of_edit(const std::string& path, const std::string& from,
                             const std::string& to) {
    return reviewed(files(), edited(path, from, to));
}

std::vector<Finding> of_baseline(const std::function<void(model::Baseline&)>& edit) {
    return reviewed(files(), with_baseline(edit));
}

/// "tolerance raised gpu_time: 3 % → 5 % (4)": with the number of cases.
std::string in_words(const std::vector<Finding>& findings) {
    std::string text;
    for (const Finding& finding : findings) {
        if (!text.empty()) text += "; ";
        text += std::string(to_text(finding.kind)) + ' ' + finding.subject + ": " + finding.before +
                " → " + finding.after;
        if (!finding.cases.empty()) text += " (" + std::to_string(finding.cases.size()) + ')';
    }
    return text;
}

TEST(Review, FindsNothingWhereNothingChanged) {
    EXPECT_EQ(in_words(reviewed(files(), files())), "");
    EXPECT_EQ(in_words(of_edit(suite_path, "name: gemm\n", "name: gemm\ndescription: d\n")), "");
}

TEST(Review, FindsARaisedTolerance) {
    EXPECT_EQ(in_words(of_edit(suite_path, "gpu_time: 3%", "gpu_time: 5%")),
              "tolerance raised gpu_time: 3 % → 5 % (4)");
    EXPECT_EQ(in_words(of_edit(suite_path, "abs: 2", "abs: 3")),
              "tolerance raised registers: 2 registers → 3 "
              "registers (4)");
    EXPECT_EQ(in_words(of_edit(suite_path, "gpu_time: 3%", "gpu_time: {worse: 3%, tail: 7%}")),
              "tolerance raised gpu_time: 3 % → 3 %, its slowest tenth 7 % (4)");
    EXPECT_EQ(in_words(of_edit(suite_path, "gpu_time: 3%", "gpu_time: {worse: 3%, tail: 6%}")), "");
    const std::vector<Finding> findings =
        of_edit(suite_path, "    params:", "    cross_board_tolerance: 20%\n    params:");
    EXPECT_NE(in_words(findings).find("20 % more on another board (4)"), std::string::npos)
        << in_words(findings);
    EXPECT_EQ(findings.front().place, (model::SourcePlace{suite_path, 6}));
}

TEST(Review, FindsAGateThatOnlyWarns) {
    const std::string warning = "gpu_time: {worse: 3%, severity: warn}";
    EXPECT_EQ(in_words(of_edit(suite_path, "gpu_time: 3%", warning)),
              "severity lowered gpu_time: as the config says → warn (4)");
    const Files strict =
        edited(suite_path, "gpu_time: 3%", "gpu_time: {worse: 3%, severity: fail}");
    EXPECT_EQ(in_words(reviewed(strict, files())),
              "severity lowered gpu_time: fail → as the config says (4)");
    EXPECT_EQ(in_words(reviewed(files(), strict)), "");
    EXPECT_EQ(in_words(reviewed(edited(suite_path, "gpu_time: 3%", warning), strict)), "");
    const auto with_profile = [](const std::string& policy) {
        Files result = files();
        result.at(profile_path).content = "policy: {" + policy + "}\n";
        return result;
    };
    EXPECT_EQ(in_words(reviewed(with_profile("severity: {counter: fail}"),
                                with_profile("severity: {counter: warn}"))),
              "policy lowered severity.counter: fail → warn");
    EXPECT_EQ(
        in_words(reviewed(with_profile("severity: {exact: warn}"), with_profile("rounds: 2"))), "");
}

TEST(Review, FindsThatLessIsAnImprovement) {
    EXPECT_EQ(in_words(of_edit(suite_path, "gpu_time: 3%", "gpu_time: {worse: 2%, better: 50%}")),
              "tolerance raised gpu_time: 3 % → worse 2 %, better 50 % (4)");
}

TEST(Review, FindsWhatOnlyOneCaseOrOneDeviceGets) {
    EXPECT_EQ(in_words(of_edit(suite_path, "expect:",
                               "overrides:\n  - match: 'gemm/tiled*k=64*'\n"
                               "    tolerances: {gpu_time: 50%}\nexpect:")),
              "tolerance raised gpu_time: 3 % → 50 % (1)");
    for (const char* device : {"nvidia-x", "nvidia-*", "another"}) {
        EXPECT_EQ(in_words(of_edit(suite_path, "expect:",
                                   std::string("overrides:\n  - device: '") + device +
                                       "'\n    tolerances: {gpu_time: none}\nexpect:")),
                  "gate removed gpu_time: 3 % → none (4)")
            << device;
    }
}

TEST(Review, LeavesAloneWhatIsStricterOrNew) {
    EXPECT_EQ(in_words(of_edit(suite_path, "gpu_time: 3%", "gpu_time: 2%")), "");
    EXPECT_EQ(in_words(of_edit(suite_path, "gpu_time: 3%", "gpu_time: {worse: 2%, better: 3%}")),
              "");
    EXPECT_EQ(in_words(of_edit(suite_path, "[64, 128]", "[64, 128, 256]")), "");
    EXPECT_EQ(in_words(of_edit(suite_path, "0.5 *", "0.4 *")), "");
    EXPECT_EQ(in_words(of_edit(suite_path, "tags: [quick,", "tags: [more, quick,")), "");
    EXPECT_EQ(in_words(of_edit(suite_path, "defaults:\n",
                               "defaults:\n  precision: 0.1%\n  time_budget: 1s\n")),
              "");
    EXPECT_EQ(in_words(of_edit(profile_path, "creep: 5%", "creep: 4%")), "");
    EXPECT_EQ(in_words(of_edit(profile_path, "processes: 8", "processes: 9")), "");
    EXPECT_EQ(in_words(of_edit(profile_path, "false_alarms: 1%", "false_alarms: 2%")), "");
    EXPECT_EQ(in_words(of_edit(ledger_path, "second\n", "third\nsecond\n")), "");
    Files more = files();
    more["suites/second.yaml"] = {FileRole::suite,
                                  std::string(suite_text).replace(0, 10, "name: second"), ""};
    EXPECT_EQ(in_words(reviewed(files(), more)), "");
}

TEST(Review, FindsASuiteThatIsGoneOrRenamed) {
    Files without = files();
    without.erase(suite_path);
    EXPECT_EQ(in_words(reviewed(files(), without)), "suite removed gemm: 4 cases → none");
    EXPECT_EQ(in_words(of_edit(suite_path, "name: gemm", "name: other")),
              "suite removed gemm: 4 cases → none");
    Files moved = without;
    moved["suites/deeper/gemm.yaml"] = files().at(suite_path);
    EXPECT_EQ(in_words(reviewed(files(), moved)), "");
}

TEST(Review, FindsASecondSuiteOfTheNameThatIsLooser) {
    Files twice = edited(suite_path, "gpu_time: 3%", "gpu_time: 90%");
    twice["suites/a.yaml"] = files().at(suite_path);
    EXPECT_EQ(in_words(reviewed(files(), twice)),
              "suite repeated gemm: 1 suite → suites/a.yaml, suites/gemm.yaml; "
              "tolerance raised gpu_time: 3 % → 90 % (4)");
}

TEST(Review, FindsARemovedCase) {
    const std::vector<Finding> findings = of_edit(suite_path, "[64, 128]", "[64]");
    EXPECT_EQ(in_words(findings), "case removed gemm: in the suite → not in it (2)");
    EXPECT_EQ(findings.front().cases.front(), "gemm/naive[k=128,m=64,n=64]");
}

TEST(Review, FindsARemovedGateTagAndBudget) {
    EXPECT_EQ(in_words(of_edit(suite_path, "{gpu_time: 3%, ", "{gpu_time: none, ")),
              "gate removed gpu_time: 3 % → none (4)");
    EXPECT_EQ(in_words(of_edit(suite_path, "[quick, nightly]", "[quick]")),
              "tag removed nightly: tagged → not tagged (4)");
    EXPECT_EQ(
        in_words(
            of_edit(suite_path, "defaults:\n", "defaults:\n  precision: 5%\n  time_budget: 1ms\n")),
        "measured less precision: 0.5 % → 5 % (4); measured less time_budget: 0.1 s → 0.001 s "
        "(4)");
}

TEST(Review, FindsResultsThatNeedNotRepeatAnyMore) {
    const auto changed = [](const std::string& from, const std::string& to) {
        Files before = files();
        Files after = files();
        for (auto [tree, keys] : {std::pair(&before, &from), std::pair(&after, &to)}) {
            std::string& text = tree->at(suite_path).content;
            text.replace(text.find("defaults:\n"), 10, "defaults:\n" + *keys);
        }
        return in_words(reviewed(before, after));
    };
    const std::string on = "  deterministic: true\n";
    const std::string off = "  deterministic: false\n";
    EXPECT_EQ(changed(on, ""), "check removed deterministic: true → false (4)");
    EXPECT_EQ(changed(on, off), "check removed deterministic: true → false (4)");
    EXPECT_EQ(changed(off, ""), "");
    EXPECT_EQ(changed("", on), "");
    // For one device alone.
    Files before = edited(suite_path, "defaults:\n", "defaults:\n" + on);
    Files after = before;
    after.at(suite_path).content += "overrides:\n  - {device: 'x*', deterministic: false}\n";
    EXPECT_EQ(in_words(reviewed(before, after)), "check removed deterministic: true → false (4)");
}

TEST(Review, FindsWhatAProgramsCaseRunsAndMeasures) {
    constexpr const char* path = "suites/train.yaml";
    Files before = files();
    before[path] = {FileRole::suite, R"(name: train
workloads:
  - command: [python3, train.py]
    name: train
    check: [python3, verify.py]
    env: {MODE: full}
    measure: {flash: {kernel: "*flash*", within: forward, skip: 2}}
    tolerances: {flash.gpu_time: 2%}
)",
                    ""};
    const auto changed = [&](const std::string& from, const std::string& to) {
        return in_words(reviewed(before, edited(path, from, to, before)));
    };
    EXPECT_EQ(changed("train.py", "less.py"),
              "case changed command: python3 train.py → python3 less.py (1)");
    EXPECT_EQ(changed("    check: [python3, verify.py]\n", ""),
              "case changed check: python3 verify.py → none (1)");
    EXPECT_EQ(changed("full", "quick"), "case changed env.MODE: full → quick (1)");
    EXPECT_EQ(changed("    env:", "    cwd: not stated\n    env:"),
              "case changed cwd: not stated → not stated (1)")
        << "a value of these words is a value";
    EXPECT_EQ(changed("skip: 2", "skip: 9"),
              "case changed measure: kernel '*flash*' within forward, skip 2 → kernel '*flash*' "
              "within forward, "
              "skip 9 (1)");
    EXPECT_EQ(changed("within:", "grid: 8, within:"),
              "case changed measure: kernel '*flash*' within forward, skip 2 → kernel '*flash*' "
              "with grid 8x1x1 "
              "within forward, skip 2 (1)");
    EXPECT_EQ(changed("kernel: \"*flash*\", within: forward", "nvtx: \"*flash*\""),
              "case changed measure: kernel '*flash*' within forward, skip 2 → nvtx '*flash*', "
              "skip 2 (1)");
    for (const auto& [key, finding] : std::vector<std::pair<std::string, std::string>>{
             {"cwd: elsewhere", "cwd: not stated → elsewhere"},
             {"exit: 3", "exit: not stated → 3"},
             {"gpus: 2", "gpus: not stated → 2"},
             {"warmup: 4", "warmup: not stated → 4"},
             {"capture: profiler_api", "capture: not stated → profiler_api"},
             {"capture: {after_launches: 9, range: eval}",
              "capture: not stated → after_launches 9, range 'eval'"},
             {"max_overhead: 50%", "max_overhead: 5 % → 50 %"}}) {
        EXPECT_EQ(changed("    env:", "    " + key + "\n    env:"),
                  "case changed " + finding + " (1)");
    }
    EXPECT_EQ(changed("    env:", "    max_overhead: 1%\n    env:"), "");
    EXPECT_EQ(changed("    env:", "    timeout: 9s\n    env:"), "");
}

TEST(Review, FindsWhatASourcesCaseLaunchesAndChecks) {
    constexpr const char* path = "suites/reduce.yaml";
    Files before = files();
    before[path] = {FileRole::suite, R"(name: reduce
workloads:
  - source: reduce.cu
    kernel: sum
    launch: {grid: 2, block: 64}
    arguments: [{in: f32, size: 128}, {out: f32, size: 2}, {i32: 5}]
    check: {against: plain, rtol: 1e-5}
    work: {flops: 126, bytes: 520, type: f32}
    metrics: [gpu_time]
    tolerances: {gpu_time: 2%}
)",
                    ""};
    const auto changed = [&](const std::string& from, const std::string& to) {
        return in_words(reviewed(before, edited(path, from, to, before)));
    };
    EXPECT_EQ(changed("    check: {against: plain, rtol: 1e-5}\n", ""),
              "case changed check: plain, rtol 1e-05, atol 0 → none (1)");
    EXPECT_EQ(changed("rtol: 1e-5", "rtol: 0.5"),
              "case changed check: plain, rtol 1e-05, atol 0 → plain, rtol 0.5, atol 0 (1)");
    EXPECT_EQ(changed("grid: 2", "grid: 1"),
              "case changed launch: grid 2x1x1, block 64x1x1, shared 0 → grid 1x1x1, block "
              "64x1x1, shared 0 (1)");
    EXPECT_EQ(changed("{i32: 5}", "{i32: 6}"),
              "case changed arguments: in f32[128] uniform, out f32[2], value i32 5 → in f32[128] "
              "uniform, out f32[2], value i32 6 (1)");
    EXPECT_EQ(changed("kernel: sum", "kernel: sum\n    fast_math: true"),
              "case changed fast_math: false → true (1)");
    EXPECT_EQ(changed("kernel: sum", "kernel: sum\n    define: {N: 4}"),
              "case changed define.N: not stated → 4 (1)");
    EXPECT_EQ(changed("kernel: sum", "kernel: sum\n    std: c++20\n    include: [a, b]"),
              "case changed include: not stated → a b (1); case changed std: c++17 → c++20 (1)");
    EXPECT_EQ(changed("bytes: 520", "bytes: 5"),
              "case changed work: flops 126 f32, bytes 520 → flops 126 f32, bytes 5 (1)");
    EXPECT_EQ(changed("    work: {flops: 126, bytes: 520, type: f32}\n", ""),
              "case changed work: flops 126 f32, bytes 520 → not stated (1)");
    before.at(path).content.replace(before.at(path).content.find("    work:"), 46, "");
    EXPECT_EQ(changed("    metrics:", "    work: {bytes: 520}\n    metrics:"), "");
    EXPECT_EQ(changed("kernel: sum", "kernel: sum<1>"), "case changed kernel: sum → sum<1> (1)");
}

TEST(Review, FindsAWeakenedHealthSet) {
    constexpr const char* path = "suites/train.yaml";
    const auto with = [&](const std::string& health) {
        Files some = files();
        some[path] = {FileRole::suite,
                      "name: train\nworkloads:\n  - command: [./train]\n    name: train\n"
                      "    measure: {step: {nvtx: step}}\n    tolerances: {step.gpu_time: 2%}\n" +
                          health,
                      ""};
        return some;
    };
    const Files before = with("    health: [step]\n");
    const auto changed = [&](const std::string& health) {
        return in_words(reviewed(before, with(health)));
    };
    EXPECT_EQ(reviewed(before, with("")).size(), 6U);
    EXPECT_EQ(changed("    health: {step: {syncs: none}}\n"),
              "relation removed train/step.syncs <= 0: train/step.syncs <= 0 → none");
    EXPECT_EQ(changed("    health: {step: {idle_share: 30%}}\n"),
              "relation removed train/step.idle_share <= 10%: train/step.idle_share <= 10% → "
              "train/step.idle_share <= 30%");
    EXPECT_EQ(reviewed(before, with("    health: {step: {time_per_launch: 5us}}\n")).size(), 1U);
    // As strict, or stricter.
    EXPECT_EQ(changed("    health: {step: {}}\n"), "");
    EXPECT_EQ(changed("    health: {step: {idle_share: 5%, time_per_launch: 20us}}\n"), "");
}

TEST(Review, FindsAnotherKernelThatShouldBeTheHottest) {
    constexpr const char* path = "suites/train.yaml";
    const auto with = [&](const std::string& comparison) {
        Files some = files();
        some[path] = {FileRole::suite,
                      "name: train\nworkloads:\n  - command: [./train]\n    name: train\n"
                      "    measure: {step: {nvtx: step}}\n    expect: {step.hottest_kernel: \"" +
                          comparison + "\"}\n",
                      ""};
        return some;
    };
    EXPECT_EQ(in_words(reviewed(with("== *flash*"), with("== *"))),
              "relation removed train/step.hottest_kernel == *flash*: train/step.hottest_kernel == "
              "*flash* → train/step.hottest_kernel == *");
    EXPECT_EQ(in_words(reviewed(with("== *flash*"), with("== *flash*"))), "");
}

TEST(Review, FindsARemovedOrWeakerRelation) {
    const std::string all = "expect:\n  gemm/tiled.gpu_time: \"<= 0.5 * gemm/naive.gpu_time\"\n";
    const std::string text = "gemm/tiled.gpu_time <= 0.5 * gemm/naive.gpu_time";
    EXPECT_EQ(in_words(of_edit(suite_path, all, "")),
              "relation removed " + text + ": " + text + " → none");
    EXPECT_EQ(in_words(of_edit(suite_path, "0.5 *", "0.9 *")),
              "relation removed " + text + ": " + text +
                  " → gemm/tiled.gpu_time <= 0.9 * gemm/naive.gpu_time");
    EXPECT_EQ(of_edit(suite_path, "<= 0.5 *", ">= 0.5 *").size(), 1U);
    // A number that divides moves the other way.
    const Files divided =
        edited(suite_path, "0.5 * gemm/naive.gpu_time", "gemm/naive.gpu_time / 2");
    const auto changed = [&](const std::string& right) {
        return reviewed(divided, edited(suite_path, "0.5 * gemm/naive.gpu_time", right)).size();
    };
    EXPECT_EQ(changed("gemm/naive.gpu_time / 3"), 0U);
    EXPECT_EQ(changed("gemm/naive.gpu_time / 1.5"), 1U);
    EXPECT_EQ(changed("gemm/naive.gpu_time * 0.1"), 1U) << "not compared";
    EXPECT_EQ(changed("gemm/naive.gpu_time / -1"), 1U);
}

TEST(Review, FindsALoweredProfile) {
    const auto found = [](const std::string& from, const std::string& to) {
        return in_words(of_edit(profile_path, from, to));
    };
    EXPECT_EQ(found("no_baseline: fail", "no_baseline: skip"),
              "policy lowered no_baseline: fail → skip");
    EXPECT_EQ(found("inconclusive: fail", "inconclusive: pass"),
              "policy lowered inconclusive: fail → pass");
    EXPECT_EQ(found("false_alarms: 1%", "false_alarms: 1%, too_good: 100"),
              "policy lowered too_good: 3 → 100");
    EXPECT_EQ(found("false_alarms: 1%", "false_alarms: 0.01%"),
              "policy lowered false_alarms: 1 % → 0.01 %");
    EXPECT_EQ(found("driver: refuse", "driver: accept"),
              "policy lowered changed.driver: refuse → accept");
    EXPECT_EQ(found("backend: cuda\n", ""), "policy lowered backend: cuda → auto");
    EXPECT_EQ(found("baselines: baselines", "baselines: mine"),
              "policy lowered baselines: baselines → mine");
    EXPECT_EQ(found("junit_profile: strict", "junit_profile: github"),
              "policy lowered junit_profile: strict → github");
    EXPECT_EQ(found("processes: 8", "processes: 2"), "policy lowered processes: 8 → 2");
    EXPECT_EQ(found("creep: 5%\n", ""), "policy lowered creep: 5 % → 10 %");
    EXPECT_EQ(found("creep: 5%", "creep: 50%"), "policy lowered creep: 5 % → 50 %");
    EXPECT_EQ(found("canary: true", "canary: false"), "policy lowered canary: true → false");
    EXPECT_EQ(found("canary: true", "canary: true\nchanged_only: true"),
              "policy lowered changed_only: false → true");
    EXPECT_EQ(found("prove: true\n", ""), "policy lowered prove: true → false");
    Files without = files();
    without.erase(profile_path);
    EXPECT_EQ(in_words(reviewed(files(), without)), "config removed configs/ci.yaml: there → gone");
}

/// What is found where a profile of one line becomes another.
std::string found_of_profiles(const std::string& before, const std::string& after) {
    const auto with = [](const std::string& text) {
        Files result = files();
        result.at(profile_path).content = text + '\n';
        return result;
    };
    return in_words(reviewed(with(before), with(after)));
}

TEST(Review, ComparesTheDefaultOfWhatAProfileDoesNotState) {
    EXPECT_EQ(found_of_profiles("{}", "processes: 1"), "policy lowered processes: 3 to 5 → 1");
    EXPECT_EQ(found_of_profiles("{}", "processes: 4"), "policy lowered processes: 3 to 5 → 4");
    EXPECT_EQ(found_of_profiles("processes: 5", "{}"), "policy lowered processes: 5 → 3 to 5");
    EXPECT_EQ(found_of_profiles("{}", "creep: 100%"), "policy lowered creep: 10 % → 100 %");
    EXPECT_EQ(found_of_profiles("{}", "policy: {rounds: 0}"), "policy lowered rounds: 2 → 0");
    EXPECT_EQ(found_of_profiles("{}", "policy: {false_alarms: 0.01%}"),
              "policy lowered false_alarms: 0.1 % → 0.01 %");
    for (const char* stated :
         {"processes: 5", "creep: 10%", "backend: auto", "baselines: baselines",
          "junit_profile: github", "out: perfgate-out", "canary: false", "policy: {rounds: 2}"}) {
        EXPECT_EQ(found_of_profiles("{}", stated), "") << stated;
    }
}

TEST(Review, FindsAWeakerValueOfEveryKeyOfAProfile) {
    const std::map<std::string, std::pair<std::string, std::string>> weaker{
        {"backend", {"cuda", "host"}},
        {"policy.no_baseline", {"fail", "skip"}},
        {"policy.inconclusive", {"fail", "pass"}},
        {"policy.not_shown", {"fail", "pass"}},
        {"policy.improved", {"fail", "pass"}},
        {"policy.improvement_days", {"30", "31"}},
        {"policy.too_good", {"3", "4"}},
        {"policy.false_alarms", {"1%", "0.1%"}},
        {"policy.rounds", {"2", "1"}},
        {"policy.acknowledgement_days", {"90", "91"}},
        {"policy.changed.board", {"refuse", "warn"}},
        {"policy.changed.driver", {"refuse", "warn"}},
        {"policy.changed.cuda_toolkit", {"warn", "accept"}},
        {"policy.changed.cupti", {"warn", "accept"}},
        {"policy.changed.tool_version", {"refuse", "accept"}},
        {"policy.severity.exact", {"fail", "warn"}},
        {"policy.severity.counter", {"fail", "warn"}},
        {"policy.severity.timing", {"fail", "warn"}},
        {"junit_profile", {"strict", "github"}},
        {"baselines", {"here", "there"}},
        {"out", {"here", "there"}},
        {"processes", {"5", "4"}},
        {"plugins", {"[a.so]", "[b.so]"}},
        {"build", {"make", "make all"}},
        {"builds", {"here", "there"}},
        {"creep", {"10%", "11%"}},
        {"canary", {"true", "false"}},
        {"prove", {"true", "false"}},
        {"changed_only", {"false", "true"}},
        {"complete", {"true", "false"}},
    };
    const auto stated = [](std::string path, const std::string& value) {
        std::string text = value;
        for (std::size_t dot = path.rfind('.'); dot != std::string::npos; dot = path.rfind('.')) {
            text = '{' + path.substr(dot + 1) + ": " + text + '}';
            path.resize(dot);
        }
        return path + ": " + text;
    };
    for (const suite::KeyText& row : suite::tables::profile()) {
        const std::string& key = row.name;
        const auto values = weaker.find(key);
        ASSERT_NE(values, weaker.end()) << key << " has no example of a weaker value";
        const std::string was = stated(key, values->second.first);
        const std::string is = stated(key, values->second.second);
        EXPECT_EQ(found_of_profiles(was, is).rfind("policy lowered ", 0), 0U) << was << is;
        EXPECT_EQ(found_of_profiles(was, was), "") << was;
    }
}

TEST(Review, FindsARaisedBaselineWhicheverWayIsWorse) {
    EXPECT_EQ(in_words(of_baseline([](model::Baseline& changed) {
                  changed.cases.begin()->second.metrics["gpu_time"] = series(110);
              })),
              "baseline raised gpu_time: 100.0 ns → 110.0 ns (+10.0 %) (1)");
    EXPECT_EQ(in_words(of_baseline([](model::Baseline& changed) {
                  changed.cases.begin()->second.metrics["gpu_time"] = series(80);
              })),
              "");
    // Samples decide, too.
    const auto edit = [](model::Baseline& changed) {
        for (model::Batch& batch : changed.cases.begin()->second.metrics["gpu_time"].batches) {
            for (double& sample : batch.samples) sample *= 2;
        }
    };
    EXPECT_EQ(in_words(of_baseline(edit)),
              "baseline raised gpu_time: 100.0 ns → 200.0 ns (+100.0 %) (1)");
}

TEST(Review, FindsAValueOfOneBoardThatWasRaised) {
    const auto on_boards = [](double of_last, double of_first = 98) {
        return with_baseline([=](model::Baseline& changed) {
            model::MetricSeries& times = changed.cases.begin()->second.metrics["gpu_time"];
            times.batches.clear();
            times.batches.push_back({0, "a", 1, {of_first}});
            times.batches.push_back({1, "b", 1, {100}});
            times.batches.push_back({2, "c", 1, {of_last}});
            times.value = 100;
        });
    };
    EXPECT_EQ(in_words(reviewed(on_boards(101), on_boards(110))),
              "baseline raised gpu_time: 101.0 ns → 110.0 ns (+8.9 %) (1)")
        << "which the middle of all does not show";
    EXPECT_EQ(in_words(reviewed(on_boards(101), on_boards(101.5, 99.9))),
              "baseline raised gpu_time: 98.00 ns → 99.90 ns (+1.9 %) (1)")
        << "of several the worst";
    EXPECT_EQ(in_words(reviewed(on_boards(110), on_boards(101))), "");
}

TEST(Review, FindsWhatABaselineLost) {
    Files without = files();
    without.erase(baseline_path);
    EXPECT_EQ(in_words(reviewed(files(), without)), "baseline removed gemm: 2 cases → none");
    EXPECT_EQ(in_words(of_baseline(
                  [](model::Baseline& changed) { changed.cases.erase(changed.cases.begin()); })),
              "baseline removed gemm: in the baseline → not in it (1)");
    EXPECT_EQ(in_words(of_baseline([](model::Baseline& changed) {
                  for (auto& [id, each] : changed.cases) each.metrics.erase("ipc");
              })),
              "baseline removed ipc: 2 → none (2)");
    EXPECT_EQ(in_words(of_baseline([](model::Baseline& changed) {
                  changed.cases.begin()->second.metrics["gpu_time"].method = "event/cold";
              })),
              "not compared gpu_time: activity/cold, ns → event/cold, ns (1)");
}

TEST(Review, FindsWhatIsLetPassAndWhatChangesAddUpAgainst) {
    const auto acknowledged = [](const std::function<void(model::Acknowledgement&)>& edit) {
        return in_words(of_baseline([&](model::Baseline& changed) {
            edit(changed.cases.begin()->second.acknowledged["gpu_time"]);
        }));
    };
    EXPECT_EQ(acknowledged([](model::Acknowledgement& known) { known.until = "2027-01-01"; }),
              "acknowledged gpu_time: 120.0 ns until 2026-12-31 → 120.0 ns until 2027-01-01 (1)");
    EXPECT_EQ(acknowledged([](model::Acknowledgement& known) { known.known = series(200); }),
              "acknowledged gpu_time: 120.0 ns until 2026-12-31 → 200.0 ns until 2026-12-31 (1)");
    EXPECT_EQ(acknowledged([](model::Acknowledgement& known) { known.until = "2026-12-01"; }), "");
    // Where there was none, in a case that is new, and in a baseline that is new.
    Files before = with_baseline([](model::Baseline& changed) {
        changed.cases.begin()->second.acknowledged.clear();
        changed.cases.erase("gemm/tiled[k=64]");
    });
    EXPECT_EQ(in_words(reviewed(before, files())),
              "acknowledged gpu_time: none → 120.0 ns until 2026-12-31 (2)");
    before.erase(baseline_path);
    EXPECT_EQ(in_words(reviewed(before, files())),
              "acknowledged gpu_time: none → 120.0 ns until 2026-12-31 (2)");
    EXPECT_EQ(in_words(of_baseline([](model::Baseline& changed) {
                  changed.cases.begin()->second.anchors["gpu_time"] = 95;
              })),
              "anchor raised gpu_time: 90.00 ns → 95.00 ns (1)");
    EXPECT_EQ(in_words(of_baseline(
                  [](model::Baseline& changed) { changed.cases.begin()->second.anchors.clear(); })),
              "anchor raised gpu_time: 90.00 ns → 100.0 ns (1)");
}

TEST(Review, FindsARewrittenLedger) {
    EXPECT_EQ(in_words(of_edit(ledger_path, "first\n", "")),
              "history rewritten ledger:  → 1 line is gone or changed");
    Files without = files();
    without.erase(ledger_path);
    EXPECT_EQ(in_words(reviewed(files(), without)), "history rewritten ledger:  → removed");
}

TEST(Review, FindsWhatCannotBeRead) {
    for (const char* path : {suite_path, profile_path, baseline_path}) {
        Files broken = files();
        broken.at(path).content = "{";
        const std::vector<Finding> findings = reviewed(files(), broken);
        ASSERT_EQ(findings.size(), 1U) << path << in_words(findings);
        EXPECT_EQ(findings.front().kind, Loosening::unreadable);
        EXPECT_EQ(findings.front().place.file, path);
        // Nor can what it is compared with.
        EXPECT_GE(reviewed(broken, files()).size(), 1U);
        EXPECT_EQ(in_words(reviewed(broken, broken)), "");

        Files link = files();
        link.at(path).fault = "a link";
        EXPECT_EQ(in_words(reviewed(files(), link)),
                  std::string("unreadable ") + path + ":  → a link");
        EXPECT_EQ(in_words(reviewed(link, link)), "");
    }
    Files added = files();
    added["suites/new.yaml"] = {FileRole::suite, "", "a link"};
    EXPECT_EQ(reviewed(files(), added).size(), 1U);
}

/// What is found where a text of a suite is replaced.
std::string found_in(const std::string& suite, const std::string& was, const std::string& is) {
    std::string after = suite;
    after.replace(after.find(was), was.size(), is);
    Files before_files, after_files;
    before_files["suites/mine.yaml"] = {FileRole::suite, suite, ""};
    after_files["suites/mine.yaml"] = {FileRole::suite, after, ""};
    return in_words(reviewed(before_files, after_files));
}

TEST(Review, SaysWhichEntriesHaveAWorkloadThatIsNotKnown) {
    const Files more = edited(suite_path, "workloads:\n",
                              "workloads:\n  - workload: brand_new\n    variants: [fast]\n");
    EXPECT_EQ(in_words(reviewed(files(), more)), "");
    const std::vector<std::string> notes =
        review(files(), more, suite::test::workloads()).not_reviewed;
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_NE(notes.front().find("suites/gemm.yaml:6:15: unknown workload 'brand_new'"),
              std::string::npos)
        << notes.front();
    // The other variants of the entry are compared.
    const auto with = [](const std::string& tolerance) {
        Files result = edited(suite_path, "variants: [naive, tiled]", "variants: [naive, new_one]");
        std::string& text = result.at(suite_path).content;
        text.replace(text.find("gpu_time: 3%"), 12, "gpu_time: " + tolerance);
        text.resize(text.find("expect:"));
        return result;
    };
    EXPECT_EQ(in_words(reviewed(with("3%"), with("4%"))),
              "tolerance raised gpu_time: 3 % → 4 % (4)");
}

constexpr const char* unknown_suite = R"(name: mine
defaults:
  tolerances: {gpu_time: 3%, host_time: 10%}
workloads:
  - workload: scale
    variants: [fast, plain]
    tags: [quick]
    params: {mode: exact, factor: 0.5}
    matrix:
      n: [1024, 4096]
      shape: [{w: 1, h: 2}, {w: 3, h: 4}]
      exclude: [{variant: plain, n: 4096}]
    overrides:
      - {match: '*n=4096*', device: 'nvidia-*', tolerances: {gpu_time: 2%}}
  - workload: scale
    variants: [wide]
    precision: 0.1%
expect:
  scale/fast.gpu_time: "<= 0.5 * scale/plain.gpu_time"
  scale/fast.host_time: "<= 0.5 * scale/plain.host_time"
)";

TEST(Review, ComparesEntriesOfAnUnknownWorkload) {
    const auto found = [](const std::string& was, const std::string& is) {
        return found_in(unknown_suite, was, is);
    };
    EXPECT_EQ(found("gpu_time: 3%", "gpu_time: 5000%"),
              "tolerance raised gpu_time: 3 % → 5000 % (6); "
              "tolerance raised gpu_time: 3 % → 5000 % (1)");
    EXPECT_EQ(found("host_time: 10%", "host_time: 90%"),
              "tolerance raised host_time: 10 % → 90 % (6); "
              "tolerance raised host_time: 10 % → 90 % (1)");
    EXPECT_EQ(found(", host_time: 10%", ""),
              "gate removed host_time: 10 % → none (6); gate removed host_time: 10 % → none (1)");
    EXPECT_EQ(found("gpu_time: 2%", "gpu_time: 2.5%"),
              "tolerance raised gpu_time: 2 % → 2.5 % (2)");
    EXPECT_EQ(found("{gpu_time: 2%}", "{gpu_time: {worse: 2%, severity: warn}}"),
              "severity lowered gpu_time: as the config says → warn (2)");
    EXPECT_EQ(found("'*n=4096*', device: 'nvidia-*'", "'*n=1024*', skip: slow"),
              "case skipped skip: measured → slow (4); tolerance raised gpu_time: 2 % → 3 % (2)");
    EXPECT_EQ(found("variants: [fast, plain]", "variants: [plain]").rfind("case removed", 0), 0U);
    EXPECT_EQ(found("[1024, 4096]", "[2048, 4096]"),
              "case removed mine: in the suite → not in it (4)");
    EXPECT_EQ(found("mode: exact", "mode: loose"),
              "case removed mine: in the suite → not in it (6)");
    EXPECT_EQ(found("  - workload: scale\n    variants: [wide]\n    precision: 0.1%\n", ""),
              "case removed mine: in the suite → not in it (1)");
    EXPECT_EQ(found("0.1%", "1%"), "measured less precision: 0.1 % → 1 % (1)");
    EXPECT_EQ(found("[quick]", "[slow]"), "tag removed quick: tagged → not tagged (6)");
    const std::string relation = "scale/fast.gpu_time <= 0.5 * scale/plain.gpu_time";
    EXPECT_EQ(found("0.5 * scale/plain.gpu", "0.9 * scale/plain.gpu"),
              "relation removed " + relation + ": " + relation +
                  " → scale/fast.gpu_time <= 0.9 * scale/plain.gpu_time");
    // Stricter or new.
    EXPECT_EQ(found("gpu_time: 3%", "gpu_time: 1%"), "");
    EXPECT_EQ(found("0.5 * scale/plain.gpu", "0.4 * scale/plain.gpu"), "");
    EXPECT_EQ(found("[1024, 4096]", "[1024, 4096, 8192]"), "");
}

TEST(Review, ComparesTheTextOfRelationsThatCannotBeRead) {
    // Whether a variant of an unknown workload runs on the host is not known.
    const auto found = [](const std::string& was, const std::string& is) {
        return found_in(unknown_suite, was, is);
    };
    const std::string relation = "scale/fast.host_time <= 0.5 * scale/plain.host_time";
    EXPECT_EQ(found("0.5 * scale/plain.host", "0.9 * scale/plain.host"),
              "relation removed " + relation + ": " + relation + " → none");
    EXPECT_EQ(found("  scale/fast.host_time: \"<= 0.5 * scale/plain.host_time\"\n", ""),
              "relation removed " + relation + ": " + relation + " → none");
    EXPECT_EQ(found("name: mine\n", "name: mine\ndescription: d\n"), "");
}

TEST(Review, FindsAnEntryOfAnUnknownWorkloadThatCannotBeRead) {
    EXPECT_EQ(found_in(unknown_suite, "precision: 0.1%", "precision: much")
                  .rfind("unreadable suites/mine.yaml", 0),
              0U);
}

TEST(Review, FailsIfSomethingIsLooserUnlessItIsOnlyAdvice) {
    EXPECT_EQ(exit_code({}, false), 0);
    EXPECT_EQ(exit_code({{}, {"a note"}}, false), 0);
    EXPECT_EQ(exit_code({{Finding{}}, {}}, false), 1);
    EXPECT_EQ(exit_code({{Finding{}}, {}}, true), 0);
    EXPECT_EQ(exit_code({{}, {}, {"no suite"}}, true), 2);
    EXPECT_EQ(exit_code({{Finding{}}, {}, {"no suite"}}, false), 2);
}

TEST(Review, ListsHowABenchmarkIsReadOtherwise) {
    const std::string benchmark =
        "name: mine\nworkloads:\n"
        "  - benchmark: [./bench]\n    name: bench\n    format: json\n    rows: /rows/*\n"
        "    case: /name\n    axes: {n: /n}\n"
        "    values: {misses: {from: /misses, better: lower}}\n"
        "    tolerances: {misses: 0}\n";
    const auto found = [&](const std::string& was, const std::string& is) {
        return found_in(benchmark, was, is);
    };
    EXPECT_NE(found("better: lower", "better: higher").find("case changed values.misses"),
              std::string::npos);
    EXPECT_NE(found("/misses", "/runs").find("case changed values.misses"), std::string::npos);
    EXPECT_NE(found("/rows/*", "/few/*").find("case changed rows"), std::string::npos);
    EXPECT_NE(found("{n: /n}", "{n: /m}").find("case changed axes"), std::string::npos);
    EXPECT_NE(found("case: /name", "case: /title").find("case changed case"), std::string::npos);
    EXPECT_EQ(found("values: {", "values: {runs: {from: /runs, better: none}, "), "");
}

TEST(Review, ListsOverridesOfResultsThatNoSuiteHas) {
    const std::string head =
        "name: mine\nworkloads:\n"
        "  - benchmark: [./bench]\n    name: bench\n    format: google-benchmark\n"
        "    tolerances: {real_time: 5%, cpu_time: 5%}\n";
    const auto found = [&](const std::string& was, const std::string& is) {
        const std::string none = "overrides: []\n";
        return found_in(head + "overrides:\n" + was, "overrides:\n" + was,
                        is.empty() ? none : "overrides:\n" + is);
    };
    const auto over = [](const std::string& match, const std::string& more) {
        return "  - {match: '" + match + "', " + more + "}\n";
    };
    const auto time = [&](const std::string& match, const std::string& tolerance) {
        return over(match, "tolerances: {real_time: " + tolerance + "}");
    };
    const std::string other = time("bench/copy*", "4%");
    EXPECT_EQ(found(other, other + time("bench/sort*", "50%")),
              "tolerance raised real_time: 5 % → 50 % (1)");
    EXPECT_EQ(found(time("bench/sort*", "3%"), time("bench/sort*", "4%")),
              "tolerance raised real_time: 3 % → 4 % (1)");
    EXPECT_EQ(found(time("bench/sort*", "3%") + other, other),
              "tolerance raised real_time: 3 % → 5 % (1)");
    EXPECT_EQ(found(other, other + over("bench/sort*", "skip: too noisy")),
              "case skipped skip: measured → too noisy (1)");
    EXPECT_EQ(found(other, other + over("bench/sort*",
                                        "tolerances: {real_time: {worse: 5%, severity: warn}}")),
              "severity lowered real_time: as the config says → warn (1)");
    EXPECT_EQ(found(other, other + over("bench/sort*",
                                        "device: 'nvidia-h100*', tolerances: "
                                        "{real_time: 9%}")),
              "tolerance raised real_time: 5 % → 9 % (1)");
    // Stricter, or the same in another order.
    EXPECT_EQ(found(other, other + time("bench/sort*", "4%")), "");
    EXPECT_EQ(found(time("bench/sort*", "6%") + other, other + time("bench/sort*", "6%")), "");
}

TEST(Review, ComparesWhatTwoOverridesOfABenchmarkMakeOfACase) {
    const std::string head =
        "name: mine\nworkloads:\n"
        "  - benchmark: [./bench]\n    name: bench\n    format: google-benchmark\n"
        "    tolerances: {real_time: 5%}\noverrides:\n";
    const auto time = [&](const std::string& match, const std::string& tolerance) {
        return "  - {match: '" + match + "', tolerances: {real_time: " + tolerance + "}}\n";
    };
    const auto found = [&](const std::string& was, const std::string& is) {
        return found_in(head + was, was, is);
    };
    // A wider one was stricter than the benchmark.
    const std::string strict = time("bench/*", "1%");
    EXPECT_EQ(found(strict, strict + time("bench/sort*", "4%")),
              "tolerance raised real_time: 1 % → 4 % (1)");
    // The last one decides.
    const std::string loose = time("bench/sort*", "10%");
    const std::string last = time("*n=8*", "3%");
    EXPECT_EQ(found(loose + last, last + loose), "tolerance raised real_time: 3 % → 10 % (1)");
    Files before;
    before["suites/mine.yaml"] = {FileRole::suite, head + loose + last, ""};
    Files after;
    after["suites/mine.yaml"] = {FileRole::suite, head + last + loose, ""};
    EXPECT_EQ(reviewed(before, after).front().cases,
              std::vector<std::string>{"*n=8* and bench/sort*"});
    EXPECT_EQ(found(last + loose, loose + last), "");
    // Without an override of its own, the benchmark is the place.
    after["suites/mine.yaml"] = {FileRole::suite, head + loose, ""};
    EXPECT_EQ(reviewed(before, after).front().place, (model::SourcePlace{"suites/mine.yaml", 3}));
    // No case matches both.
    const std::string apart = time("bench/copy*", "3%");
    EXPECT_EQ(found(loose + apart, apart + loose), "");
}

TEST(Review, ListsWhatIsNotRecordedOfABenchmarkAnyMore) {
    const std::string benchmark =
        "name: mine\nworkloads:\n"
        "  - benchmark: [./bench]\n    name: bench\n    format: google-benchmark\n"
        "    max_overhead: 5%\n"
        "    measure: {flash: {kernel: '*flash*'}, step: {nvtx: step}}\n"
        "    tolerances: {real_time: 5%, flash.gpu_time: 2%}\n"
        "    expect: {step.syncs: '== 0'}\n";
    const auto found = [&](const std::string& was, const std::string& is) {
        return found_in(benchmark, was, is);
    };
    EXPECT_EQ(found("flash.gpu_time: 2%", "flash.gpu_time: 3%"),
              "tolerance raised gpu_time: 2 % → 3 % (1)");
    EXPECT_EQ(found("flash.gpu_time: 2%", "flash.gpu_time: 1%"), "");
    EXPECT_EQ(found("'*flash*'", "'*flash_fwd*'"),
              "case changed measure: kernel '*flash*' → kernel '*flash_fwd*' (1)");
    EXPECT_EQ(found("'== 0'", "'<= 1'"),
              "relation removed bench/step.syncs == 0: bench/step.syncs == 0 → bench/step.syncs <= "
              "1");
    EXPECT_EQ(found("max_overhead: 5%", "max_overhead: 50%"),
              "case changed max_overhead: 5 % → 50 % (2)");
    EXPECT_EQ(found("flash: {kernel: '*flash*'}, step: {nvtx: step}}\n"
                    "    tolerances: {real_time: 5%, flash.gpu_time: 2%}",
                    "step: {nvtx: step}}\n    tolerances: {real_time: 5%}"),
              "case removed mine: in the suite → not in it (1)");
}

TEST(Review, ListsCasesThatAreSkipped) {
    Files after = files();
    after[suite_path].content += "overrides:\n  - {match: 'gemm/naive*', skip: too noisy}\n";
    EXPECT_EQ(in_words(reviewed(files(), after)), "case skipped skip: measured → too noisy (2)");
    EXPECT_EQ(in_words(reviewed(after, after)), "");
    EXPECT_EQ(in_words(reviewed(after, files())), "");
}

TEST(Review, ListsFindingsAndNotesAsText) {
    EXPECT_EQ(write_text({}, "main"), "no change weakens the gate compared with main\n");
    Finding raised{
        Loosening::tolerance_raised, {"suites/gemm.yaml", 3}, "gpu_time", "3%", "5%", {}};
    raised.cases = {"gemm/naive", "gemm/tiled"};
    EXPECT_EQ(write_text({{raised}, {"ci.yaml: a new\x1b profile"}}, "main"),
              "1 change weakens the gate compared with main:\n\n"
              "  what              of        change   where               case\n"
              "  tolerance raised  gpu_time  3% → 5%  suites/gemm.yaml:3  gemm/naive and 1 more\n"
              "note: not reviewed: ci.yaml: a new? profile\n");
    EXPECT_EQ(write_text({{}, {"a note"}, {"no suite"}}, "main"),
              "not compared with main: no suite\nnote: not reviewed: a note\n");
}

TEST(ReviewAnnotations, BeginWithAcknowledgementsAndCountWhatTheyLeaveOut) {
    Review many;
    for (int i = 0; i < 12; ++i) {
        many.findings.push_back(
            {Loosening::tolerance_raised, {suite_path, i + 1}, "gpu_time", "3%", "9%", {}});
    }
    many.findings.push_back(
        {Loosening::acknowledged, {baseline_path, 0}, "gpu_time", "", "until 2026-12-31", {}});
    const std::string text = write_annotations(many, false);
    EXPECT_EQ(10, std::ranges::count(text, '\n'));
    EXPECT_LT(text.find("until 2026-12-31"), text.find('\n'));
    EXPECT_NE(text.find("3 more findings"), std::string::npos);
}

}  // namespace
}  // namespace perfgate::review
