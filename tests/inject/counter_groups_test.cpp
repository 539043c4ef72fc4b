// SPDX-License-Identifier: Apache-2.0
// Dividing counters into passes with the real CUPTI, whose Host API needs neither GPU nor driver.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "inject/device_sampler.hpp"
#include "inject/launch_counter.hpp"
#include "kinds/command/counter_passes.hpp"
#include "metrics/catalogue.hpp"

namespace perfgate::inject {
namespace {

class Groups : public testing::Test {
  protected:
    void SetUp() override {
        std::string why;
        if (!cupti::load("", api_, why)) GTEST_SKIP() << why;
        ASSERT_TRUE(cupti::load_counters(api_, why)) << why;
    }

    CounterGroups of(const std::string& chip, const std::vector<std::string>& names) {
        std::vector<metrics::Metric> wanted;
        for (const std::string& name : names) wanted.push_back(*metrics::find_metric(name));
        return CounterHost(api_, chip, {}).groups_of(command::counters_for(wanted));
    }

    cupti::Api api_;
};

TEST_F(Groups, each_fits_one_pass_and_has_a_configuration) {
    const CounterGroups found =
        of("GH100", {"dram_bytes", "instructions", "warp_efficiency", "l2_hit_rate", "occupancy",
                     "sectors_per_request_load", "load_bytes", "tensor_instructions"});
    EXPECT_TRUE(found.several_passes.empty());
    ASSERT_GE(found.groups.size(), 2U);
    EXPECT_LE(found.groups.size(), 8U);
    const CounterHost host(api_, "GH100", {});
    std::set<std::string> all;
    for (const auto& group : found.groups) {
        EXPECT_FALSE(host.configuration(group).empty());
        for (const std::string& name : group) EXPECT_TRUE(all.insert(name).second) << name;
        // Counters of the code's instrumentation and of the hardware never share a pass.
        const auto sass = std::count_if(group.begin(), group.end(), [](const std::string& name) {
            return name.starts_with("smsp__sass_");
        });
        EXPECT_TRUE(sass == 0 || sass == static_cast<std::ptrdiff_t>(group.size()));
    }
    EXPECT_TRUE(all.contains("dram__bytes.sum"));
    EXPECT_TRUE(all.contains("smsp__sass_data_bytes_mem_global_op_ld.sum"));
}

TEST_F(Groups, are_the_same_each_time) {
    const std::vector<std::string> names{"dram_bytes", "load_bytes", "l1_hit_rate", "stall_wait"};
    EXPECT_EQ(of("GH100", names).groups, of("GH100", names).groups);
}

TEST_F(Groups, the_name_that_the_chip_has_is_taken) {
    EXPECT_EQ((std::vector<std::vector<std::string>>{{"dram__bytes_read.sum"}}),
              of("GH100", {"dram_read_bytes"}).groups);
    EXPECT_EQ((std::vector<std::vector<std::string>>{{"dram__bytes_op_read.sum"}}),
              of("GB202", {"dram_read_bytes"}).groups);
}

TEST_F(Groups, what_needs_several_passes_or_is_absent) {
    const CounterGroups found =
        of("GH100", {"sm_throughput", "dram__no_such_thing.sum", "instructions"});
    ASSERT_EQ(1U, found.several_passes.size());
    EXPECT_EQ("sm__throughput.avg.pct_of_peak_sustained_elapsed", found.several_passes[0].first);
    EXPECT_GT(found.several_passes[0].second, 1U);
    EXPECT_EQ(std::vector<std::string>{"dram__no_such_thing.sum"}, found.absent);
    EXPECT_FALSE(found.groups.empty());
}

TEST_F(Groups, a_chip_that_cupti_does_not_know) {
    EXPECT_THROW(of("XX999", {"instructions"}), cupti::Error);
}

/// One pass is all that a GPU can sample.
TEST_F(Groups, what_is_sampled_fits_one_pass_of_each_chip) {
    const auto sampled = [&](const char* chip) {
        return cupti::one_pass(api_, chip, {}, sampled_counters());
    };
    for (const char* chip : {"TU102", "GA100", "GA102", "AD102", "GH100", "GB100", "GB202"}) {
        const std::vector<std::string> counters = sampled(chip);
        ASSERT_EQ(counters.size(), activity::sampled_metrics);
        EXPECT_NE(counters[0], "") << chip;
        EXPECT_NE(counters[2], "") << chip;
        // Turing counts the tensor pipe in another pass.
        EXPECT_EQ(counters[1].empty(), chip == std::string("TU102")) << chip;
    }
    for (const std::string& counter : sampled("GH100")) EXPECT_NE(counter, "");
}

/// Every row of the catalogue on this chip: what a program can be gated by.
TEST_F(Groups, most_of_the_catalogue_goes_into_single_passes) {
    std::vector<std::string> names;
    for (const metrics::Metric& metric : metrics::catalogue()) {
        if (metric.source == metrics::Source::counter) names.push_back(metric.definition.name);
    }
    const CounterGroups found = of("GH100", names);
    EXPECT_LE(found.groups.size(), command::most_passes);
    for (const auto& [name, passes] : found.several_passes) {
        EXPECT_TRUE(name.find("throughput") != std::string::npos ||
                    name.starts_with("sm__ops_path_tensor_"))
            << name << " needs " << passes;
    }
}

}  // namespace
}  // namespace perfgate::inject
