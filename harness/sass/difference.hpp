// SPDX-License-Identifier: Apache-2.0
// Says how the machine code of a kernel changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/case.hpp"
#include "model/kernel_code.hpp"

namespace perfgate::sass {

enum class Mark {
    same,
    operands,  ///< on both sides, with values from elsewhere or a branch that leads elsewhere
    removed,
    added,
};

/// A line of the comparison, by the numbers of instructions.
struct Row {
    Mark mark = Mark::same;
    std::optional<std::size_t> before, after;

    bool operator==(const Row&) const = default;
};

/// How often something is there.
struct Count {
    std::string name;  ///< an opcode with modifiers, or a class
    std::int64_t before = 0, after = 0;
    /// Of an opcode that became more frequent: where most of it is. Line 0: unknown.
    model::SourcePlace place{};  // NOLINT(readability-redundant-member-init)

    bool operator==(const Count&) const = default;
};

/// How often the instructions of a line with one opcode were executed in a launch.
struct Executions {
    std::string opcode;
    std::int64_t instructions_before = 0, instructions_after = 0;
    std::int64_t before = 0, after = 0;  ///< by warps, all of them together
};

/// The instructions of a source line of either side.
struct Line {
    model::SourcePlace before, after;  ///< line 0: this side has no such line
    std::int64_t instructions_before = 0, instructions_after = 0;
    std::int64_t changed = 0;    ///< rows of it that are not the same
    std::vector<Count> opcodes;  ///< whose number changed, the largest changes first
    model::Samples samples_before, samples_after;
    /// Those that its instructions cause (causes.hpp), here or elsewhere.
    model::Samples caused_before, caused_after;
    std::vector<Executions> executed;  ///< where both sides were counted and differ
};

struct Difference {
    std::vector<Row> rows;
    std::vector<Count> classes;  ///< that either side has, in the order of instruction_classes()
    std::vector<Count> opcodes;  ///< whose number changed, the largest changes first
    std::vector<Line> lines;     ///< the most changed first
    /// "LDG.E 0 → 32 at blend.cu:19, LDG.E.128 8 → 0; 3 in another order; FFMA at blend.cu:12 is
    /// executed 4.00 times as often". Never empty.
    std::string sentence;
};

Difference difference(const model::Listing& before, const model::Listing& after);

/// Begin and end of the rows to show: those that are not the same, with `context` others around.
std::vector<std::pair<std::size_t, std::size_t>> shown_parts(const Difference& difference,
                                                             std::size_t context);

}  // namespace perfgate::sass
