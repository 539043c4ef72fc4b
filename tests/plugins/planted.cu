// SPDX-License-Identifier: Apache-2.0
// A kernel for each metric that can get worse without its neighbours: planted_base has it as it
// was, planted_head as a pull request made it. Both have the same results.
#include <cuda_pipeline.h>
#include <cuda/barrier>

#include "perfgate_cuda.hpp"

using namespace perfgate::sdk;

namespace {

#if defined(PLANTED_HEAD)
constexpr bool head = true;
#else
constexpr bool head = false;
#endif

constexpr int threads = 256;
constexpr int tile_elements = 4096;  // 16 KiB, copied by a block at once

/// Converges to 2 * x, however long the chain is.
__device__ float chain(float x, int length) {
    float value = x;
    for (int k = 0; k < length; ++k) value = value * 0.5f + x;
    return value;
}

__device__ std::size_t element() {
    return blockIdx.x * std::size_t{threads} + threadIdx.x;
}

/// Every block takes as long as any other.
__global__ void __launch_bounds__(threads) even_blocks(const float* in, float* out) {
    out[element()] = chain(in[element()], 20000);
}

__global__ void __launch_bounds__(threads) copy_by_threads(const float* in, float* out) {
    __shared__ alignas(16) float tile[tile_elements];
    const float* source = in + std::size_t{blockIdx.x} * tile_elements;
    if constexpr (head) {
        for (int i = static_cast<int>(threadIdx.x); i < tile_elements; i += threads) {
            tile[i] = source[i];
            __syncthreads();
        }
    } else {
        constexpr int wide = 4;
        for (int i = wide * static_cast<int>(threadIdx.x); i < tile_elements; i += wide * threads) {
            __pipeline_memcpy_async(tile + i, source + i, wide * sizeof(float));
        }
        __pipeline_commit();
        __pipeline_wait_prior(0);
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < tile_elements; i += threads) {
        out[std::size_t{blockIdx.x} * tile_elements + static_cast<std::size_t>(i)] = 2 * tile[i];
    }
}

__global__ void __launch_bounds__(threads) copy_in_bulk(const float* in, float* out) {
    __shared__ alignas(128) float tile[tile_elements];
    const float* source = in + std::size_t{blockIdx.x} * tile_elements;
    if constexpr (head) {
        for (int i = static_cast<int>(threadIdx.x); i < tile_elements; i += threads) {
            tile[i] = source[i];
            __syncthreads();
        }
    } else {
#if __CUDA_ARCH__ >= 900
        using Barrier = cuda::barrier<cuda::thread_scope_block>;
        __shared__ alignas(Barrier) char storage[sizeof(Barrier)];
        Barrier& arrived = *reinterpret_cast<Barrier*>(storage);
        if (threadIdx.x == 0) init(&arrived, threads);
        __syncthreads();
        Barrier::arrival_token token;
        if (threadIdx.x == 0) {
            cuda::device::memcpy_async_tx(tile, source, cuda::aligned_size_t<16>(sizeof tile),
                                          arrived);
            token = cuda::device::barrier_arrive_tx(arrived, 1, sizeof tile);
        } else {
            token = arrived.arrive();
        }
        arrived.wait(std::move(token));
#endif
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < tile_elements; i += threads) {
        out[std::size_t{blockIdx.x} * tile_elements + static_cast<std::size_t>(i)] = 2 * tile[i];
    }
}

/// The same additions, written out four hundred times.
__global__ void __launch_bounds__(threads) long_code(const float* in, float* out) {
    const float x = in[element()];
    float value = x;
    if constexpr (head) {
#pragma unroll 400
        for (int k = 0; k < 400; ++k) value = value * 0.5f + x;
    } else {
#pragma unroll 1
        for (int k = 0; k < 400; ++k) value = value * 0.5f + x;
    }
    out[element()] = value;
}

/// An index that the compiler does not know keeps an array out of registers.
__global__ void __launch_bounds__(threads) with_array(const float* in, float* out, int first) {
    const float x = in[element()];
    float value = 0;
    if constexpr (head) {
        float kept[64];
        for (int k = 0; k < 64; ++k) kept[(k + first) % 64] = x * static_cast<float>(k % 2);
        for (int k = 0; k < 4; ++k) value += kept[(k * first + 1) % 64];
        value = value > 1e30f ? value : 2 * x;
    } else {
        value = 2 * x;
    }
    out[element()] = value;
}

/// Reads what lies in the caches over and over, and shared memory as often.
__global__ void __launch_bounds__(threads) busy_caches(const float* in, float* out, std::size_t n) {
    __shared__ float tile[threads];
    const std::size_t at = element();
    float sum = 0;
    for (std::size_t k = 0; k < 32; ++k) {
        tile[threadIdx.x] = __ldcg(in + (at + k * 8192) % n);
        __syncthreads();
        sum += head ? chain(tile[threadIdx.x ^ 1], 400) : tile[threadIdx.x ^ 1];
        __syncthreads();
    }
    out[at] = sum > 1e30f ? sum : 2 * in[at];
}

/// The inputs are in host memory.
__global__ void __launch_bounds__(threads) read_host(const float* in, float* out, std::size_t n) {
    const std::size_t at = element();
    float value = 2 * in[at];
    if constexpr (head) {
        const float other = in[n + at];
        if (other > 1e30f) value = other;
    }
    out[at] = value;
}

/// A case: n elements, of which each result is twice its input.
class Doubling : public Instance {
  public:
    explicit Doubling(std::size_t size) : in_(size), out_(size) {}
    void fill(std::uint64_t seed) override {
        in_.fill(seed);
        out_.poison();
    }
    Verification verify() override {
        return elementwise(out_, [this](std::size_t i) { return 2.0 * in_.filled(i); });
    }
    void launch(void* stream) override {
        submit(stream_of(stream));
        check_launch();
    }

