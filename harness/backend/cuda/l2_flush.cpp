// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/l2_flush.hpp"

#include <algorithm>

namespace perfgate::backend::cuda {
namespace {

// A device that reports no L2 size still gets a buffer larger than any L2 of its time.
constexpr std::size_t kMinimumBytes = std::size_t{64} << 20;

}  // namespace

L2Flush::L2Flush(std::size_t l2_bytes) : buffer_(std::max(2 * l2_bytes, kMinimumBytes)) {}

void L2Flush::operator()(CUstream stream) const {
    check(driver().cuMemsetD32Async(buffer_.address(), 0, buffer_.bytes() / sizeof(std::uint32_t),
                                    stream),
          "cannot flush the L2 cache");
}

}  // namespace perfgate::backend::cuda
