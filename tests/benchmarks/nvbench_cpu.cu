// SPDX-License-Identifier: Apache-2.0
// The nvbench program that wrote tests/data/benchmarks/nvbench*.json, on a machine without a GPU:
// linked to an nvbench 0.1.0 (66212f1) whose list of devices is empty if cudaGetDeviceCount fails.
// perfgate's build leaves it out.
#include <nvbench/nvbench.cuh>

#include <cmath>
#include <cstdlib>
#include <stdexcept>

namespace {
nvbench::int64_t percent() {
    const char* text = std::getenv("PERCENT");
    return text == nullptr ? 100 : std::atoi(text);
}
}  // namespace

void sum(nvbench::state& state) {
    const auto n = state.get_int64("N{io}") * percent() / 100;
    if (state.get_string("Order") == "random") {
        state.skip("no random order yet");
        return;
    }
    state.add_element_count(static_cast<std::size_t>(state.get_int64("N{io}")));
    state.add_global_memory_reads<char>(static_cast<std::size_t>(8 * state.get_int64("N{io}")));
    state.set_cuda_stream(
        nvbench::make_cuda_stream_view(cudaStream_t{}));  // without a GPU none is made
    state.exec(nvbench::exec_tag::no_gpu, [n](nvbench::launch&) {
        volatile double total = 0;
        for (nvbench::int64_t i = 0; i < n; ++i) total = total + std::sqrt(static_cast<double>(i));
    });
    auto& summary = state.add_summary("error");
    summary.set_string("name", "Error");
    summary.set_float64("value", 0.125);
}
NVBENCH_BENCH(sum)
    .set_is_cpu_only(true)
    .add_int64_axis("N{io}", {1000, 100000})
    .add_string_axis("Order", {"linear", "random"});

template <typename T>
void product(nvbench::state& state, nvbench::type_list<T>) {
    const T factor = static_cast<T>(state.get_float64("Factor"));
    state.set_cuda_stream(
        nvbench::make_cuda_stream_view(cudaStream_t{}));  // without a GPU none is made
    state.exec(nvbench::exec_tag::no_gpu, [factor](nvbench::launch&) {
        volatile T total = 1;
        for (int i = 0; i < 10000; ++i) total = total * factor;
    });
}
using types = nvbench::type_list<float, double>;
NVBENCH_BENCH_TYPES(product, NVBENCH_TYPE_AXES(types))
    .set_type_axes_names({"T{ct}"})
    .set_is_cpu_only(true)
    .add_float64_axis("Factor", {0.5, 1.0});

void broken(nvbench::state& state) {
    if (state.get_int64("Fails") != 0) throw std::runtime_error("no such table");
    state.set_cuda_stream(
        nvbench::make_cuda_stream_view(cudaStream_t{}));  // without a GPU none is made
    state.exec(nvbench::exec_tag::no_gpu, [](nvbench::launch&) {
        volatile double total = 0;
        for (int i = 0; i < 10000; ++i) total = total + i;
    });
}
NVBENCH_BENCH(broken).set_is_cpu_only(true).add_int64_axis("Fails", {0, 1});

// Resets no device.
#undef NVBENCH_MAIN_FINALIZE
#define NVBENCH_MAIN_FINALIZE() \
    }                           \
    }                           \
    []() {}()
NVBENCH_MAIN
