// SPDX-License-Identifier: Apache-2.0
// Reads what nvdisasm prints of a cubin (-c -gi), as untrusted text: which instructions each
// function has, and where in the source they come from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "model/case.hpp"

namespace perfgate::elf {

struct InstructionUse {
    std::int64_t count = 0;
    /// Where most of them come from; line 0: unknown.
    model::SourcePlace place;

    bool operator==(const InstructionUse&) const = default;
};

/// By opcode with its modifiers: "LDG.E.128.CONSTANT".
using Instructions = std::map<std::string, InstructionUse>;

/// Reads the functions, by symbol (mangled). Registers, addresses, predicates and NOPs, which pad,
/// are left out. The source of inlined code is the innermost place in `folder` (relative to it),
/// else the outermost (absolute). A line that is not an instruction is passed over.
std::map<std::string, Instructions> read_listing(std::string_view listing,
                                                 const std::filesystem::path& folder);

}  // namespace perfgate::elf
