// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "awkward_values.hpp"
#include "document/baseline.hpp"
#include "model/baseline.hpp"
#include "util/error.hpp"
#include "util/sha256.hpp"

namespace perfgate::document {
namespace {

using namespace model;

std::string parse_message(std::string_view json) {
    try {
        parse_baseline(std::string(json), "b.json");
    } catch (const util::InputError& error) {
        return error.what();
    }
    return "(no error)";
}

TEST(BaselineJson, RoundTripsAwkwardValues) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        test::AwkwardValues any(seed);
        Baseline baseline{any.text(), any.device(), {}};
        for (std::size_t n = any.below(5); n > 0; --n) {
            BaselineCase& stored = baseline.cases[any.text()];
            stored = {{any.text(), any.text(), any.text(), any.text(), any.text(), any.text(),
                       any.text(), any.text(), any.text()},
                      any.metrics(),
                      any.list([&] {
                          Kernel kernel;
                          kernel.name = any.text();
                          kernel.grid = {any.count(), 1, 2};
                          kernel.registers = any.count();
                          kernel.code = any.text();
                          kernel.arguments = any.text();
                          kernel.block = {any.count(), 3, 4};
                          if (any.coin()) kernel.cluster = {any.count(), 5, 6};
                          kernel.static_smem = any.count();
                          kernel.dynamic_smem = any.count();
                          kernel.local_bytes = any.count();
                          kernel.cooperative = any.coin();
                          if (any.coin()) kernel.carveout = any.count();
                          return kernel;
                      }),
                      any.text()};
            stored.provenance.wall_s = any.positive();
            if (any.coin()) stored.tags = any.texts();
            if (any.coin()) stored.measured_as[any.text()] = any.text();
            if (any.coin()) stored.libraries = Libraries{{any.text(), any.text()}};
            if (any.coin()) stored.anchors[any.text()] = any.number();
            if (any.coin()) {
                stored.acknowledged[any.text()] = {"2026-12-31", any.text(), any.text(),
                                                   any.series()};
            }
            if (any.coin()) {
                stored.memory_operations = any.list([&] {
                    return MemoryOperation{static_cast<MemoryOperationKind>(any.below(7)),
                                           any.count(), static_cast<MemoryKind>(any.below(8)),
                                           static_cast<MemoryKind>(any.below(8))};
                });
            }
        }
        const std::string text = write_baseline(baseline);
        const Baseline back = parse_baseline(text, "b.json");
        ASSERT_EQ(back, baseline) << text;
        ASSERT_EQ(write_baseline(back), text);
    }
}

