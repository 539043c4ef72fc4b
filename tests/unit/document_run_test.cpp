// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "awkward_values.hpp"
#include "document/run.hpp"
#include "document/shared.hpp"
#include "model/run.hpp"
#include "util/error.hpp"

namespace perfgate::document {
namespace document_run_test {

using namespace model;

std::string write_case_line(const CaseResult& result) {
    return write_line(result);
}

CaseResult parse_case_line(std::string_view line, std::string_view source) {
    const JsonDocument document(std::string(line), source);
    CaseResult result;
    read(document.root(), result);
    return result;
}

using test::AwkwardValues;

CaseResult awkward_case(AwkwardValues& any, std::int64_t number) {
    CaseResult result;
    result.spec = {any.text(), any.text(), {}, any.coin() ? Cache::hot : Cache::cold};
    result.spec.params["number"] = number;  // two cases are never the same
    result.spec.params["flag"] = any.coin();
    result.spec.params["real"] = any.number();
    result.spec.params["minimum"] = std::numeric_limits<std::int64_t>::min();
    result.spec.params["text"] = any.text();
    result.place = {any.text(), any.count()};
    result.tags = any.texts();
    result.gates = any.list([&] {
        return GateRule{any.text(),
                        {any.positive(), any.coin() ? std::optional(any.positive()) : std::nullopt,
                         any.positive()},
                        any.positive()};
    });
    result.status = static_cast<CaseStatus>(any.below(5));
    result.reason = any.text();
    result.log = any.text();
    if (any.coin()) result.verification = {any.coin(), any.seed(), any.text()};
    if (any.coin()) result.work = {any.positive(), any.positive(), any.text()};
    result.wall_s = any.positive();
    result.kernels = any.list([&] {
        Kernel kernel{
            any.text(),  {any.count(), 1, 2}, {3, any.count(), 4}, any.count(),    any.count(),
            any.count(), any.count(),         any.positive(),      any.positive(), {}};
        if (any.coin()) kernel.metrics[any.text()] = any.number();
        if (any.coin()) kernel.cluster = {any.count(), 1, 1};
        if (any.coin()) kernel.carveout = any.count();
        kernel.cooperative = any.coin();
        kernel.code = any.text();
        kernel.arguments = any.text();
        if (any.coin()) kernel.launches = any.positive();
        if (any.coin()) kernel.time_ns = any.positive();
        if (any.coin()) kernel.waves = any.number();
        if (any.coin()) kernel.code_bytes = any.count();
        if (any.coin()) kernel.stack_bytes = any.count();
        if (any.coin()) kernel.source = {any.text(), any.count()};
        return kernel;
    });
    result.metrics = any.metrics();
    if (any.coin()) {
        result.settled = Settled{any.text(), any.text(), any.metrics(), any.metrics()};
    }
    result.not_collected = any.list([&] { return NotCollected{any.text(), any.text()}; });
    result.not_applicable = any.texts();
    result.host_code = any.text();
    if (any.coin()) result.max_overhead = any.positive();
    if (any.coin()) result.libraries = Libraries{{any.text(), any.text()}};
    if (any.coin()) {
        result.memory_operations = any.list([&] {
            return MemoryOperation{static_cast<MemoryOperationKind>(any.below(7)), any.count(),
                                   static_cast<MemoryKind>(any.below(8)),
                                   static_cast<MemoryKind>(any.below(8))};
        });
    }
    result.unchanged = any.coin();
    result.skipped_by_suite = any.coin();
    result.command = any.texts();
    result.env = any.list([&] {
        return SetVariable{any.text(), any.coin() ? std::optional(any.text()) : std::nullopt};
    });
    result.instance = any.text();
    if (any.coin()) result.measured_as[any.text()] = any.text();
    for (auto& [name, series] : result.metrics) series.detail = any.text();
    result.readings = any.list([&] { return Reading{any.count(), any.text(), any.board_state()}; });
    return result;
}

Run awkward_run(unsigned seed) {
    AwkwardValues any(seed);
    Run run;
    run.tool_version = any.text();
    run.git_revision = any.text();
    run.pull_request = any.text();
    run.started_at = any.text();
    run.wall_s = any.positive();
    run.interrupted = any.coin();
    run.backend = any.text();
    run.environment = any.environment();
    for (int n = 0; n < 3; ++n) {
        const std::string name = any.text();
        run.metric_definitions[name] = {name,
                                        any.text(),
                                        any.text(),
                                        static_cast<Direction>(any.below(3)),
                                        static_cast<MetricClass>(any.below(3)),
                                        static_cast<Fold>(any.below(4))};
    }
    run.suites = any.list([&, number = 0]() mutable {
        const std::string name = any.text() + std::to_string(++number);  // no two have one name
        SuiteResult suite{name, any.text(), any.text(), any.coin(), {}};
        for (std::int64_t n = 0; n < 3; ++n) suite.cases.push_back(awkward_case(any, n));
        return suite;
    });
    run.verify_only = any.coin();
    if (any.coin()) run.phase_s = {{any.text(), any.positive()}, {"timing", any.positive()}};
    run.selections = any.list([&] { return Selection{any.texts(), any.texts()}; });
    run.options = any.texts();
    if (any.coin()) {
        const auto index = static_cast<std::int64_t>(1 + any.below(3));
        run.shard = Shard{index, 3, any.list([&] {
                              return ShardedSuite{any.text(), any.coin(), any.texts(), any.text()};
                          })};
    }
    return run;
}

std::string parse_message(std::string_view json) {
    try {
        parse_run(std::string(json), "run.json");
    } catch (const util::InputError& error) {
        return error.what();
    }
    return "(no error)";
}

/// A small valid run with `from` replaced by `to`.
std::string changed(const std::string& from, const std::string& to) {
    std::string text = R"({"schema": "perfgate.run", "version": 1, "backend": "cuda",
"environment": {"device": {"key": "k", "name": "n"}},
"metric_definitions": {"gpu_time": {"unit": "ns", "direction": "lower", "class": "timing", "fold": "sum"}},
"suites": [{"name": "gemm", "cases": [
  {"workload": "gemm", "variant": "tiled", "params": {"n": 1}, "status": "measured", "wall_s": 1,
   "gates": [{"metric": "gpu_time", "worse": 0.03, "better": 0.1}],
   "kernels": [{"name": "k", "grid": [1, 2, 3], "registers": 32, "duration_ns": 5}],
   "metrics": {"gpu_time": {"unit": "ns", "value": 1.5, "method": "event", "batches": [
     {"process": 0, "device": "host", "seed": 1, "samples": [1.5]}]}}},
  {"workload": "gemm", "variant": "naive", "status": "skipped"}]}]})";
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(RunJson, RoundTripsAwkwardValues) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        const model::Run run = awkward_run(seed);
        const std::string text = write_run(run);
        const model::Run back = parse_run(text, "run.json");
        ASSERT_EQ(back, run) << text;
        ASSERT_EQ(write_run(back), text);
    }
}

