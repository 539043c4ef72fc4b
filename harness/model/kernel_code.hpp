// SPDX-License-Identifier: Apache-2.0
// The machine code of a case's kernels, instruction by instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/case.hpp"

namespace perfgate::model {

struct Instruction {
    std::int64_t address = 0;  ///< bytes from the function's begin
    std::string text;          ///< "@!P1 LDG.E.128 R12, desc[UR4][R2.64]", printable ASCII
    SourcePlace place{};       // NOLINT(readability-redundant-member-init): line 0: unknown

    bool operator==(const Instruction&) const = default;
};

/// The instructions of a function in their order, without NOPs, which pad.
struct Listing {
    std::vector<Instruction> instructions;
    /// Of a label (".L_x_3"): the number of the instruction that follows it, or of instructions.
    std::map<std::string, std::size_t> labels;

    bool operator==(const Listing&) const = default;
};

struct KernelCode {
    std::string name;  ///< demangled
    std::string code;  ///< as Kernel::code
    Listing listing;

    bool operator==(const KernelCode&) const = default;
};

/// Of one case of a run.
struct CaseCode {
    std::string suite, id;
    std::vector<KernelCode> kernels;  ///< each once, in the order of their first launches
    std::string problem;              ///< why there are none, with the remedy; empty: there are

    bool operator==(const CaseCode&) const = default;
};

}  // namespace perfgate::model
