// SPDX-License-Identifier: Apache-2.0
// Preloaded into a process, gives the kernel driver's answer of a machine on which only
// administrators may profile (RmProfilingAdminOnly: 1): it refuses to make a profiler object. All
// else goes to the driver that is there, so that CUPTI finds out in its own way.
//
// The numbers are those of NVIDIA's open kernel modules: nvos.h, nv_escape.h, clb2cc.h,
// nvstatuscodes.h.
#include <dlfcn.h>
#include <linux/ioctl.h>

#include <cstdarg>
#include <cstdint>

namespace {

constexpr unsigned rm_magic = 'F';
constexpr unsigned rm_alloc = 0x2B;
constexpr std::uint32_t profiler_of_device = 0xB2CC;
constexpr std::uint32_t insufficient_permissions = 0x1B;

struct AllocRequest {
    std::uint32_t client, parent, object, object_class;
    std::uint64_t parameters, rights;
    std::uint32_t parameters_size, flags, status, unused;
};

}  // namespace

extern "C" [[gnu::visibility("default")]] int ioctl(int file, unsigned long request, ...) noexcept {
    std::va_list rest;
    va_start(rest, request);
    void* argument = va_arg(rest, void*);
    va_end(rest);
    if (_IOC_TYPE(request) == rm_magic && _IOC_NR(request) == rm_alloc &&
        _IOC_SIZE(request) == sizeof(AllocRequest)) {
        auto* alloc = static_cast<AllocRequest*>(argument);
        if (alloc->object_class == profiler_of_device) {
            alloc->status = insufficient_permissions;
            return 0;
        }
    }
    using Ioctl = int(int, unsigned long, void*);
    static auto* const next = reinterpret_cast<Ioctl*>(dlsym(RTLD_NEXT, "ioctl"));
    return next(file, request, argument);
}
