// SPDX-License-Identifier: Apache-2.0
// nvbench's JSON and the sample files beside it, as untrusted input. The output that is compared
// with golden files (benchmark_formats_test.cpp) is from benchmarks of the CPU.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "kinds/benchmark/formats/formats.hpp"
#include "temporary_folder.hpp"
#include "util/error.hpp"
#include "util/file.hpp"

namespace perfgate::benchmark {
namespace {

namespace fs = std::filesystem;

benchmark::Layout reading() {
    benchmark::Layout reading;
    reading.format = "nvbench";
    return reading;
}

std::string summary(const std::string& tag, const std::string& data) {
    return R"({"tag": ")" + tag + R"(", "data": [)" + data + "]}";
}

std::string data(const std::string& name, const std::string& value) {
    return R"({"name": ")" + name + R"(", "type": "float64", "value": ")" + value + R"("})";
}

std::string seconds(const std::string& value, const std::string& tag = "nv/cold/time/gpu/median") {
    return summary(tag, data("value", value));
}

std::string samples(const std::string& file, const std::string& size) {
    return summary("nv/json/bin:nv/cold/sample_times", data("filename", file) + ", " +
                                                           R"({"name": "size", "type": "int64", )"
                                                           R"("value": ")" +
                                                           size + R"("})");
}

std::string axis(const std::string& name, const std::string& value) {
    return R"({"name": ")" + name + R"(", "type": "string", "value": ")" + value + R"("})";
}

std::string state(const std::string& axes, const std::string& summaries,
                  const std::string& more = R"("is_skipped": false)") {
    return R"({"device": 0, "axis_values": [)" + axes + R"(], "summaries": [)" + summaries + "], " +
           more + "}";
}

