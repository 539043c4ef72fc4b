// SPDX-License-Identifier: Apache-2.0
// What weakens the gate in a suite or a baseline, and how review says so.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "unit/review_fixture.hpp"

namespace perfgate::review {
namespace review_test {

using namespace review_fixture;

Files with_baseline(const std::function<void(model::Baseline&)>& edit) {
    model::Baseline changed = baseline();
    edit(changed);
    Files result = files();
    result.at(baseline_path).content = document::write_baseline(changed);
    return result;
}

std::vector<Finding> of_baseline(const std::function<void(model::Baseline&)>& edit) {
    return reviewed(files(), with_baseline(edit));
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

TEST(Review, FailsIfSomethingIsLooserUnlessItIsOnlyAdvice) {
    EXPECT_EQ(exit_code({}, false), 0);
    EXPECT_EQ(exit_code({{}, {"a note"}}, false), 0);
    EXPECT_EQ(exit_code({{Finding{}}, {}}, false), 1);
    EXPECT_EQ(exit_code({{Finding{}}, {}}, true), 0);
    EXPECT_EQ(exit_code({{}, {}, {"no suite"}}, true), 2);
    EXPECT_EQ(exit_code({{Finding{}}, {}, {"no suite"}}, false), 2);
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

}  // namespace review_test
}  // namespace perfgate::review
