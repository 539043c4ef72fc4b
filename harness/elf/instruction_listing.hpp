// SPDX-License-Identifier: Apache-2.0
// Reads what nvdisasm prints of a cubin (-c -gi), as untrusted text: the instructions of each
// function, and where in the source they come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/case.hpp"

namespace perfgate::elf {

struct Instruction {
    std::int64_t address = 0;  ///< bytes from the function's begin
    std::string text;          ///< "@!P1 LDG.E.128 R12, desc[UR4][R2.64]", printable ASCII
    model::SourcePlace place;  ///< line 0: unknown

    bool operator==(const Instruction&) const = default;
};

/// The instructions of a function in their order, without NOPs, which pad.
struct Listing {
    std::vector<Instruction> instructions;
    /// Of a label (".L_x_3"): the number of the instruction that follows it, or of instructions.
    std::map<std::string, std::size_t> labels;

    bool operator==(const Listing&) const = default;
};

/// Reads a function by its symbol (mangled); nothing if it is not listed. The source of inlined
/// code is the innermost place in `folder` (relative to it), else the outermost (absolute). A line
/// that is not an instruction is passed over.
std::optional<Listing> read_listing(std::string_view text, std::string_view symbol,
                                    const std::filesystem::path& folder);

/// A text that read_listing reads the same listing from.
std::string write_listing(std::string_view symbol, const Listing& listing);

/// Without the predicate, with modifiers: "LDG.E.128.CONSTANT".
std::string_view opcode_of(const Instruction& instruction);

struct InstructionUse {
    std::int64_t count = 0;
    /// Where most of them come from; line 0: unknown.
    model::SourcePlace place;

    bool operator==(const InstructionUse&) const = default;
};

/// By opcode.
std::map<std::string, InstructionUse> instruction_uses(const Listing& listing);

}  // namespace perfgate::elf
