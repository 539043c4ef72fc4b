// SPDX-License-Identifier: Apache-2.0
#include "interpolate/eager.hpp"

#include <algorithm>

namespace interpolate {
namespace {

constexpr int kThreads = 256;
constexpr std::size_t kGranularity = 512;  // bytes; sizes that are close share blocks

/// The argument of a kernel whose operation needs none. An empty struct would pass a byte that
/// nobody wrote, which another build fills with something else.
struct NoState {
    char unused = 0;
};

// Operations by name, so that kernel records tell them apart.
struct Add : NoState {
    __device__ float operator()(float x, float y, float) const { return x + y; }
};
struct Subtract : NoState {
    __device__ float operator()(float x, float y, float) const { return x - y; }
};
struct Multiply : NoState {
    __device__ float operator()(float x, float y, float) const { return x * y; }
};
struct Divide : NoState {
    __device__ float operator()(float x, float y, float) const { return x / y; }
};
struct Where : NoState {
    __device__ float operator()(float c, float y, float n) const { return c != 0.0f ? y : n; }
};
struct Negate : NoState {
    __device__ float operator()(float x) const { return -x; }
};
struct SubtractFrom {
    float s;
    __device__ float operator()(float x) const { return s - x; }
};
struct SubtractScalar {
    float s;
    __device__ float operator()(float x) const { return x - s; }
};
struct Less {
    float s;
    __device__ float operator()(float x) const { return x < s ? 1.0f : 0.0f; }
};
struct Greater {
    float s;
    __device__ float operator()(float x) const { return x > s ? 1.0f : 0.0f; }
};
struct Clamp {
    float least, most;
    __device__ float operator()(float x) const { return fminf(fmaxf(x, least), most); }
};
struct Abs : NoState {
    __device__ float operator()(float x) const { return fabsf(x); }
};
struct Acos : NoState {
    __device__ float operator()(float x) const { return acosf(x); }
};
struct Sin : NoState {
    __device__ float operator()(float x) const { return sinf(x); }
};
struct Exp : NoState {
    __device__ float operator()(float x) const { return expf(x); }
};
struct Sigmoid : NoState {
    __device__ float operator()(float x) const { return 1.0f / (1.0f + expf(-x)); }
};

unsigned blocks_for(std::size_t items) {
    return static_cast<unsigned>((items + kThreads - 1) / kThreads);
}

template <class Op>
__global__ void __launch_bounds__(kThreads)
    eager_unary(Op op, float* __restrict__ out, const float* __restrict__ a, size_t count) {
    const size_t i = static_cast<size_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i < count) out[i] = op(a[i]);
}

// An operand as an element-wise kernel reads it: a stretched extent has step 0.
struct Operand {
    const float* data;
    unsigned row_step;
    unsigned col_step;
    __device__ float at(unsigned row, unsigned col) const {
        return data[row * row_step + col * col_step];
    }
};

template <class Op>
__global__ void __launch_bounds__(kThreads)
    eager_elementwise(Op op, float* __restrict__ out, Operand a, Operand b, Operand c,
                      unsigned cols, unsigned count) {
    const unsigned i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= count) return;
    const unsigned row = i / cols;
    const unsigned col = i % cols;
    out[i] = op(a.at(row, col), b.at(row, col), c.at(row, col));
}

template <bool kNorm>
__global__ void __launch_bounds__(kThreads)
    eager_reduce(float* __restrict__ out, const float* __restrict__ a, int rows, int cols) {
    const int row = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
    if (row >= rows) return;
    float result = 0.0f;
    for (int col = 0; col < cols; ++col) {
        const float x = a[static_cast<size_t>(row) * cols + col];
        result += kNorm ? x * x : x;
    }
    out[row] = kNorm ? sqrtf(result) : result;
}

__global__ void __launch_bounds__(kThreads)
    eager_select_row(float* __restrict__ out, const float* __restrict__ a,
                     const float* __restrict__ index, size_t cols) {
    const size_t i = static_cast<size_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i < cols) out[i] = a[static_cast<size_t>(*index) * cols + i];
}

__global__ void eager_count_up_to(float* __restrict__ out, const float* __restrict__ ascending,
                                  const float* __restrict__ value, int count) {
    int first = 0;
    for (int last = count; first < last;) {
        const int middle = (first + last) / 2;
        if (ascending[middle] <= *value) {
            first = middle + 1;
        } else {
            last = middle;
        }
    }
    *out = static_cast<float>(first);
}

void launched(const char* what) {
    common::check(cudaGetLastError(), what);
}

template <class Op>
Tensor unary(const Tensor& a, Op op) {
    Tensor out(a.context(), a.rows(), a.cols());
    eager_unary<<<blocks_for(a.elements()), kThreads, 0, a.context().stream()>>>(
        op, out.data(), a.data(), a.elements());
    launched("launching an element-wise operation");
    return out;
}

