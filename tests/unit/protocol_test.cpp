// SPDX-License-Identifier: Apache-2.0
#include "measure/protocol.hpp"

#include <gtest/gtest.h>

#include "model/error.hpp"

namespace perfgate::measure {
namespace {

model::CaseResult example() {
    model::CaseResult result;
    result.spec = {"gemm",
                   "tiled",
                   {{"m", std::int64_t{7}}, {"dtype", std::string("f32")}},
                   model::Cache::hot};
    result.gates = {{"gpu_time", {0.03, std::nullopt, 400}, 0.05}};
    result.reason = "line\nwith \"quotes\" and \x01";
    return result;
}

TEST(Protocol, AMessageIsOneLine) {
    const std::string line = write_request(MeasureRequest{example(), {}});
    EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(Protocol, ALabelIsOneWordThatIsNeverMadeTwice) {
    const std::string label = make_label(7);
    EXPECT_EQ(label.find(' '), std::string::npos);
    EXPECT_NE(label, make_label(7));
    const std::string line = label + " {\"reply\": 1}";
    EXPECT_EQ(split_label(line).label, label);
    EXPECT_EQ(split_label(line).message, "{\"reply\": 1}");
    EXPECT_EQ(split_label("{}").label, "");
}

TEST(Protocol, MeasureRequestsComeBackAsTheyWere) {
    CaseSettings settings;
    settings.metrics = {"gpu_time", "registers"};
    settings.seed = 18446744073709551615ULL;
    settings.verify_seed = 3;
    settings.process = 4;
    settings.verify_only = true;
    settings.code_only = true;
    const Request request = parse_request(write_request(MeasureRequest{example(), settings}));
    const auto& back = std::get<MeasureRequest>(request);
    EXPECT_EQ(back.result, example());
    EXPECT_EQ(back.settings.metrics, settings.metrics);
    EXPECT_EQ(back.settings.seed, settings.seed);
    EXPECT_EQ(back.settings.process, 4);
    EXPECT_TRUE(back.settings.verify_only);
    EXPECT_TRUE(back.settings.code_only);
}

TEST(Protocol, CapabilitiesComeBackAsTheyWere) {
    Capabilities capabilities;
    capabilities.environment.device.key = "nvidia-h100";
    capabilities.timing = true;
    capabilities.kernel_records_problem = "no permission";
    capabilities.libraries = {{"libhelper.so", "11b"}};
    model::WorkloadInfo workload{"gemm", "help", "gemm.so", {}, {}};
    workload.params.push_back(
        {"m", "rows", model::ParamType::integer, -5, 1 << 20, {}, std::int64_t{12}});
    workload.params.push_back(
        {"dtype", "", model::ParamType::text, 0, 0, {"f32", "bf16"}, std::nullopt});
    workload.variants.push_back(
        {"tiled", "", model::Target::cuda, model::Submission::graph, 90, false});
    capabilities.workloads = {workload};

    const Reply reply = parse_reply(write_reply(DescribeReply{capabilities}));
    const Capabilities& back = std::get<DescribeReply>(reply).capabilities;
    EXPECT_EQ(back.environment, capabilities.environment);
    EXPECT_TRUE(back.timing);
    EXPECT_FALSE(back.kernel_records);
    EXPECT_EQ(back.kernel_records_problem, "no permission");
    EXPECT_EQ(back.libraries, capabilities.libraries);
    ASSERT_EQ(back.workloads.size(), 1U);
    const model::ParamInfo& m = back.workloads[0].params.at(0);
    EXPECT_EQ(m.minimum, -5);
    EXPECT_EQ(m.default_value, model::ParamValue(std::int64_t{12}));
    EXPECT_EQ(back.workloads[0].params.at(1).choices, (std::vector<std::string>{"f32", "bf16"}));
    EXPECT_EQ(back.workloads[0].variants.at(0).submission, model::Submission::graph);
    EXPECT_FALSE(back.workloads[0].variants.at(0).built);
}

TEST(Protocol, CeilingsComeBackAsTheyWere) {
    EXPECT_TRUE(
        std::holds_alternative<CeilingsRequest>(parse_request(write_request(CeilingsRequest{}))));
    const model::Ceilings ceilings{2.8e12, {{"bf16", 7.1e14}, {"f32", 5e13}}, "no fp8"};
    const Reply reply = parse_reply(write_reply(CeilingsReply{ceilings}));
    EXPECT_EQ(std::get<CeilingsReply>(reply).ceilings, ceilings);
}

TEST(Protocol, FailuresAndDiagnosesComeBackAsTheyWere) {
    const Reply failed = parse_reply(write_reply(FailedReply{"why", true, true}));
    EXPECT_EQ(std::get<FailedReply>(failed).message, "why");
    EXPECT_TRUE(std::get<FailedReply>(failed).usage);
    EXPECT_TRUE(std::get<FailedReply>(failed).device_lost);
    const Reply diagnosed = parse_reply(write_reply(
        DiagnoseReply{{{Diagnosis::Level::warning, "clocks", "throttled", "cool it"}}}));
    const Diagnosis& diagnosis = std::get<DiagnoseReply>(diagnosed).diagnoses.at(0);
    EXPECT_EQ(diagnosis.level, Diagnosis::Level::warning);
    EXPECT_EQ(diagnosis.remedy, "cool it");
}

TEST(Protocol, WhatIsNoMessageIsRefused) {
    for (const char* line : {"", "{", "[]", "{}", R"({"reply":"dance"})", R"({"do":"measure"})",
                             R"({"reply":"measure","result":7})", "\xff"}) {
        EXPECT_THROW(parse_reply(line), model::Error) << line;
        EXPECT_THROW(parse_request(line), model::Error) << line;
    }
}

}  // namespace
}  // namespace perfgate::measure
