// SPDX-License-Identifier: Apache-2.0
// Reads an item of `workloads` that is a program: its words and how it is run. The words may
// contain `{param}` for a parameter of the matrix; no shell is involved. What is measured and gated
// is read in label_reader, and what a benchmark reports in benchmark_reader.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/catalogue.hpp"
#include "model/plan.hpp"
#include "suite/label_reader.hpp"

namespace perfgate::suite {

struct ReadCommand {
    model::Command command;  ///< words, check and environment with their {param}
    ReadLabels labels;
    /// The program as a workload: its labels as variants, the matrix's parameters with the types
    /// that their first values have.
    model::WorkloadInfo workload;
    const YamlNode* matrix = nullptr;
    const YamlNode* tags = nullptr;
    Position at;
};

enum class EntryKind { workload, command, benchmark, source, python, refused };

/// What an item of `workloads` is, by its keys. An item of two kinds is a problem.
EntryKind kind_of_entry(const YamlNode& entry, Problems& problems);

/// Why a program cannot be given a variable of this name; empty: it can.
std::string problem_of_variable(const std::string& name);

/// `kind` is command or benchmark. The first label of a benchmark is model::unknown_cases; others
/// are those of its `measure`.
ReadCommand read_command(const YamlNode& entry, EntryKind kind, Problems& problems);

/// With the parameters in place.
model::Command filled_in(const model::Command& command, const model::Params& params);

/// The same benchmark as a program that is recorded. What it reports then is not read, because
/// recording costs time.
model::Command recorded(model::Command benchmark);

}  // namespace perfgate::suite
