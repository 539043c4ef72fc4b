// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace gemm {

// cuBLAS's workspace: what NVIDIA advises for compute capability 9.0.
inline constexpr std::size_t kCublasWorkspaceBytes = std::size_t{32} << 20;

}  // namespace gemm
