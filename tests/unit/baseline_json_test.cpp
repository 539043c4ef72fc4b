// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "awkward_values.hpp"
#include "model/baseline.hpp"
#include "model/error.hpp"

namespace perfgate::model {
namespace {

std::string parse_message(std::string_view json) {
    try {
        parse_baseline(json, "b.json");
    } catch (const InputError& error) {
        return error.what();
    }
    return "(no error)";
}

TEST(BaselineJson, RoundTripsAwkwardValues) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        test::AwkwardValues any(seed);
        Baseline baseline{any.text(), any.device(), {}};
        for (std::size_t n = any.below(5); n > 0; --n) {
            baseline.cases[any.text()] = {
                {any.text(), any.text(), any.text(), any.text(), any.text(), any.text(), any.text(),
                 any.text(), any.text()},
                any.metrics()};
        }
        const std::string text = write_baseline(baseline);
        const Baseline back = parse_baseline(text, "b.json");
        ASSERT_EQ(back, baseline) << text;
        ASSERT_EQ(write_baseline(back), text);
    }
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
    baseline.cases["gemm/naive[m=2]"] = {{}, {{"gpu_time", time}}};
    EXPECT_EQ(write_baseline(baseline), R"({
  "schema": "perfgate.baseline",
  "version": 1,
  "suite": "gemm",
  "device": {"key":"nvidia-h100","name":"NVIDIA H100","chip":"GH100","compute_capability":"9.0","memory_bytes":85899345920,"multiprocessors":132},
  "cases": {
    "gemm/naive[m=2]": {
      "provenance": {},
      "metrics": {
        "gpu_time": {"unit":"ns","value":1.5,"method":"activity/cold","batches":[{"process":0,"device":"b1","seed":1,"samples":[1.5]}]}
      }
    },
    "gemm/tiled[m=2]": {
      "provenance": {"driver":"580.159.04","reason":"first"},
      "metrics": {
        "gpu_time": {"unit":"ns","value":1.5,"method":"activity/cold","batches":[{"process":0,"device":"b1","seed":1,"samples":[1.5]}]},
        "registers": {"unit":"registers","value":32,"method":"kernel_record","batches":[]}
      }
    }
  }
}
)");
}

TEST(BaselineJson, RefusesWhatIsNoBaseline) {
    EXPECT_EQ(parse_message(R"({"schema": "perfgate.baseline", "version": 9})"),
              "b.json: schema perfgate.baseline version 9; this perfgate reads version 1: upgrade "
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
}  // namespace perfgate::model