  protected:
    virtual void submit(cudaStream_t stream) = 0;
    unsigned blocks() const { return blocks_for(out_.size(), threads); }
    unsigned tiles() const { return static_cast<unsigned>(out_.size() / tile_elements); }
    const float* in() const { return in_.data(); }
    float* out() const { return out_.data(); }
    std::size_t size() const { return out_.size(); }

  private:
    DeviceBuffer<float> in_, out_;
};

/// Elements for two full rounds of blocks; the head has one block more.
std::size_t two_rounds() {
    int resident = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, even_blocks, threads, 0),
          "the blocks that fit on an SM");
    const auto full =
        static_cast<std::size_t>(2 * resident * device_attribute(cudaDevAttrMultiProcessorCount));
    return (full + (head ? 1 : 0)) * threads;
}

struct Tail : Doubling {
    explicit Tail(const Values&) : Doubling(two_rounds()) {}
    void submit(cudaStream_t stream) override {
        even_blocks<<<blocks(), threads, 0, stream>>>(in(), out());
    }
};

struct Sized : Doubling {
    explicit Sized(const Values& values) : Doubling(values.size("n")) {}
};

struct Threads : Sized {
    using Sized::Sized;
    void submit(cudaStream_t stream) override {
        copy_by_threads<<<tiles(), threads, 0, stream>>>(in(), out());
    }
};

struct Bulk : Sized {
    using Sized::Sized;
    void submit(cudaStream_t stream) override {
        copy_in_bulk<<<tiles(), threads, 0, stream>>>(in(), out());
    }
};

struct Code : Sized {
    using Sized::Sized;
    void submit(cudaStream_t stream) override {
        long_code<<<blocks(), threads, 0, stream>>>(in(), out());
    }
};

struct Stack : Sized {
    using Sized::Sized;
    void submit(cudaStream_t stream) override {
        with_array<<<blocks(), threads, 0, stream>>>(in(), out(), 1);
    }
};

struct Caches : Sized {
    using Sized::Sized;
    void submit(cudaStream_t stream) override {
        busy_caches<<<blocks(), threads, 0, stream>>>(in(), out(), size());
    }
};

struct Host : Sized {
    explicit Host(const Values& values) : Sized(values) {
        check(cudaHostAlloc(&pinned_, 2 * size() * sizeof(float), cudaHostAllocMapped),
              "pinned memory");
    }
    ~Host() override { cudaFreeHost(pinned_); }
    void fill(std::uint64_t seed) override {
        Sized::fill(seed);
        for (std::size_t half = 0; half < 2; ++half) {
            check(cudaMemcpy(pinned_ + half * size(), in(), size() * sizeof(float),
                             cudaMemcpyDeviceToHost),
                  "the inputs");
        }
    }
    void submit(cudaStream_t stream) override {
        read_host<<<blocks(), threads, 0, stream>>>(pinned_, out(), size());
    }

  private:
    float* pinned_ = nullptr;
};

Plugin plugin() {
    return one_workload(
        "planted", {Param::integer("n", "elements", tile_elements, 1 << 28, "4194304")},
        {cuda_variant<Tail>("tail"), cuda_variant<Threads>("threads"), cuda_variant<Bulk>("bulk"),
         cuda_variant<Code>("code"), cuda_variant<Stack>("stack"), cuda_variant<Caches>("caches"),
         cuda_variant<Host>("host")});
}

}  // namespace

PERFGATE_PLUGIN(plugin);
