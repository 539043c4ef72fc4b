// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime as plugins use it: errors as the SDK's exceptions, handles that free themselves.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "perfgate.hpp"

namespace common {

// Turns a CUDA error into the SDK's exception; `what` says what was tried.
inline void check(cudaError_t error, const std::string& what) {
    if (error == cudaSuccess) return;
    const std::string message = what + ": " + cudaGetErrorString(error);
    switch (error) {
        case cudaErrorMemoryAllocation:
            throw perfgate::sdk::OutOfMemory(message);
        case cudaErrorNoKernelImageForDevice:
        case cudaErrorInvalidDeviceFunction:
            throw perfgate::sdk::Unsupported(
                message +
                "; this device's architecture was not built: configure with "
                "-DPERFGATE_CUDA_ARCHITECTURES=<its compute capability>");
        // Refused before anything ran: the context is as it was.
        case cudaErrorInvalidValue:
        case cudaErrorInvalidConfiguration:
        case cudaErrorLaunchOutOfResources:
            throw std::runtime_error(message);
        default:
            throw perfgate::sdk::DeviceError(message);
    }
}

// An attribute of the device that the thread uses.
inline int device_attribute(cudaDeviceAttr attribute) {
    int device = 0;
    int value = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
    return value;
}

class DeviceMemory {
  public:
    DeviceMemory(std::size_t bytes, const char* what) : bytes_(bytes) {
        check(cudaMalloc(&data_, bytes),
              std::to_string(bytes) + " bytes of device memory for " + what);
    }
    ~DeviceMemory() { cudaFree(data_); }
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    void* get() const { return data_; }
    std::size_t bytes() const { return bytes_; }
    template <class T>
    T* as() const {
        return static_cast<T*>(data_);
    }

    // All bits set, which is NaN in every floating-point type: what a kernel leaves out is found.
    void poison(cudaStream_t stream = nullptr) {
        check(cudaMemsetAsync(data_, 0xff, bytes_, stream), "poisoning an output");
    }

    // A copy on the host, once all work before it is done.
    template <class T>
    std::vector<T> read() const {
        std::vector<T> values(bytes_ / sizeof(T));
        check(cudaMemcpy(values.data(), data_, values.size() * sizeof(T), cudaMemcpyDeviceToHost),
              "reading an output");
        return values;
    }

  private:
    void* data_ = nullptr;
    std::size_t bytes_;
};

class Stream {
  public:
    Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream"); }
    ~Stream() { cudaStreamDestroy(stream_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    cudaStream_t get() const { return stream_; }

  private:
    cudaStream_t stream_ = nullptr;
};

}  // namespace common
