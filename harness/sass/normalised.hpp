// SPDX-License-Identifier: Apache-2.0
// Names what an instruction does, apart from which registers the compiler chose and where code
// lies.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/kernel_code.hpp"

namespace perfgate::sass {

/// A register that can be renamed: not RZ, PT and their like.
struct Register {
    std::string file;  ///< "R", "UR", "P", "UP", "B"
    int number = 0;
    bool reuse = false;   ///< its operand is kept for the next instruction
    bool result = false;  ///< the instruction writes it; else it reads it, as far as is known

    bool operator==(const Register&) const = default;
};

struct Normalised {
    /// Opcode, predicate, operands and constants. A result is "R"; operands have names by their
    /// first use within the instruction ("Ra", "Rb"), so that x*x and x*y differ; a label of the
    /// function is "`(L)".
    std::string key;
    std::vector<Register> registers;  ///< in the order of the text
    std::string label;                ///< that it branches to; empty: none
};

Normalised normalise(const model::Instruction& instruction);

/// How many registers in succession the result has.
int result_width(std::string_view opcode);

/// Names the kind of work: "global memory", "FP32".
std::string_view class_of(std::string_view opcode);
/// All of them, in the order in which reports list them.
const std::vector<std::string_view>& instruction_classes();

}  // namespace perfgate::sass
