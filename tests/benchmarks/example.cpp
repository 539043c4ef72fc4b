// SPDX-License-Identifier: Apache-2.0
// A Google Benchmark program as users have it. WORK=2 does twice the work, WORK=1.03 3 % more.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>

namespace {

double factor() {
    const char* text = std::getenv("WORK");
    return text == nullptr ? 1 : std::atof(text);
}

template <class T>
void mix(benchmark::State& state) {
    const auto steps = static_cast<std::int64_t>(static_cast<double>(state.range(0)) * factor());
    T value = 1;
    for ([[maybe_unused]] auto iteration : state) {
        for (std::int64_t i = 0; i < steps; ++i) {
            value = value * 3 + 1;
            benchmark::DoNotOptimize(value);
        }
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
    state.counters["steps"] = static_cast<double>(state.range(0));
}

}  // namespace

BENCHMARK_TEMPLATE(mix, std::uint32_t)->ArgName("n")->Arg(1000)->Arg(10'000)->MinTime(0.01);

BENCHMARK_MAIN();
