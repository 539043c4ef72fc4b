// SPDX-License-Identifier: Apache-2.0
// The functions that the driver and NVTX look up in the injection library.
#include "inject/recorder.hpp"

#define PERFGATE_EXPORT extern "C" __attribute__((visibility("default")))

/// Called by cuInit if CUDA_INJECTION64_PATH names this library.
PERFGATE_EXPORT int InitializeInjection() {
    perfgate::inject::start_recording();
    return 1;
}

/// Called by NVTX 3 at the first call of each of its copies in the program, if
/// NVTX_INJECTION64_PATH names this library.
PERFGATE_EXPORT int InitializeInjectionNvtx2(void* export_table) {
    return perfgate::inject::serve_nvtx(export_table);
}
