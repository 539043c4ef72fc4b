// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/repeated_memory.hpp"

#include <algorithm>

namespace perfgate::backend::cuda {

bool RepeatedMemory::supported(int ordinal) {
    int value = 0;
    return driver().cuDeviceGetAttribute(&value,
                                         CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                                         ordinal) == CUDA_SUCCESS &&
           value != 0;
}

RepeatedMemory::RepeatedMemory(int ordinal, std::size_t bytes) {
    constexpr const char* what = "cannot map memory repeatedly";
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = ordinal;
    std::size_t piece = 0;
    check(driver().cuMemGetAllocationGranularity(&piece, &properties,
                                                 CU_MEM_ALLOC_GRANULARITY_MINIMUM),
          what);
    bytes_ = std::max(bytes / piece, std::size_t{1}) * piece;
    check(driver().cuMemCreate(&piece_, piece, &properties, 0), what);
    try {
        check(driver().cuMemAddressReserve(&address_, bytes_, 0, 0, 0), what);
        for (; mapped_ < bytes_; mapped_ += piece) {
            check(driver().cuMemMap(address_ + mapped_, piece, 0, piece_, 0), what);
        }
        CUmemAccessDesc access{};
        access.location = properties.location;
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        check(driver().cuMemSetAccess(address_, bytes_, &access, 1), what);
    } catch (...) {
        release();
        throw;
    }
}

RepeatedMemory::~RepeatedMemory() {
    release();
}

void RepeatedMemory::release() {
    if (mapped_ != 0) driver().cuMemUnmap(address_, mapped_);
    if (address_ != 0) driver().cuMemAddressFree(address_, bytes_);
    driver().cuMemRelease(piece_);
}

}  // namespace perfgate::backend::cuda
