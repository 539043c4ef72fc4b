// SPDX-License-Identifier: Apache-2.0
//
// The CUDA driver, reached by dlopen: a typed table of the functions that the backend calls, and an
// owner for each kind of handle. The module therefore loads on a machine without a driver, where
// `driver_available()` says why.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "util/error.hpp"

namespace perfgate::backend::cuda {

// Each name goes through cuda.h's macros first, so that an entry stands for the ABI version that
// this module was compiled for (cuMemAlloc for the symbol cuMemAlloc_v2).
// clang-format off
#define PERFGATE_CUDA_DRIVER_FUNCTIONS(X) \
    X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString) \
    X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceTotalMem) \
    X(cuDeviceGetAttribute) X(cuDeviceGetPCIBusId) \
    X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease) X(cuDevicePrimaryCtxGetState) \
    X(cuCtxGetCurrent) X(cuCtxSetCurrent) X(cuCtxSynchronize) \
    X(cuCtxGetLimit) X(cuCtxSetLimit) X(cuCtxResetPersistingL2Cache) \
    X(cuStreamGetAttribute) X(cuStreamSetAttribute) \
    X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize) X(cuStreamQuery) \
    X(cuStreamWaitValue32) \
    X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord) X(cuEventSynchronize) X(cuEventElapsedTime) \
    X(cuMemAlloc) X(cuMemFree) X(cuMemGetInfo) \
    X(cuMemHostAlloc) X(cuMemFreeHost) X(cuMemHostGetDevicePointer) \
    X(cuMemGetAllocationGranularity) X(cuMemCreate) X(cuMemRelease) \
    X(cuMemAddressReserve) X(cuMemAddressFree) X(cuMemMap) X(cuMemUnmap) X(cuMemSetAccess) \
    X(cuMemsetD8Async) X(cuMemsetD32Async) X(cuMemcpyHtoDAsync) X(cuMemcpyDtoHAsync) X(cuMemcpyDtoDAsync) \
    X(cuModuleLoadData) X(cuModuleLoadDataEx) X(cuModuleUnload) X(cuModuleGetFunction) X(cuLaunchKernel) \
    X(cuStreamBeginCapture) X(cuStreamEndCapture) X(cuStreamIsCapturing) X(cuGraphGetNodes) X(cuGraphDestroy) \
    X(cuGraphInstantiate) X(cuGraphLaunch) X(cuGraphExecDestroy) \
    X(cuFuncGetAttribute) X(cuFuncSetAttribute) X(cuFuncGetParamInfo) X(cuFuncGetModule) X(cuKernelGetFunction) X(cuPointerGetAttribute)
// clang-format on

struct DriverApi {
#define PERFGATE_CUDA_DECLARE(name) decltype(&::name) name = nullptr;
    PERFGATE_CUDA_DRIVER_FUNCTIONS(PERFGATE_CUDA_DECLARE)
#undef PERFGATE_CUDA_DECLARE
    /// cuDeviceGetUuid_v2, which knows MIG instances; of a driver without it, cuDeviceGetUuid. By
    /// name, because the headers of CUDA 12 do not map one to the other.
    CUresult (*device_uuid)(CUuuid* uuid, CUdevice device) = nullptr;
};

/// A failed driver call.
class CudaError : public util::Error {
  public:
    CudaError(CUresult code, std::string_view what);
    [[nodiscard]] CUresult code() const { return code_; }
    /// The context is lost: every later call in this process fails too.
    [[nodiscard]] bool sticky() const;

  private:
    CUresult code_;
};

/// The table, loaded and initialised (cuInit) once per process. Throws util::Error, with the
/// remedy, if there is no usable driver.
const DriverApi& driver();

/// Whether `driver()` would succeed and at least one device is visible; `why` gets the reason if
/// not.
bool driver_available(std::string* why = nullptr) noexcept;

/// Throws CudaError with the CUDA name and text of `code`, unless it is CUDA_SUCCESS. `what` says
/// what was being done, as a clause: "cannot allocate 4 MiB on the device".
void check(CUresult code, std::string_view what);

/// "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".
std::string describe(CUresult code);

/// Number of devices that CUDA_VISIBLE_DEVICES leaves.
int device_count();

/// True if a primary context is active or another context is current: this process has opened a
/// device.
bool has_context();

/// CUDA version that the driver supports: 13000 for 13.0.
int driver_cuda_version();

