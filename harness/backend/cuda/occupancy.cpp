// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/occupancy.hpp"

#include <cuda_occupancy.h>

namespace perfgate::backend::cuda {

Occupancy theoretical_occupancy(const DeviceFacts& device, const KernelFacts& kernel) {
    cudaOccDeviceProp properties;
    properties.computeMajor = device.cc_major;
    properties.computeMinor = device.cc_minor;
    properties.maxThreadsPerBlock = device.max_threads_per_block;
    properties.maxThreadsPerMultiprocessor = device.max_threads_per_sm;
    properties.regsPerBlock = device.registers_per_block;
    properties.regsPerMultiprocessor = device.registers_per_sm;
    properties.warpSize = device.warp_size;
    properties.sharedMemPerBlock = device.smem_per_block;
    properties.sharedMemPerMultiprocessor = device.smem_per_sm;
    properties.numSms = device.sm_count;
    properties.sharedMemPerBlockOptin = device.smem_per_block_optin;
    properties.reservedSharedMemPerBlock = device.smem_reserved_per_block;

    cudaOccFuncAttributes function;
    function.maxThreadsPerBlock = device.max_threads_per_block;
    function.numRegs = static_cast<int>(kernel.registers_per_thread);
    function.sharedSizeBytes = kernel.static_smem_bytes;
    function.shmemLimitConfig =
        kernel.smem_optin ? FUNC_SHMEM_LIMIT_OPTIN : FUNC_SHMEM_LIMIT_DEFAULT;
    // The launch succeeded, so the function has at least the limit that was requested.
    function.maxDynamicSharedSizeBytes = kernel.dynamic_smem_bytes;
    function.numBlockBarriers = 1;

    cudaOccDeviceState state;
    state.carveoutConfig = kernel.smem_carveout_percent;

    const int block_size = static_cast<int>(kernel.block[0] * kernel.block[1] * kernel.block[2]);
    cudaOccResult result{};
    const cudaOccError code = cudaOccMaxActiveBlocksPerMultiprocessor(
        &result, &properties, &function, &state, block_size, kernel.dynamic_smem_bytes);
    if (code != CUDA_OCC_SUCCESS) {
        throw util::Error(
            "cannot compute the occupancy of {} with blocks of {} threads on compute capability "
            "{}.{}",
            kernel.name, block_size, device.cc_major, device.cc_minor);
    }

    Occupancy occupancy;
    occupancy.blocks_per_sm = result.activeBlocksPerMultiprocessor;
    const int warps_per_block = (block_size + device.warp_size - 1) / device.warp_size;
    occupancy.warps_per_sm = occupancy.blocks_per_sm * warps_per_block;
    occupancy.percent =
        100.0 * occupancy.warps_per_sm * device.warp_size / device.max_threads_per_sm;
    return occupancy;
}

double waves(const DeviceFacts& device, const KernelFacts& kernel, const Occupancy& occupancy) {
    const double resident = static_cast<double>(occupancy.blocks_per_sm) * device.sm_count;
    const double blocks = static_cast<double>(kernel.grid[0]) *
                          static_cast<double>(kernel.grid[1]) * static_cast<double>(kernel.grid[2]);
    return resident > 0 ? blocks / resident : 0;
}

}  // namespace perfgate::backend::cuda
