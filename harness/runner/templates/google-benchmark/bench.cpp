// Stands for benchmarks of yours: how long sorting takes.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

static void sort(benchmark::State& state) {
    std::mt19937 random(1);
    std::vector<std::uint32_t> unsorted(static_cast<std::size_t>(state.range(0)));
    std::generate(unsorted.begin(), unsorted.end(), random);
    for (auto _ : state) {
        std::vector<std::uint32_t> values = unsorted;
        std::sort(values.begin(), values.end());
        benchmark::DoNotOptimize(values.data());
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(sort)->Arg(1 << 10)->Arg(1 << 16);

BENCHMARK_MAIN();