std::string file_of(const std::string& states, const std::string& devices = "[0]",
                    const std::string& major = "1") {
    return R"({"meta": {"version": {"json": {"major": )" + major +
           R"(}}}, "devices": [{"id": 0, "name": "GPU X"}, {"id": 1, "name": "GPU X"}],
              "benchmarks": [{"name": "copy", "devices": )" +
           devices + R"(, "states": [)" + states + "]}]}";
}

Result only(const std::string& text) {
    return read_text(text, "file", reading()).results.at(0);
}

template <typename Call>
std::string refusal(const Call& call) {
    try {
        call();
    } catch (const util::InputError& error) {
        return error.what();
    }
    return "not refused";
}

std::string refused_text(const std::string& text) {
    return refusal([&] { read_text(text, "file", reading()); });
}

TEST(Nvbench, AxesBecomeParameters) {
    const Result result = only(file_of(state(
        axis("T{ct}", "F32") + ", " + axis("Elements{io}", "16") + ", " + axis("Block Size", "0.5"),
        seconds("2e-6"))));
    EXPECT_EQ(id_of(result), "copy[Block_Size=0.5,Elements=16,T=F32]");
    EXPECT_EQ(result.metrics.at("real_time").values, std::vector<double>{2e-6 * 1e9});
    EXPECT_EQ(refused_text(file_of(state(axis("T{ct}", "a") + ", " + axis("T", "b"), ""))),
              "file: copy: the parameter T appears twice");
}

TEST(Nvbench, AStateOfAFurtherDeviceHasItsDevice) {
    EXPECT_EQ(id_of(only(file_of(state("", seconds("1")), "[0, 1]"))), "copy");
    EXPECT_EQ(id_of(only(file_of(state("", seconds("1")), "[1]"))), "copy");
    // A benchmark of the CPU has none, and nvbench writes any number.
    EXPECT_EQ(id_of(only(file_of(state("", seconds("1")), "null"))), "copy");
}

TEST(Nvbench, TheDevicesThatTheBenchmarksUseAreNamed) {
    const auto device = [](const std::string& used) {
        return read_text(file_of(state("", seconds("1")), used), "file", reading()).device;
    };
    EXPECT_EQ(device("[0]"), "GPU X") << "the file lists another, too";
    EXPECT_EQ(device("[0, 1]"), "GPU X") << "more of it";
    EXPECT_EQ(device("null"), "");
}

TEST(Nvbench, FewerSamplesThanStatedAreAProblem) {
    const auto problem = [](const std::string& stated) {
        const std::string size = R"({"tag": "nv/cold/sample_size", "data": [{"name": "value",
                                     "value": ")" +
                                 stated + "\"}]}";
        return only(file_of(state("", samples("a.bin", "3") + ", " + size))).problem;
    };
    EXPECT_EQ(problem("3"), "");
    EXPECT_NE(problem("5").find("3 samples, and the file says 5"), std::string::npos);
    EXPECT_NE(problem("nan"), "");
}

TEST(Nvbench, TheMedianIsTakenWhereThereAreNoSamplesAndTheMeanWhereThereIsNoMedian) {
    const auto method = [](const std::string& summaries) {
        return only(file_of(state("", summaries))).metrics.at("real_time").method;
    };
    const std::string mean = seconds("1", "nv/cold/time/gpu/mean");
    EXPECT_EQ(method(mean + ", " + seconds("1")), "nvbench/median");
    EXPECT_EQ(method(mean), "nvbench/mean");
    EXPECT_EQ(method(seconds("1", "nv/cpu_only/time/cpu/median")), "nvbench/median");
    // Of both kinds, the GPU's.
    EXPECT_EQ(
        only(file_of(state("", seconds("2", "nv/cpu_only/time/cpu/median") + ", " + seconds("1"))))
            .metrics.at("real_time")
            .values,
        std::vector<double>{1e9});
    EXPECT_EQ(method(samples("a.bin", "3") + ", " + seconds("1")), "nvbench");
}

TEST(Nvbench, SummariesAreValues) {
    benchmark::Layout with_value = reading();
    benchmark::Value& value = with_value.values.emplace_back();
    value.definition.name = "batch_time";
    value.definition.metric_class = model::MetricClass::timing;
    value.from = "nv/batch/time/gpu/mean";
    value.factor = 1e9;
    const std::string text =
        file_of(state("", seconds("1") + ", " + seconds("2e-9", value.from) + ", " +
                              seconds("3", "nv/cold/bw/item_rate") + ", " +
                              seconds("4", "nv/cold/bw/global/bytes_per_second")));
    const Result result = read_text(text, "file", with_value).results.at(0);
    EXPECT_EQ(result.metrics.at("batch_time").values, std::vector<double>{2});
    EXPECT_EQ(result.metrics.at("items_per_second").values, std::vector<double>{3});
    EXPECT_EQ(result.metrics.at("bytes_per_second").values, std::vector<double>{4});
}

TEST(Nvbench, WhatWasNotMeasuredHasNoValue) {
    const auto skipped = [](const std::string& reason) {
        return only(
            file_of(state("", "", R"("is_skipped": true, "skip_reason": ")" + reason + "\"") +
                    ", " + state(axis("n", "1"), seconds("1"))));
    };
    const Result on_purpose = skipped("too large");
    EXPECT_EQ(on_purpose.skipped, "the benchmark skips it: too large");
    EXPECT_EQ(on_purpose.problem, "");
    EXPECT_TRUE(on_purpose.metrics.empty());
    for (const char* reason :
         {"Unexpected error: no such table",
          "Skipped because a previous state requested the runner loop to stop."}) {
        EXPECT_EQ(skipped(reason).skipped, "");
        EXPECT_EQ(skipped(reason).problem,
                  std::string("the benchmark reports an error: ") + reason);
    }
    EXPECT_EQ(only(file_of(state("", ""))).problem, "nvbench took no sample of it");
    EXPECT_EQ(only(file_of(state("", seconds("0")))).problem,
              "real_time is 0; expected a finite number above 0");
    EXPECT_EQ(only(file_of(state("", seconds("fast")))).problem,
              "real_time is nan; expected a finite number above 0");
    EXPECT_EQ(only(file_of(state("", seconds("inf")))).problem,
              "real_time is inf; expected a finite number above 0");
    // It could not write the file: it names none.
    EXPECT_EQ(only(file_of(state(
                       "", summary("nv/json/bin:nv/cold/sample_times", "") + ", " + seconds("1"))))
                  .problem,
              "nvbench could not write the file of its samples");
    EXPECT_EQ(refused_text(file_of(state("", "", R"("is_skipped": true, "skip_reason": "no")"))),
              "file: the benchmark skips it: no, and all others");
}

