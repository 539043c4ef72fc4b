// SPDX-License-Identifier: Apache-2.0
// A Google Benchmark program as users have it. WORK=2 does twice the work, WORK=1.03 3 % more.
// STATED=1 states its times, a microsecond for each step and up to 1 % more, so that they are the
// same on every machine.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <random>

namespace {

double factor() {
    const char* text = std::getenv("WORK");
    return text == nullptr ? 1 : std::atof(text);
}

template <class T>
void mix(benchmark::State& state) {
    const auto steps = static_cast<std::int64_t>(static_cast<double>(state.range(0)) * factor());
    static std::minstd_rand random(static_cast<unsigned>(getpid()));
    std::uniform_real_distribution<double> spread(1, 1.01);
    T value = 1;
    for ([[maybe_unused]] auto iteration : state) {
        for (std::int64_t i = 0; i < steps; ++i) {
            value = value * 3 + 1;
            benchmark::DoNotOptimize(value);
        }
        state.SetIterationTime(1e-6 * static_cast<double>(steps) * spread(random));
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
    state.counters["steps"] = static_cast<double>(state.range(0));
}

}  // namespace

int main(int argc, char** argv) {
    benchmark::internal::Benchmark* mixes =
        benchmark::RegisterBenchmark("mix<std::uint32_t>", mix<std::uint32_t>);
    mixes->ArgName("n")->Arg(1000)->Arg(10'000)->MinTime(0.01);
    if (std::getenv("STATED") != nullptr) mixes->UseManualTime();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
