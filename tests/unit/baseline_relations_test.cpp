// SPDX-License-Identifier: Apache-2.0
// Relations on a baseline's values: which cases must be measured for them though nothing changed.
#include "gate/baseline_relations.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/roofline.hpp"
#include "unit/gate_documents.hpp"

namespace perfgate::gate {
namespace baseline_relations_test {

using documents::baseline_of;
using documents::measured_case;
using documents::run_of;
using documents::series;
using model::Comparator;
using model::OperandMetric;
using model::Operator;
using model::Relation;

using Ids = std::set<std::string>;

const Ids none;
const Ids both{"gemm/fast[m=1]", "gemm/slow[m=1]"};

model::CaseResult case_of(const std::string& variant, double gpu_time_ns) {
    model::CaseResult result = measured_case();
    result.spec.variant = variant;
    result.metrics["gpu_time"] = series({gpu_time_ns});
    return result;
}

/// gemm/fast.gpu_time <= gemm/slow.gpu_time.
Relation faster() {
    Relation relation;
    relation.left_text = "gemm/fast.gpu_time";
    relation.right_text = "gemm/slow.gpu_time";
    relation.unit = "ns";
    relation.operands = {"gemm/fast", "gemm/slow"};
    relation.left = {OperandMetric{0, "gpu_time"}};
    relation.right = {OperandMetric{1, "gpu_time"}};
    relation.instances = {{"gemm/fast[m=1]", "gemm/slow[m=1]"}};
    return relation;
}

/// A run before anything is measured, and the baseline that it would be judged against.
struct Before {
    model::Run run;
    model::Baseline baseline;
    IsBaselines is_baselines = [](const std::string&, const std::string&) { return true; };

    explicit Before(double fast_ns, double slow_ns, Relation relation = faster())
        : run(run_of({case_of("fast", fast_ns), case_of("slow", slow_ns), case_of("other", 1)})),
          baseline(baseline_of(run)) {
        for (model::CaseResult& result : run.suites[0].cases) {
            model::CaseResult unmeasured;
            unmeasured.spec = result.spec;
            result = std::move(unmeasured);
        }
        run.suites[0].relations = {std::move(relation)};
    }