TEST(Nvbench, RefusesWhatItDoesNotKnow) {
    const std::string good = state("", seconds("1"));
    EXPECT_EQ(refused_text(file_of(good, "[0]", "2")),
              "file: meta.version.json: version 2 of the format; expected 1");
    EXPECT_NE(refused_text(R"({"benchmarks": []})").find("meta"), std::string::npos);
    EXPECT_EQ(refused_text(R"({"meta": {"version": {"json": {"major": 1}}}, "benchmarks": null})"),
              "file: it has no result");
    EXPECT_EQ(refused_text(file_of(good + ", " + good)), "file: the result copy appears twice");
    EXPECT_EQ(refused_text(file_of(state("", seconds("1") + ", " + seconds("1")))),
              "file: benchmarks[0].states[0].summaries[1]: the summary nv/cold/time/gpu/median "
              "appears twice");
    EXPECT_NE(refused_text(file_of(R"({"axis_values": [], "summaries": []})")).find("is_skipped"),
              std::string::npos);
    for (const char* size : {"0", "-1", "1.5", "nan", "1e9", "many", "99999999999999999999"}) {
        EXPECT_EQ(
            refused_text(file_of(state("", samples("a.bin", size)))),
            fmt::format("file: benchmarks[0].states[0].summaries[0]: {} samples; expected from "
                        "1 to 16777216",
                        size));
    }
}

/// Results with samples in files of a folder.
class SampleFiles : public testing::Test {
  protected:
    static std::string bytes_of(const std::vector<float>& numbers) {
        std::string bytes;
        for (const float number : numbers) {
            const auto bits = std::bit_cast<std::uint32_t>(number);
            for (int i = 0; i < 4; ++i) bytes += static_cast<char>(bits >> (8 * i));
        }
        return bytes;
    }

    void write(const std::string& name, const std::string& bytes) {
        fs::create_directories((folder_.path() / name).parent_path());
        util::write_file_atomically(folder_.path() / name, bytes);
    }

    Results read(const std::string& name, std::size_t count, const std::string& more = "") {
        return read_results(file_of(state("", samples(name, std::to_string(count)) + more)), "file",
                            reading(), folder_.path() / "in");
    }

    std::string refused(const std::string& name, std::size_t count = 2) {
        return refusal([&] { read(name, count); });
    }

    TemporaryFolder folder_;
};

TEST_F(SampleFiles, AreReadAsFloat32) {
    write("in/x.json-bin/0.bin", bytes_of({1e-6F, 2.5e-3F}));
    const Samples samples = read("x.json-bin/0.bin", 2).results.at(0).metrics.at("real_time");
    EXPECT_EQ(samples.method, "nvbench");
    EXPECT_FALSE(samples.file);
    ASSERT_EQ(samples.values.size(), 2U);
    EXPECT_NEAR(samples.values[0], 1e3, 1e-3);
    EXPECT_NEAR(samples.values[1], 2.5e6, 1);
}

