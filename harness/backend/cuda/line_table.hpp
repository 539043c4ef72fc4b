// SPDX-License-Identifier: Apache-2.0
//
// Where the source of the functions in a cubin is: its line table (`.debug_line`, DWARF 2 to 5),
// which nvcc writes with -lineinfo or -G.
#pragma once

#include <map>
#include <string>

#include "backend/cuda/elf_image.hpp"
#include "model/case.hpp"

namespace perfgate::backend::cuda {

/// By symbol (mangled), the file (absolute, without "..") and line at which the function's own code
/// begins. The code of functions that the compiler put into it does not count.
///
/// A function is missing if the table does not have it, or names no absolute file of printable
/// characters. A table that is damaged, or of another version, has none. Throws nothing.
std::map<std::string, model::SourcePlace> function_places(const ElfImage& cubin);

}  // namespace perfgate::backend::cuda
