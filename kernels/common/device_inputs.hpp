// SPDX-License-Identifier: Apache-2.0
// Inputs made where they are used: the device's side of inputs.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/cuda.hpp"
#include "common/dtype.hpp"

namespace common {

// Enqueues filling count elements with the values of fill_host.
void fill_device(void* storage, Dtype dtype, std::uint64_t operand, std::uint64_t seed,
                 std::size_t count, cudaStream_t stream = nullptr);

}  // namespace common
