// SPDX-License-Identifier: Apache-2.0
// Reads an array that NumPy has saved (.npy, format versions 1 to 3). The file is untrusted.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstddef>
#include <filesystem>

#include "kinds/source/values/elements.hpp"

namespace perfgate::backend {

/// Little-endian numbers (float16 to float64, integers of 8 to 64 bits) in C order, of any shape.
/// Throws util::InputError naming the file and the remedy for anything else, and for a file whose
/// array has not `count` elements.
Elements read_npy(const std::filesystem::path& file, std::size_t count);

}  // namespace perfgate::backend