    model::MetricSeries& stored(const std::string& id, const std::string& metric = "gpu_time") {
        return baseline.cases.at(id).metrics.at(metric);
    }
    /// Values of another board beside those that are there.
    void add_board(const std::string& board, const std::string& id, double ns) {
        stored(id).batches.push_back({1, board, 1, {ns}});
    }
    Ids needed() const { return needed_by_relations(run, run.suites[0], baseline, is_baselines); }
};

TEST(BaselineRelations, OneThatHoldsOnTheBaselinesValuesNeedsNothing) {
    EXPECT_EQ(Before(10, 20).needed(), none);
}

TEST(BaselineRelations, OneThatDoesNotHoldIsMeasuredWithAllOfItsCases) {
    EXPECT_EQ(Before(20, 10).needed(), both);
    Relation divided = faster();
    divided.right.insert(divided.right.end(), {0.0, Operator::divide});
    EXPECT_EQ(Before(10, 20, divided).needed(), both);
}

TEST(BaselineRelations, OneChangedCaseNeedsItsPartners) {
    Before before(10, 20);
    before.is_baselines = [](const std::string& id, const std::string&) {
        return id != "gemm/fast[m=1]";
    };
    EXPECT_EQ(before.needed(), both);
    before.is_baselines = [](const std::string&, const std::string& metric) {
        return metric != "gpu_time";
    };
    EXPECT_EQ(before.needed(), both);
}

TEST(BaselineRelations, NeedIsNotTransitive) {
    Before before(10, 20);
    Relation further = faster();
    further.comparator = Comparator::greater_equal;
    further.operands = {"gemm/slow", "gemm/other"};
    further.instances = {{"gemm/slow[m=1]", "gemm/other[m=1]"}};
    before.run.suites[0].relations.push_back(further);
    EXPECT_EQ(before.needed(), none);
    before.is_baselines = [](const std::string& id, const std::string&) {
        return id != "gemm/fast[m=1]";
    };
    EXPECT_EQ(before.needed(), both);
}

TEST(BaselineRelations, EachInstanceIsJudgedAlone) {
    Before before(10, 20);
    before.run.suites[0].relations[0].instances.push_back({"gemm/slow[m=1]", "gemm/other[m=1]"});
    EXPECT_EQ(before.needed(), (Ids{"gemm/slow[m=1]", "gemm/other[m=1]"}));
}

TEST(BaselineRelations, ACaseOrValueThatTheBaselineLacksIsMeasured) {
    Before before(10, 20);
    before.baseline.cases.erase("gemm/slow[m=1]");
    EXPECT_EQ(before.needed(), both);
    before = Before(10, 20);
    before.baseline.cases.at("gemm/slow[m=1]").metrics.erase("gpu_time");
    EXPECT_EQ(before.needed(), both);
    before = Before(10, 20);
    before.stored("gemm/slow[m=1]").batches.front().excluded = "power brake";
    EXPECT_EQ(before.needed(), both);
    before = Before(10, 20);
    before.run.suites[0].cases.pop_back();
    before.run.suites[0].cases.pop_back();
    EXPECT_EQ(before.needed(), both) << "a case of another shard, or that was not selected";
}

TEST(BaselineRelations, AValueThatWouldBeMeasuredInAnotherWayIsMeasured) {
    Before before(10, 20);
    before.stored("gemm/fast[m=1]").unit = "s";
    EXPECT_EQ(before.needed(), both);
    before = Before(10, 20);
    before.run.metric_definitions.erase("gpu_time");
    EXPECT_EQ(before.needed(), both);
    before = Before(10, 20);
    before.run.tool_version = "0.2.0";
    EXPECT_EQ(before.needed(), both);
    before = Before(10, 20);
    before.run.environment.cupti = "130002";
    EXPECT_EQ(before.needed(), both);
    before = Before(10, 20);
    before.baseline.cases.at("gemm/fast[m=1]").measured_as = {{"args", "1"}};
    before.run.suites[0].cases[0].measured_as = {{"args", "2"}};
    EXPECT_EQ(before.needed(), both);
    before = Before(10, 20);
    before.run.verify_only = true;
    EXPECT_EQ(before.needed(), both);
}

TEST(BaselineRelations, ValuesOfOneBoardAreComparedAndNotOfTwo) {
    Before before(10, 20);
    before.stored("gemm/slow[m=1]").batches.front().device = "board-b";
    EXPECT_EQ(before.needed(), both) << "they share no board";
    before.add_board("board-b", "gemm/fast[m=1]", 15);
    EXPECT_EQ(before.needed(), none) << "they share board-b";
    before.stored("gemm/slow[m=1]").batches.front().samples = {12};
    EXPECT_EQ(before.needed(), both) << "12.5, the mean over both boards, is not compared";
    before.stored("gemm/fast[m=1]").batches.back().samples = {11};
    EXPECT_EQ(before.needed(), none);
}

TEST(BaselineRelations, OneMustHoldOnEachBoardThatItsCasesShare) {
    Before before(10, 20);
    before.add_board("board-b", "gemm/fast[m=1]", 18);
    before.add_board("board-b", "gemm/slow[m=1]", 19);
    EXPECT_EQ(before.needed(), none);
    before.stored("gemm/slow[m=1]").batches.back().samples = {17};
    EXPECT_EQ(before.needed(), both);
}

/// One of a property of gemm/fast that no baseline has.
Relation of_property(const std::string& property, const std::string& value) {
    Relation relation = faster();
    relation.left_text = "gemm/fast." + property;
    relation.right_text = value;
    relation.comparator = Comparator::not_equal;
    relation.unit = "";
    relation.operands = {"gemm/fast"};
    relation.left = {OperandMetric{0, property}};
    relation.right = {0.0};
    relation.instances = {{"gemm/fast[m=1]"}};
    return relation;
}

TEST(BaselineRelations, ABoundAndTheHottestKernelAreMeasured) {
    for (const auto& relation :
         {of_property("bound", "memory"), of_property("hottest_kernel", "flash*")}) {
        Before before(10, 20, relation);
        before.run.environment.ceilings = {1e9, {{"bf16", 1e10}}, ""};
        before.run.suites[0].cases[0].work = model::Work{0, 800, ""};
        before.run.suites[0].cases[0].kernels.emplace_back().name = "gemm";
        EXPECT_EQ(before.needed(), Ids{"gemm/fast[m=1]"}) << relation.left_text;
    }
}

TEST(BaselineRelations, ThousandsOfInstancesCostLittle) {
    Before before(10, 20);
    auto& instances = before.run.suites[0].relations[0].instances;
    instances.assign(20'000, instances.front());
    EXPECT_EQ(before.needed(), none);
}

}  // namespace baseline_relations_test
}  // namespace perfgate::gate
