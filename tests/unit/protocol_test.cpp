// SPDX-License-Identifier: Apache-2.0
#include "measure/protocol.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "util/error.hpp"

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

/// Each field differs from its default.
CaseSettings unusual_settings() {
    CaseSettings settings;
    settings.metrics = {"gpu_time", "registers"};
    settings.seed = 18446744073709551615ULL;
    settings.verify_seed = 3;
    settings.precision = 0.25;
    settings.time_budget_s = 1.5;
    settings.added_work = 0.125;
    settings.process = 4;
    settings.round = 2;
    settings.times_only = true;
    settings.untraced = true;
    settings.verify_only = true;
    settings.code_only = true;
    settings.deterministic = true;
    model::SourceKernel& source = settings.kernel.emplace();
    source.file = "kernels/reduce.cu";
    source.folder = "/work";
    source.kernel = "reduce<256>";
    source.grid = {7, 2, 1};
    source.block = {256, 1, 1};
    source.shared_bytes = 1024;
    source.arguments = {
        {model::SourceArgument::Role::in, model::ElementType::bf16, 5},
        {model::SourceArgument::Role::inout, model::ElementType::u64, 6,
         model::SourceArgument::Fill::constant, std::numeric_limits<std::int64_t>::min(), 0},
        {model::SourceArgument::Role::value, model::ElementType::f32, 1,
         model::SourceArgument::Fill::iota, 0, -0.1}};
    source.check = {model::SourceCheck::Kind::file, "e.npy", 0.25, 1e-6};
    source.work = {2e9, 3e6, "bf16"};
    source.code = {"/out/k.cubin", "d1", "_Z6reduce", "_Z5plain", "", ""};
    return settings;
}

TEST(Protocol, MeasureRequestsComeBackAsTheyWere) {
    const Request request =
        parse_request(write_request(MeasureRequest{example(), unusual_settings()}));
    const auto& back = std::get<MeasureRequest>(request);
    EXPECT_EQ(back.result, example());
    EXPECT_EQ(back.settings, unusual_settings());

    const Request plain = parse_request(write_request(MeasureRequest{example(), {}}));
    EXPECT_EQ(std::get<MeasureRequest>(plain).settings, CaseSettings{});
}

TEST(Protocol, EqualKernelsOfALaunchAreWrittenOnce) {
    model::CaseResult result = example();
    result.kernels.resize(2);
    result.kernels[0].name = result.kernels[1].name = "kernel";
    const std::string line = write_reply(MeasureReply{result, false});
    EXPECT_NE(line.find("\"count\""), std::string::npos) << line;
    EXPECT_EQ(std::get<MeasureReply>(parse_reply(line)).result, result);
}

TEST(Protocol, CountersRequestsComeBackAsTheyWere) {
    const Request request =
        parse_request(write_request(CountersRequest{{{example(), unusual_settings()}, {}}}));
    const auto& back = std::get<CountersRequest>(request);
    ASSERT_EQ(back.jobs.size(), 2U);
    EXPECT_EQ(back.jobs[0].result, example());
    EXPECT_EQ(back.jobs[0].settings, unusual_settings());
    EXPECT_EQ(back.jobs[1].settings, CaseSettings{});

    const Reply reply = parse_reply(write_reply(CountersReply{{example()}}));
    EXPECT_EQ(std::get<CountersReply>(reply).results, std::vector{example()});
}

TEST(Protocol, MachineCodeComesBackAsItWas) {
    const Request request =
        parse_request(write_request(CodeRequest{example(), unusual_settings()}));
    EXPECT_EQ(std::get<CodeRequest>(request).result, example());
    EXPECT_EQ(std::get<CodeRequest>(request).settings, unusual_settings());

    model::CaseCode code;
    code.kernels = {{"k", "01", {{{16, "LDG.E R0, [R2]", {"k.cu", 3}}}, {{".L_x_0", 1}}}}};
    code.problem = "one kernel is unknown";
    const Reply reply = parse_reply(write_reply(CodeReply{code}));
    EXPECT_EQ(std::get<CodeReply>(reply).code, code);
}

TEST(Protocol, MeasureRepliesComeBackAsTheyWere) {
    const Reply reply = parse_reply(write_reply(MeasureReply{example(), true}));
    EXPECT_EQ(std::get<MeasureReply>(reply).result, example());
    EXPECT_TRUE(std::get<MeasureReply>(reply).device_lost);
}

TEST(Protocol, DevicesAndTheirStateComeBackAsTheyWere) {
    const Request request = parse_request(write_request(DevicesRequest{"0,GPU-7"}));
    EXPECT_EQ(std::get<DevicesRequest>(request).wanted, "0,GPU-7");

    model::Device device;
    device.key = "nvidia-h200";
    device.board = "b2";
    const Reply devices = parse_reply(write_reply(DevicesReply{{{"GPU-7", device}}}));
    const ListedDevice& listed = std::get<DevicesReply>(devices).devices.at(0);
    EXPECT_EQ(listed.id, "GPU-7");
    EXPECT_EQ(listed.device, device);

    model::BoardState state;
    state.sm_clock_mhz = 1980;
    const Reply moved = parse_reply(write_reply(BoardStateReply{state}));
    EXPECT_EQ(std::get<BoardStateReply>(moved).state, state);

    const Reply phase = parse_reply(write_reply(PhaseReply{"warm-up"}));
    EXPECT_EQ(std::get<PhaseReply>(phase).phase, "warm-up");
}

