// SPDX-License-Identifier: Apache-2.0
#include "measure/preparation.hpp"
#include "kinds/command/command.hpp"
#include "kinds/source/source.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "measure/workers.hpp"
#include "util/error.hpp"

namespace perfgate::measure {
namespace {

model::PlannedCase planned(const std::string& variant) {
    model::PlannedCase result;
    result.spec = {"gemm", variant, {{"m", std::int64_t{7}}}, model::Cache::cold};
    result.place = {"suites/gemm.yaml", 12};
    result.tags = {"nightly"};
    result.metrics = {"gpu_time", "registers"};
    result.gates = {{"gpu_time", {0.03, std::nullopt, 400}, 0.05}};
    result.seed = 11;
    result.precision = 0.25;
    result.time_budget_s = 1.5;
    result.added_work = 0.125;
    result.deterministic = true;
    return result;
}

/// A plan of two cases, of which the suite skips the second.
model::Plan plan() {
    model::PlannedSuite suite;
    suite.name = "gemm";
    suite.file = "suites/gemm.yaml";
    suite.description = "products";
    suite.partial = true;
    suite.relations.resize(1);
    suite.cases = {planned("tiled"), planned("slow")};
    suite.cases[1].skip_reason = "too slow here";
    suite.cases[1].skipped_by_suite = true;
    return {{suite}};
}

/// The plan's cases on their way.
struct Prepared {
    explicit Prepared(const MeasureOptions& options = {})
        : run(empty_run(prepared, capabilities, options)), items(items_of(prepared, run)) {}

    static Capabilities here() {
        Capabilities result;
        result.environment.device.key = "nvidia-h200";
        return result;
    }

