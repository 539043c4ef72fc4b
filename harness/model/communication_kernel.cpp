// SPDX-License-Identifier: Apache-2.0
#include "model/communication_kernel.hpp"

#include <algorithm>
#include <array>

namespace perfgate::model {
namespace {

/// Parts of the names, as the libraries' sources define them.
constexpr std::array<std::string_view, 12> name_parts{
    // NCCL: src/include/collectives.h up to 2.18, then src/device/generate.py; its
    // symmetric kernels of 2.27 and since 2.28 (src/device/symmetric/generate.py).
    "ncclKernel", "ncclDevKernel", "ncclSymDevKernel", "ncclSymkDevKernel",
    // NVSHMEM 3, include/internal/non_abi: nvshmemi_h_to_d_{rma,sync}_defs.cuh, and
    // nvshmemi_h_to_d_coll_defs.cuh, whose names lack the prefix.
    "nvshmemi_", "alltoall_on_stream_kernel", "barrier_on_stream_kernel_threadgroup",
    "broadcast_on_stream_kernel", "fcollect_on_stream_kernel", "rdxn_on_stream_kernel",
    "reducescatter_on_stream_kernel", "sync_on_stream_kernel_threadgroup"};

}  // namespace

bool is_communication_kernel(std::string_view symbol) {
    return std::ranges::any_of(name_parts, [&](std::string_view part) {
        return symbol.find(part) != std::string_view::npos;
    });
}

}  // namespace perfgate::model
