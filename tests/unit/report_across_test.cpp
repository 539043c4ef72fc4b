// SPDX-License-Identifier: Apache-2.0
#include "report/across_devices.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "document/json_reader.hpp"
#include "report_hostile.hpp"
#include "util/error.hpp"

namespace perfgate::report {
namespace {

model::CaseResult case_of(const std::string& variant, double gpu_time_ns) {
    model::CaseResult result;
    result.spec.workload = "copy";
    result.spec.variant = variant;
    result.status = model::CaseStatus::measured;
    result.work = model::Work{0, 1000};
    result.metrics["gpu_time"] = {"ns", gpu_time_ns, "activity/cold", {}};
    return result;
}

model::Run run_on(const std::string& device, std::vector<model::CaseResult> cases) {
    model::Run run;
    run.environment.device.name = device;
    run.environment.driver = "580.1";
    run.suites.push_back({"s", "s.yaml", "", false, std::move(cases)});
    return run;
}

struct Runs {
    model::Run a = run_on("One", {case_of("plain", 2000), case_of("old", 10)});
    model::Run b = run_on("Two", {case_of("new", 20), case_of("plain", 1500)});

    std::string console(std::size_t width = 0) const {
        Options options;
        options.width = width;
        return write_across_console({"a.json", &a}, {"b.json", &b}, options);
    }
    std::string json() const { return write_across_json({"a.json", &a}, {"b.json", &b}); }
};

TEST(AcrossDevices, SetsTheTimesOfBothSideBySide) {
    Runs runs;
    runs.a.environment.ceilings.copy_bytes_per_s = 1e9;
    EXPECT_EQ(runs.console(),
              "A: One, driver 580.1 (a.json)\n"
              "   ceilings: copy 1.000 GB/s\n"
              "B: Two, driver 580.1 (b.json)\n"
              "\n"
              "s               time         A         B   B to A        ceiling A\n"
              "copy/plain  gpu_time  2.000 µs  1.500 µs  -25.0 %     50 % of copy\n"
              "copy/old    gpu_time  10.00 ns         -           10000 % of copy\n"
              "copy/new    gpu_time         -  20.00 ns\n"
              "\n"
              "for information: nothing is judged across devices\n");
}

TEST(AcrossDevices, ACaseThatWasNotMeasuredSaysWhatItWas) {
    Runs runs;
    runs.b.suites[0].cases[1] = case_of("plain", 0);
    runs.b.suites[0].cases[1].status = model::CaseStatus::skipped;
    runs.b.suites[0].cases[1].reason = "needs compute capability 10.0";
    EXPECT_NE(runs.console().find("copy/plain  gpu_time  2.000 µs   skipped"), std::string::npos)
        << runs.console();
    EXPECT_NE(runs.json().find("needs compute capability 10.0"), std::string::npos);
}

TEST(AcrossDevices, TimesOfDifferentMethodsAreNotCompared) {
    Runs runs;
    runs.b.suites[0].cases[1].metrics["gpu_time"].method = "activity/hot";
    const std::string table = runs.console();
    EXPECT_EQ(table.find("-25.0 %"), std::string::npos);
    EXPECT_NE(table.find("note: 1 time was measured by different methods and not compared"),
              std::string::npos);
    const document::JsonDocument document(runs.json(), "across.json");
    const std::string json = runs.json();
    EXPECT_EQ(json.find("\"change\""), std::string::npos);
    EXPECT_NE(json.find("\"second_method\":\"activity/hot\""), std::string::npos);
}

TEST(AcrossDevices, TheDocumentHasEveryCommonMetric) {
    Runs runs;
    runs.a.suites[0].cases[0].metrics["registers"] = {"registers", 32, "kernel-record", {}};
    runs.b.suites[0].cases[1].metrics["registers"] = {"registers", 40, "kernel-record", {}};
    const std::string json = runs.json();
    document::JsonDocument document(json, "across.json");
    const document::JsonValue root = check_schema(document, "perfgate.across", 1);
    EXPECT_EQ(root.at("first").at("device").at("name").text(), "One");
    EXPECT_NE(json.find("\"registers\": {\"unit\":\"registers\",\"first\":32,\"second\":40,"
                        "\"change\":0.25,"),
              std::string::npos)
        << json;
}

TEST(AcrossDevices, ANarrowTerminalCutsTheIds) {
    Runs runs;
    const std::string variant(80, 'x');
    runs.a.suites[0].cases[0].spec.variant = variant;
    runs.b.suites[0].cases[1].spec.variant = variant;
    EXPECT_NE(runs.console(80).find("…"), std::string::npos);
    EXPECT_EQ(runs.console(0).find("…"), std::string::npos);
}

TEST(AcrossDevices, RunsWithoutACommonCaseAreRefused) {
    Runs runs;
    runs.b.suites[0].name = "other";
    EXPECT_THROW(runs.console(), util::InputError);
    EXPECT_THROW(runs.json(), util::InputError);
}

TEST(AcrossDevices, HostileTextStaysInItsLine) {
    for (const std::string& text : hostile_texts()) {
        Runs runs;
        runs.a.environment.device.name = runs.a.suites[0].name = runs.b.suites[0].name = text;
        const std::string table = runs.console();
        EXPECT_EQ(table.find('\x1b'), std::string::npos);
        EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 9);
        EXPECT_NO_THROW(document::JsonDocument(runs.json(), "across.json"));
    }
}

}  // namespace
}  // namespace perfgate::report