TEST(RunJson, CaseLineRoundTripsAndIsOneLine) {
    AwkwardValues any(5);
    for (std::int64_t n = 0; n < 200; ++n) {
        const CaseResult result = awkward_case(any, n);
        const std::string line = write_case_line(result);
        ASSERT_EQ(line.find('\n'), std::string::npos);
        ASSERT_EQ(parse_case_line(line, "journal"), result) << line;
    }
}

TEST(RunJson, OnlyWhatIsOneValueOfTheFirstProcessIsWrittenWithoutBatches) {
    const auto series = [](std::vector<Batch> batches) {
        return MetricSeries{"count", 3, "counted", std::move(batches)};
    };
    CaseResult result;
    result.metrics["alone"] = result.metrics["alone too"] = series({{0, "b1", 7, {3}}});
    const std::string line = write_case_line(result);
    EXPECT_EQ(line.find("batches"), std::string::npos) << line;
    EXPECT_EQ(parse_case_line(line, "journal"), result);

    Batch again{0, "b1", 7, {3}};
    again.round = 1;
    Batch throttled{0, "b1", 7, {3}};
    throttled.excluded = "throttled";
    Batch clocked{0, "b1", 7, {3}};
    clocked.sm_clock_mhz = 1980;
    Batch of_run{0, "b1", 7, {3}};
    of_run.run = 1;
    const std::vector<std::vector<Batch>> others = {{},
                                                    {again},
                                                    {throttled},
                                                    {clocked},
                                                    {of_run},
                                                    {{1, "b1", 7, {3}}},
                                                    {{0, "b2", 7, {3}}},
                                                    {{0, "b1", 8, {3}}},
                                                    {{0, "b1", 7, {4}}},
                                                    {{0, "b1", 7, {3, 3}}},
                                                    {{0, "b1", 7, {}}},
                                                    {{0, "b1", 7, {3}}, {1, "b1", 7, {3}}}};
    for (const std::vector<Batch>& batches : others) {
        result.metrics["other"] = series(batches);
        const std::string text = write_case_line(result);
        EXPECT_NE(text.find("batches"), std::string::npos) << text;
        EXPECT_EQ(parse_case_line(text, "journal"), result) << text;
    }
}

