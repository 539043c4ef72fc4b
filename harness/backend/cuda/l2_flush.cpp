// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/l2_flush.hpp"

#include <algorithm>
#include <cstdint>

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

namespace {

// A device that reports no L2 size still gets a buffer larger than any current L2.
constexpr std::size_t minimum_bytes = std::size_t{64} << 20;
// Twice the L2 left a trace of modified lines on an H100 (34 kB of a GEMM's writes), 2.5 times
// none.
constexpr std::size_t l2_halves = 5;
constexpr std::size_t vector_bytes = 16;
constexpr unsigned threads = 256;
constexpr unsigned blocks_per_sm = 8;

// Reads `vectors` 16-byte words from `buffer`, past the L1, and would store their OR if that were
// not 0: the buffer holds zeros, so nothing is written, yet no load can be optimised away.
std::string reading() {
    return grid_loop_ptx("perfgate_l2_flush", ".param .u64 buffer, .param .u64 vectors",
                         R"(
    ld.param.u64 %rd1, [buffer];
    ld.param.u64 %count, [vectors];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r10, 0;)",
                         R"(
    shl.b64 %rd6, %i, 4;
    add.u64 %rd7, %rd1, %rd6;
    ld.global.cg.v4.u32 {%r5, %r6, %r7, %r8}, [%rd7];
    or.b32 %r5, %r5, %r6;
    or.b32 %r7, %r7, %r8;
    or.b32 %r5, %r5, %r7;
    or.b32 %r10, %r10, %r5;)",
                         R"(
    setp.ne.u32 %p2, %r10, 0;
    @%p2 st.global.u32 [%rd1], %r10;)");
}

}  // namespace

L2Flush::L2Flush(const DeviceFacts& device)
    : buffer_(std::max(l2_halves * device.l2_bytes / 2, minimum_bytes)),
      blocks_(static_cast<unsigned>(device.sm_count) * blocks_per_sm) {
    check(driver().cuMemsetD32Async(buffer_.address(), 0, buffer_.bytes() / sizeof(std::uint32_t),
                                    nullptr),
          "cannot fill the buffer that flushes the L2 cache");
    check(driver().cuCtxSynchronize(), "cannot fill the buffer that flushes the L2 cache");
    try {
        if (RepeatedMemory::supported(device.ordinal)) {
            target_.emplace(device.ordinal, buffer_.bytes());
        }
    } catch (const CudaError&) {
        target_.reset();  // the kernel works everywhere
    }
    kernel_.emplace(reading(), "perfgate_l2_flush", "cannot flush the L2 cache");
}

void L2Flush::operator()(CUstream stream) const {
    CUdeviceptr address = buffer_.address();
    std::uint64_t vectors = buffer_.bytes() / vector_bytes;
    void* arguments[] = {&address, &vectors};
    (*kernel_)(stream, blocks_, threads, arguments);
}

void L2Flush::copy(CUstream stream) const {
    check(driver().cuMemcpyDtoDAsync(target_.value().address(), buffer_.address(),
                                     target_.value().bytes(), stream),
          "cannot flush the L2 cache");
}

PersistingL2::PersistingL2(CUstream stream) : stream_(stream), usual_bytes_(bytes()) {}

std::size_t PersistingL2::bytes() const {
    std::size_t bytes = 0;
    // An error means a device without the feature (before compute capability 8.0, some MIG modes).
    const CUresult code = driver().cuCtxGetLimit(&bytes, CU_LIMIT_PERSISTING_L2_CACHE_SIZE);
    return code == CUDA_SUCCESS ? bytes : 0;
}

bool PersistingL2::has_window() const {
    CUstreamAttrValue value{};
    const CUresult code =
        driver().cuStreamGetAttribute(stream_, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value);
    return code == CUDA_SUCCESS && value.accessPolicyWindow.num_bytes > 0;
}

bool PersistingL2::in_use() const {
    return bytes() != usual_bytes_ || has_window();
}

void PersistingL2::release() const {
    check(driver().cuCtxResetPersistingL2Cache(),
          "cannot release the lines that the variant keeps in the L2 cache");
}

void PersistingL2::restore() const noexcept {
    if (!in_use()) return;
    CUstreamAttrValue none{};
    none.accessPolicyWindow.hitProp = CU_ACCESS_PROPERTY_NORMAL;
    none.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_NORMAL;
    driver().cuStreamSetAttribute(stream_, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &none);
    driver().cuCtxResetPersistingL2Cache();
    driver().cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, usual_bytes_);
}

}  // namespace perfgate::backend::cuda
