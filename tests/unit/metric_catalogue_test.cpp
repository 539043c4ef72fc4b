// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "metrics/catalogue.hpp"

namespace perfgate::metrics {
namespace {

using model::Direction;
using model::Fold;
using model::MetricClass;

TEST(Catalogue, NamesEveryMetricOnceAndDescribesIt) {
    std::set<std::string> names;
    for (const Metric& metric : catalogue()) {
        const model::MetricDefinition& definition = metric.definition;
        EXPECT_TRUE(names.insert(definition.name).second) << definition.name;
        EXPECT_TRUE(std::all_of(definition.name.begin(), definition.name.end(), [](char c) {
            return (c >= 'a' && c <= 'z') || c == '_' || (c >= '0' && c <= '9');
        })) << definition.name;
        EXPECT_FALSE(definition.description.empty()) << definition.name;
        EXPECT_LE(definition.description.size(), 100u) << definition.name;
    }
    EXPECT_EQ(metric_names().size(), names.size());
}

TEST(Catalogue, SpellsUnitsInOneWay) {
    const std::set<std::string> units = {"ns",        "bytes",     "Hz",     "%",       "count",
                                         "ratio",     "flop",      "flop/s", "bytes/s", "items/s",
                                         "flop/byte", "registers", "J",      "W",       "flop/J",
                                         "bytes/J",   "requests/s"};
    for (const Metric& metric : catalogue()) {
        EXPECT_EQ(units.count(metric.definition.unit), 1u)
            << metric.definition.name << ": " << metric.definition.unit;
    }
}

TEST(Catalogue, RowsHaveWhatTheirSourceNeeds) {
    for (const Metric& metric : catalogue()) {
        const std::string& name = metric.definition.name;
        EXPECT_EQ(metric.source == Source::counter, !metric.numerator.empty()) << name;
        EXPECT_EQ(metric.source == Source::kernel_record, metric.record != nullptr) << name;
        EXPECT_EQ(metric.definition.fold == Fold::ratio, !metric.denominator.empty()) << name;
        EXPECT_GT(metric.scale, 0) << name;
        const bool time = metric.source == Source::activity || metric.source == Source::event ||
                          metric.source == Source::wall || metric.source == Source::ceiling ||
                          metric.source == Source::preparation || metric.reading == "energy" ||
                          metric.source == Source::submission;
        if (metric.source != Source::program && metric.source != Source::benchmark) {
            EXPECT_EQ(time, metric.definition.metric_class == MetricClass::timing) << name;
        }
        for (const auto* terms : {&metric.numerator, &metric.denominator}) {
            for (const Term& term : *terms) {
                EXPECT_FALSE(term.names.empty()) << name;
                EXPECT_GT(term.weight, 0) << name;
            }
        }
    }
}

TEST(Catalogue, CoversWhatTheFormatPromises) {
    const std::vector<std::string> promised = {"gpu_time",
                                               "gpu_span",
                                               "host_time",
                                               "cycles",
                                               "sm_clock",
                                               "registers",
                                               "static_smem",
                                               "dynamic_smem",
                                               "local_bytes",
                                               "launches",
                                               "occupancy",
                                               "theoretical_occupancy",
                                               "waves",
                                               "ceiling_share",
                                               "energy",
                                               "power",
                                               "efficiency",
                                               "bytes_per_joule",
                                               "sm_throughput",
                                               "memory_throughput",
                                               "dram_throughput",
                                               "l1_throughput",
                                               "l2_throughput",
                                               "shared_throughput",
                                               "sm_active",
                                               "sm_active_least",
                                               "nvlink_bytes",
                                               "pcie_bytes",
                                               "load_bytes",
                                               "async_copy_bytes",
                                               "tma_bytes",
                                               "dram_bytes",
                                               "dram_read_bytes",
                                               "dram_write_bytes",
                                               "l1_hit_rate",
                                               "l2_hit_rate",
                                               "instructions",
                                               "issue_active",
                                               "warp_efficiency",
                                               "sectors_per_request_load",
                                               "sectors_per_request_store",
                                               "bank_conflicts_load",
                                               "bank_conflicts_store",
                                               "spill_sectors",
                                               "tensor_instructions",
                                               "tensor_active",
                                               "flops",
                                               "achieved_flops",
                                               "arithmetic_intensity",
                                               "stall_long_scoreboard",
                                               "stall_barrier",
                                               "stall_gmma",
                                               "stall_not_selected"};
    for (const std::string& name : promised) EXPECT_TRUE(find_metric(name)) << name;
}

TEST(Catalogue, CostsAreLowerAndRatesAreHigher) {
    const auto direction = [](const char* name) { return find_metric(name)->definition.direction; };
    EXPECT_EQ(direction("gpu_time"), Direction::lower);
    EXPECT_EQ(direction("registers"), Direction::lower);
    EXPECT_EQ(direction("spill_sectors"), Direction::lower);
    EXPECT_EQ(direction("l2_hit_rate"), Direction::higher);
    EXPECT_EQ(direction("achieved_flops"), Direction::higher);
    // More or less work than before is a change in either direction.
    EXPECT_EQ(direction("flops"), Direction::none);
    EXPECT_EQ(direction("sm_clock"), Direction::none);
    EXPECT_EQ(direction("stall_selected"), Direction::none);
    EXPECT_EQ(direction("waves"), Direction::none);
    EXPECT_EQ(direction("ceiling_share"), Direction::higher);
    EXPECT_EQ(direction("energy"), Direction::lower);
    EXPECT_EQ(direction("efficiency"), Direction::higher);
    // A faster kernel may draw more.
    EXPECT_EQ(direction("power"), Direction::none);
    EXPECT_EQ(direction("nvlink_bytes"), Direction::lower);
    EXPECT_EQ(direction("sm_active"), Direction::higher);
    // Fewer bytes on the asynchronous path may mean that it is lost.
    EXPECT_EQ(direction("async_copy_bytes"), Direction::none);
    EXPECT_EQ(direction("tma_bytes"), Direction::none);
}

TEST(FindMetric, TakesRawCounterNamesAsTheyStand) {
    const auto metric = find_metric("dram__bytes_read.sum");
    ASSERT_TRUE(metric);
    EXPECT_EQ(metric->definition.name, "dram__bytes_read.sum");
    EXPECT_EQ(metric->source, Source::counter);
    EXPECT_EQ(metric->definition.direction, Direction::none);
    EXPECT_EQ(metric->definition.metric_class, MetricClass::counter);
    EXPECT_EQ(counters_of(*metric), (std::set<std::string>{"dram__bytes_read.sum"}));
}

TEST(FindMetric, RawNamesFoldAndMeasureByTheirRollup) {
    struct Expected {
        const char* name;
        Fold fold;
        const char* unit;
    };
    for (const Expected& expected : std::initializer_list<Expected>{
             {"smsp__inst_executed.sum", Fold::sum, "count"},
             {"sm__cycles_active.max", Fold::max, "count"},
             {"sm__cycles_active.avg", Fold::weighted_mean, "count"},
             {"gpu__time_duration.sum", Fold::sum, "ns"},
             {"dram__bytes.sum", Fold::sum, "bytes"},
             {"dram__bytes.sum.per_second", Fold::weighted_mean, "bytes/s"},
             {"dram__bytes.sum.per_cycle_elapsed", Fold::weighted_mean, "bytes/cycle"},
             {"gpc__cycles_elapsed.avg.per_second", Fold::weighted_mean, "Hz"},
             {"lts__t_sector_hit_rate.pct", Fold::weighted_mean, "%"},
             {"sm__throughput.avg.pct_of_peak_sustained_elapsed", Fold::weighted_mean, "%"},
             {"smsp__inst_executed.sum.per_cycle_active", Fold::weighted_mean, "ratio"},
             {"smsp__average_warp_latency.ratio", Fold::weighted_mean, "ratio"},
             {"SM_A.TriageCompute.sm__warps_launched.sum", Fold::sum, "count"}}) {
        const auto metric = find_metric(expected.name);
        ASSERT_TRUE(metric) << expected.name;
        EXPECT_EQ(metric->definition.fold, expected.fold) << expected.name;
        EXPECT_EQ(metric->definition.unit, expected.unit) << expected.name;
    }
}

TEST(FindMetric, RefusesWhatIsNeitherAFriendlyNorARawName) {
    for (const char* name : {"", "gputime", "GPU_TIME", "dram__bytes", "dram_bytes.sum", "__.sum",
                             "__bytes.sum", "dram__.sum", "dram__bytes.", "dram__bytes.sum\n",
                             "dram__bytes .sum", "dram__b\xc3\xa9.sum", "a.b__c"}) {
        EXPECT_FALSE(find_metric(name)) << name;
    }
    EXPECT_FALSE(find_metric("dram__" + std::string(1000, 'x') + ".sum"));
}

TEST(MetricSets, HoldCatalogueMetricsWithoutDuplicates) {
    std::set<std::string> names;
    for (const MetricSet& set : metric_sets()) {
        EXPECT_TRUE(names.insert(set.name).second);
        EXPECT_FALSE(set.description.empty());
        std::set<std::string> members;
        for (const std::string& name : set.metrics) {
            const auto metric = find_metric(name);
            ASSERT_TRUE(metric) << name;
            EXPECT_TRUE(members.insert(name).second) << name;
            if (set.name == "time") {
                EXPECT_NE(metric->source, Source::counter) << name;
            }
        }
        // Whoever names one gets the other.
        EXPECT_EQ(find_metric(set.name).has_value(), members.contains(set.name)) << set.name;
    }
    EXPECT_EQ(names, (std::set<std::string>{"time", "core", "full", "energy"}));
}

TEST(MetricSets, TheDefaultOneHasNoCounterThatCostsPasses) {
    const MetricSet& core = metric_sets()[1];
    ASSERT_EQ(core.name, "core");
    for (const char* name : {"sm_active", "l1_throughput", "shared_throughput", "nvlink_bytes",
                             "load_bytes", "async_copy_bytes", "tma_bytes", "flops"}) {
        EXPECT_EQ(std::count(core.metrics.begin(), core.metrics.end(), name), 0) << name;
    }
}

TEST(MetricSets, TheFullOneHasAllThatEveryKernelHas) {
    std::vector<std::string> expected;
    for (const Metric& metric : catalogue()) {
        if (metric.source == Source::program || metric.source == Source::benchmark ||
            metric.by_name_only) {
            continue;
        }
        expected.push_back(metric.definition.name);
    }
    ASSERT_EQ(metric_sets()[2].name, "full");
    EXPECT_EQ(metric_sets()[2].metrics, expected);
    for (const char* name : {"ceiling_share", "code_size", "stack", "nvlink_bytes", "pcie_bytes",
                             "energy", "power", "efficiency", "bytes_per_joule"}) {
        EXPECT_EQ(std::count(expected.begin(), expected.end(), name), 0) << name;
    }
}

TEST(MetricSets, OnlyTheirOwnHasEnergy) {
    for (const MetricSet& set : metric_sets()) {
        for (const std::string& name : set.metrics) {
            EXPECT_EQ(find_metric(name)->reading == "energy", set.name == "energy") << name;
        }
    }
}

TEST(Source, IsNamedAndAReadingHasTheNameThatTheBackendKnows) {
    for (const auto& [metric, text] : std::map<std::string_view, std::string_view>{
             {"gpu_time", "activity"},
             {"gpu_span", "event"},
             {"host_time", "wall"},
             {"registers", "kernel_record"},
             {"dram_bytes", "counter"},
             {"submit_time", "submission"},
             {"ceiling_share", "ceiling"},
             {"efficiency", "energy"},
             {"leak", "memory"},
             {"api_calls", "api"},
             {"wall_time", "program"},
             {"real_time", "benchmark"},
         }) {
        EXPECT_EQ(source_text(*find_metric(metric)), text) << metric;
    }
    for (const Metric& metric : catalogue()) {
        EXPECT_EQ(metric.reading.empty(), metric.source != Source::reading)
            << metric.definition.name;
    }
}

}  // namespace
}  // namespace perfgate::metrics