TEST_F(SampleFiles, OutsideOfTheFolderAreRefused) {
    write("out.bin", bytes_of({1, 2}));
    write("in/0.bin", bytes_of({1, 2}));
    fs::create_symlink(folder_.path() / "out.bin", folder_.path() / "in/link.bin");
    fs::create_directory_symlink(folder_.path(), folder_.path() / "in/up");
    for (const char* name :
         {"../out.bin", "x/../../out.bin", "link.bin", "up/out.bin", "..", "../in"}) {
        EXPECT_NE(refused(name), "not refused") << name;
    }
    EXPECT_EQ(refused("../out.bin"),
              "file: '../out.bin' is outside of the folder of the results; expected a file in it");
    EXPECT_EQ(refused("link.bin"),
              "file: 'link.bin' is outside of the folder of the results; expected a file in it");
    EXPECT_EQ(refused((folder_.path() / "in/0.bin").string()),
              "file: '" + (folder_.path() / "in/0.bin").string() +
                  "' is no file beside the results; expected a relative path");
    EXPECT_EQ(refused(""), "file: '' is no file beside the results; expected a relative path");
    EXPECT_EQ(refused("0.bin\\u0000.txt"),
              "file: '0.bin?.txt' is no file beside the results; expected a relative path");
    // A link within the folder is as good as a file.
    fs::create_symlink("0.bin", folder_.path() / "in/same.bin");
    EXPECT_EQ(refused("same.bin"), "not refused");
}

TEST_F(SampleFiles, OfAnotherSizeOrKindAreRefused) {
    write("in/0.bin", bytes_of({1, 2}));
    EXPECT_EQ(refused("0.bin", 3), "file: '0.bin' has 8 bytes; expected 12: 3 samples");
    EXPECT_NE(refused("0.bin", 1).find("file: "), std::string::npos);
    EXPECT_NE(refused("0.bin", 1), "not refused");
    EXPECT_EQ(refused("absent.bin"),
              "file: the samples in 'absent.bin' cannot be read: No such file or directory; keep "
              "the files that the benchmark writes beside its results");
    fs::create_directory(folder_.path() / "in/folder.bin");
    EXPECT_NE(refused("folder.bin"), "not refused");
    EXPECT_NE(refused("."), "not refused");
}

TEST_F(SampleFiles, ThatHoldNoTimesAreAProblemOfTheResult) {
    for (const float wrong : {0.0F, -1.0F, std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::quiet_NaN()}) {
        write("in/0.bin", bytes_of({1, wrong}));
        EXPECT_NE(read("0.bin", 2).results.at(0).problem.find("sample 1 of '0.bin' is"),
                  std::string::npos);
    }
}

TEST_F(SampleFiles, WithAnotherMeanThanStatedAreOfAnotherRun) {
    write("in/0.bin", bytes_of({1e-5F, 1.2e-5F, 1.1e-5F}));
    const auto problem = [&](const std::string& mean, const std::string& tag) {
        return read("0.bin", 3, ", " + seconds(mean, tag)).results.at(0).problem;
    };
    const std::string gpu = "nv/cold/time/gpu/mean";
    EXPECT_EQ(problem("1.1000000021e-05", gpu), "");
    EXPECT_EQ(problem("1.43e-05", "nv/cold/time/cpu/mean"), "") << "of other samples";
    EXPECT_EQ(
        problem("1.43e-05", gpu),
        "the samples in '0.bin' have a mean of 1.1e-05, and the results say 1.43e-05: they are "
        "of another run; keep the files of each run in a folder of their own");
    EXPECT_NE(problem("1.1005e-05", gpu), "");
    EXPECT_NE(problem("nan", gpu), "");
}

TEST_F(SampleFiles, AreBoundedInAll) {
    fs::create_directories(folder_.path() / "in");
    const fs::path large = folder_.path() / "in/large.bin";
    write("in/large.bin", "");
    fs::resize_file(large, most_bytes);  // sparse: all zeros
    std::string states;
    for (const char* n : {"1", "2"}) {
        states += (states.empty() ? "" : ", ") +
                  state(axis("n", n), samples("large.bin", std::to_string(most_samples)));
    }
    EXPECT_EQ(
        refusal([&] { read_results(file_of(states), "file", reading(), folder_.path() / "in"); }),
        "file: no samples, or more than 16777216 in the files beside the results; expected a "
        "benchmark that takes fewer");
}

}  // namespace
}  // namespace perfgate::benchmark
