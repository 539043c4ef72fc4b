// SPDX-License-Identifier: Apache-2.0
//
// The catalogue against every chip that CUPTI knows, by its Host API: no GPU is needed.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "backend/cuda/host_evaluator.hpp"
#include "metrics/catalogue.hpp"

namespace perfgate::metrics {
namespace {

using backend::cuda::HostEvaluator;

/// GV11B (Xavier): CUPTI names it and has no counters for it.
const std::set<std::string> without_counters = {"GV11B"};

class Chip : public testing::TestWithParam<std::string> {
  protected:
    bool exists(const std::string& counter) {
        const auto [known, added] = exists_.try_emplace(counter, false);
        if (added) known->second = host_.metric_exists(counter);
        return known->second;
    }
    CounterExists answers() {
        return [this](const std::string& counter) { return exists(counter); };
    }
    std::size_t passes(const Selection& selection) {
        return host_.passes({selection.counters.begin(), selection.counters.end()});
    }
    Selection select(const std::string& set_name) {
        for (const MetricSet& set : metric_sets()) {
            if (set.name != set_name) continue;
            std::vector<Metric> metrics;
            for (const std::string& name : set.metrics) metrics.push_back(*find_metric(name));
            return select_counters(metrics, answers(), GetParam());
        }
        throw std::invalid_argument("no metric set " + set_name);
    }

    HostEvaluator host_{GetParam()};
    std::map<std::string, bool> exists_;
};

TEST_P(Chip, HasEveryMetricButThoseThatItsHardwareLacks) {
    const Selection selection = select_counters(catalogue(), answers(), GetParam());
    for (const model::NotCollected& metric : selection.unavailable) {
        ADD_FAILURE() << metric.metric << ": " << metric.reason;
    }
    // And `absent_on` claims no more than what is true.
    for (const Metric& metric : selection.metrics) {
        EXPECT_FALSE(absent_on(metric, GetParam())) << metric.definition.name;
    }
}

TEST_P(Chip, CountsEachTensorPathOnce) {
    // Every floating-point tensor path of the chip is in `flops`, none of them under two names.
    const auto flops = on_chip(*find_metric("flops"), answers());
    ASSERT_TRUE(flops);
    const std::set<std::string> counted = counters_of(*flops);
    std::size_t paths = 0;
    for (const std::string& base : host_.base_metrics(CUPTI_METRIC_TYPE_COUNTER)) {
        const std::string prefix = "sm__ops_path_tensor_src_";
        if (base.rfind(prefix, 0) != 0) continue;
        const std::string path = base.substr(prefix.size());
        // Parts of a path (sparsity) and copies (realtime) would count twice; integers are no
        // flops.
        if (path.find("_sparsity_") != std::string::npos ||
            path.find("_realtime") != std::string::npos || path.rfind("int", 0) == 0) {
            continue;
        }
        ++paths;
        EXPECT_EQ(counted.count(base + ".sum"), 1u) << base;
    }
    for (const std::string& counter : counted) {
        if (counter.find("tensor") != std::string::npos) --paths;
    }
    EXPECT_EQ(paths, 0u);
}

TEST_P(Chip, HasItsStallReasonsInTheCatalogue) {
    const auto selection = select_counters(catalogue(), answers(), GetParam());
    for (const std::string& base : host_.base_metrics(CUPTI_METRIC_TYPE_COUNTER)) {
        const std::string prefix = "smsp__warps_issue_stalled_";
        // Parts of a reason: …_pipe_l1tex. Halves of a reason: …_not_issued.
        if (base.rfind(prefix, 0) != 0 || base.find("_pipe_l1tex") != std::string::npos ||
            base.find("_pipe_mio") != std::string::npos ||
            base.find("_not_issued") != std::string::npos) {
            continue;
        }
        const std::string name = "stall_" + base.substr(prefix.size());
        EXPECT_TRUE(std::any_of(selection.metrics.begin(), selection.metrics.end(),
                                [&](const Metric& m) { return m.definition.name == name; }))
            << name;
    }
}

TEST_P(Chip, CollectsTheSetsInFewPasses) {
    const Selection time = select("time");
    EXPECT_TRUE(time.counters.empty());
    const std::size_t core = passes(select("core"));
    // Volta's counters fit together less well; CUDA 13 cannot run on it anyway.
    EXPECT_LE(core, GetParam() == "GV100" ? 13u : 8u);
    // CUPTI takes a second of processor time to schedule the large set for a chip.
    if (GetParam() != "GH100") return;
    EXPECT_LE(core, passes(select("full")));
}

std::vector<std::string> chips_with_counters() {
    std::vector<std::string> chips = backend::cuda::supported_chips();
    std::erase_if(chips, [](const std::string& chip) { return without_counters.count(chip) != 0; });
    return chips;
}

INSTANTIATE_TEST_SUITE_P(EveryChip, Chip, testing::ValuesIn(chips_with_counters()),
                         [](const auto& chip) { return chip.param; });

TEST(Chips, ReachFromVoltaToBlackwell) {
    const std::vector<std::string> chips = backend::cuda::supported_chips();
    for (const char* chip :
         {"GV100", "TU102", "GA100", "GA102", "AD102", "GH100", "GB100", "GB202"}) {
        EXPECT_NE(std::find(chips.begin(), chips.end(), chip), chips.end()) << chip;
    }
    for (const std::string& chip : without_counters) {
        EXPECT_THROW(HostEvaluator{chip}, util::Error);
    }
}

TEST(RawCounter, OfAChipThatLacksItIsUnavailable) {
    HostEvaluator host("GH100");
    const std::vector<Metric> wanted = {*find_metric("dram__bytes_op_read.sum"),
                                        *find_metric("dram__bytes_read.sum")};
    const Selection selection = select_counters(
        wanted, [&](const std::string& counter) { return host.metric_exists(counter); }, "GH100");
    ASSERT_EQ(selection.unavailable.size(), 1u);
    EXPECT_EQ(selection.unavailable[0].metric, "dram__bytes_op_read.sum");
    EXPECT_EQ(selection.counters, (std::set<std::string>{"dram__bytes_read.sum"}));
}

}  // namespace
}  // namespace perfgate::metrics