/// A launch may pass a kernel of a library, which has a function for each context: returns that
/// function, or `launched` itself. Null if the driver does not know it.
CUfunction function_of_context(CUfunction launched);

/// Facts that do not change while the process runs. Sizes in bytes.
struct DeviceFacts {
    int ordinal = 0;
    std::string name;
    std::string uuid;        ///< "GPU-…", or "MIG-…" for a MIG instance
    std::string pci_bus_id;  ///< "0000:1b:00.0"
    bool mig = false;
    int cc_major = 0;
    int cc_minor = 0;
    std::size_t memory_bytes = 0;
    std::size_t l2_bytes = 0;
    int sm_count = 0;
    int warp_size = 0;
    int max_threads_per_block = 0;
    int max_threads_per_sm = 0;
    int registers_per_block = 0;
    int registers_per_sm = 0;
    std::size_t smem_per_block = 0;
    std::size_t smem_per_block_optin = 0;
    std::size_t smem_per_sm = 0;
    std::size_t smem_reserved_per_block = 0;
};

/// Throws CudaError if `ordinal` does not exist.
DeviceFacts device_facts(int ordinal);

/// Retains the device's primary context (the one that the CUDA runtime and cuBLAS use) and makes it
/// current on the constructing thread.
class PrimaryContext {
  public:
    explicit PrimaryContext(int ordinal);
    ~PrimaryContext();
    PrimaryContext& operator=(PrimaryContext&&) = delete;  // nor copied

    void make_current() const;
    /// Waits for all work; throws CudaError with the error of a failed kernel.
    void synchronize() const;
    [[nodiscard]] CUcontext get() const { return context_; }
    [[nodiscard]] CUdevice device() const { return device_; }

  private:
    CUdevice device_ = 0;
    CUcontext context_ = nullptr;
};

/// A stream that does not synchronise with the legacy default stream.
class Stream {
  public:
    Stream();
    ~Stream();
    Stream& operator=(Stream&&) = delete;  // nor copied

    [[nodiscard]] CUstream get() const { return stream_; }

  private:
    CUstream stream_ = nullptr;
};

class Event {
  public:
    Event();
    ~Event();
    Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
    Event& operator=(Event&&) = delete;

    void record(CUstream stream) const;
    void synchronize() const;
    [[nodiscard]] CUevent get() const { return event_; }

  private:
    CUevent event_ = nullptr;
};

/// Time between two completed events, in nanoseconds (resolution about 0.5 µs or finer).
double elapsed_ns(const Event& begin, const Event& end);

class DeviceBuffer {
  public:
    explicit DeviceBuffer(std::size_t bytes);
    ~DeviceBuffer();
    DeviceBuffer& operator=(DeviceBuffer&&) = delete;  // nor copied

    [[nodiscard]] CUdeviceptr address() const { return address_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

  private:
    CUdeviceptr address_ = 0;
    std::size_t bytes_ = 0;
};

/// A kernel in PTX, which the driver compiles for the current context's device, so that this module
/// needs no nvcc.
class PtxKernel {
  public:
    /// `failure`: what every error begins with, "cannot flush the L2 cache". Throws CudaError.
    PtxKernel(const std::string& ptx, const char* name, const char* failure);
    ~PtxKernel();
    PtxKernel& operator=(PtxKernel&&) = delete;  // nor copied

    /// Queues a launch; returns without waiting for it.
    void operator()(CUstream stream, unsigned blocks, unsigned threads, void** arguments) const;

  private:
    const char* failure_;
    CUmodule module_ = nullptr;
    CUfunction kernel_ = nullptr;
};

/// PTX of the kernel `name`, whose threads share the indices below %count: `element` is run for
/// each and has it in %i. `before` sets %count and may, like the others, use %p2, the registers
/// from %r5 to %r11 and %rd1 to %rd11. `parameters` as PTX writes them.
std::string grid_loop_ptx(std::string_view name, std::string_view parameters,
                          std::string_view before, std::string_view element,
                          std::string_view after = "");

/// Page-locked host memory that is mapped on the device.
class PinnedBuffer {
  public:
    explicit PinnedBuffer(std::size_t bytes);
    ~PinnedBuffer();
    PinnedBuffer& operator=(PinnedBuffer&&) = delete;  // nor copied

    [[nodiscard]] void* host() const { return host_; }
    [[nodiscard]] CUdeviceptr device() const { return device_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

  private:
    void* host_ = nullptr;
    CUdeviceptr device_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace perfgate::backend::cuda
