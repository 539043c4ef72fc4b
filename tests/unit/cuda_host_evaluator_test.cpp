// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's Host API on a machine that need not have a GPU: a counter-data image recorded on an H100
// gives its recorded values, and the names of metrics are known.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "backend/cuda/counter_collection.hpp"
#include "backend/cuda/host_evaluator.hpp"

namespace perfgate::backend::cuda {
namespace {

namespace fs = std::filesystem;

// Three kernels, in the order of the image's ranges.
constexpr std::size_t kRanges = 3;

/// Recorded on an H100; its README says how.
const fs::path image_folder = fs::path(PERFGATE_TEST_DATA_DIR) / "counter_image";

std::vector<std::uint8_t> read_all(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::uint8_t> read_gzip(const fs::path& path) {
    std::vector<std::uint8_t> bytes;
    gzFile file = gzopen(path.c_str(), "rb");
    if (file == nullptr) return bytes;
    std::vector<std::uint8_t> chunk(1 << 20);
    for (int got = 0;
         (got = gzread(file, chunk.data(), static_cast<unsigned>(chunk.size()))) > 0;) {
        bytes.insert(bytes.end(), chunk.begin(), chunk.begin() + got);
    }
    gzclose(file);
    return bytes;
}

std::vector<std::string> read_lines(const fs::path& path) {
    std::vector<std::string> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

class RecordedImage : public testing::Test {
  protected:
    void SetUp() override {
        availability_ = read_all(image_folder / "three_kernels.availability");
        image_ = read_gzip(image_folder / "three_kernels.counterdata.gz");
        metrics_ = read_lines(image_folder / "three_kernels.metrics.txt");
        ASSERT_FALSE(image_.empty());
        const auto rows = read_lines(image_folder / "three_kernels.values.csv");
        for (std::size_t i = 1; i < rows.size(); ++i) {
            std::istringstream row(rows[i]);
            std::string metric;
            std::getline(row, metric, ',');
            for (std::string value; std::getline(row, value, ',');) {
                expected_[metric].push_back(std::stod(value));
            }
        }
    }

    std::vector<std::uint8_t> availability_;
    std::vector<std::uint8_t> image_;
    std::vector<std::string> metrics_;
    std::map<std::string, std::vector<double>> expected_;
};

TEST_F(RecordedImage, GivesTheRecordedValues) {
    const HostEvaluator evaluator("GH100", availability_);
    for (std::size_t range = 0; range < kRanges; ++range) {
        const std::vector<double> values = evaluator.evaluate(image_, range, metrics_);
        ASSERT_EQ(values.size(), metrics_.size());
        for (std::size_t i = 0; i < metrics_.size(); ++i) {
            const double expected = expected_.at(metrics_[i]).at(range);
            // The recorded values have six digits.
            EXPECT_NEAR(values[i], expected, 1e-5 * std::abs(expected)) << metrics_[i];
        }
    }
}

TEST_F(RecordedImage, NeedsAsManyPassesAsWereRecorded) {
    const HostEvaluator evaluator("GH100", availability_);
    const CounterConfig config = evaluator.configure(metrics_);
    EXPECT_EQ(config.passes, 12u);
    EXPECT_EQ(config.metrics, metrics_);
    EXPECT_FALSE(config.image.empty());
}

TEST(HostEvaluator, KnowsChips) {
    const auto chips = supported_chips();
    for (const char* chip : {"GV100", "TU102", "GA100", "GH100", "GB100"}) {
        EXPECT_NE(std::find(chips.begin(), chips.end(), chip), chips.end()) << chip;
    }
}

TEST(HostEvaluator, RefusesAnUnknownChip) {
    EXPECT_THROW(HostEvaluator("XX100"), cupti::Error);
    HostCounterCatalogue catalogue;
    try {
        catalogue.exists("GH10", "dram__bytes.sum");
        FAIL();
    } catch (const util::InputError& error) {
        EXPECT_NE(std::string(error.what()).find("GH100"), std::string::npos) << error.what();
    }
}

TEST(HostEvaluator, TellsWhichMetricsExist) {
    const HostEvaluator evaluator("GH100");
    EXPECT_TRUE(evaluator.metric_exists("dram__bytes.sum"));
    EXPECT_TRUE(evaluator.metric_exists("sm__throughput.avg.pct_of_peak_sustained_elapsed"));
    for (const char* none :
         {"", "dram__bytes", "dram__bytes.nonsense", "no__such_metric.sum", "..", "%s%n"}) {
        EXPECT_FALSE(evaluator.metric_exists(none)) << none;
    }
    // Asking for bad names spoils nothing.
    EXPECT_TRUE(evaluator.metric_exists("dram__bytes.sum"));
    EXPECT_EQ(evaluator.passes({"dram__bytes.sum"}), 1u);
}

TEST(HostEvaluator, AMetricExistsWhateverWasAskedForBefore) {
    // CUPTI does not schedule the links together with the SMs.
    const HostEvaluator evaluator("GH100");
    for (const char* metric : {"smsp__inst_executed.sum", "pcie__read_bytes.sum",
                               "sm__cycles_active.sum", "nvlrx__bytes.sum", "dram__bytes.sum"}) {
        EXPECT_TRUE(evaluator.metric_exists(metric)) << metric;
    }
}

TEST(HostEvaluator, DividesWhatCannotBeCountedTogether) {
    const HostEvaluator evaluator("GH100");
    using Names = std::vector<std::string>;
    const Names sms{"dram__bytes.sum", "sm__cycles_active.sum"};
    EXPECT_EQ(evaluator.groups(sms), std::vector<Names>{sms});
    const Names all{"dram__bytes.sum", "nvlrx__bytes.sum", "pcie__read_bytes.sum",
                    "sm__cycles_active.sum"};
    const Names links{"nvlrx__bytes.sum", "pcie__read_bytes.sum"};
    EXPECT_THROW((void)evaluator.configure(all), cupti::Error);
    EXPECT_EQ(evaluator.groups(all), (std::vector<Names>{sms, links}));
    EXPECT_EQ(evaluator.passes(all), evaluator.passes(sms) + evaluator.passes(links));
    EXPECT_THROW((void)evaluator.groups({"dram__bytes.sum", "no__such_metric.sum"}), util::Error);
}

TEST(CounterGroups, OfACaseAreJoinedKernelByKernel) {
    measure::CounterValues values;
    join_group({{"k", "l"}, {{{"a", 1}}, {{"a", 2}}}, {}, "m"}, values);
    join_group({{"k", "l"}, {{{"b", 3}}, {{"b", 4}}}, {}, "m"}, values);
    EXPECT_EQ(values.method, "m");
    EXPECT_EQ(values.kernels, (std::vector<std::string>{"k", "l"}));
    using Counters = std::map<std::string, double>;
    EXPECT_EQ(values.values, (std::vector<Counters>{{{"a", 1}, {"b", 3}}, {{"a", 2}, {"b", 4}}}));
}

TEST(CounterGroups, ALostOneCostsOnlyItsOwnCounters) {
    const measure::CounterValues found{{"k"}, {{{"a", 1}}}, {}, "m"};
    const measure::CounterValues lost{{}, {}, {{"b", "why"}}, "m"};
    for (const bool first : {true, false}) {
        measure::CounterValues values;
        join_group(first ? lost : found, values);
        join_group(first ? found : lost, values);
        EXPECT_EQ(values.values, found.values);
        EXPECT_EQ(values.method, "m");
        ASSERT_EQ(values.not_collected.size(), 1u);
        EXPECT_EQ(values.not_collected[0].metric, "b");
    }
}

TEST(HostEvaluator, NamesTheMetricThatIsUnknown) {
    const HostEvaluator evaluator("GH100");
    try {
        (void)evaluator.configure({"dram__bytes.sum", "no__such_metric.sum"});
        FAIL();
    } catch (const util::Error& error) {
        EXPECT_STREQ(error.what(), "GH100 has no metric no__such_metric.sum");
    }
    EXPECT_THROW((void)evaluator.configure({}), util::Error);
}

TEST(HostEvaluator, DescribesMetrics) {
    const HostEvaluator evaluator("GH100");
    const auto info = evaluator.describe("dram__bytes.sum");
    ASSERT_TRUE(info.has_value());
    EXPECT_EQ(info->unit, "byte");
    EXPECT_FALSE(info->description.empty());
    EXPECT_EQ(evaluator.describe("nonsense"), std::nullopt);
}

TEST(HostEvaluator, ListsMetrics) {
    const HostEvaluator evaluator("GH100");
    const auto counters = evaluator.base_metrics(CUPTI_METRIC_TYPE_COUNTER);
    EXPECT_GT(counters.size(), 1000u);
    EXPECT_NE(std::find(counters.begin(), counters.end(), "dram__bytes"), counters.end());
}

TEST(CounterCatalogue, AnswersForChipsThatAreNotThere) {
    HostCounterCatalogue catalogue;
    EXPECT_GT(catalogue.chips().size(), 10u);
    EXPECT_TRUE(catalogue.exists("GA100", "smsp__inst_executed.sum"));
    EXPECT_FALSE(catalogue.exists("GA100", "smsp__inst_executed"));
    EXPECT_EQ(catalogue.passes("GA100", {}), 0u);
    EXPECT_GE(catalogue.passes("GA100", {"smsp__inst_executed.sum"}), 1u);
    EXPECT_EQ(catalogue.describe("GA100", "gpu__time_duration.sum").unit, "nanosecond");
    EXPECT_THROW(catalogue.passes("GA100", {"no__such_metric.sum"}), util::Error);
}

}  // namespace
}  // namespace perfgate::backend::cuda