TEST(RunJson, ExcludedBatchesHaveTheirOldKeyInOlderVersions) {
    const auto excluded = [](const std::string& version, const std::string& key) {
        std::string text = changed(R"("version": 1)", R"("version": )" + version);
        text.replace(text.find(R"("samples")"), 0, '"' + key + R"(": "throttled", )");
        return parse_run(text, "run.json")
            .suites[0]
            .cases[0]
            .metrics["gpu_time"]
            .batches[0]
            .excluded;
    };
    EXPECT_EQ(excluded("1", "set_aside"), "throttled");
    EXPECT_EQ(excluded("2", "set_aside"), "throttled");
    EXPECT_EQ(excluded("3", "excluded"), "throttled");
}

TEST(RunJson, AValueWithoutBatchesNeedsAnOrigin) {
    const std::string without = changed(R"(, "batches": [
     {"process": 0, "device": "host", "seed": 1, "samples": [1.5]}])",
                                        "");
    EXPECT_EQ(parse_message(without),
              "run.json: suites[0].cases[0].metrics.gpu_time: the field 'batches' is missing");
    std::string with = without;
    with.replace(with.find("\"metrics\": {"), 0, R"("once": {"device": "b1", "seed": 2}, )");
    const model::Run run = parse_run(with, "run.json");
    EXPECT_EQ(run.suites.at(0).cases.at(0).metrics.at("gpu_time").batches,
              (std::vector<Batch>{{0, "b1", 2, {1.5}}}));
    with.replace(with.find("\"device\": \"b1\""), 14, R"("device": null)");
    EXPECT_EQ(parse_message(with),
              "run.json: suites[0].cases[0].once.device: expected a string, found null");
}

TEST(RunJson, HostileTextIsReplacedNeverThrown) {
    model::Run run;
    run.suites.resize(1);
    run.suites[0].cases.resize(1);
    run.suites[0].cases[0].log = "\xff\xfe broken \xed\xa0\x80";
    run.suites[0].cases[0].metrics["\xc3"] = {};
    const model::Run back = parse_run(write_run(run), "run.json");
    EXPECT_EQ(back.suites[0].cases[0].log.substr(0, 6), "\xef\xbf\xbd\xef\xbf\xbd");
    EXPECT_EQ(back.suites[0].cases[0].metrics.begin()->first, "\xef\xbf\xbd");
}

TEST(RunJson, ValueThatIsNoNumberIsAnErrorNotABrokenDocument) {
    CaseResult result;
    result.metrics["gpu_time"].value = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(write_case_line(result), util::Error);
}

TEST(RunJson, LayoutPutsAMetricOnALineAndTheRestOfACaseCompactly) {
    model::Run run;
    run.tool_version = "0.1.0";
    run.started_at = "2026-11-21T10:00:00Z";
    run.backend = "host";
    run.environment.device.key = "host";
    run.environment.device.name = "A CPU";
    run.metric_definitions["host_time"] = {"host_time",      "wall time",         "ns",
                                           Direction::lower, MetricClass::timing, Fold::sum};
    SuiteResult& suite = run.suites.emplace_back();
    suite.name = "gemm";
    suite.file = "suites/gemm.yaml";
    CaseResult& result = suite.cases.emplace_back();
    result.spec = {"gemm", "reference", {{"m", std::int64_t{16}}, {"x", 2.0}}, Cache::cold};
    result.status = CaseStatus::measured;
    result.gates = {{"host_time", {0.03, {}, 0}, 0}};
    result.kernels.resize(1);
    result.kernels[0].name = "k";
    result.metrics["host_time"] = {"ns", 1500.5, "wall/cold", {{0, "host", 7, {1500.5, 1501}}}};
    result.metrics["allocations"] = {"count", 3, "counted", {{0, "host", 7, {3}}}};
    EXPECT_EQ(write_run(run), R"({
  "schema": "perfgate.run",
  "version": 3,
  "tool_version": "0.1.0",
  "started_at": "2026-11-21T10:00:00Z",
  "wall_s": 0,
  "interrupted": false,
  "backend": "host",
  "environment": {
    "device": {"key":"host","name":"A CPU","memory_bytes":0},
    "before": {},
    "after": {}
  },
  "metric_definitions": {
    "host_time": {"unit":"ns","direction":"lower","class":"timing","fold":"sum","description":"wall time"}
  },
  "suites": [
    {
      "name": "gemm",
      "file": "suites/gemm.yaml",
      "partial": false,
      "cases": [
        {
          "id": "gemm/reference[m=16,x=2]",
          "workload": "gemm",
          "variant": "reference",
          "params": {"m":16,"x":2.0},
          "cache": "cold",
          "gates": [{"metric":"host_time","worse":0.03}],
          "status": "measured",
          "wall_s": 0,
          "kernels": [
            {"name":"k","grid":[0,0,0],"block":[0,0,0],"registers":0,"static_smem":0,"dynamic_smem":0,"local_bytes":0}
          ],
          "once": {"device":"host","seed":7},
          "metrics": {
            "allocations": {"unit":"count","value":3,"method":"counted"},
            "host_time": {"unit":"ns","value":1500.5,"method":"wall/cold","batches":[{"process":0,"device":"host","seed":7,"samples":[1500.5,1501]}]}
          }
        }
      ]
    }
  ]
}
)");
}