    model::Plan prepared = plan();
    Capabilities capabilities = here();
    model::Run run;
    std::vector<Item> items;
};

TEST(Preparation, AProgramsVariablesHaveTheSuitesValuesAndNoOthers) {
    model::Plan with_program = plan();
    model::PlannedSuite& suite = with_program.suites[0];
    command::Command command;
    command.environment = {{"OMP_NUM_THREADS", "4"}, {"TOKEN", "secret"}};
    command.overridden = {"TOKEN"};
    suite.cases[0].subject = std::make_shared<const command::Program>(
        std::make_shared<const command::Command>(command), command::Piece{});
    const model::Run run = empty_run(with_program, Prepared::here(), {});
    EXPECT_EQ(run.suites[0].cases[0].env,
              (std::vector<model::SetVariable>{{"OMP_NUM_THREADS", "4"}, {"TOKEN"}}));
    EXPECT_TRUE(run.suites[0].cases[1].env.empty()) << "a plugin's case";
}

TEST(Preparation, TheEmptyRunHasThePlansCasesAsTheSuiteStatesThem) {
    MeasureOptions options;
    options.verify_only = true;
    const Prepared made(options);
    EXPECT_TRUE(made.run.verify_only);
    EXPECT_EQ(made.run.environment, made.capabilities.environment);
    const model::SuiteResult& suite = made.run.suites.at(0);
    EXPECT_EQ(suite.name, "gemm");
    EXPECT_EQ(suite.file, "suites/gemm.yaml");
    EXPECT_EQ(suite.description, "products");
    EXPECT_TRUE(suite.partial);
    EXPECT_EQ(suite.relations.size(), 1U);
    ASSERT_EQ(suite.cases.size(), 2U);
    for (std::size_t i = 0; i < suite.cases.size(); ++i) {
        const model::PlannedCase& from = made.prepared.suites[0].cases[i];
        const model::CaseResult& to = suite.cases[i];
        EXPECT_EQ(to.spec, from.spec);
        EXPECT_EQ(to.place, from.place);
        EXPECT_EQ(to.tags, from.tags);
        EXPECT_EQ(to.gates, from.gates);
        EXPECT_EQ(to.reason, from.skip_reason);
        EXPECT_EQ(to.skipped_by_suite, from.skipped_by_suite);
        EXPECT_EQ(to.status, model::CaseStatus::skipped);
    }
    EXPECT_EQ(made.run.metric_definitions.size(), 2U);
    EXPECT_EQ(made.run.metric_definitions.at("gpu_time").unit, "ns");
}

TEST(Preparation, OnlyCasesThatAreNotSkippedAreMeasured) {
    Prepared made;
    ASSERT_EQ(made.items.size(), 1U);
    EXPECT_EQ(made.items[0].at.suite, 0U);
    EXPECT_EQ(made.items[0].planned, made.prepared.suites[0].cases.data());
    EXPECT_EQ(made.items[0].result, made.run.suites[0].cases.data());
    EXPECT_EQ(*made.items[0].suite, "gemm");
}

TEST(Preparation, ABatchIsTakenAsThePlanSays) {
    const Prepared made;
    MeasureOptions options;
    options.verify_seed = 5;
    options.verify_only = true;
    CaseSettings expected;
    expected.metrics = {"gpu_time", "registers"};
    expected.seed = 11;
    expected.verify_seed = 5;
    expected.precision = 0.25;
    expected.time_budget_s = 1.5;
    expected.added_work = 0.125;
    expected.deterministic = true;
    expected.process = 3;
    expected.verify_only = true;
    EXPECT_EQ(settings_of(made.items[0], options, 3), expected);
}

TEST(Preparation, AReplyOfAnotherCaseIsNotTheCases) {
    const Prepared made;
    EXPECT_TRUE(is_about(made.items[0], made.run.suites[0].cases[0]));
    EXPECT_FALSE(is_about(made.items[0], made.run.suites[0].cases[1]));
}

TEST(Preparation, AFailedCaseKeepsNoValues) {
    Prepared made;
    model::CaseResult& result = *made.items[0].result;
    result.kernels.resize(1);
    result.metrics["gpu_time"] = {};
    result.readings.resize(1);
    result.memory_operations.emplace();
    model::set_error(result, "it crashed", "the last line");
    EXPECT_EQ(result.status, model::CaseStatus::error);
    EXPECT_EQ(result.reason, "it crashed");
    EXPECT_EQ(result.log, "the last line");
    EXPECT_TRUE(result.kernels.empty() && result.metrics.empty() && result.readings.empty());
    EXPECT_EQ(result.memory_operations, std::nullopt);
}

TEST(Preparation, ASourcesCaseKnowsItsSourceAndWhatItNeeds) {
    model::Plan plan_of_source = plan();
    model::SourceKernel source;
    source.file = "k.cu";
    source.arguments = {{model::SourceArgument::Role::in, model::ElementType::f64, 3}};
    plan_of_source.suites[0].cases[0].subject = std::make_shared<const source::Source>(source);
    const Capabilities capabilities;
    const MeasureOptions options;
    model::Run run = empty_run(plan_of_source, capabilities, options);
    EXPECT_EQ(run.suites[0].cases[0].source, "k.cu");
    const std::vector<Item> items = items_of(plan_of_source, run);
    ASSERT_EQ(items.size(), 1U);
    EXPECT_EQ(settings_of(items[0], options, 0).kernel, source);
    EXPECT_EQ(facts_of(source).memory_bytes, 24U);
    EXPECT_FALSE(facts_of(source).needs_reset);
    EXPECT_EQ(facts_of(source).work, model::Work{});
    const std::string unstated = model::set_up_fingerprint(source);
    source.work = {2e9, 24, "f32"};
    EXPECT_EQ(facts_of(source).work, source.work);
    EXPECT_NE(model::set_up_fingerprint(source), unstated) << "--changed-only measures it again";
}

TEST(Preparation, CasesThatTheirVariantCannotRunAreNamedWithTheirPlace) {
    Prepared made;
    EXPECT_NO_THROW(require_supported(made.items));
    made.items[0].facts.unsupported = "m must be even";
    try {
        require_supported(made.items);
        ADD_FAILURE() << "not refused";
    } catch (const util::InputError& error) {
        EXPECT_NE(std::string(error.what())
                      .find("\nsuites/gemm.yaml:12: gemm/tiled[m=7]: m must be even"),
                  std::string::npos)
            << error.what();
    }
}

TEST(Preparation, CasesThatAnInterruptionLeftOutSaySo) {
    Prepared made;
    model::CaseResult& result = *made.items[0].result;
    note_interrupted(made.items);
    EXPECT_EQ(result.reason, "the run was interrupted before this case");
    result.reason = "its code is unchanged";
    result.unchanged = true;
    note_interrupted(made.items);
    EXPECT_EQ(result.reason, "its code is unchanged");
    result.unchanged = false;
    result.status = model::CaseStatus::measured;
    note_interrupted(made.items);
    EXPECT_EQ(result.reason, "its code is unchanged");
}

}  // namespace
}  // namespace perfgate::measure
