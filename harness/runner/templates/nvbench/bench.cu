// Replace this with your benchmarks: how long scaling a vector takes.
#include <nvbench/nvbench.cuh>

#include <thrust/device_vector.h>

#include <cstddef>

template <class T>
__global__ void scale_kernel(T* values, std::size_t n) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) values[i] = values[i] * T(2) + T(1);
}

template <class T>
static void scale(nvbench::state& state, nvbench::type_list<T>) {
    const auto n = static_cast<std::size_t>(state.get_int64("N"));
    thrust::device_vector<T> values(n, T(1));
    state.add_element_count(n);
    state.add_global_memory_reads<T>(n);
    state.add_global_memory_writes<T>(n);
    state.exec([&](nvbench::launch& launch) {
        const auto blocks = static_cast<unsigned>((n + 255) / 256);
        scale_kernel<T>
            <<<blocks, 256, 0, launch.get_stream()>>>(thrust::raw_pointer_cast(values.data()), n);
    });
}
using types = nvbench::type_list<float, double>;
NVBENCH_BENCH_TYPES(scale, NVBENCH_TYPE_AXES(types))
    .set_type_axes_names({"T"})
    .add_int64_power_of_two_axis("N", {20, 24});
