// SPDX-License-Identifier: Apache-2.0
// Reads an item of `workloads` that is a program: its words, which of its activity is measured, and
// how that is gated. The words may contain `{param}` for a parameter of the matrix; no shell is
// involved.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/catalogue.hpp"
#include "model/plan.hpp"
#include "suite/settings.hpp"

namespace perfgate::suite {

/// The label of the case for the whole program, in addition to those of `measure`.
inline constexpr std::string_view program_label = "program";

/// A piece that is measured: the cases of one label.
struct Label {
    std::string name;
    model::Piece piece;
    Settings settings;  ///< all metrics of such a piece, and the tolerances of the label
    Position at;
    bool expected = false;  ///< a relation of `expect` uses it
};

struct ReadCommand {
    model::Command command;  ///< words, check and environment with their {param}
    std::vector<Label> labels;
    /// The program as a workload: its labels as variants, the matrix's parameters with the types
    /// that their first values have.
    model::WorkloadInfo workload;
    const YamlNode* matrix = nullptr;
    const YamlNode* expect = nullptr;
    const YamlNode* tags = nullptr;
    Position at;
};

enum class EntryKind { workload, command, refused };

/// What an item of `workloads` is, by its keys. An item of two kinds, or of a kind that is not
/// supported yet, is a problem.
EntryKind kind_of_entry(const YamlNode& entry, Problems& problems);

ReadCommand read_command(const YamlNode& entry, Problems& problems);

/// With the parameters in place.
model::Command filled_in(const model::Command& command, const model::Params& params);

}  // namespace perfgate::suite
