// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>

namespace perfgate::backend::cuda {
namespace {

constexpr const char* library_name = "libcuda.so.1";

// dlsym with the versioned symbol that cuda.h maps each name to, rather than cuGetProcAddress: the
// symbol has the ABI that the table's types were compiled with, even if the driver has a newer one.
DriverApi load() {
    // Never closed: CUPTI, the CUDA runtime and cuBLAS share it until the process ends.
    void* library = dlopen(library_name, RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) {
        throw util::Error("no CUDA driver: {}. Install the NVIDIA driver, or pass --backend host",
                          dlerror());
    }
    DriverApi api;
    const auto resolve = [&](auto& function, const char* name) {
        void* address = dlsym(library, name);
        if (address == nullptr) {
            throw util::Error(
                "the CUDA driver has no {}: it is older than CUDA 13.0 needs. Install driver 580 "
                "or newer",
                name);
        }
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
    };
#define PERFGATE_CUDA_TEXT(name) #name
#define PERFGATE_CUDA_RESOLVE(name) resolve(api.name, PERFGATE_CUDA_TEXT(name));
    PERFGATE_CUDA_DRIVER_FUNCTIONS(PERFGATE_CUDA_RESOLVE)
#undef PERFGATE_CUDA_RESOLVE
    void* uuid = dlsym(library, "cuDeviceGetUuid_v2");
    if (uuid != nullptr) {
        api.device_uuid = reinterpret_cast<decltype(api.device_uuid)>(uuid);
    } else {
        resolve(api.device_uuid, "cuDeviceGetUuid");
    }
#undef PERFGATE_CUDA_TEXT
    return api;
}

std::string describe_with(const DriverApi& api, CUresult code) {
    const char* name = nullptr;
    const char* text = nullptr;
    api.cuGetErrorName(code, &name);
    api.cuGetErrorString(code, &text);
    return fmt::format("{} ({}): {}", name != nullptr ? name : "unknown CUDA error",
                       static_cast<int>(code), text != nullptr ? text : "no description");
}

DriverApi load_and_initialise() {
    const DriverApi api = load();
    if (const CUresult code = api.cuInit(0); code != CUDA_SUCCESS) {
        throw util::Error(
            "the CUDA driver does not start: {}. Check `nvidia-smi` and, in a container, that it "
            "was started with the GPU",
            describe_with(api, code));
    }
    return api;
}

int attribute(CUdevice device, CUdevice_attribute which) {
    int value = 0;
    check(driver().cuDeviceGetAttribute(&value, which, device),
          fmt::format("cannot read attribute {} of device {}", static_cast<int>(which), device));
    return value;
}

std::string format_uuid(const CUuuid& uuid, bool mig) {
    std::string text = mig ? "MIG-" : "GPU-";
    for (std::size_t i = 0; i < sizeof(uuid.bytes); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
    }
    return text;
}

}  // namespace

CudaError::CudaError(CUresult code, std::string_view what)
    : util::Error("{}: {}", what, describe(code)), code_(code) {}

bool CudaError::sticky() const {
    switch (code_) {
        case CUDA_ERROR_ILLEGAL_ADDRESS:
        case CUDA_ERROR_LAUNCH_TIMEOUT:
        case CUDA_ERROR_LAUNCH_FAILED:
        case CUDA_ERROR_HARDWARE_STACK_ERROR:
        case CUDA_ERROR_ILLEGAL_INSTRUCTION:
        case CUDA_ERROR_MISALIGNED_ADDRESS:
        case CUDA_ERROR_INVALID_ADDRESS_SPACE:
        case CUDA_ERROR_INVALID_PC:
        case CUDA_ERROR_ASSERT:
        case CUDA_ERROR_ECC_UNCORRECTABLE:
        case CUDA_ERROR_CONTEXT_IS_DESTROYED:
        case CUDA_ERROR_EXTERNAL_DEVICE:
        case CUDA_ERROR_UNKNOWN:
            return true;
        default:
            return false;
    }
}

const DriverApi& driver() {
    static const DriverApi api = load_and_initialise();
    return api;
}

bool driver_available(std::string* why) noexcept {
    try {
        if (device_count() > 0) return true;
        if (why != nullptr) *why = "the CUDA driver finds no device (CUDA_VISIBLE_DEVICES?)";
    } catch (const std::exception& error) {
        if (why != nullptr) *why = error.what();
    }
    return false;
}

void check(CUresult code, std::string_view what) {
    if (code != CUDA_SUCCESS) throw CudaError(code, what);
}

std::string describe(CUresult code) {
    return describe_with(driver(), code);
}

CUfunction function_of_context(CUfunction launched) {
    int registers = 0;
    if (launched == nullptr) return nullptr;
    if (driver().cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, launched) ==
        CUDA_SUCCESS) {
        return launched;
    }
    CUfunction of_context = nullptr;
    const CUresult code =
        driver().cuKernelGetFunction(&of_context, reinterpret_cast<CUkernel>(launched));
    return code == CUDA_SUCCESS ? of_context : nullptr;
}

