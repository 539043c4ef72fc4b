// SPDX-License-Identifier: Apache-2.0
// Reads an item of `workloads` that is a program: its words and how it is run. The words may
// contain `{param}` for a parameter of the matrix; no shell is involved. What is measured and gated
// is read in label_reader, and what a benchmark reports in benchmark_reader.
#pragma once

#include <optional>
#include <string>

#include "model/catalogue.hpp"
#include "suite/label_reader.hpp"

namespace perfgate::suite {

struct ReadCommand {
    command::Command command;                  ///< words, check and environment with their {param}
    std::optional<benchmark::Layout> reading;  ///< absent: it is no benchmark
    ReadLabels labels;
    /// The program as a workload: its labels as variants, the matrix's parameters with the types
    /// that their first values have.
    model::WorkloadInfo workload;
    const YamlNode* matrix = nullptr;
    const YamlNode* tags = nullptr;
    Position at;
};

/// Why a program cannot be given a variable of this name; empty: it can.
std::string problem_of_variable(const std::string& name);

/// The first label of a `benchmark` is model::unknown_cases; others
/// are those of its `measure`.
ReadCommand read_command(const YamlNode& entry, bool benchmark, Problems& problems);

/// With the parameters in place.
command::Command filled_in(const command::Command& command, const model::Params& params);

/// The same benchmark as a program that is recorded. What it reports then is not read, because
/// recording costs time.
command::Command recorded(command::Command benchmark);

}  // namespace perfgate::suite