template <class Op>
Tensor elementwise(const Tensor& a, const Tensor& b, const Tensor& c, Op op) {
    const int rows = std::max({a.rows(), b.rows(), c.rows()});
    const int cols = std::max({a.cols(), b.cols(), c.cols()});
    const auto operand = [&](const Tensor& t) {
        const auto row = static_cast<unsigned>(t.cols());
        return Operand{t.data(), t.rows() == 1 ? 0u : row, t.cols() == 1 ? 0u : 1u};
    };
    Tensor out(a.context(), rows, cols);
    eager_elementwise<<<blocks_for(out.elements()), kThreads, 0, a.context().stream()>>>(
        op, out.data(), operand(a), operand(b), operand(c), static_cast<unsigned>(cols),
        static_cast<unsigned>(out.elements()));
    launched("launching an element-wise operation");
    return out;
}

template <bool kNorm>
Tensor reduce(const Tensor& a) {
    Tensor out(a.context(), a.rows(), 1);
    eager_reduce<kNorm>
        <<<blocks_for(static_cast<std::size_t>(a.rows())), kThreads, 0, a.context().stream()>>>(
            out.data(), a.data(), a.rows(), a.cols());
    launched("launching a reduction");
    return out;
}

}  // namespace

std::size_t CachingAllocator::bytes_of(std::size_t elements) {
    return (elements * sizeof(float) + kGranularity - 1) / kGranularity * kGranularity;
}

float* CachingAllocator::take(std::size_t elements) {
    const std::size_t bytes = bytes_of(elements);
    std::vector<float*>& free = free_[bytes];
    if (!free.empty()) {
        float* block = free.back();
        free.pop_back();
        return block;
    }
    blocks_.push_back(std::make_unique<common::DeviceMemory>(bytes, "a tensor"));
    auto* block = blocks_.back()->as<float>();
    bytes_[block] = bytes;
    return block;
}

void CachingAllocator::give_back(float* block) {
    free_[bytes_.at(block)].push_back(block);
}

void CachingAllocator::poison() {
    for (const auto& [bytes, blocks] : free_) {
        for (float* block : blocks) {
            common::check(cudaMemsetAsync(block, 0xff, bytes, nullptr), "poisoning free memory");
        }
    }
}

Tensor Context::upload(const float* value) {
    Tensor out(*this, 1, 1);
    common::check(
        cudaMemcpyAsync(out.data(), value, sizeof *value, cudaMemcpyHostToDevice, stream_),
        "copying an element to the device");
    if (waits_for_uploads_) {
        common::check(cudaStreamSynchronize(stream_), "copying an element to the device");
    }
    return out;
}

Tensor::Tensor(Context& context, int rows, int cols)
    : context_(&context),
      storage_(
          context.allocator().take(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols)),
          [&context](float* block) { context.allocator().give_back(block); }),
      rows_(rows),
      cols_(cols) {}

Tensor::Tensor(Context& context, float* data, int rows, int cols)
    : context_(&context), storage_(data, [](float*) {}), rows_(rows), cols_(cols) {}

Tensor Tensor::reshaped(int rows, int cols) const {
    Tensor result = *this;
    result.rows_ = rows;
    result.cols_ = cols;
    return result;
}

Tensor operator+(const Tensor& a, const Tensor& b) {
    return elementwise(a, b, b, Add{});
}
Tensor operator-(const Tensor& a, const Tensor& b) {
    return elementwise(a, b, b, Subtract{});
}
Tensor operator*(const Tensor& a, const Tensor& b) {
    return elementwise(a, b, b, Multiply{});
}
Tensor operator/(const Tensor& a, const Tensor& b) {
    return elementwise(a, b, b, Divide{});
}
Tensor where(const Tensor& condition, const Tensor& yes, const Tensor& no) {
    return elementwise(condition, yes, no, Where{});
}

Tensor operator-(const Tensor& a) {
    return unary(a, Negate{});
}
Tensor operator-(float s, const Tensor& a) {
    return unary(a, SubtractFrom{s});
}
Tensor operator-(const Tensor& a, float s) {
    return unary(a, SubtractScalar{s});
}
Tensor operator<(const Tensor& a, float s) {
    return unary(a, Less{s});
}
Tensor operator>(const Tensor& a, float s) {
    return unary(a, Greater{s});
}
Tensor clamp(const Tensor& a, float least, float most) {
    return unary(a, Clamp{least, most});
}
Tensor abs(const Tensor& a) {
    return unary(a, Abs{});
}
Tensor acos(const Tensor& a) {
    return unary(a, Acos{});
}
Tensor sin(const Tensor& a) {
    return unary(a, Sin{});
}
Tensor exp(const Tensor& a) {
    return unary(a, Exp{});
}
Tensor sigmoid(const Tensor& a) {
    return unary(a, Sigmoid{});
}

Tensor sum(const Tensor& a) {
    return reduce<false>(a);
}
Tensor norm(const Tensor& a) {
    return reduce<true>(a);
}

Tensor select_row(const Tensor& a, const Tensor& index) {
    Tensor out(a.context(), 1, a.cols());
    eager_select_row<<<blocks_for(out.elements()), kThreads, 0, a.context().stream()>>>(
        out.data(), a.data(), index.data(), out.elements());
    launched("launching a selection");
    return out;
}

Tensor count_up_to(const Tensor& ascending, const Tensor& value) {
    Tensor out(ascending.context(), 1, 1);
    eager_count_up_to<<<1, 1, 0, ascending.context().stream()>>>(
        out.data(), ascending.data(), value.data(), static_cast<int>(ascending.elements()));
    launched("launching a search");
    return out;
}

}  // namespace interpolate