TEST(RunJson, FieldsThatOldOrNewVersionsDoNotShareAreNoError) {
    const model::Run run =
        parse_run(changed(R"("backend")", R"("future": {"a": [1]}, "backend")"), "r");
    EXPECT_EQ(run.suites.at(0).cases.at(0).metrics.at("gpu_time").value, 1.5);
    EXPECT_EQ(run.suites[0].cases[1].status, CaseStatus::skipped);
    EXPECT_EQ(run.metric_definitions.at("gpu_time").name, "gpu_time");
}

TEST(RunJson, RefusesTwoSuitesOfOneName) {
    model::Run run;
    run.backend = "host";
    run.environment.device = {};
    run.environment.device.key = "k";
    run.suites.resize(2);
    run.suites[0].name = run.suites[1].name = "s";
    EXPECT_EQ(parse_message(write_run(run)), "run.json: suites[1]: the suite 's' appears twice");
    run.suites[1].name = "t";
    EXPECT_EQ(parse_message(write_run(run)), "(no error)");
}

TEST(RunJson, NamesThePlaceOfEachMistake) {
    EXPECT_EQ(parse_message(changed(R"("version": 1)", R"("version": 4)")),
              "run.json: schema perfgate.run version 4; this perfgate reads versions 1 to 3: "
              "upgrade perfgate");
    EXPECT_EQ(parse_message(changed("perfgate.run", "perfgate.verdict")),
              "run.json: the schema is 'perfgate.verdict', expected 'perfgate.run': name run.json, "
              "which lies beside the verdict");
    EXPECT_EQ(parse_message(changed(R"("unit": "ns", "value")", R"("unit": 3, "value")")),
              "run.json: suites[0].cases[0].metrics.gpu_time.unit: expected a string, found a "
              "number");
    EXPECT_EQ(parse_message(changed(R"("value": 1.5, )", "")),
              "run.json: suites[0].cases[0].metrics.gpu_time: the field 'value' is missing");
    EXPECT_EQ(parse_message(changed("[1.5]", "[1.5, null]")),
              "run.json: suites[0].cases[0].metrics.gpu_time.batches[0].samples[1]: expected a "
              "number, found null");
    EXPECT_EQ(parse_message(changed(R"("process": 0)", R"("process": -1)")),
              "run.json: suites[0].cases[0].metrics.gpu_time.batches[0].process: expected a count "
              "that is not negative, found -1");
    EXPECT_EQ(parse_message(changed("skipped", "skiped")),
              "run.json: suites[0].cases[1].status: expected one of 'measured', 'incorrect', "
              "'error', 'invalid', 'skipped'; found 'skiped'");
    EXPECT_EQ(parse_message(changed("\"lower\"", "\"up\"")),
              "run.json: metric_definitions.gpu_time.direction: expected one of 'lower', 'higher', "
              "'none'; found 'up'");
    EXPECT_EQ(parse_message(changed("\"n\": 1", "\"n\": [1]")),
              "run.json: suites[0].cases[0].params.n: expected a parameter's value (a boolean, a "
              "number or a string), found an array");
    EXPECT_EQ(parse_message(changed("[1, 2, 3]", "[1, 2]")),
              "run.json: suites[0].cases[0].kernels[0].grid: expected 3 sizes, found 2");
    EXPECT_EQ(
        parse_message(changed("0.03", "-0.03")),
        "run.json: suites[0].cases[0].gates[0].worse: expected a number that is not negative");
    EXPECT_EQ(parse_message(changed("0.1}", "-1}")),
              "run.json: suites[0].cases[0].gates[0].better: expected a number that is not "
              "negative");
    EXPECT_EQ(parse_message(changed(R"("wall_s": 1)", R"("wall_s": -1)")),
              "run.json: suites[0].cases[0].wall_s: expected a number that is not negative");
    EXPECT_EQ(parse_message(
                  changed(R"("variant": "naive")", R"("variant": "tiled", "params": {"n": 1})")),
              "run.json: suites[0].cases[1]: the case gemm/tiled[n=1] appears twice");
    EXPECT_EQ(parse_message(changed(R"("device": {"key": "k", "name": "n"})", "")),
              "run.json: environment: the field 'device' is missing");
}

