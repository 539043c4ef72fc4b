// SPDX-License-Identifier: Apache-2.0
// For the CUDA part of a plugin: errors of the CUDA runtime as the SDK's exceptions, and memory,
// streams and graphs that free themselves. Needs CUDA's headers; perfgate.hpp does not.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "perfgate.hpp"

namespace perfgate::sdk {

/// Turns a CUDA error into an exception; `what` says what was tried.
inline void check(cudaError_t error, const std::string& what) {
    if (error == cudaSuccess) return;
    const std::string message = what + ": " + cudaGetErrorString(error);
    switch (error) {
        case cudaErrorMemoryAllocation:
            throw OutOfMemory(message);
        case cudaErrorNoKernelImageForDevice:
        case cudaErrorInvalidDeviceFunction:
            throw Unsupported(message +
                              "; this device's architecture was not built: configure with "
                              "-DPERFGATE_CUDA_ARCHITECTURES=<its compute capability>");
        // Refused before anything ran: the context is as it was.
        case cudaErrorInvalidValue:
        case cudaErrorInvalidConfiguration:
        case cudaErrorLaunchOutOfResources:
            throw std::runtime_error(message);
        default:
            throw DeviceError(message);
    }
}

/// After a kernel launch: whether it was accepted.
inline void check_launch() {
    check(cudaGetLastError(), "launch");
}

/// The stream that `Instance::launch` is given.
inline cudaStream_t stream_of(void* stream) {
    return static_cast<cudaStream_t>(stream);
}

/// Blocks of `threads` that cover `size` elements, one thread each.
inline unsigned blocks_for(std::size_t size, unsigned threads) {
    return static_cast<unsigned>((size + threads - 1) / threads);
}

/// An attribute of the device that the thread uses.
inline int device_attribute(cudaDeviceAttr attribute) {
    int device = 0;
    int value = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
    return value;
}

/// Bytes on the device, for elements whose type is known at run time only.
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
    unsigned char* data() const { return as<unsigned char>(); }
    std::size_t size() const { return bytes_; }
    template <class T>
    T* as() const {
        return static_cast<T*>(data_);
    }

    /// All bits set, which is NaN in every floating-point type: what a kernel leaves out is found.
    void poison(cudaStream_t stream = nullptr) {
        check(cudaMemsetAsync(data_, 0xff, bytes_, stream), "poisoning an output");
    }

    /// A copy on the host, once all work before it is done. `Allocator`: of the vector; one that
    /// does not initialise saves zeroing it first.
    template <class T, class Allocator = std::allocator<T>>
    std::vector<T, Allocator> read() const {
        std::vector<T, Allocator> values(bytes_ / sizeof(T));
        check(cudaMemcpy(values.data(), data_, values.size() * sizeof(T), cudaMemcpyDeviceToHost),
              "reading an output");
        return values;
    }

  private:
    void* data_ = nullptr;
    std::size_t bytes_;
};

/// Elements of type T on the device: HostBuffer's counterpart, filled with the same values.
template <class T>
class DeviceBuffer {
    static_assert(std::is_trivially_copyable_v<T>, "elements are copied as bytes");

  public:
    explicit DeviceBuffer(std::size_t size, const char* what = "a buffer")
        : memory_(size * sizeof(T), what) {}

    std::size_t size() const { return memory_.bytes() / sizeof(T); }
    T* data() const { return memory_.template as<T>(); }

    /// As HostBuffer::fill; done when it returns.
    void fill(std::uint64_t seed, std::uint64_t operand = 1) {
        key_ = stream_key(seed, operand);
        std::vector<T> chunk(std::min(size(), std::size_t{1} << 20));
        for (std::size_t first = 0; first < size(); first += chunk.size()) {
            const std::size_t count = std::min(chunk.size(), size() - first);
            for (std::size_t i = 0; i < count; ++i) chunk[i] = filled(first + i);
            copy(data() + first, chunk.data(), count, cudaMemcpyHostToDevice);
        }
    }
    /// Element i as the last fill made it, whatever it is now. Made on the host, not read.
    T filled(std::size_t i) const { return random_element<T>(key_, i); }
    /// Sets all bits, as HostBuffer::poison; done when it returns.
    void poison() {
        memory_.poison();
        check(cudaStreamSynchronize(nullptr), "poisoning an output");
    }

    std::vector<T> read() const { return memory_.template read<T>(); }
    void write(const std::vector<T>& values) {
        if (values.size() != size()) throw std::logic_error("write() needs a value per element");
        copy(data(), values.data(), size(), cudaMemcpyHostToDevice);
    }
    void copy_to(T* to, std::size_t first, std::size_t count) const {
        copy(to, data() + first, count, cudaMemcpyDeviceToHost);
    }

  private:
    static void copy(T* to, const T* from, std::size_t count, cudaMemcpyKind kind) {
        check(cudaMemcpy(to, from, count * sizeof(T), kind), "copying a buffer");
    }

    DeviceMemory memory_;
    std::uint64_t key_ = 0;
};

/// For a CUDA variant: inputs and outputs are DeviceBuffers.
class CudaInstance : public BufferedInstance<DeviceBuffer> {
  public:
    /// Enqueues the work once and does not wait for it. Whether launches were accepted is checked
    /// after it.
    virtual void enqueue(cudaStream_t stream) = 0;

    void launch(void* stream) final {
        enqueue(stream_of(stream));
        check_launch();
    }
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

/// A CUDA graph of whatever a function enqueues: captured and instantiated at set-up, so that a
/// launch is one call.
class Graph {
  public:
    /// `enqueue(stream)` is called once, to be recorded; nothing runs.
    explicit Graph(const std::function<void(cudaStream_t)>& enqueue) {
        const Stream stream;
        check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal),
              "beginning to capture a graph");
        cudaGraph_t graph = nullptr;
        try {
            enqueue(stream.get());
        } catch (...) {
            cudaStreamEndCapture(stream.get(), &graph);
            if (graph) cudaGraphDestroy(graph);
            cudaGetLastError();  // or the next launch of another case would report it
            throw;
        }
        check(cudaStreamEndCapture(stream.get(), &graph), "capturing a graph");
        const cudaError_t error = cudaGraphInstantiate(&exec_, graph, 0);
        cudaGraphDestroy(graph);
        check(error, "instantiating a graph");
    }
    ~Graph() { cudaGraphExecDestroy(exec_); }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    void launch(cudaStream_t stream) const {
        check(cudaGraphLaunch(exec_, stream), "launching a graph");
    }

  private:
    cudaGraphExec_t exec_ = nullptr;
};

}  // namespace perfgate::sdk
