// SPDX-License-Identifier: Apache-2.0
//
// The functions that the worker looks up in libperfgate_cuda.so.
#include "backend/cuda/cuda_backend.hpp"
#include "backend/cuda/host_evaluator.hpp"

#define PERFGATE_MODULE_EXPORT extern "C" __attribute__((visibility("default")))

PERFGATE_MODULE_EXPORT perfgate::measure::Backend* perfgate_create_backend(
    const perfgate::measure::BackendOptions& options) {
    return perfgate::backend::cuda::make_cuda_backend(options).release();
}

PERFGATE_MODULE_EXPORT bool perfgate_load_plugins(
    const perfgate::measure::BackendOptions& options) {
    return perfgate::backend::cuda::load_plugins(options);
}

PERFGATE_MODULE_EXPORT void perfgate_list_devices(
    const std::string& wanted, std::vector<perfgate::measure::ListedDevice>& devices) {
    devices = perfgate::backend::cuda::list_devices(wanted);
}

PERFGATE_MODULE_EXPORT perfgate::measure::CounterCatalogue* perfgate_create_counter_catalogue() {
    return std::make_unique<perfgate::backend::cuda::HostCounterCatalogue>().release();
}
