// SPDX-License-Identifier: Apache-2.0
// What a cubin says of its functions: a fingerprint of the machine code, which changes with a
// function's own code and that of the functions it calls, but not with other functions of the same
// module; its size; the stack that it needs; and where its source is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elf/elf_image.hpp"
#include "model/case.hpp"

namespace perfgate::elf {

struct MachineCode {
    std::string fingerprint;
    std::int64_t bytes = 0;  ///< of instructions, with the padding behind each function

    bool operator==(const MachineCode&) const = default;
};

/// By symbol (mangled), of all functions of the image. A function's fingerprint covers its
/// instructions, its own constants and its relocations, and likewise those of every function that
/// it refers to in the image; its size covers the instructions of the same functions. What is
/// already linked (an offset in a constant bank that the module shares) is part of its
/// instructions.
///
/// Throws util::InputError if the image is damaged.
std::map<std::string, MachineCode> machine_code(const ElfImage& cubin);

/// Fingerprint of the initial values of the module's __constant__ and __device__ variables, which
/// no function's fingerprint covers; empty: it has none.
std::string initial_values(const ElfImage& cubin);

/// By symbol (mangled), bytes of stack per thread: the deepest chain of calls from the kernel that
/// the compiler or linker could see, as they report it with -v (`.nv.info`, EIATTR_MIN_STACK_SIZE).
/// Calls through pointers are not in it. A kernel is missing if they could not tell (the linker
/// finds recursion). Damaged information has none. Throws nothing.
std::map<std::string, std::int64_t> stack_sizes(const ElfImage& cubin);

/// The kernels (mangled), in the order of the image, which they point into.
std::vector<std::string_view> kernels(const ElfImage& cubin);

/// Bytes of each parameter of a kernel (mangled), in order (`.nv.info.KERNEL`, EIATTR_KPARAM_INFO).
/// Nothing if the image has no such kernel, or is damaged. Throws nothing.
std::optional<std::vector<std::size_t>> parameter_sizes(const ElfImage& cubin,
                                                        const std::string& kernel);

/// By symbol (mangled), the file (absolute, without "..") and line at which the function's own code
/// begins, by the line table (`.debug_line`, DWARF 2 to 5), which nvcc writes with -lineinfo or -G
/// (line_table.cpp). The code of functions that the compiler put into it does not count.
///
/// A function is missing if the table does not have it, or names no absolute file of printable
/// characters. A table that is damaged, or of another version, has none. Throws nothing.
std::map<std::string, model::SourcePlace> function_places(const ElfImage& cubin);

}  // namespace perfgate::elf
