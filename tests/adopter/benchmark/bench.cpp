#include <benchmark/benchmark.h>

#include <numeric>
#include <vector>

static void sum(benchmark::State& state) {
    const std::vector<double> values(static_cast<std::size_t>(state.range(0)), 1.0);
    for (auto _ : state) {
        benchmark::DoNotOptimize(std::accumulate(values.begin(), values.end(), 0.0));
    }
}
BENCHMARK(sum)->Arg(1000);
BENCHMARK_MAIN();
