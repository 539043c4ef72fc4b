// SPDX-License-Identifier: Apache-2.0
// Reads what nvdisasm prints of a cubin (-c -gi), as untrusted text: the instructions of each
// function, and where in the source they come from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/kernel_code.hpp"

namespace perfgate::elf {

/// Reads a function by its symbol (mangled); nothing if it is not listed. The source of inlined
/// code is the innermost place in `folder` (relative to it), else the outermost (absolute). A line
/// that is not an instruction is passed over.
std::optional<model::Listing> read_listing(std::string_view text, std::string_view symbol,
                                           const std::filesystem::path& folder);

/// Without the predicate, with modifiers: "LDG.E.128.CONSTANT".
std::string_view opcode_of(const model::Instruction& instruction);

struct InstructionUse {
    std::int64_t count = 0;
    /// Where most of them come from; line 0: unknown.
    model::SourcePlace place;

    bool operator==(const InstructionUse&) const = default;
};

/// By opcode.
std::map<std::string, InstructionUse> instruction_uses(const model::Listing& listing);

}  // namespace perfgate::elf
