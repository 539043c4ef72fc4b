// SPDX-License-Identifier: Apache-2.0
// An eager tensor framework in small: every operation takes memory for its result from a caching
// allocator and launches one generic kernel, at once and on its own. That is what the larger ones
// do; what they add is time on the host. f32 matrices only; an extent of 1 stretches to the other
// operand's.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "common/cuda.hpp"

namespace interpolate {

// Memory that was freed is handed out again without the device being asked: work on one stream is
// in order, so the next owner writes after the last one has read.
class CachingAllocator {
  public:
    CachingAllocator() = default;
    CachingAllocator(const CachingAllocator&) = delete;
    CachingAllocator& operator=(const CachingAllocator&) = delete;

    float* take(std::size_t elements);
    void give_back(float* block);
    // Fills all memory that no tensor holds with NaN.
    void poison();

  private:
    static std::size_t bytes_of(std::size_t elements);

    std::vector<std::unique_ptr<common::DeviceMemory>> blocks_;
    std::map<std::size_t, std::vector<float*>> free_;
    std::map<float*, std::size_t> bytes_;
};

class Tensor;

// Where operations go: an allocator and a stream. Outlives its tensors.
class Context {
  public:
    // Frameworks wait for a copy from the host, whose source may go away; while a graph is recorded
    // nothing can be waited for.
    explicit Context(bool waits_for_uploads) : waits_for_uploads_(waits_for_uploads) {}

    CachingAllocator& allocator() { return allocator_; }
    cudaStream_t stream() const { return stream_; }
    void use(cudaStream_t stream) { stream_ = stream; }

    // One element, copied from the host. Without waiting, `value` must stay until that is done.
    Tensor upload(const float* value);

  private:
    CachingAllocator allocator_;
    cudaStream_t stream_ = nullptr;
    bool waits_for_uploads_;
};

class Tensor {
  public:
    Tensor() = default;
    // New, of undefined content.
    Tensor(Context& context, int rows, int cols);
    // Of memory that is someone else's.
    Tensor(Context& context, float* data, int rows, int cols);

    Context& context() const { return *context_; }
    float* data() const { return storage_.get(); }
    int rows() const { return rows_; }
    int cols() const { return cols_; }
    std::size_t elements() const {
        return static_cast<std::size_t>(rows_) * static_cast<std::size_t>(cols_);
    }
    // The same elements in other rows.
    Tensor reshaped(int rows, int cols) const;

  private:
    Context* context_ = nullptr;
    std::shared_ptr<float> storage_;
    int rows_ = 0;
    int cols_ = 0;
};

Tensor operator+(const Tensor&, const Tensor&);
Tensor operator-(const Tensor&, const Tensor&);
Tensor operator*(const Tensor&, const Tensor&);
Tensor operator/(const Tensor&, const Tensor&);

Tensor operator-(const Tensor&);
Tensor operator-(float, const Tensor&);
Tensor operator-(const Tensor&, float);
// 1 where it holds, else 0.
Tensor operator<(const Tensor&, float);
Tensor operator>(const Tensor&, float);
Tensor clamp(const Tensor&, float least, float most);
Tensor abs(const Tensor&);
Tensor acos(const Tensor&);
Tensor sin(const Tensor&);
Tensor exp(const Tensor&);
Tensor sigmoid(const Tensor&);

// `yes` where the condition is not 0, else `no`.
Tensor where(const Tensor& condition, const Tensor& yes, const Tensor& no);
// Over the columns of each row.
Tensor sum(const Tensor&);
Tensor norm(const Tensor&);
// The row that `index`, one element, names.
Tensor select_row(const Tensor&, const Tensor& index);
// How many of the ascending elements are not greater than `value`, one element.
Tensor count_up_to(const Tensor& ascending, const Tensor& value);

}  // namespace interpolate
