// SPDX-License-Identifier: Apache-2.0
// Says how the machine code of a kernel changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/case.hpp"
#include "model/kernel_code.hpp"
#include "sass/normalised.hpp"

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
    model::SourcePlace place{};

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
    /// Those that its instructions cause (samples_by_cause), here or elsewhere.
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

// Finds the elements that two sequences have in common, in the same order.

/// Pairs of the positions of equal elements, rising on both sides: a longest sequence of them
/// (Myers, O(ND)). Where more than `most_edits` would be left over between two runs of elements
/// that are unique on both sides, none of that part is paired.
std::vector<std::pair<std::size_t, std::size_t>> align(std::span<const int> before,
                                                       std::span<const int> after,
                                                       std::size_t most_edits = 3000);

// Checks whether aligned instructions take the same values, whatever registers hold these.

struct Side {
    const model::Listing& listing;
    const std::vector<Normalised>& normalised;  ///< of its instructions
};

/// For each pair of aligned instructions: whether an operand comes from another instruction, a
/// branch leads elsewhere, or a loop hands on another value. Follows the order of the code and how
/// many registers a result has, by its opcode: where that is not known, a pair may be named though
/// nothing differs.
std::vector<bool> differing_operands(const Side& before, const Side& after,
                                     const std::vector<std::pair<std::size_t, std::size_t>>& pairs);

// Finds the instruction that makes a sampled warp wait.

/// The samples of a listing's instructions, each at the instruction that causes it. A warp is
/// sampled at the instruction that it issues next: one that waits for a result counts for the
/// load, or the like, that makes the result, and one that waits at a barrier or for a branch for
/// the instruction before. Where the code does not show a cause, or shows several at different
/// source lines, the samples stay, and those of a warp that waits for its stores at its end are
/// left out. Without `of_half`.
std::vector<model::Samples> samples_by_cause(const model::Listing& listing);

}  // namespace perfgate::sass
