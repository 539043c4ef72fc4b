// SPDX-License-Identifier: Apache-2.0
// Modules that are loaded, used and unloaded, one in the place of the other: 3 launches of first, 5
// of second, and 2 of a graph with third.
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void check(int code, const char* what) {
    if (code == 0) return;
    std::fprintf(stderr, "%s: error %d\n", what, code);
    std::exit(1);
}

template <class Function>
Function* driver(const char* name, Function* /*type*/) {
    static void* library = dlopen("libcuda.so.1", RTLD_NOW);
    auto* function = reinterpret_cast<Function*>(dlsym(library, name));
    if (function == nullptr) check(1, name);
    return function;
}
#define DRIVER(name) driver(#name, static_cast<decltype(&(name))>(nullptr))

/// PTX of a kernel that does nothing.
std::string kernel(const std::string& name) {
    return ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry " + name +
           "() { ret; }\n";
}

struct Module {
    explicit Module(const char* name) {
        check(DRIVER(cuModuleLoadData)(&loaded, kernel(name).c_str()), "cuModuleLoadData");
        check(DRIVER(cuModuleGetFunction)(&function, loaded, name), "cuModuleGetFunction");
    }
    ~Module() {
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        check(DRIVER(cuModuleUnload)(loaded), "cuModuleUnload");
    }
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    void launch(cudaStream_t stream) const {
        check(DRIVER(cuLaunchKernel)(function, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr),
              "cuLaunchKernel");
    }

    CUmodule loaded{};
    CUfunction function{};
};

}  // namespace

int main() {
    check(cudaFree(nullptr), "cudaFree");
    cudaStream_t stream{};
    check(cudaStreamCreate(&stream), "cudaStreamCreate");
    {
        const Module first("first");
        for (int i = 0; i < 3; ++i) first.launch(stream);
    }
    {
        const Module second("second");
        for (int i = 0; i < 5; ++i) second.launch(stream);
    }
    const Module third("third");
    cudaGraph_t graph{};
    cudaGraphExec_t executable{};
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
    third.launch(stream);
    check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    for (int i = 0; i < 2; ++i) check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    check(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
    check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return 0;
}
