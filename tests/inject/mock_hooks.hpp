// SPDX-License-Identifier: Apache-2.0
// What the mock of the driver tells the mock of CUPTI, as the real ones do through a table of their
// own.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace perfgate::mock {

struct Work {
    enum Kind { kernel, copy, memset } kind = kernel;
    const char* name = "";
    std::uint32_t stream = 7;
    std::uint32_t grid = 1;
    std::uint64_t bytes = 0;
    std::uint8_t copy_kind = 1;
    bool pageable = false;
    std::uint32_t correlation = 0;
    std::uint32_t graph = 0;
    std::uint64_t graph_node = 0;
};

struct Memory {
    bool release = false;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint32_t correlation = 0;
};

struct Hooks {
    /// Of the runtime if `runtime`, else of the driver.
    void (*call)(bool runtime, std::uint32_t callback_id, const void* parameters, CUresult result,
                 std::uint32_t correlation, bool exit);
    void (*work)(const Work& work);
    void (*context_created)(CUcontext context);
    void (*context_destroyed)();
    void (*module_loaded)(const char* cubin, std::size_t bytes);
    void (*module_unloads)();
    void (*memory)(const Memory& memory);
    /// While a launch is captured; the graph that is launched later has copies of the nodes.
    void (*node_captured)(std::uint64_t node, std::uint64_t copy);
};

/// Exported by the mock of the driver.
extern "C" void mock_set_hooks(const Hooks* hooks);

}  // namespace perfgate::mock
