// SPDX-License-Identifier: Apache-2.0
//
// How much stack the kernels of a cubin need.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "backend/cuda/elf_image.hpp"

namespace perfgate::backend::cuda {

/// By symbol (mangled), bytes of stack per thread: the deepest chain of calls from the kernel that
/// the compiler or linker could see, as they report it with -v (`.nv.info`, EIATTR_MIN_STACK_SIZE).
/// Calls through pointers are not in it. A kernel is missing if they could not tell (the linker
/// finds recursion). Damaged information has none. Throws nothing.
std::map<std::string, std::int64_t> stack_sizes(const ElfImage& cubin);

}  // namespace perfgate::backend::cuda
