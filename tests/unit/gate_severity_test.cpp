// SPDX-License-Identifier: Apache-2.0
// Gates that only warn: in every verdict, never in the exit code.
#include <gtest/gtest.h>

#include "unit/gate_pair.hpp"
#include "unit/golden_sentence.hpp"

namespace perfgate::gate {
namespace {

using model::CaseVerdict;
using model::Policy;
using model::Severity;
using model::Verdict;
using model::VerdictDocument;
using pairs::Pair;
using pairs::series;

/// A case whose registers grew; `severity` is that of their gate.
Pair with_more_registers(std::optional<Severity> severity) {
    Pair pair;
    for (model::GateRule& gate : pair.now().gates) {
        if (gate.metric == "registers") gate.tolerance.severity = severity;
    }
    pair.now().metrics["registers"] = series({80}, "registers", "record");
    return pair;
}

Policy with_exact(Severity severity) {
    Policy policy;
    policy.severity.exact = severity;
    return policy;
}

TEST(GateSeverity, AWarningIsInTheVerdictAndNotInTheExitCode) {
    const VerdictDocument document = with_more_registers(Severity::warn).judged();
    const CaseVerdict& verdict = pairs::only_case(document);
    EXPECT_EQ(verdict.verdict, Verdict::warned);
    expect_sentence(verdict.reason);
    EXPECT_EQ(pairs::metric(verdict, "registers").tolerance, "0 %, only warns");
    EXPECT_TRUE(pairs::metric(verdict, "registers").warns);
    EXPECT_EQ(document.exit_code, 0);
    EXPECT_EQ(outcome_of(verdict, document.policy), model::Outcome::skipped);
    EXPECT_EQ(effect_of(verdict), model::Effect::warned);
}

TEST(GateSeverity, WithoutOneItFailsAndTheProfileMayLetItWarn) {
    EXPECT_EQ(with_more_registers({}).judged().exit_code, 1);
    EXPECT_EQ(with_more_registers({}).judged(with_exact(Severity::warn)).exit_code, 0);
    EXPECT_EQ(with_more_registers(Severity::fail).judged(with_exact(Severity::warn)).exit_code, 1)
        << "what the suite states takes precedence";
}

TEST(GateSeverity, ATimeBesideAWarningStillFails) {
    Pair pair = with_more_registers(Severity::warn);
    pair.now().metrics["gpu_time"] = series({1100});
    const VerdictDocument document = pair.judged();
    EXPECT_EQ(pairs::only_case(document).verdict, Verdict::regressed);
    EXPECT_EQ(deciding_metric(pairs::only_case(document))->metric, "gpu_time");
    EXPECT_EQ(document.exit_code, 1);
}

TEST(GateSeverity, WhatIsBetterImprovesAndWhatWasNotMeasuredFails) {
    Pair pair = with_more_registers(Severity::warn);
    pair.now().metrics["registers"] = series({32}, "registers", "record");
    EXPECT_EQ(pairs::only_case(pair.judged()).verdict, Verdict::improved);
    pair.now().metrics.erase("registers");
    EXPECT_EQ(pair.judged().exit_code, 3);
}

TEST(GateSeverity, WhatItCannotDecideFailsNothing) {
    CaseVerdict verdict;
    verdict.verdict = Verdict::inconclusive;
    verdict.doubt = model::Doubt::unclear;
    model::MetricVerdict& metric = verdict.metrics.emplace_back();
    metric.verdict = Verdict::inconclusive;
    metric.doubt = model::Doubt::unclear;
    Policy strict;
    strict.inconclusive_fails = strict.not_shown_fails = true;
    EXPECT_EQ(exit_code(verdict, strict), 4);
    metric.warns = true;
    EXPECT_EQ(exit_code(verdict, strict), 0);
    verdict.metrics.push_back(metric);
    verdict.metrics.back().warns = false;
    EXPECT_EQ(exit_code(verdict, strict), 4) << "of another metric it does";
}

}  // namespace
}  // namespace perfgate::gate