int device_count() {
    int count = 0;
    check(driver().cuDeviceGetCount(&count), "cannot count the CUDA devices");
    return count;
}

bool has_context() {
    CUcontext current = nullptr;
    bool any = driver().cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != nullptr;
    for (int ordinal = 0; ordinal < device_count(); ++ordinal) {
        unsigned flags = 0;
        int active = 0;
        CUdevice device = 0;
        check(driver().cuDeviceGet(&device, ordinal), "cannot look at a CUDA device");
        check(driver().cuDevicePrimaryCtxGetState(device, &flags, &active),
              "cannot look at a CUDA device's context");
        any = any || active != 0;
    }
    return any;
}

int driver_cuda_version() {
    int version = 0;
    check(driver().cuDriverGetVersion(&version), "cannot read the driver's CUDA version");
    return version;
}

DeviceFacts device_facts(int ordinal) {
    const DriverApi& api = driver();
    CUdevice device = 0;
    check(api.cuDeviceGet(&device, ordinal), fmt::format("there is no CUDA device {}", ordinal));

    DeviceFacts facts;
    facts.ordinal = ordinal;
    std::array<char, 256> text{};
    check(api.cuDeviceGetName(text.data(), static_cast<int>(text.size()), device),
          "cannot read the device's name");
    facts.name = text.data();
    // CUDA enumerates a MIG instance as a device with the profile in its name ("… MIG 1g.10gb").
    facts.mig = facts.name.find(" MIG ") != std::string::npos;
    CUuuid uuid{};
    check(api.device_uuid(&uuid, device), "cannot read the device's UUID");
    facts.uuid = format_uuid(uuid, facts.mig);
    text.fill('\0');
    check(api.cuDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device),
          "cannot read the device's PCI bus id");
    facts.pci_bus_id = text.data();
    check(api.cuDeviceTotalMem(&facts.memory_bytes, device),
          "cannot read the device's memory size");

    facts.cc_major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    facts.cc_minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    const auto size = [&](CUdevice_attribute which) {
        return static_cast<std::size_t>(attribute(device, which));
    };
    facts.l2_bytes = size(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    facts.sm_count = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    facts.warp_size = attribute(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    facts.max_threads_per_block = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    facts.max_threads_per_sm =
        attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    facts.registers_per_block = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    facts.registers_per_sm =
        attribute(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    facts.smem_per_block = size(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    facts.smem_per_block_optin = size(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    facts.smem_per_sm = size(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    facts.smem_reserved_per_block = size(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    return facts;
}

// Destructors ignore results: they may run after a sticky error, when every call fails.

PrimaryContext::PrimaryContext(int ordinal) {
    check(driver().cuDeviceGet(&device_, ordinal),
          fmt::format("there is no CUDA device {}", ordinal));
    check(driver().cuDevicePrimaryCtxRetain(&context_, device_),
          fmt::format("cannot create a context on CUDA device {}", ordinal));
    if (const CUresult code = driver().cuCtxSetCurrent(context_); code != CUDA_SUCCESS) {
        driver().cuDevicePrimaryCtxRelease(device_);
        throw CudaError(code, "cannot make the CUDA context current");
    }
}

PrimaryContext::~PrimaryContext() {
    driver().cuCtxSetCurrent(nullptr);
    driver().cuDevicePrimaryCtxRelease(device_);
}

void PrimaryContext::make_current() const {
    check(driver().cuCtxSetCurrent(context_), "cannot make the CUDA context current");
}

void PrimaryContext::synchronize() const {
    check(driver().cuCtxSynchronize(), "work on the device failed");
}

Stream::Stream() {
    check(driver().cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cannot create a CUDA stream");
}

Stream::~Stream() {
    driver().cuStreamDestroy(stream_);
}

Event::Event() {
    check(driver().cuEventCreate(&event_, CU_EVENT_DEFAULT), "cannot create a CUDA event");
}

Event::~Event() {
    if (event_ != nullptr) driver().cuEventDestroy(event_);
}

void Event::record(CUstream stream) const {
    check(driver().cuEventRecord(event_, stream), "cannot record a CUDA event");
}

void Event::synchronize() const {
    check(driver().cuEventSynchronize(event_), "work before a CUDA event failed");
}

double elapsed_ns(const Event& begin, const Event& end) {
    float milliseconds = 0;
    check(driver().cuEventElapsedTime(&milliseconds, begin.get(), end.get()),
          "cannot read the time between two CUDA events");
    return static_cast<double>(milliseconds) * 1e6;
}

DeviceBuffer::DeviceBuffer(std::size_t bytes) : bytes_(bytes) {
    check(driver().cuMemAlloc(&address_, bytes),
          fmt::format("cannot allocate {} bytes on the device", bytes));
}

DeviceBuffer::~DeviceBuffer() {
    driver().cuMemFree(address_);
}

PtxKernel::PtxKernel(const std::string& ptx, const char* name, const char* failure)
    : failure_(failure) {
    check(driver().cuModuleLoadData(&module_, ptx.c_str()), failure_);
    if (const CUresult code = driver().cuModuleGetFunction(&kernel_, module_, name);
        code != CUDA_SUCCESS) {
        driver().cuModuleUnload(module_);
        throw CudaError(code, failure_);
    }
}

PtxKernel::~PtxKernel() {
    driver().cuModuleUnload(module_);
}

void PtxKernel::operator()(CUstream stream, unsigned blocks, unsigned threads,
                           void** arguments) const {
    check(driver().cuLaunchKernel(kernel_, blocks, 1, 1, threads, 1, 1, 0, stream, arguments,
                                  nullptr),
          failure_);
}

std::string grid_loop_ptx(std::string_view name, std::string_view parameters,
                          std::string_view before, std::string_view element,
                          std::string_view after) {
    return fmt::format(R"(
.version 7.0
.target sm_75
.address_size 64

.visible .entry {}({})
{{
    .reg .pred %p<3>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<12>, %i, %count, %stride;
{}
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %nctaid.x;
    mul.wide.u32 %i, %r1, %r2;
    cvt.u64.u32 %stride, %r3;
    add.u64 %i, %i, %stride;
    mul.wide.u32 %stride, %r4, %r2;
NEXT:
    setp.ge.u64 %p1, %i, %count;
    @%p1 bra END;
{}
    add.u64 %i, %i, %stride;
    bra NEXT;
END:
{}
    ret;
}}
)",
                       name, parameters, before, element, after);
}

PinnedBuffer::PinnedBuffer(std::size_t bytes) : bytes_(bytes) {
    check(driver().cuMemHostAlloc(&host_, bytes,
                                  CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE),
          fmt::format("cannot allocate {} bytes of pinned host memory", bytes));
    if (const CUresult code = driver().cuMemHostGetDevicePointer(&device_, host_, 0);
        code != CUDA_SUCCESS) {
        driver().cuMemFreeHost(host_);
        throw CudaError(code, "cannot map pinned host memory");
    }
}

PinnedBuffer::~PinnedBuffer() {
    driver().cuMemFreeHost(host_);
}

}  // namespace perfgate::backend::cuda
