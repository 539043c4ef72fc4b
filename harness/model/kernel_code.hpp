// SPDX-License-Identifier: Apache-2.0
// The machine code of a case's kernels, instruction by instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/case.hpp"

namespace perfgate::model {

/// How often the program counter was seen at some code while it ran.
struct Samples {
    /// By what the warp waited for: "long_scoreboard"; "selected": for nothing.
    std::map<std::string, std::int64_t> reasons;
    /// Those of one half of the launches, which show with the others how well they repeat.
    std::int64_t of_half = 0;

    std::int64_t all() const {
        std::int64_t sum = 0;
        for (const auto& [reason, count] : reasons) sum += count;
        return sum;
    }
    void add(const Samples& other) {
        for (const auto& [reason, count] : other.reasons) reasons[reason] += count;
        of_half += other.of_half;
    }
    bool operator==(const Samples&) const = default;
};

struct Instruction {
    std::int64_t address = 0;  ///< bytes from the function's begin
    std::string text;          ///< "@!P1 LDG.E.128 R12, desc[UR4][R2.64]", printable ASCII
    SourcePlace place{};       ///< line 0: unknown
    Samples samples{};
    std::optional<std::int64_t> executed{};  ///< by warps in one launch of the case

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
    std::int64_t launches = 0;  ///< of the case that were sampled; 0: none

    bool operator==(const KernelCode&) const = default;
};

/// Of one case of a run.
struct CaseCode {
    std::string suite, id;
    std::vector<KernelCode> kernels;  ///< each once, in the order of their first launches
    std::string problem;              ///< why there are none, with the remedy; empty: there are
    std::string sampling_problem;     ///< why no samples were taken, likewise
    std::string counting_problem;     ///< why executions were not counted, likewise
    double seconds = 0;               ///< what all of this took

    /// Whether it is of the case.
    bool is_of(const std::string& of_suite, const std::string& of_id) const {
        return suite == of_suite && id == of_id;
    }

    bool operator==(const CaseCode&) const = default;
};

/// A line of source, as it was when the code was measured.
struct SourceLine {
    SourcePlace place;
    std::string text;

    bool operator==(const SourceLine&) const = default;
};

/// The cases whose machine code is kept, and that of their bases, as far as it was at hand.
struct KeptCode {
    std::vector<CaseCode> head, base;
    std::vector<SourceLine> source = {}, base_source = {};

    bool operator==(const KeptCode&) const = default;
};

}  // namespace perfgate::model
