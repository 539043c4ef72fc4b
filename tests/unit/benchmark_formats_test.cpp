// SPDX-License-Identifier: Apache-2.0
// The readers of what benchmarks write. tests/data/benchmarks has real output: of Google Benchmark
// 1.7.1 and 1.9.5 (its Python module; `--benchmark_format=json`), hyperfine 1.15.0, nvbench 0.1.0
// and pytest-benchmark 3.2.2, 3.4.1, 4.0.0 and 5.2.3 (`--benchmark-json=FILE`), with what is read
// of it beside it (PERFGATE_UPDATE_GOLDEN=1 writes that anew). Files of the other tools have the
// shape of real output in public repositories, with few rows and other numbers: of llama-bench
// (build 5163; -o json, jsonl, csv), `vllm bench serve --save-result`, `sglang.bench_serving
// --output-file`, all_reduce_perf of nccl-tests 2.18.3, cutlass_profiler 2.8, `nsys stats --report
// cuda_gpu_kern_sum --format csv` 2024.6, and the documented custom JSON of
// github-action-benchmark. Nsight Compute 2025.3.1 wrote ncu.csv (`ncu --csv --metrics …`) and
// ncu-raw.csv (with `--page raw`, of which most columns were left out) on an H100. nvbench's is of
// tests/benchmarks/nvbench_gpu.cu on an H100 (the program's path and the file's name were changed),
// and of benchmarks of the CPU, on a machine without a GPU, where its list of devices was made
// empty.
#include "kinds/benchmark/formats/formats.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "document/json_reader.hpp"
#include "kinds/benchmark/formats/json_text.hpp"
#include "util/error.hpp"
#include "util/file.hpp"