TEST(Protocol, FactsComeBackAsTheyWere) {
    const Request request = parse_request(write_request(FactsRequest{{example()}}));
    EXPECT_EQ(std::get<FactsRequest>(request).cases, std::vector{example()});

    const CaseFacts facts{"needs compute capability 9.0", 1ULL << 40, {2e9, 3e6, "bf16"}, true};
    const Reply reply = parse_reply(write_reply(FactsReply{{facts}}));
    const CaseFacts& back = std::get<FactsReply>(reply).facts.at(0);
    EXPECT_EQ(back.unsupported, facts.unsupported);
    EXPECT_EQ(back.memory_bytes, facts.memory_bytes);
    EXPECT_EQ(back.work, facts.work);
    EXPECT_TRUE(back.needs_reset);
}

TEST(Protocol, CapabilitiesComeBackAsTheyWere) {
    Capabilities capabilities;
    capabilities.environment.device.key = "nvidia-h100";
    capabilities.timing = true;
    capabilities.kernel_records = true;
    capabilities.kernel_records_problem = "no permission";
    capabilities.libraries = {{"libhelper.so", "11b"}};
    model::WorkloadInfo workload{"gemm", "help", "gemm.so", false, {}, {}};
    workload.params.push_back(
        {"m", "rows", model::ParamType::integer, -5, 1 << 20, {}, std::int64_t{12}});
    workload.params.push_back(
        {"dtype", "", model::ParamType::text, 0, 0, {"f32", "bf16"}, std::nullopt});
    workload.variants.push_back({"tiled", "in tiles", model::Target::host, model::Submission::graph,
                                 90, "gemm_cuda.so is not beside gemm.so"});
    capabilities.workloads = {workload};

    const Reply reply = parse_reply(write_reply(DescribeReply{capabilities}));
    const Capabilities& back = std::get<DescribeReply>(reply).capabilities;
    EXPECT_EQ(back.environment, capabilities.environment);
    EXPECT_TRUE(back.timing);
    EXPECT_TRUE(back.kernel_records);
    EXPECT_EQ(back.kernel_records_problem, "no permission");
    EXPECT_EQ(back.libraries, capabilities.libraries);
    ASSERT_EQ(back.workloads.size(), 1U);
    const model::ParamInfo& m = back.workloads[0].params.at(0);
    EXPECT_EQ(back.workloads[0].name, "gemm");
    EXPECT_EQ(back.workloads[0].help, "help");
    EXPECT_EQ(back.workloads[0].plugin, "gemm.so");
    EXPECT_EQ(m.name, "m");
    EXPECT_EQ(m.help, "rows");
    EXPECT_EQ(m.type, model::ParamType::integer);
    EXPECT_EQ(m.minimum, -5);
    EXPECT_EQ(m.maximum, 1 << 20);
    EXPECT_EQ(m.default_value, model::ParamValue(std::int64_t{12}));
    EXPECT_EQ(back.workloads[0].params.at(1).choices, (std::vector<std::string>{"f32", "bf16"}));
    EXPECT_EQ(back.workloads[0].params.at(1).type, model::ParamType::text);
    EXPECT_FALSE(back.workloads[0].params.at(1).default_value.has_value());
    const model::VariantInfo& tiled = back.workloads[0].variants.at(0);
    EXPECT_EQ(tiled.name, "tiled");
    EXPECT_EQ(tiled.help, "in tiles");
    EXPECT_EQ(tiled.target, model::Target::host);
    EXPECT_EQ(tiled.submission, model::Submission::graph);
    EXPECT_EQ(tiled.min_compute_capability, 90);
    EXPECT_EQ(tiled.not_built, "gemm_cuda.so is not beside gemm.so");
}

TEST(Protocol, CeilingsComeBackAsTheyWere) {
    EXPECT_TRUE(
        std::holds_alternative<CeilingsRequest>(parse_request(write_request(CeilingsRequest{}))));
    const model::Ceilings ceilings{2.8e12, {{"bf16", 7.1e14}, {"f32", 5e13}}, "no fp8", 4.78e11};
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
    EXPECT_EQ(diagnosis.topic, "clocks");
    EXPECT_EQ(diagnosis.detail, "throttled");
    EXPECT_EQ(diagnosis.remedy, "cool it");
}

TEST(Protocol, WhatIsNoMessageIsRefused) {
    for (const char* line : {"", "{", "[]", "{}", R"({"reply":"dance"})", R"({"do":"measure"})",
                             R"({"reply":"measure","result":7})", "\xff"}) {
        EXPECT_THROW(parse_reply(line), util::Error) << line;
        EXPECT_THROW(parse_request(line), util::Error) << line;
    }
}

}  // namespace
}  // namespace perfgate::measure
