// SPDX-License-Identifier: Apache-2.0
// Kernels that exchange data with other GPUs, known by their names.
#pragma once

#include <string_view>

namespace perfgate::model {

/// Whether the kernel is one of NCCL's or NVSHMEM's own, which wait for kernels of other GPUs.
/// `symbol` may be mangled. Kernels of the program that call NVSHMEM themselves are not known.
bool is_communication_kernel(std::string_view symbol);

}  // namespace perfgate::model
