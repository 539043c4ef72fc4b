// SPDX-License-Identifier: Apache-2.0
// Has the toolkit's nvdisasm list a cubin, in a process of its own.
#pragma once

#include <string>

namespace perfgate::program {

/// What nvdisasm prints of the cubin, with source lines. Throws util::Error with the remedy.
std::string disassemble(const std::string& cubin);

}  // namespace perfgate::program
