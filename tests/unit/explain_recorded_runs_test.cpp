// SPDX-License-Identifier: Apache-2.0
// The rules on what GPUs recorded: two runs of the same code, where nothing may be found, and pairs
// of variants whose difference is known, told as if one had become the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "document/run.hpp"
#include "explain/explain.hpp"
#include "gate/batch_rule.hpp"
#include "gate/gate.hpp"
#include "util/file.hpp"

namespace perfgate::explain {
namespace {

model::Run recorded(const std::string& name) {
    const std::string path = std::string(PERFGATE_TEST_DATA_DIR) + "/aa/" + name;
    return document::parse_run(util::read_file(path, std::size_t{64} << 20U, "run"), path);
}

/// What a refresh from `run` stores.
gate::BaselineSet baseline_of(const model::Run& run) {
    gate::BaselineSet set;
    for (const model::SuiteResult& suite : run.suites) {
        gate::StoredBaseline& stored = set[suite.name];
        stored.file = suite.name + ".json";
        stored.baseline.suite = suite.name;
        stored.baseline.device = run.environment.device;
        for (const model::CaseResult& result : suite.cases) {
            stored.baseline.cases[model::case_id(result.spec)].metrics = result.metrics;
        }
    }
    return set;
}

model::VerdictDocument explained(const model::Run& run, const gate::BaselineSet& baselines) {
    const model::Policy policy;
    model::VerdictDocument document = gate::judge(run, baselines, policy, gate::BatchRule(policy));
    explain(run, Which::all, document);
    return document;
}

TEST(RecordedRuns, TheSameCodeTwiceIsToldAsNothingMoved) {
    for (const std::string device : {"nvidia-h100-80gb-hbm3", "nvidia-h200"}) {
        const model::Run first = recorded(device + "/gemm-1.run.json");
        const model::Run second = recorded(device + "/gemm-2.run.json");
        std::size_t cases = 0;
        for (const auto& [before, after] :
             {std::pair(&first, &second), std::pair(&second, &first)}) {
            const model::VerdictDocument document = explained(*after, baseline_of(*before));
            for (const model::CaseVerdict& verdict : document.suites.at(0).cases) {
                ++cases;
                ASSERT_EQ(verdict.why.size(), 1U) << device << ' ' << verdict.id;
                EXPECT_EQ(verdict.why[0].rule, "nothing")
                    << device << ' ' << verdict.id << ": " << verdict.why[0].sentence;
            }
        }
        EXPECT_EQ(cases, 2U * 81U);
    }
}

/// A variant with one type of its elements.
struct Kind {
    std::string variant, dtype;
};

bool is_of(const model::CaseResult& result, const Kind& kind) {
    return result.spec.variant == kind.variant &&
           result.spec.params.at("dtype") == model::ParamValue(kind.dtype);
}

/// What is told of the H100's run if every case of `before` had become its counterpart of `after`:
/// the rules by the id of `before`, those that speak against the change left out.
std::map<std::string, std::set<std::string>> rules_between(const Kind& before, const Kind& after) {
    model::Run run = recorded("nvidia-h100-80gb-hbm3/gemm-1.run.json");
    const gate::BaselineSet baselines = baseline_of(run);
    auto& cases = run.suites.at(0).cases;
    std::erase_if(cases, [&](const model::CaseResult& result) { return !is_of(result, after); });
    for (model::CaseResult& result : cases) {
        result.spec.variant = before.variant;
        result.spec.params["dtype"] = before.dtype;
    }
    run.suites.at(0).partial = true;
    std::map<std::string, std::set<std::string>> found;
    const model::VerdictDocument document = explained(run, baselines);
    for (const model::CaseVerdict& verdict : document.suites.at(0).cases) {
        for (const model::Cause& cause : verdict.why) {
            if (!cause.sentence.starts_with("but ")) found[verdict.id].insert(cause.rule);
        }
    }
    return found;
}

std::string cube(const Kind& kind, const std::string& size) {
    return "gemm/" + kind.variant + "[dtype=" + kind.dtype + ",k=" + size + ",m=" + size +
           ",n=" + size + "]";
}

// `tiled` loads 16 bytes at a time and keeps tiles in shared memory and registers; `naive` loads 4
// and has one thread per element.
TEST(RecordedRuns, AProductWithoutTilesLoadsNarrowlyAndFetchesAgain) {
    const Kind tiled{"tiled", "f32"};
    const auto found = rules_between(tiled, {"naive", "f32"});
    ASSERT_EQ(found.size(), 9U);
    for (const auto& [id, rules] : found) {
        // Rows of 517 elements are not aligned: `tiled` reads more sectors than lie side by side.
        const bool aligned = id.find("n=517") == std::string::npos;
        EXPECT_EQ(rules.contains("narrow_accesses"), aligned) << id;
        EXPECT_TRUE(rules.contains(aligned ? "narrow_accesses" : "instructions")) << id;
        EXPECT_FALSE(rules.contains("unexplained")) << id;
        EXPECT_FALSE(rules.contains("spills")) << id;
    }
    // Matrices of 64 MiB are larger than L2, those of 1 MiB are not.
    EXPECT_TRUE(found.at(cube(tiled, "4096")).contains("dram"));
    EXPECT_FALSE(found.at(cube(tiled, "512")).contains("dram"));
}

TEST(RecordedRuns, AProductThatLeavesTheTensorCoresIsSeenToDoSo) {
    const Kind tensor{"tensor_core", "tf32"};
    const auto found = rules_between(tensor, {"tiled", "f32"});
    ASSERT_EQ(found.size(), 9U);
    for (const auto& [id, rules] : found) EXPECT_TRUE(rules.contains("tensor_pipe")) << id;
}

// On Hopper cuBLAS multiplies large matrices with wgmma, `tensor_core` with the smaller mma.sync.
TEST(RecordedRuns, SmallerMatrixInstructionsAreMoreInstructionsAndNoIdlePipe) {
    for (const std::string type : {"f16", "bf16", "tf32"}) {
        const Kind cublas{"cublas", type};
        const auto found = rules_between(cublas, {"tensor_core", type});
        for (const std::string size : {"2048", "4096"}) {
            EXPECT_FALSE(found.at(cube(cublas, size)).contains("tensor_pipe")) << type << size;
            EXPECT_TRUE(found.at(cube(cublas, size)).contains("instructions")) << type << size;
        }
    }
}

}  // namespace
}  // namespace perfgate::explain
