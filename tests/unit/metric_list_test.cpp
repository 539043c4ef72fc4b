// SPDX-License-Identifier: Apache-2.0
#include "runner/metric_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "document/json_reader.hpp"
#include "measure/backend.hpp"
#include "util/error.hpp"

namespace perfgate::runner {
namespace {

/// A chip "GH100" that has every counter but some; each takes a pass.
class FakeCatalogue final : public measure::CounterCatalogue {
  public:
    std::vector<std::string> chips() override { return known; }
    bool exists(const std::string& chip, const std::string& counter) override {
        return chip == "GH100" && !lacking.contains(counter);
    }
    std::size_t passes(const std::string& /*chip*/,
                       const std::vector<std::string>& counters) override {
        return counters.size();
    }
    Description describe(const std::string& /*chip*/, const std::string& /*counter*/) override {
        return {};
    }

    std::vector<std::string> known = {"GA100", "GH100"};
    std::set<std::string> lacking;
};

constexpr const char* chip = "GH100";
constexpr const char* cycles = "sm__cycles_elapsed.max";

TEST(MetricList, SaysWhatAChipNeedsForAMetric) {
    FakeCatalogue chips;
    const MetricList list = list_metrics({"cycles", "l2_hit_rate", "registers"}, chip, &chips);
    EXPECT_EQ(list.chip, chip);
    EXPECT_TRUE(list.chip_known);
    ASSERT_EQ(list.metrics.size(), 3U);
    EXPECT_EQ(list.metrics[0].metric.definition.name, "cycles");
    EXPECT_EQ(list.metrics[0].counters, std::vector<std::string>{cycles});
    EXPECT_EQ(list.metrics[0].passes, 1U);
    EXPECT_EQ(list.metrics[0].unavailable, "");
    EXPECT_EQ(list.metrics[1].passes, list.metrics[1].counters.size());
    EXPECT_GT(list.metrics[1].passes, 1U);
    EXPECT_TRUE(list.metrics[2].counters.empty()) << "no counter is read for registers";
    EXPECT_EQ(list.metrics[2].passes, 0U);
    EXPECT_EQ(list.metrics[2].unavailable, "");
}

TEST(MetricList, SaysWhyAChipDoesNotHaveAMetric) {
    FakeCatalogue chips;
    chips.lacking = {cycles};
    MetricList list = list_metrics({"cycles"}, chip, &chips);
    EXPECT_NE(list.metrics.at(0).unavailable.find(cycles), std::string::npos);
    EXPECT_TRUE(list.metrics[0].counters.empty());
    EXPECT_EQ(list.metrics[0].passes, 0U);

    list = list_metrics({"cycles", "registers"}, chip, nullptr);
    EXPECT_FALSE(list.chip_known);
    EXPECT_NE(list.metrics.at(0).unavailable.find("CUPTI"), std::string::npos);
    EXPECT_EQ(list.metrics.at(1).unavailable, "");
    for (const ListedSet& set : list.sets) EXPECT_EQ(set.passes, 0U);
}

TEST(MetricList, WhatTheHardwareLacksIsNoMissingCounter) {
    FakeCatalogue chips;
    for (const metrics::Metric& metric : metrics::catalogue()) {
        if (metric.absent_on.empty()) continue;
        chips.known = {metric.absent_on.front()};
        const MetricList list =
            list_metrics({metric.definition.name}, metric.absent_on.front(), &chips);
        EXPECT_EQ(list.metrics.at(0).unavailable, "the hardware does not have it");
        return;
    }
    FAIL() << "no metric is absent from any chip";
}

TEST(MetricList, HasAllOfTheCatalogueAndTheSetsWhereNoneIsNamed) {
    FakeCatalogue chips;
    const MetricList list = list_metrics({}, chip, &chips);
    EXPECT_EQ(list.metrics.size(), metrics::catalogue().size());
    ASSERT_EQ(list.sets.size(), metrics::metric_sets().size());
    EXPECT_TRUE(std::any_of(list.sets.begin(), list.sets.end(),
                            [](const ListedSet& set) { return set.passes > 1; }));
    for (std::size_t i = 0; i < list.sets.size(); ++i) {
        EXPECT_EQ(list.sets[i].set, &metrics::metric_sets()[i]);
        std::set<std::string> counters;
        for (const std::string& name : list.sets[i].set->metrics) {
            const MetricList one = list_metrics({name}, chip, &chips);
            counters.insert(one.metrics[0].counters.begin(), one.metrics[0].counters.end());
        }
        EXPECT_EQ(list.sets[i].passes, counters.size()) << list.sets[i].set->name;
    }
}

TEST(MetricList, RefusesUnknownChipsAndMetrics) {
    FakeCatalogue chips;
    const auto refusal = [&](const std::string& name, const std::string& of_chip) -> std::string {
        try {
            list_metrics({name}, of_chip, &chips);
        } catch (const util::InputError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refusal("cycles", chip), "");
    const std::string unknown_chip = refusal("cycles", "GH10");
    EXPECT_NE(unknown_chip.find("GH10"), std::string::npos);
    EXPECT_NE(unknown_chip.find("did you mean 'GH100'"), std::string::npos) << unknown_chip;
    EXPECT_NE(refusal("cycle", chip).find("did you mean 'cycles'"), std::string::npos);
}

TEST(MetricList, AsJsonHasAFieldForEachFact) {
    FakeCatalogue chips;
    chips.lacking = {"dram__bytes.sum"};
    const std::string text =
        write_json(list_metrics({"l2_hit_rate", "cycles", "dram_bytes"}, chip, &chips));
    const document::JsonDocument parsed(text, "metrics.json");
    for (const char* part :
         {R"("schema": "perfgate.metrics")", R"("version": 1)", R"("chip": "GH100")",
          R"("name":"cycles","description":"SM clock cycles","unit":"count","direction":"lower",)"
          R"("class":"counter","fold":"sum","source":"counter","sets":["core","full"],)"
          R"("counters":["sm__cycles_elapsed.max"],"scale":1,)"
          R"("numerator":[{"weight":1,"counter":"sm__cycles_elapsed.max"}],"denominator":[],)"
          R"("passes":1,"mixes_passes":false,"unavailable":"")",
          R"("scale":100)", R"("mixes_passes":true)", R"("unavailable":"GH100 has no counter)"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    }
}

}  // namespace
}  // namespace perfgate::runner
