// SPDX-License-Identifier: Apache-2.0
// How long the way from a Run's JSON to each report takes, without a device and without the gate:
// a tenth of the cases is slower and gets explained.
// Prints one line per step: milliseconds, megabytes of text, the process's peak memory so far.
//
//     report_bench [CASES [METRICS]]       (default: 1,000 and 10,000 cases of 30 metrics)
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>

#include "explain/explain.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"
#include "report/reporter.hpp"
#include "report_fixture.hpp"

namespace {

using namespace perfgate;

double peak_memory_mib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Runs `step`, which returns how many bytes of text it read or wrote.
template <typename Step>
void measure(std::string_view name, Step step) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    const std::size_t bytes = step();
    const std::chrono::duration<double, std::milli> elapsed = Clock::now() - start;
    fmt::print("{:<16} {:9.1f} ms {:9.1f} MB {:9.1f} MiB peak\n", name, elapsed.count(),
               static_cast<double>(bytes) / 1e6, peak_memory_mib());
}

void measure_all(int cases, int metrics) {
    fmt::print("{} cases x {} metrics\n", cases, metrics);
    report::Documents documents = report::many_cases(cases, metrics);
    std::string run_json;
    measure("write run", [&] {
        run_json = model::write_run(documents.run);
        return run_json.size();
    });
    measure("parse run", [&] {
        const model::Run run = model::parse_run(run_json, "run.json");
        return run.suites.empty() ? 0 : run_json.size();
    });
    measure("explain", [&] {
        explain::explain(documents.run, explain::Which::moved, documents.verdict);
        std::size_t bytes = 0;
        for (const model::CaseVerdict& verdict : documents.verdict.suites[0].cases) {
            for (const model::Cause& cause : verdict.why) bytes += cause.sentence.size();
        }
        return bytes;
    });
    for (const report::Format& format : report::formats()) {
        measure(fmt::format("report {}", format.name),
                [&] { return format.write(documents.verdict, documents.run, {}).size(); });
    }
    report::Options strict;
    strict.junit_profile = report::JunitProfile::strict;
    measure("junit strict", [&] {
        return report::find_format("junit")->write(documents.verdict, documents.run, strict).size();
    });
    measure("parse verdict", [&] {
        const std::string json = model::write_verdict(documents.verdict);
        const model::VerdictDocument verdict = model::parse_verdict(json, "verdict.json");
        return verdict.suites.empty() ? 0 : json.size();
    });
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
        measure_all(cases, metrics);
        return 0;
    }
    measure_all(1000, 30);
    measure_all(10000, 30);
    return 0;
}
