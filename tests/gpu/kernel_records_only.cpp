// SPDX-License-Identifier: Apache-2.0
//
// The least that an injection library can do and still record kernels: CUPTI's kernel records,
// thrown away unread. profile_programs.py compares what perfgate's recording costs with what this
// costs.
#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

constexpr std::size_t buffer_bytes = std::size_t{8} << 20;

void CUPTIAPI request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(4096, buffer_bytes));
    *bytes = *buffer == nullptr ? 0 : buffer_bytes;
    *max_records = 0;
}

void CUPTIAPI complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) {
    std::free(buffer);
}

}  // namespace

// The driver skips a library that does not show this function.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    cuptiActivityRegisterCallbacks(&request, &complete);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    return 1;
}