Run with_kernels(const std::vector<Kernel>& kernels) {
    Run run = awkward_run(1);
    run.suites.resize(1);
    run.suites[0].cases.resize(1);
    run.suites[0].cases[0].kernels = kernels;
    return run;
}

Kernel named(const char* name) {
    Kernel kernel;
    kernel.name = name;
    return kernel;
}

TEST(RunJson, EqualKernelsInARowAreOneWithACount) {
    const model::Run run = with_kernels(
        {named("a"), named("a"), named("a"), named("b"), named("a"), named("c"), named("c")});
    const std::string text = write_run(run);
    std::vector<std::size_t> counts;
    for (std::size_t at = text.find("\"count\":"); at != std::string::npos;
         at = text.find("\"count\":", at + 1)) {
        if (text.at(at + 8) == ' ') continue;  // a shard's: kernels are written without spaces
        counts.push_back(text.at(at + 8) - '0');
    }
    EXPECT_EQ(counts, (std::vector<std::size_t>{3, 2}));
    EXPECT_EQ(parse_run(text, "run.json"), run);
    EXPECT_EQ(write_run(parse_run(text, "run.json")), text);
}

TEST(RunJson, WhatKernelsAreCountedToIsBounded) {
    const std::string text =
        write_run(with_kernels({named("a"), named("a"), named("b"), named("b")}));
    const auto counted = [&](const std::string& count) {
        std::string changed = text;
        for (std::size_t at = changed.find("\"count\":2"); at != std::string::npos;
             at = changed.find("\"count\":2", at)) {
            changed.replace(at, 9, "\"count\":" + count);
            at += 9;
        }
        return parse_message(changed);
    };
    EXPECT_EQ(counted("250000"), "(no error)");
    const std::string place = "run.json: suites[0].cases[0].kernels";
    const std::string beyond =
        ".count: the document repeats more than 500000 values in all; record it anew";
    EXPECT_EQ(counted("250001"), place + "[1]" + beyond);
    EXPECT_EQ(counted("9223372036854775807"), place + "[0]" + beyond);
    EXPECT_EQ(counted("1"), place + "[0].count: expected a count from 2");
}

TEST(RunJson, TruncatedDocumentIsRefusedAtEveryLength) {
    const std::string text = write_run(awkward_run(3));
    for (std::size_t length = 0; length + 2 < text.size(); length += 37) {
        EXPECT_NE(parse_message(std::string_view(text).substr(0, length)), "(no error)");
    }
}

TEST(RunJson, DamagedDocumentIsReadOrRefusedNothingElse) {
    const std::string text = write_run(awkward_run(4));
    std::mt19937 random(20261121);
    int refused = 0;
    for (int round = 0; round < 1000; ++round) {
        std::string damaged = text;
        for (int n = 0; n < 3; ++n) {
            const std::size_t at = random() % damaged.size();
            switch (random() % 4) {
                case 0:
                    damaged[at] = static_cast<char>(random());
                    break;
                case 1:
                    damaged.erase(at, 1 + random() % 20);
                    break;
                case 2:
                    damaged.insert(at, damaged.substr(random() % damaged.size(), 30));
                    break;
                default:
                    damaged.insert(at, 1, "{}[],:\"0-e."[random() % 11]);
                    break;
            }
        }
        const std::string message = parse_message(damaged);  // any other exception fails the test
        if (message == "(no error)") continue;
        ++refused;
        ASSERT_EQ(message.substr(0, 9), "run.json:") << message;
        ASSERT_LT(message.size(), 600u);
        ASSERT_EQ(message.find('\n'), std::string::npos) << message;
    }
    EXPECT_GT(refused, 500);
}

TEST(RunJson, CaseLineNamesItsMistakes) {
    try {
        parse_case_line(R"({"workload": "w", "variant": "v"})", "journal line 7");
        FAIL();
    } catch (const util::InputError& error) {
        EXPECT_STREQ(error.what(), "journal line 7: the field 'status' is missing");
    }
}

}  // namespace document_run_test
}  // namespace perfgate::document