namespace perfgate::benchmark {
namespace benchmark_formats_test {

const std::string folder = std::string(PERFGATE_TEST_DATA_DIR) + "/benchmarks/";

Layout reading_of(const std::string& format) {
    Layout reading;
    reading.format = format;
    return reading;
}

Value value(const std::string& metric, const std::string& from, double factor,
            model::MetricClass metric_class = model::MetricClass::timing) {
    Value value;
    value.definition.name = metric;
    value.definition.metric_class = metric_class;
    value.from = from;
    value.factor = factor;
    return value;
}

std::string text_of(const Results& results) {
    std::string text = "machine " + results.machine + '\n';
    for (const std::string& note : results.notes) text += "note " + note + '\n';
    for (const Result& result : results.results) {
        text += id_of(result) + '\n';
        if (!result.problem.empty()) text += "  problem: " + result.problem + '\n';
        if (!result.skipped.empty()) text += "  skipped: " + result.skipped + '\n';
        for (const auto& [metric, samples] : result.metrics) {
            text += fmt::format("  {} by {}: {:.6g}\n", metric, to_text(samples.method),
                                fmt::join(samples.values, " "));
        }
    }
    return text;
}

void expect_golden(const std::string& file, const Layout& reading, const std::string& golden) {
    const std::string text = text_of(
        read_results(util::read_file(folder + file, most_bytes, "results"), file, reading, folder));
    const std::string path = folder + golden;
    if (std::getenv("PERFGATE_UPDATE_GOLDEN") != nullptr) util::write_file_atomically(path, text);
    EXPECT_EQ(text, util::read_file(path, most_bytes, "golden file")) << golden;
}

std::string refusal(const std::string& text, const Layout& reading) {
    try {
        const Results results = read_text(text, "file", reading);
        return "read: " + text_of(results);
    } catch (const util::InputError& error) {
        return error.what();
    }
}

TEST(BenchmarkFormats, ReadRealOutput) {
    Layout google = reading_of("google-benchmark");
    google.values = {value("overflows", "overflows", 1, model::MetricClass::counter)};
    expect_golden("google-benchmark.json", google, "google-benchmark.txt");
    expect_golden("google-benchmark-aggregates.json", reading_of("google-benchmark"),
                  "google-benchmark-aggregates.txt");
    expect_golden("google-benchmark-complexity.json", reading_of("google-benchmark"),
                  "google-benchmark-complexity.txt");
    expect_golden("hyperfine.json", reading_of("hyperfine"), "hyperfine.txt");
    expect_golden("hyperfine-failed.json", reading_of("hyperfine"), "hyperfine-failed.txt");
    benchmark::Layout nvbench = reading_of("nvbench");
    nvbench.values = {value("error", "error", 1, model::MetricClass::counter)};
    expect_golden("nvbench.json", nvbench, "nvbench.txt");
    expect_golden("nvbench-gpu.json", reading_of("nvbench"), "nvbench-gpu.txt");
    expect_golden("nvbench-medians.json", nvbench, "nvbench-medians.txt");
    google.values = {value("threads", "threads", 1, model::MetricClass::counter)};
    expect_golden("google-benchmark-1.9.json", google, "google-benchmark-1.9.txt");
    expect_golden("pytest-benchmark.json", reading_of("pytest-benchmark"), "pytest-benchmark.txt");
    for (const std::string version : {"3.4.1", "4.0.0", "5.2.3"}) {
        const std::string name = "pytest-benchmark-" + version;
        expect_golden(name + ".json", reading_of("pytest-benchmark"), name + ".txt");
    }
    expect_golden("pytest-benchmark-autosave.json", reading_of("pytest-benchmark"),
                  "pytest-benchmark-autosave.txt");
}

TEST(BenchmarkFormats, ReadTheTablesOfTools) {
    for (const std::string ending : {"json", "jsonl", "csv"}) {
        expect_golden("llama-bench." + ending, reading_of("llama-bench"),
                      "llama-bench-" + ending + ".txt");
    }
    expect_golden("criterion.jsonl", reading_of("criterion"), "criterion.txt");
    Layout vllm = reading_of("vllm");
    vllm.values = {value("p99", "p99_ttft_ms", 1e6)};
    expect_golden("vllm.json", vllm, "vllm.txt");
    expect_golden("vllm.jsonl", vllm, "vllm-jsonl.txt");
    expect_golden("sglang.jsonl", reading_of("sglang"), "sglang.txt");
    expect_golden("nccl-tests.txt", reading_of("nccl-tests"), "nccl-tests-read.txt");
    expect_golden("cutlass-profiler.csv", reading_of("cutlass-profiler"), "cutlass-profiler.txt");
    Layout nsys = reading_of("nsys-stats");
    nsys.values = {value("instances", "Instances", 1, model::MetricClass::counter)};
    expect_golden("nsys-stats.csv", nsys, "nsys-stats.txt");
    Layout ncu = reading_of("ncu");
    ncu.values = {value("read", "dram__bytes_read.sum", 1, model::MetricClass::counter)};
    ncu.values.front().definition.unit = "bytes";
    expect_golden("ncu-raw.csv", ncu, "ncu-raw.txt");
    expect_golden("ncu.csv", ncu, "ncu.txt");
    Layout action = reading_of("github-action-benchmark");
    action.values = {value("memory", "/value", 1e6, model::MetricClass::counter)};
    action.values.front().where = {{"/unit", "MB"}};
    expect_golden("github-action-benchmark.json", action, "github-action-benchmark.txt");
}

TEST(BenchmarkFormats, ReadCsvAndJsonByTheirPlaces) {
    Layout csv = reading_of("csv");
    csv.name = "command";
    csv.axes = {{"n", "parameter_n"}};
    csv.values = {value("real_time", "median", 1e9), value("deviation", "stddev", 1e9)};
    expect_golden("hyperfine.csv", csv, "csv.txt");

    Layout json = reading_of("json");
    json.rows = "/results/*";
    json.name = "/command";
    json.axes = {{"n", "/parameters/n"}};
    json.values = {value("real_time", "/times/*", 1e9), value("first", "/times/0", 1e9)};
    expect_golden("hyperfine.json", json, "json.txt");
}

TEST(BenchmarkFormats, LinesOfCutlassThatDifferInTimeAndRatesAloneAreRepetitions) {
    const std::string header =
        "Problem,Provider,Operation,Disposition,Status,n,Flops,Runtime,GB/s,GFLOPs\n";
    const std::string first = "1,CUTLASS,conv,passed,success,256,7,0.5,10,20\n";
    const Layout reading = reading_of("cutlass-profiler");
    const Results results = read_text(
        header + first + "1,CUTLASS,conv,passed,success,256,7,0.25,20,40\n", "file", reading);
    ASSERT_EQ(results.results.size(), 1U);
    EXPECT_EQ(results.results[0].metrics.at("real_time").values,
              (std::vector<double>{500'000, 250'000}));
    EXPECT_NE(refusal(header + first + "1,CUTLASS,conv,passed,success,256,8,0.25,20,40\n", reading)
                  .find("differs in Flops"),
              std::string::npos);
}

TEST(BenchmarkFormats, ADepthOfLlamaBenchIsAParameterAndNoneIsTheCaseOfOlderBuilds) {
    const auto row = [](const std::string& more) {
        return R"({"model_type": "m", "n_prompt": 8, "n_gen": 0, "samples_ns": [2], )"
               R"("samples_ts": [3], "test_time": "t")" +
               more + "}\n";
    };
    const Layout reading = reading_of("llama-bench");
    const auto names = [&](const std::string& text) {
        std::vector<std::string> all;
        for (const Result& result : read_text(text, "file", reading).results) {
            all.push_back(id_of(result));
        }
        return all;
    };
    EXPECT_EQ(names(row("")), std::vector<std::string>{"m[n_gen=0,n_prompt=8]"});
    const std::vector<std::string> both{"m[n_gen=0,n_prompt=8]",
                                        "m[n_depth=512,n_gen=0,n_prompt=8]"};
    EXPECT_EQ(names(row(R"(, "n_depth": 0)") + row(R"(, "n_depth": 512)")), both);
}

TEST(BenchmarkFormats, SeveralTestsOfNcclInOneTextAreCasesOfTheirOwn) {
    const std::string end = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.02\n";
    const std::string table =
        "#  size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
        "  1024  256  float  sum  -1  61.00  0.02  0.03  0  53.00  0.02  0.04  0\n" +
        end;
    const std::string all = "# Collective test starting: all_gather_perf\n" + table +
                            "# Collective test starting: alltoall_perf\n" + table;
    const Results results = read_text(all, "file", reading_of("nccl-tests"));
    std::set<std::string> names;
    for (const Result& result : results.results) names.insert(result.name);
    EXPECT_EQ(results.results.size(), 4U);
    EXPECT_EQ(names, (std::set<std::string>{"all_gather_perf", "alltoall_perf"}));
    const Results few =
        read_text("  8  2  float  sum  -1  6.10  0.00  0.00  0  5.30  0.01  0.01  0\n" + end,
                  "file", reading_of("nccl-tests"));
    ASSERT_EQ(few.results.size(), 2U);
    EXPECT_EQ(few.results[0].problem + few.results[1].problem, "");
    EXPECT_FALSE(few.results[0].metrics.contains("bytes_per_second")) << "rounded to nothing";
    EXPECT_TRUE(few.results[1].metrics.contains("bytes_per_second"));
    EXPECT_NE(
        refusal(all + "# Collective test starting: broadcast_perf\n", reading_of("nccl-tests"))
            .find("broadcast_perf has no line of results"),
        std::string::npos)
        << "it ended before";
}

TEST(BenchmarkFormats, CriterionsMessagesAreRefusedWhereTheyDoNotSayTheirTimes) {
    const Layout reading = reading_of("criterion");
    const auto message = [](const std::string& rest) {
        return R"({"reason": "benchmark-complete", "id": "a", )" + rest + "}";
    };
    EXPECT_NE(
        refusal(message(R"("unit": "s", "iteration_count": [1], "measured_values": [2])"), reading)
            .find("expected ns"),
        std::string::npos);
    EXPECT_NE(refusal(message(R"("unit": "ns", "iteration_count": [1, 2], "measured_values": [2])"),
                      reading)
                  .find("as many as iteration_count"),
              std::string::npos);
    EXPECT_NE(
        refusal(message(R"("unit": "ns", "iteration_count": [0], "measured_values": [2])"), reading)
            .find("read: "),
        std::string::npos)
        << "a case without a value, which is an error of the case alone";
    EXPECT_NE(
        refusal(message(R"("unit": "ns", "iteration_count": [], "measured_values": [])"), reading)
            .find("it has no samples"),
        std::string::npos);
}

TEST(BenchmarkFormats, AreRecognised) {
    const auto name_of = [](const std::string& text) {
        const Format* format = recognised(text, "file");
        return format == nullptr ? std::string() : std::string(format->name);
    };
    const std::map<std::string, std::vector<std::string>> files{
        {"google-benchmark", {"google-benchmark.json", "google-benchmark-1.9.json"}},
        {"hyperfine", {"hyperfine.json"}},
        {"nvbench", {"nvbench.json", "nvbench-gpu.json"}},
        {"pytest-benchmark", {"pytest-benchmark.json", "pytest-benchmark-5.2.3.json"}},
        {"criterion", {"criterion.jsonl"}},
        {"llama-bench", {"llama-bench.json", "llama-bench.jsonl", "llama-bench.csv"}},
        {"vllm", {"vllm.json", "vllm.jsonl"}},
        {"sglang", {"sglang.jsonl"}},
        {"nccl-tests", {"nccl-tests.txt"}},
        {"cutlass-profiler", {"cutlass-profiler.csv"}},
        {"nsys-stats", {"nsys-stats.csv"}},
        {"ncu", {"ncu-raw.csv", "ncu.csv"}}};
    for (const Format& format : formats()) {
        const bool has_mark = !format.recognised_by.empty() || !format.heading.empty();
        EXPECT_EQ(files.contains(std::string(format.name)), has_mark) << format.name;
    }
    for (const auto& [name, samples] : files) {
        for (const std::string& file : samples) {
            EXPECT_EQ(name_of(util::read_file(folder + file, most_bytes, "results")), name) << file;
        }
    }
    EXPECT_EQ(name_of("{}"), "");
    EXPECT_EQ(name_of("[]"), "");
    EXPECT_EQ(name_of("name,time\n"), "");
    EXPECT_EQ(name_of(""), "");
    EXPECT_THROW(recognised("{\"context\": ", "file"), util::InputError);
}

TEST(BenchmarkFormats, EveryFormatOfWhichTheSuiteSaysAllIsATable) {
    for (const Format& format : formats()) {
        EXPECT_TRUE(!format.is_generic() || format.is_table) << format.name;
    }
}

std::string google(const std::string& entries, const std::string& context = "") {
    return "{\"context\": {" + context + "}, \"benchmarks\": [" + entries + "]}";
}

std::string entry(const std::string& name, const std::string& time, const std::string& more = "") {
    return "{\"name\": \"" + name + "\", \"real_time\": " + time +
           ", \"cpu_time\": 1, \"time_unit\": \"ns\"" + more + "}";
}

TEST(GoogleBenchmark, NamesBecomeParameters) {
    const auto id = [](const std::string& name) {
        return id_of(read_google_benchmark(google(entry(name, "1")), "file", {}).results.at(0));
    };
    EXPECT_EQ(id("sum"), "sum");
    EXPECT_EQ(id("sum/8/n:4/16"), "sum[arg0=8,arg1=16,n=4]");
    EXPECT_EQ(id("Fixture/method/8/threads:2"), "Fixture/method[arg0=8,threads=2]");
    EXPECT_EQ(id("sum/8/manual_time"), "sum[arg0=8,manual_time=true]");
    EXPECT_EQ(id("std::sort<int>/8"), "std::sort<int>[arg0=8]");
    EXPECT_EQ(id("copy<std::vector<int>, 8>/threads:2"), "copy<std::vector<int>, 8>[threads=2]");
    // Words between numbers: the name stays whole.
    EXPECT_EQ(id("sum/8/fast"), "sum/8/fast");
    EXPECT_EQ(id("sum/007"), "sum/007");
}

TEST(GoogleBenchmark, RefusesWhatItDoesNotKnow) {
    const Layout reading = reading_of("google-benchmark");
    EXPECT_EQ(refusal(google(entry("a", "1"), "\"json_schema_version\": 2"), reading),
              "file: context.json_schema_version: version 2 of the format; expected 1");
    EXPECT_EQ(refusal(google(R"({"name": "a", "real_time": 1, "cpu_time": 1, "time_unit": "h"})"),
                      reading),
              "file: benchmarks[0].time_unit: unknown time unit 'h'; expected ns, us, ms or s");
    EXPECT_EQ(refusal(google(entry("a", "1") + "," + entry("a", "2")), reading),
              "file: benchmarks[1]: the result a appears twice");
    EXPECT_EQ(refusal(google(entry("a/n:1/n:1", "1")), reading),
              "file: a: the parameter n appears twice");
    EXPECT_EQ(refusal(google(entry("a", "1", ", \"run_type\": \"dream\"")), reading),
              "file: benchmarks[0].run_type: unknown run type 'dream'");
    EXPECT_EQ(refusal(google(""), reading), "file: it has no result");
    EXPECT_EQ(refusal(google(entry("", "1")), reading), "file: a result has no name");
    EXPECT_EQ(refusal(google(entry("*", "1")), reading), "file: a result is named '*'");
    EXPECT_EQ(refusal(google(entry("a\\u001b[1m", "1")), reading),
              "file: the name a?[1m has characters that are not printable");
    EXPECT_EQ(refusal("", reading), "file: the file is empty");
    EXPECT_NE(refusal(google(entry("a", "nan")), reading).find("file:1:"), std::string::npos);
    EXPECT_NE(refusal("{}", reading).find("context"), std::string::npos);
    EXPECT_NE(refusal("[]", reading).find("file"), std::string::npos);
    EXPECT_NE(refusal(google(entry(std::string(70'000, 'a'), "1")), reading).find("70000 bytes"),
              std::string::npos);
}

TEST(GoogleBenchmark, AResultWithoutATimeHasAProblem) {
    const auto problem = [](const std::string& entries) {
        return read_google_benchmark(google(entries), "file", {}).results.at(0).problem;
    };
    EXPECT_EQ(problem(entry("a", "0")), "real_time is 0; expected a finite number above 0");
    EXPECT_EQ(problem(entry("a", "-1")), "real_time is -1; expected a finite number above 0");
    EXPECT_EQ(problem(entry("a", "1", ", \"error_occurred\": true, \"error_message\": \"no\"")),
              "the benchmark reports an error: no");
    EXPECT_EQ(problem(entry("a", "NaN")), "real_time is nan; expected a finite number above 0");
    EXPECT_EQ(problem(entry("a_cv", "1", R"(, "run_name": "a", "run_type": "aggregate",
                                            "aggregate_name": "cv")")),
              "the file has neither its repetitions nor their median");
    EXPECT_EQ(problem(entry("a", "1")), "");
    // One repetition that fails fails the result.
    EXPECT_NE(problem(entry("a", "1", ", \"repetition_index\": 0") + "," +
                      entry("a", "0", ", \"repetition_index\": 1")),
              "");
}

TEST(GoogleBenchmark, EveryRepetitionHasACounterOrNone) {
    const auto repetition = [](int index, const std::string& more) {
        return entry("a", "1", ", \"repetition_index\": " + std::to_string(index) + more);
    };
    const auto problem = [](const std::string& entries) {
        return read_google_benchmark(google(entries), "file", {}).results.at(0).problem;
    };
    const std::string rate = ", \"items_per_second\": 5";
    EXPECT_EQ(problem(repetition(0, rate) + "," + repetition(1, rate)), "");
    EXPECT_EQ(problem(repetition(0, rate) + "," + repetition(1, "")),
              "1 of 2 repetitions have items_per_second; expected it of all");
}

std::string problem_of(const std::string& format, const std::string& text) {
    return read_text(text, "file", reading_of(format)).results.at(0).problem;
}

TEST(BenchmarkFormats, AResultWithFewerSamplesThanTheFileStatesHasAProblem) {
    const auto repetitions = [](int delivered, int stated) {
        std::string entries;
        for (int i = 0; i < delivered; ++i) {
            entries +=
                (i == 0 ? "" : ",") +
                entry("a", "1",
                      fmt::format(R"(, "repetition_index": {}, "repetitions": {})", i, stated));
        }
        return problem_of("google-benchmark", google(entries));
    };
    EXPECT_EQ(repetitions(5, 5), "");
    EXPECT_EQ(
        repetitions(2, 5),
        "real_time has 2 samples, and the file says 5: run the benchmark to its end, and keep "
        "its results whole");
    EXPECT_NE(repetitions(1, -5), "");
    EXPECT_EQ(repetitions(3, 0), "") << "1.5 writes 0 for what an option sets";
    EXPECT_EQ(
        problem_of("google-benchmark",
                   google(entry("a", "1", R"(, "repetition_index": 0, "repetitions": 1)") + "," +
                          entry("a", "1", R"(, "repetition_index": 1, "repetitions": 2)"))),
        "the file says of real_time that it has 1, and elsewhere 2 samples");

    const auto hyperfine = [](const std::string& times) {
        return problem_of("hyperfine", R"({"results": [{"command": "a", "exit_codes": [0, 0, 0],
                                         "times": [)" +
                                           times + "]}]}");
    };
    EXPECT_EQ(hyperfine("1, 2, 3"), "");
    EXPECT_NE(hyperfine("1, 2").find("2 samples, and the file says 3"), std::string::npos);

    const auto pytest = [](const std::string& data) {
        return problem_of("pytest-benchmark", R"({"version": "3.2.2", "machine_info": {},
            "benchmarks": [{"fullname": "a", "stats": {"rounds": 3, "median": 1)" +
                                                  data + "}}]}");
    };
    EXPECT_EQ(pytest(R"(, "data": [1, 2, 3])"), "");
    EXPECT_EQ(pytest(""), "") << "the median of all of them";
    EXPECT_NE(pytest(R"(, "data": [1])").find("1 sample, and the file says 3"), std::string::npos);
}

TEST(BenchmarkFormats, SayOnWhichDeviceAndHowTheLibraryWasBuilt) {
    const auto read = [](const std::string& context) {
        return read_google_benchmark(google(entry("a", "1"), context), "file", {});
    };
    const auto method = [&](const std::string& context) {
        return read(context).results.at(0).metrics.at("real_time").method;
    };
    EXPECT_EQ(read("").device, "");
    EXPECT_EQ(read(R"("num_cpus": 2, "mhz_per_cpu": 3000, "caches": [{"size": 1024}])").device,
              read(R"("num_cpus": 2, "mhz_per_cpu": 1000, "caches": [{"size": 1024}])").device)
        << "the frequency varies";
    EXPECT_NE(read(R"("num_cpus": 2, "caches": [{"size": 1024}])").device,
              read(R"("num_cpus": 2, "caches": [{"size": 2048}])").device);
    EXPECT_NE(read(R"("num_cpus": 2)").device, read(R"("num_cpus": 4)").device);
    EXPECT_EQ(method(""), "google-benchmark");
    EXPECT_EQ(method(R"("library_build_type": "release")"), "google-benchmark");
    EXPECT_EQ(method(R"("library_build_type": "debug")"), "google-benchmark/debug-build");
}

TEST(GoogleBenchmark, DoubtsAreNoted) {
    const Results results =
        read_google_benchmark(google(entry("a", "1"), R"("library_build_type": "debug",
                                     "cpu_scaling_enabled": true, "host_name": "box")"),
                              "file", {});
    EXPECT_EQ(results.machine, "box");
    ASSERT_EQ(results.notes.size(), 2U);
    EXPECT_NE(results.notes[0].find("debug build"), std::string::npos);
    EXPECT_NE(results.notes[1].find("cpu_scaling_enabled"), std::string::npos);
}

TEST(Hyperfine, RefusesWhatItDoesNotKnow) {
    const Layout reading = reading_of("hyperfine");
    const auto of = [](const std::string& entries) { return "{\"results\": [" + entries + "]}"; };
    EXPECT_EQ(
        refusal(of(R"({"command": "a", "times": [1]}, {"command": "a", "times": [1]})"), reading),
        "file: the result a appears twice");
    EXPECT_EQ(refusal(of(R"({"command": "a", "times": []})"), reading),
              "read: machine \na\n  problem: it has no times\n");
    EXPECT_NE(refusal(of(R"({"command": "a"})"), reading).find("times"), std::string::npos);
    EXPECT_NE(refusal(of(R"({"command": "a", "times": [1, 0]})"), reading)
                  .find("problem: real_time is 0"),
              std::string::npos);
    EXPECT_NE(refusal(of(R"({"command": "a", "times": [1], "exit_codes": [null]})"), reading)
                  .find("problem: the command did not exit with 0"),
              std::string::npos);
}

TEST(PytestBenchmark, RefusesAnotherVersion) {
    EXPECT_EQ(refusal(R"({"machine_info": {}, "benchmarks": [], "version": "7.0.0"})",
                      reading_of("pytest-benchmark")),
              "file: version: version 7.0.0 of the format; expected 3, 4 or 5");
}

std::string text_of_file(const std::string& file) {
    return util::read_file(folder + file, most_bytes, "results");
}

std::string with(std::string text, const std::string& old, const std::string& fresh) {
    const std::size_t at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return at == std::string::npos ? text : text.replace(at, old.size(), fresh);
}

TEST(Serve, RequestsThatDidNotCompleteAreAProblem) {
    const std::string whole = text_of_file("vllm.json");
    const std::string old = with(whole, "\"failed\": 0, ", "");
    const std::string null = with(whole, "\"failed\": 0", "\"failed\": null");
    const auto of = [](const std::string& text, const std::string& completed) {
        return problem_of("vllm", with(text, "\"completed\": 200, ", completed));
    };
    for (const std::string& text : {old, null}) {
        const auto problem = [&](const std::string& completed) { return of(text, completed); };
        EXPECT_EQ(problem("\"completed\": 200, "), "");
        EXPECT_EQ(problem("\"completed\": 50, "),
                  "the document: num_prompts is 200, and completed is 50; expected the same");
        EXPECT_NE(problem("\"completed\": 0, "), "");
        EXPECT_NE(problem("\"completed\": null, "), "");
        EXPECT_NE(problem(""), "");
        for (const char* all : {"0", "-1"}) {
            const std::string asked = fmt::format("\"num_prompts\": {}", all);
            EXPECT_EQ(of(with(text, "\"num_prompts\": 200", asked), "\"completed\": 50, "), "");
        }
    }
    EXPECT_EQ(of(whole, "\"completed\": 50, "), "") << "none failed: the data set had no more";
    EXPECT_NE(of(with(whole, "\"failed\": 0", "\"failed\": 1"), "\"completed\": 199, "), "");
}

TEST(BenchmarkFormats, TheDeviceThatTheOutputNamesIsRead) {
    const auto device = [](const std::string& format, const std::string& text) {
        return read_text(text, "file", reading_of(format)).device;
    };
    for (const std::string ending : {"json", "jsonl", "csv"}) {
        EXPECT_EQ(device("llama-bench", text_of_file("llama-bench." + ending)), "a GPU");
    }
    EXPECT_EQ(device("llama-bench", with(text_of_file("llama-bench.csv"), "a GPU", "B200")),
              "B200; a GPU");
    const auto without_gpu = [&](const std::string& cpu) {
        const std::string text = with(text_of_file("llama-bench.jsonl"), "a GPU", "");
        return device("llama-bench", with(with(text, "a GPU", ""), "a CPU", cpu));
    };
    EXPECT_EQ(without_gpu("a CPU"), "a CPU");
    EXPECT_EQ(without_gpu("EPYC"), "EPYC; a CPU");
    EXPECT_EQ(device("ncu", text_of_file("ncu.csv")), "CC 9.0");
    EXPECT_EQ(device("ncu", text_of_file("ncu-raw.csv")), "NVIDIA H100 80GB HBM3");
    // The number of ranks, too: their times are of another collective.
    const std::string nccl = text_of_file("nccl-tests.txt");
    EXPECT_EQ(device("nccl-tests", nccl), "2 NVIDIA GPU");
    EXPECT_EQ(device("nccl-tests", with(nccl, "#  Rank  1 Group", "#")), "1 NVIDIA GPU");
    EXPECT_EQ(device("nccl-tests", with(nccl, "NVIDIA GPU", "NVIDIA B200 \r")),
              "1 NVIDIA B200, 1 NVIDIA GPU");
    EXPECT_EQ(device("nccl-tests", with(nccl, "#  Rank  0 Group  0 Pid", "#   Rank  0 Pid")),
              "2 NVIDIA GPU")
        << "as older versions write it";
    std::string line;
    for (int i = 0; i < 20'000; ++i) line += "#  Rank ";
    const std::string many = device("nccl-tests", with(nccl, "#  Rank", line + "\n#  Rank"));
    EXPECT_TRUE(many.ends_with(", 2 NVIDIA GPU")) << many;
    EXPECT_LT(many.size(), 400U);
}

TEST(NcclTests, WhatFailsOrDoesNotEndIsNoResult) {
    const std::string text = with(text_of_file("nccl-tests.txt"), "17.37       2", "17.37       0");
    const std::string bounds = "# Out of bounds values : 2 FAILED\n";
    const std::string good = with(text, bounds, "# Out of bounds values : 0 OK\n");
    const auto problems = [](const std::string& of) {
        std::set<std::string> found;
        for (const Result& each : read_text(of, "file", reading_of("nccl-tests")).results) {
            found.insert(each.problem);
        }
        return found;
    };
    EXPECT_EQ(problems(good), std::set<std::string>{""});
    EXPECT_EQ(problems(text),
              std::set<std::string>{"all_reduce_perf reports 'Out of bounds values : 2 FAILED'"});
    const std::string bandwidth = "# Avg bus bandwidth    : 9.145 \n";
    EXPECT_FALSE(
        problems(with(good, bandwidth, "# Avg bus bandwidth    : 9.145 FAILED\n")).contains(""));
    const Layout reading = reading_of("nccl-tests");
    EXPECT_EQ(refusal(with(good, bandwidth, "Test NCCL failure\n"), reading),
              "file: all_reduce_perf has no line '# Avg bus bandwidth', which ends its output: run "
              "it to its end");
    EXPECT_NE(refusal(with(text, bounds, ""), reading).find("no line"), std::string::npos);
    // Of two tests each has its own end.
    const std::string other = with(good, "starting: all_reduce_perf", "starting: broadcast_perf");
    EXPECT_NE(
        refusal(with(good, bandwidth, "") + other, reading).find("all_reduce_perf has no line"),
        std::string::npos);
}

Layout csv_reading() {
    Layout reading = reading_of("csv");
    reading.name = "name";
    reading.axes = {{"n", "n"}};
    reading.values = {value("real_time", "s", 1e9)};
    return reading;
}

TEST(Csv, LinesOfOneNameAreSamples) {
    EXPECT_EQ(
        refusal("\xEF\xBB\xBFname,n,s\r\n\"a, \"\"b\"\"\",1,2e-9\r\n\"a, \"\"b\"\"\",1,3e-9\r\n"
                "c,1,\r\n",
                csv_reading()),
        "read: machine \na, \"b\"[n=1]\n  real_time by csv: 2 3\nc[n=1]\n");
}

TEST(Csv, ACaseHasAValueInAllOfItsLinesOrInNone) {
    Layout reading = csv_reading();
    reading.values.push_back(value("other", "o", 1e9));
    const auto of = [&](const std::string& lines) {
        return refusal("name,n,s,o\n" + lines, reading);
    };
    EXPECT_EQ(
        of("a,1,2e-9,\na,1,,\nb,1,1e-9,\n"),
        "read: machine \na[n=1]\n  problem: line 3: no value in column s, which line 2 of the "
        "same case has: write it in each row, or tell the cases apart ('case', 'axes')\n  "
        "real_time by csv: 2\nb[n=1]\n  real_time by csv: 1\n");
    EXPECT_EQ(
        of("a,1,1e-9,\na,1,1e-9,\na,1,1e-9,3e-9\n"),
        "read: machine \na[n=1]\n  problem: line 2: no value in column o, which line 4 of the "
        "same case has: write it in each row, or tell the cases apart ('case', 'axes')\n  other "
        "by csv: 3\n  real_time by csv: 1 1 1\n");
}

TEST(Csv, RefusesWhatIsNoTable) {
    const auto refused = [](const std::string& text) { return refusal(text, csv_reading()); };
    EXPECT_EQ(refused("name,n\na,1\n"), "file: line 1: 0 columns are named 's'; expected one");
    EXPECT_EQ(refused("nam,n,s\na,1,1\n"),
              "file: line 1: 0 columns are named 'name'; expected one; did you mean 'nam'?");
    EXPECT_EQ(refused("name,n,s,s\n"), "file: line 1: 2 columns are named 's'; expected one");
    EXPECT_EQ(refused("name,n,s\na,1\n"), "file: line 2: 2 fields; expected 3 as in the header");
    EXPECT_EQ(refused("name,n,s\n\"a,1,1\n"), "file: line 2: a quoted field does not end");
    EXPECT_EQ(refused("name,n,s\n\"a\"b,1,1\n"),
              "file: line 2: text after a quoted field; expected ',' or its end");
    EXPECT_EQ(refused("name,n,s\na\"b,1,1\n"),
              "file: line 2: a quote in a field that does not begin with one");
    EXPECT_EQ(refused("name,n,s\n"), "file: it has no result");
    EXPECT_EQ(refused("\n\n"), "file: it has no header");
    EXPECT_NE(refused("name,n,s\na,1,nan\n").find("problem: real_time is nan"), std::string::npos);
}

TEST(Json, RefusesPathsThatLeadElsewhere) {
    Layout reading = reading_of("json");
    reading.rows = "/*";
    reading.values = {value("real_time", "/s", 1e9)};
    EXPECT_EQ(refusal(R"({"a": {"s": 1}, "b": {"s": 2}})", reading),
              "read: machine \na\n  real_time by json: 1e+09\nb\n  real_time by json: 2e+09\n");
    EXPECT_EQ(refusal(R"([{"s": 1}])", reading),
              "read: machine \nresult\n  real_time by json: 1e+09\n");
    reading.name = "/name";
    EXPECT_EQ(refusal(R"([{"s": 1}])", reading),
              "file: [0]: '/name' leads to 0 values; expected one");
    EXPECT_EQ(refusal("3", reading), "file: it has no result");
    EXPECT_NE(refusal(R"([{"name": "a", "s": {}}])", reading).find("a number"), std::string::npos);
}

TEST(Json, ARowHasAllOfItsSamplesOrNone) {
    Layout reading = reading_of("json");
    reading.rows = "/*";
    reading.values = {value("real_time", "/runs/*/s", 1e9)};
    EXPECT_EQ(
        refusal(R"({"a": {"runs": [{"s": 1}, {"s": 2}]}, "b": {"runs": [{}]}, "c": {}})", reading),
        "read: machine \na\n  real_time by json: 1e+09 2e+09\nb\nc\n");
    for (const char* slow : {"{}", R"({"s": null})", "3"}) {
        EXPECT_EQ(
            refusal(fmt::format(
                        R"({{"a": {{"runs": [{{"s": 1}}, {}]}}, "b": {{"runs": [{{"s": 1}}]}}}})",
                        slow),
                    reading),
            "read: machine \na\n  problem: a.runs[1]: '/runs/*/s' has no value here, but has "
            "values elsewhere in the row: each sample needs one\nb\n  real_time by json: "
            "1e+09\n")
            << slow;
    }
}

std::string followed(const std::string& path, const std::string& json) {
    const document::JsonDocument document(json, "file");
    std::string text;
    JsonPath(path).each(document.root(), [&](std::string_view key, document::JsonValue value) {
        text += fmt::format("{}={} ", key, value.number());
    });
    return text;
}

TEST(JsonPath, IsAPointerWithStars) {
    EXPECT_EQ(followed("", "3"), "=3 ");
    EXPECT_EQ(followed("/a/0", R"({"a": [1, 2]})"), "=1 ");
    EXPECT_EQ(followed("/a/*", R"({"a": [1, 2]})"), "=1 =2 ");
    EXPECT_EQ(followed("/*/x", R"({"a": {"x": 1}, "b": {"y": 2}, "c": 3})"), "a=1 ");
    EXPECT_EQ(followed("/a~1b/c~0d", R"({"a/b": {"c~d": 1}})"), "=1 ");
    EXPECT_EQ(followed("/a/x", R"({"a": [1, 2]})"), "");
    EXPECT_EQ(followed("/a/7", R"({"a": [1, 2]})"), "");
    for (const char* wrong : {"a", "/a~", "/a~2"}) {
        EXPECT_THROW(JsonPath{wrong}, util::InputError) << wrong;
    }
    EXPECT_THROW(JsonPath{'/' + std::string(300, 'a')}, util::InputError);
}

}  // namespace benchmark_formats_test
}  // namespace perfgate::benchmark
