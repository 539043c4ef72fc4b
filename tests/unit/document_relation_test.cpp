// SPDX-License-Identifier: Apache-2.0
// Relations in the Run, and their verdicts in the Verdict document: they come back as they were,
// and what is no expression is refused.
#include <gtest/gtest.h>

#include <string>

#include "document/run.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"
#include "util/error.hpp"

namespace perfgate::document {
namespace {

using namespace model;

Run run_with_relation() {
    Relation relation;
    relation.place = {"s.yaml", 7};
    relation.left_text = "a/b.t";
    relation.comparator = Comparator::not_equal;
    relation.right_text = "2 * a/c.t";
    relation.reason = "a \"reason\"";
    relation.unit = "ns";
    relation.operands = {"a/b", "a/c"};
    relation.left = {OperandMetric{0, "t"}};
    relation.right = {2.0, OperandMetric{1, "t"}, Operator::multiply};
    relation.instances = {{"a/b[m=1]", "a/c[m=1]"}, {"a/b[m=2]", "a/c[m=2]"}};
    Run run;
    run.backend = "cuda";
    run.environment.device.key = run.environment.device.name = "d";
    run.suites.push_back({"s", "s.yaml", "", false, {}, {relation}});
    return run;
}

TEST(RelationJson, ComesBackAsItWas) {
    const auto run = run_with_relation();
    const std::string text = write_run(run);
    const auto back = parse_run(text, "run.json");
    EXPECT_EQ(back, run);
    EXPECT_EQ(write_run(back), text);
    EXPECT_EQ(to_text(back.suites.at(0).relations.at(0)), "a/b.t != 2 * a/c.t");
}

std::string refusal_with(const std::string& from, const std::string& to) {
    std::string text = write_run(run_with_relation());
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from << " in " << text;
    text.replace(at, from.size(), to);
    try {
        parse_run(text, "run.json");
    } catch (const util::InputError& error) {
        return error.what();
    }
    return "(no error)";
}

TEST(RelationJson, StepsThatAreNoSideAreRefused) {
    const std::string times = "\"*\"";
    for (const std::string damaged :
         {"1", "{\"operand\":2,\"metric\":\"t\"}", "\"*\",\"*\"", "3,\"*\""}) {
        EXPECT_EQ(refusal_with(times, damaged),
                  "run.json: suites[0].relations[0].right: expected a number or a metric of an "
                  "operand, or two of them and '*' or '/'");
    }
    EXPECT_NE(refusal_with(times, "\"+\"").find("expected one of '*', '/'"), std::string::npos);
}

TEST(RelationJson, AnInstanceHasOneCasePerOperand) {
    EXPECT_EQ(
        refusal_with("\"a/b[m=1]\",", ""),
        "run.json: suites[0].relations[0].instances[0]: expected 2 case ids, one per operand");
}

TEST(RelationJson, VerdictsComeBackAsTheyWere) {
    VerdictDocument document;
    document.backend = "cuda";
    document.environment.device.key = document.environment.device.name = "d";
    SuiteVerdict& suite = document.suites.emplace_back();
    suite.name = "s";
    suite.cases.emplace_back().ceiling = CeilingShare{Bound::compute, "bf16", 0.6};
    suite.cases.emplace_back();
    suite.relations = {{"r", "a/b", {"s.yaml", 7}, Verdict::regressed, "ns", 2.0, 1.0, "x"},
                       {"r", "a/b[m=1]", {}, Verdict::error, "", {}, {}, "y"}};
    EXPECT_EQ(parse_verdict(write_verdict(document), "verdict.json"), document);
}

}  // namespace
}  // namespace perfgate::document
