// SPDX-License-Identifier: Apache-2.0
// An nvbench program for tests/e2e/test_gpu_nvbench.py, which tests/gpu/nvbench builds. With
// -DPERCENT=103 (`slow`) it does 3 % more iterations in `fma` and copies 3 % more elements in
// `copy` than without (`base`).
#include <nvbench/nvbench.cuh>

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <stdexcept>

#ifndef PERCENT
#define PERCENT 100
#endif

template <typename T>
__global__ void fma_kernel(T* out, int iterations) {
    T value = static_cast<T>(threadIdx.x);
    for (int i = 0; i < iterations; ++i) value = value * T(1.0001) + T(0.5);
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void copy_kernel(const float4* in, float4* out, std::size_t n) {
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) out[i] = in[i];
}

struct Buffer {
    explicit Buffer(std::size_t bytes) {
        NVBENCH_CUDA_CALL(cudaMalloc(&data, bytes));
        NVBENCH_CUDA_CALL(cudaMemset(data, 1, bytes));
    }
    ~Buffer() { cudaFree(data); }
    Buffer(const Buffer&) = delete;
    void* data = nullptr;
};

template <typename T>
void fma(nvbench::state& state, nvbench::type_list<T>) {
    const auto iterations = static_cast<int>(state.get_int64("Iterations{io}") * PERCENT / 100);
    Buffer out(1024 * 256 * sizeof(T));
    state.exec([&](nvbench::launch& launch) {
        fma_kernel<T><<<1024, 256, 0, launch.get_stream()>>>(static_cast<T*>(out.data), iterations);
    });
}
using types = nvbench::type_list<float, double>;
NVBENCH_BENCH_TYPES(fma, NVBENCH_TYPE_AXES(types))
    .set_type_axes_names({"T{ct}"})
    .add_int64_axis("Iterations{io}", {1000, 10000});

void copy(nvbench::state& state) {
    const auto bytes = static_cast<std::size_t>(state.get_int64("Bytes"));
    if (state.get_string("Order") == "random") {
        state.skip("no random order yet");
        return;
    }
    const std::size_t n = bytes / sizeof(float4) * PERCENT / 100;
    Buffer in(n * sizeof(float4)), out(n * sizeof(float4));
    // The rate is of the work that the caller asked for.
    state.add_element_count(bytes / sizeof(float4), "Elements");
    state.add_global_memory_reads<char>(bytes);
    state.add_global_memory_writes<char>(bytes);
    state.exec([&](nvbench::launch& launch) {
        copy_kernel<<<1024, 256, 0, launch.get_stream()>>>(static_cast<const float4*>(in.data),
                                                           static_cast<float4*>(out.data), n);
    });
}
NVBENCH_BENCH(copy)
    .add_int64_power_of_two_axis("Bytes", {24, 27})
    .add_string_axis("Order", {"linear", "random"});

// With a value of its own, an axis of real numbers, and synchronisation in the timed region.
void pi(nvbench::state& state) {
    const double limit = state.get_float64("Limit");
    Buffer out(256 * 256 * sizeof(float));
    state.exec(nvbench::exec_tag::sync, [&](nvbench::launch& launch) {
        fma_kernel<float><<<256, 256, 0, launch.get_stream()>>>(
            static_cast<float*>(out.data), static_cast<int>(1000 / limit) * PERCENT / 100);
        cudaStreamSynchronize(launch.get_stream());
    });
    auto& summary = state.add_summary("error");
    summary.set_string("name", "Error");
    summary.set_string("description", "of the approximation");
    summary.set_float64("value", limit * 1e-3);
}
NVBENCH_BENCH(pi).add_float64_axis("Limit", {0.1, 0.025});

// On the CPU.
void sum(nvbench::state& state) {
    const auto n = state.get_int64("N") * PERCENT / 100;
    state.add_element_count(static_cast<std::size_t>(state.get_int64("N")));
    state.exec([n](nvbench::launch&) {
        volatile double total = 0;
        for (nvbench::int64_t i = 0; i < n; ++i) total = total + std::sqrt(static_cast<double>(i));
    });
}
NVBENCH_BENCH(sum).set_is_cpu_only(true).add_int64_axis("N", {100000});

// An exception ends a state, not the program.
void broken(nvbench::state& state) {
    if (state.get_int64("Fails") != 0) throw std::runtime_error("no such table");
    Buffer out(256 * 256 * sizeof(float));
    state.exec([&](nvbench::launch& launch) {
        fma_kernel<float><<<256, 256, 0, launch.get_stream()>>>(static_cast<float*>(out.data),
                                                                1000 * PERCENT / 100);
    });
}
NVBENCH_BENCH(broken).add_int64_axis("Fails", {0, 1});

NVBENCH_MAIN
