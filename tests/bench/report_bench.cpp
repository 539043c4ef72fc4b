// SPDX-License-Identifier: Apache-2.0
// How long `compare` with every report takes, and how much memory: a Run and a Baseline are read,
// judged and explained, and each report is written. A tenth of the cases is slower.
// Prints one line per step: milliseconds of a core, megabytes of text, the process's peak memory so
// far.
//
//     report_bench [CASES [METRICS]]       (default: 1,000 and 10,000 cases of 30 metrics)
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

#include "baseline/refresh.hpp"
#include "baseline/store.hpp"
#include "document/baseline.hpp"
#include "document/run.hpp"
#include "explain/explain.hpp"
#include "gate/batch_rule.hpp"
#include "gate/gate.hpp"
#include "model/baseline.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"
#include "report/formats.hpp"
#include "report/html.hpp"
#include "report_fixture.hpp"
#include "util/file.hpp"

namespace {

using namespace perfgate;
namespace fs = std::filesystem;

constexpr std::size_t file_limit = std::size_t{1} << 30;
constexpr int gated_metrics = 4;
constexpr int run_processes = 5;  // of a usual run
constexpr int baseline_processes = 20;
constexpr int samples = 10;
constexpr const char* board = "0123456789abcdef";  // as long as the real ones

double peak_memory_mib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Of this process's one thread, so that others on the machine do not count.
double spent_ms() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto ms = [](const timeval& time) {
        return 1e3 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_usec);
    };
    return ms(usage.ru_utime) + ms(usage.ru_stime);
}

/// Times of several processes, counters of one.
model::Run recorded_run(int cases, int metrics, int processes) {
    model::Run run = report::many_cases(cases, metrics).run;
    run.metric_definitions.at("gpu_time").metric_class = model::MetricClass::timing;
    run.environment.device.board = board;
    for (model::CaseResult& result : run.suites[0].cases) {
        result.verification = model::Verification{true, 1, "all elements"};
        for (auto& [name, series] : result.metrics) {
            if (static_cast<int>(result.gates.size()) < gated_metrics) {
                result.gates.push_back({name, {0.03, {}, 0}, 0});
            }
            model::Batch batch = series.batches[0];
            batch.device = board;
            batch.samples = {series.value};
            series.batches = {batch};
            if (name != "gpu_time") continue;
            series.batches.clear();
            for (int process = 0; process < processes; ++process) {
                batch.process = process;
                batch.samples.assign(samples, series.value * (1 + 1e-4 * process));
                series.batches.push_back(batch);
            }
        }
    }
    return run;
}

void write_documents(const fs::path& folder, int cases, int metrics) {
    const model::Run base = recorded_run(cases, metrics, baseline_processes);
    util::write_file_atomically(
        folder / "baseline.json",
        document::write_baseline(baseline::refresh(base, base.suites[0], {}, {}).baseline));
    model::Run run = recorded_run(cases, metrics, run_processes);
    std::vector<model::CaseResult>& results = run.suites[0].cases;
    for (std::size_t i = 0; i < results.size(); i += 10) {
        for (auto& [name, series] : results[i].metrics) {
            series.value *= 1.2;
            for (model::Batch& batch : series.batches) {
                for (double& sample : batch.samples) sample *= 1.2;
            }
        }
    }
    util::write_file_atomically(folder / "run.json", document::write_run(run));
}

/// In a process of its own: its memory is not that of what is measured.
bool make_documents(const fs::path& folder, int cases, int metrics) {
    const pid_t child = fork();
    if (child == 0) {
        int status = 0;
        try {
            write_documents(folder, cases, metrics);
        } catch (const std::exception& error) {
            fmt::print(stderr, "report_bench: {}\n", error.what());
            status = 3;
        }
        _exit(status);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

class Bench {
  public:
    /// Runs `step`, which returns how many bytes of text it read or wrote.
    template <typename Step>
    void measure(std::string_view name, Step step) {
        const double start = spent_ms();
        const std::size_t bytes = step();
        const double elapsed = spent_ms() - start;
        total_ms_ += elapsed;
        fmt::print("{:<20} {:9.1f} ms {:9.1f} MB {:9.1f} MiB peak\n", name, elapsed,
                   static_cast<double>(bytes) / 1e6, peak_memory_mib());
    }

    double total_ms() const { return total_ms_; }

  private:
    double total_ms_ = 0;
};

void measure_all(const fs::path& folder, int cases, int metrics) {
    fmt::print("{} cases x {} metrics\n", cases, metrics);
    Bench bench;
    model::Run run;
    bench.measure("read run", [&] {
        const fs::path file = folder / "run.json";
        run = document::parse_run(util::read_file(file, file_limit, "run"), "run.json");
        return static_cast<std::size_t>(fs::file_size(file));
    });
    gate::BaselineSet baselines;
    bench.measure("read baseline", [&] {
        const fs::path file = folder / "baseline.json";
        baselines[run.suites[0].name] = baseline::read_baseline(file);
        return static_cast<std::size_t>(fs::file_size(file));
    });
    model::VerdictDocument document;
    bench.measure("judge", [&] {
        const model::Policy policy;
        document = gate::judge(run, baselines, policy, gate::BatchRule(policy));
        baselines.clear();
        return std::size_t{0};
    });
    bench.measure("explain", [&] {
        explain::explain(run, explain::Which::moved, document);
        return std::size_t{0};
    });
    for (const report::Format& format : report::formats) {
        if (format.name == "html" && !report::has_html_page()) continue;
        bench.measure(fmt::format("report {}", format.name),
                      [&] { return format.write(document, run, {}).size(); });
    }
    fmt::print("{:<20} {:9.1f} ms {:>12} {:9.1f} MiB peak\n\n", "all", bench.total_ms(), "",
               peak_memory_mib());
}

/// Measured in a process of its own, too: memory that one size took would be the next one's peak.
bool bench_in_child(int cases, int metrics) {
    std::string folder = (fs::temp_directory_path() / "perfgate-bench-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) return false;
    bool good = make_documents(folder, cases, metrics);
    if (good) {
        std::fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            measure_all(folder, cases, metrics);
            std::fflush(stdout);
            _exit(0);
        }
        int status = 0;
        good = child > 0 && waitpid(child, &status, 0) == child && status == 0;
    }
    fs::remove_all(folder);
    return good;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) {
        const int cases = std::atoi(argv[1]);
        const int metrics = argc > 2 ? std::atoi(argv[2]) : 30;
        if (cases < 1 || metrics < 1) {
            fmt::print(stderr, "usage: report_bench [CASES [METRICS]]\n");
            return 2;
        }
        return bench_in_child(cases, metrics) ? 0 : 3;
    }
    return bench_in_child(1000, 30) && bench_in_child(10000, 30) ? 0 : 3;
}
