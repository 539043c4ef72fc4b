// SPDX-License-Identifier: Apache-2.0
//
// The machine code inside a cubin: a fingerprint for each function, which changes with its own code
// and with that of what it calls, and not with another function of the same module.
#pragma once

#include <map>
#include <span>
#include <string>

namespace perfgate::backend::cuda {

/// Fingerprints by symbol (mangled), of all functions of the image. Of a function count:
/// instructions, constants of its own, relocations, and likewise those of every function that it
/// refers to in the image. What is linked already (an offset in a constant bank that the module
/// shares) is part of its instructions.
///
/// The image is read as if an enemy had written it. Throws model::InputError for one that is no
/// 64-bit ELF file for NVIDIA devices, or is damaged.
std::map<std::string, std::string> machine_code(std::span<const char> cubin);

}  // namespace perfgate::backend::cuda