TEST(BaselineJson, AnchorsAndAcknowledgementsStandBesideTheMetrics) {
    const MetricSeries time{
        "ns", 2, "activity/cold", {{0, "b1", 1, {1}}, {1, "b1", 1, {2}}, {2, "b1", 1, {3}}}};
    Baseline baseline;
    baseline.suite = "s";
    BaselineCase& stored = baseline.cases["a/b[]"];
    stored.provenance.wall_s = 1.25;
    stored.metrics = {{"gpu_time", time}};
    stored.anchors = {{"gpu_time", 1.75}};
    stored.acknowledged = {{"gpu_time", {"2026-12-31", "Ada", "driver bug", time}}};
    const std::string text = write_baseline(baseline);
    EXPECT_EQ(parse_baseline(text, "b.json"), baseline);
    EXPECT_NE(text.find(R"(
      "provenance": {"wall_s":1.25},
      "anchors": {"gpu_time":1.75},
      "acknowledged": {
        "gpu_time": {"until":"2026-12-31","by":"Ada","reason":"driver bug","known":{"unit":"ns",)"),
              std::string::npos)
        << text;

    std::string wrong = text;
    wrong.replace(wrong.find("2026-12-31"), 10, "2026-02-31");
    EXPECT_NE(parse_message(wrong).find("until: expected a day, as 2026-12-31"), std::string::npos);
    wrong = text;
    wrong.replace(wrong.find("1.25"), 4, "-1.0");
    EXPECT_NE(parse_message(wrong).find("wall_s"), std::string::npos);
}

TEST(BaselineJson, LayoutMergesLineByLine) {
    Baseline baseline;
    baseline.suite = "gemm";
    baseline.device = {"nvidia-h100", "NVIDIA H100", "GH100", "9.0", 85899345920, "", "", 132, 0};
    const MetricSeries time{"ns", 1.5, "activity/cold", {{0, "b1", 1, {1.5}}}};
    const MetricSeries registers{"registers", 32, "kernel_record", {}};
    BaselineCase expected;
    expected.provenance.driver = "580.159.04";
    expected.provenance.reason = "first";
    expected.metrics = {{"registers", registers}, {"gpu_time", time}};
    baseline.cases["gemm/tiled[m=2]"] = expected;
    Kernel kernel;
    kernel.name = "naive";
    kernel.grid = {4, 1, 1};
    kernel.block = {128, 1, 1};
    kernel.registers = 32;
    kernel.code = "c0de";
    kernel.arguments = "a1";
    baseline.cases["gemm/naive[m=2]"] = {{}, {{"gpu_time", time}}, {kernel}, "0057"};
    BaselineCase& coded = baseline.cases["gemm/naive[m=2]"];
    coded.libraries = Libraries{{"libhelper.so", "11b"}};
    coded.memory_operations = {
        {MemoryOperationKind::host_to_device, 4096, MemoryKind::pinned, MemoryKind::device},
        {MemoryOperationKind::memset, 64, {}, MemoryKind::device}};
    EXPECT_EQ(write_baseline(baseline), R"({
  "schema": "perfgate.baseline",
  "version": 3,
  "suite": "gemm",
  "device": {"key":"nvidia-h100","name":"NVIDIA H100","chip":"GH100","compute_capability":"9.0","memory_bytes":85899345920,"multiprocessors":132},
  "cases": {
    "gemm/naive[m=2]": {
      "provenance": {},
      "once": {"device":"b1","seed":1},
      "metrics": {
        "gpu_time": {"unit":"ns","value":1.5,"method":"activity/cold"}
      },
      "kernels": [
        {"name":"naive","grid":[4,1,1],"block":[128,1,1],"registers":32,"static_smem":0,"dynamic_smem":0,"local_bytes":0,"code":"c0de","arguments":"a1"}
      ],
      "host_code": "0057",
      "libraries": {"libhelper.so":"11b"},
      "memory_operations": [{"kind":"host to device","bytes":4096,"from":"pinned","to":"device"},{"kind":"memset","bytes":64,"to":"device"}]
    },
    "gemm/tiled[m=2]": {
      "provenance": {"driver":"580.159.04","reason":"first"},
      "once": {"device":"b1","seed":1},
      "metrics": {
        "gpu_time": {"unit":"ns","value":1.5,"method":"activity/cold"},
        "registers": {"unit":"registers","value":32,"method":"kernel_record","batches":[]}
      }
    }
  }
}
)");
}

/// One value per process, as a refresh leaves it.
MetricSeries of_processes(const std::vector<double>& values, double value) {
    MetricSeries series{"ns", value, "activity/cold", {}};
    for (const double sample : values) {
        series.batches.push_back(
            {static_cast<std::int64_t>(series.batches.size()), "b1", 7, {sample}});
    }
    return series;
}

Baseline of_one_metric(const MetricSeries& series) {
    Baseline baseline;
    baseline.suite = "gemm";
    baseline.device.key = "nvidia-h100";
    baseline.cases["gemm/naive[m=2]"] = {{}, {{"gpu_time", series}}};
    return baseline;
}

/// The line of the metric, after a round trip was seen to be one.
std::string metric_line(const MetricSeries& series) {
    const std::string text = write_baseline(of_one_metric(series));
    EXPECT_EQ(parse_baseline(text, "b.json"), of_one_metric(series)) << text;
    const std::size_t start = text.find("\"gpu_time\"");
    return text.substr(start, text.find('\n', start) - start);
}

TEST(BaselineJson, ProcessesAreOneLineOfValues) {
    MetricSeries series = of_processes({10, 11, 10.5}, 10.5);
    EXPECT_EQ(metric_line(series),
              R"("gpu_time": {"unit":"ns","value":10.5,"method":"activity/cold","device":"b1",)"
              R"("seed":7,"processes":[10,11,10.5]})");
    series.batches[2].run = 1;
    for (Batch& batch : series.batches) batch.sm_clock_mhz = 1980;
    EXPECT_EQ(metric_line(series),
              R"("gpu_time": {"unit":"ns","value":10.5,"method":"activity/cold","device":"b1",)"
              R"("seed":7,"runs":[2,1],"processes":[10,11,10.5],"sm_clock_mhz":[1980,1980,1980]})");
    for (Batch& batch : series.batches) {
        batch.sm_clock_mhz.reset();
        batch.tail = {batch.samples[0] + 1, batch.samples[0] + 2};
    }
    EXPECT_EQ(metric_line(series),
              R"("gpu_time": {"unit":"ns","value":10.5,"method":"activity/cold","device":"b1",)"
              R"("seed":7,"runs":[2,1],"processes":[10,11,10.5],"slowest_tenth":[11,12,11.5],)"
              R"("p99":[12,13,12.5]})");
    for (Batch& batch : series.batches) {
        batch.tail.reset();
        batch.other_work = {0.25, 0.5};
    }
    EXPECT_EQ(metric_line(series),
              R"("gpu_time": {"unit":"ns","value":10.5,"method":"activity/cold","device":"b1",)"
              R"("seed":7,"runs":[2,1],"processes":[10,11,10.5],"waited":[0.25,0.25,0.25],)"
              R"("others_busy":[0.5,0.5,0.5]})");
}

TEST(BaselineJson, WhatRepeatsIsACount) {
    MetricSeries series = of_processes({64, 64, 64, 64}, 64);
    EXPECT_EQ(metric_line(series),
              R"("gpu_time": {"unit":"ns","value":64,"method":"activity/cold","device":"b1",)"
              R"("seed":7,"repeated":4})");
    series.detail = "cudaMalloc 64";
    EXPECT_EQ(metric_line(series),
              R"("gpu_time": {"unit":"ns","value":64,"method":"activity/cold",)"
              R"("detail":"cudaMalloc 64","device":"b1","seed":7,"repeated":4})");
}

TEST(BaselineJson, WhatTheShortFormCannotSayIsWrittenOut) {
    const std::vector<void (*)(MetricSeries&)> oddities{
        [](MetricSeries& series) { series.batches[1].device = "b2"; },
        [](MetricSeries& series) { series.batches[1].seed = 8; },
        [](MetricSeries& series) { series.batches[1].round = 1; },
        [](MetricSeries& series) { series.batches[1].excluded = "hot"; },
        [](MetricSeries& series) {
            series.batches[1].samples = {1, 2};
        },
        [](MetricSeries& series) { series.batches[1].samples.clear(); },
        [](MetricSeries& series) { series.batches[1].process = 5; },
        [](MetricSeries& series) { series.batches[1].sm_clock_mhz = 1; },
        [](MetricSeries& series) {
            series.batches[1].tail = {1, 2};
        },
        [](MetricSeries& series) { series.batches[0].run = 1; },
        [](MetricSeries& series) { series.batches[1].run = 2; },
        [](MetricSeries& series) { series.batches.resize(1); },
    };
    for (std::size_t i = 0; i < oddities.size(); ++i) {
        MetricSeries series = of_processes({10, 11, 10.5}, 10.5);
        oddities[i](series);
        EXPECT_NE(metric_line(series).find("\"batches\""), std::string::npos) << "oddity " << i;
    }
}

std::string with_repetitions(std::size_t metrics, int count) {
    std::string text = R"({"schema": "perfgate.baseline", "version": 2, "suite": "s",
        "device": {"key": "k", "name": "n"}, "cases": {"c": {"metrics": {)";
    for (std::size_t i = 0; i < metrics; ++i) {
        text += (i == 0 ? "\"m" : ",\"m") + std::to_string(i) +
                R"(":{"unit":"ns","value":1,"method":"x","device":"b","seed":1,"repeated":)" +
                std::to_string(count) + "}";
    }
    return text + "}}}}";
}

TEST(BaselineJson, WhatADocumentRepeatsIsBoundedInAll) {
    EXPECT_EQ(parse_message(with_repetitions(50, 10'000)), "(no error)");
    EXPECT_NE(parse_message(with_repetitions(300, 100'000))
                  .find("the document repeats more than 500000 values in all"),
              std::string::npos);
    // A large document may repeat more: as much as a list of its size could hold.
    EXPECT_EQ(parse_message(with_repetitions(20'000, 30)), "(no error)");
}

TEST(BaselineJson, TheDigestOfACaseIsThatOfItsTextOnOneLine) {
    BaselineCase stored;
    stored.provenance.accepted_by = "Ada";
    stored.metrics["gpu_time"] = {"ns", 2.5, "activity/cold", {{0, "b1", 7, {2.5}}}};
    util::Sha256 hash;
    hash.add(R"("a/b[m=1]":{"provenance":{"accepted_by":"Ada"},"once":{"device":"b1","seed":7},)"
             R"("metrics":{"gpu_time":{"unit":"ns","value":2.5,"method":"activity/cold"}}})");
    const std::string digest = digest_of_case("a/b[m=1]", stored);
    EXPECT_EQ(digest, hash.fingerprint());
    EXPECT_NE(digest, digest_of_case("a/b[m=2]", stored));
    stored.metrics["gpu_time"].value = 5;
    EXPECT_NE(digest, digest_of_case("a/b[m=1]", stored));
}

TEST(BaselineJson, RefusesProcessesThatDoNotAddUp) {
    const auto message = [](const std::string& fields) {
        const std::string text = parse_message(
            R"({"schema": "perfgate.baseline", "version": 1, "suite": "s",
                "device": {"key": "k", "name": "n"}, "cases": {"c": {"metrics": {"m":
                {"unit": "ns", "value": 1, "method": "x", "device": "b", "seed": 1, )" +
            fields + "}}}}}");
        return text.substr(text.find(".m.") + 1);
    };
    EXPECT_EQ(message(R"("processes": [1, 2], "runs": [2])"), "(no error)");
    EXPECT_EQ(message(R"("processes": [1])"), "m.processes: expected values of several processes");
    EXPECT_EQ(message(R"("repeated": 1)"), "m.repeated: expected a count from 2");
    EXPECT_EQ(message(R"("repeated": 1000000000)"),
              "m.repeated: the document repeats more than 500000 values in all; record it anew");
    EXPECT_EQ(message(R"("processes": [1, 2], "runs": [1])"),
              "m.runs: expected counts that add up to the number of processes");
    EXPECT_EQ(message(R"("processes": [1, 2], "runs": [0, 2])"),
              "m.runs: expected counts that add up to the number of processes");
    EXPECT_EQ(message(R"("processes": [1, 2], "runs": [2, 1])"),
              "m.runs: expected counts that add up to the number of processes");
    EXPECT_EQ(message(R"("processes": [1, 2], "sm_clock_mhz": [1980])"),
              "m.sm_clock_mhz: expected as many values as processes");
    EXPECT_EQ(message(R"("processes": [1, 2], "slowest_tenth": [1], "p99": [1, 2])"),
              "m.slowest_tenth: expected as many values as processes");
    EXPECT_EQ(message(R"("processes": [1, 2], "p99": [1, 2])"),
              "b.json: cases.c.metrics.m: expected 'slowest_tenth' and 'p99' together");
    EXPECT_EQ(message(R"("processes": [1, 2], "waited": [0, 2], "others_busy": [0, 0])"),
              "m.waited: expected a share from 0 to 1");
    EXPECT_EQ(message(R"("processes": [1, 2], "waited": [0, 0])"),
              "b.json: cases.c.metrics.m: expected 'waited' and 'others_busy' together");
}

TEST(BaselineJson, BytesOfThisVersionAndOfTheOneBeforeAreAsWritten) {
    const Baseline baseline{"s", {}, {{"w/v[]", {}}}};
    std::string text = write_baseline(baseline);
    EXPECT_TRUE(is_as_written(text, baseline));
    EXPECT_FALSE(is_as_written(text + ' ', baseline));
    text.replace(text.find("\"version\": 3"), 12, "\"version\": 2");
    EXPECT_TRUE(is_as_written(text, baseline));
    EXPECT_FALSE(is_as_written(text, {"t", {}, baseline.cases}));
}

TEST(BaselineJson, RefusesWhatIsNoBaseline) {
    EXPECT_EQ(
        parse_message(R"({"schema": "perfgate.baseline", "version": 9})"),
        "b.json: schema perfgate.baseline version 9; this perfgate reads versions 1 to 3: upgrade "
        "perfgate");
    EXPECT_EQ(parse_message(R"({"schema": "perfgate.run", "version": 1})"),
              "b.json: the schema is 'perfgate.run', expected 'perfgate.baseline'");
    EXPECT_EQ(parse_message(R"({"schema": "perfgate.baseline", "version": 1, "suite": "s",
                                "device": {"key": "k", "name": "n"},
                                "cases": {"w/v[a=1]": {"metrics": {"gpu_time": 3}}}})"),
              "b.json: cases[\"w/v[a=1]\"].metrics.gpu_time: expected an object, found a number");
    EXPECT_EQ(parse_message(R"({"schema": "perfgate.baseline", "version": 1, "suite": "s",
                                "device": {"key": "k", "name": "n"},
                                "cases": {"w/v": {"metrics": {}}, "w/v": {"metrics": {}}}})"),
              "b.json: cases: the key 'w/v' appears twice");
}

}  // namespace
}  // namespace perfgate::document
