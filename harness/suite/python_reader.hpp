// SPDX-License-Identifier: Apache-2.0
// Reads an item of `workloads` that names a Python file: all workloads that the file declares, or
// one of them, with the values that it declares unless the item states others.
#pragma once

#include <string>
#include <vector>

#include "model/catalogue.hpp"
#include "suite/entry_reader.hpp"

namespace perfgate::suite {

/// A Python file of a suite, and what runs it.
struct PythonFile {
    std::string file;         ///< absolute
    std::string interpreter;  ///< absolute, or a name to find on PATH
    std::string place;        ///< "suites/a.yaml:3:5"
    std::string suite;        ///< the suite's file

    bool operator==(const PythonFile&) const = default;
};

/// One for each workload of the item's file in `workloads`, in their order; `suite_file` is the
/// suite's. Empty: there were problems.
std::vector<ReadEntry> read_python(const YamlNode& node, const model::WorkloadCatalogue& workloads,
                                   const std::string& suite_file, Problems& problems);

/// The Python files of the suites, each once. Files that cannot be read as suites have none: what
/// is wrong with them is said when they are.
std::vector<PythonFile> python_files(const std::vector<std::string>& suite_files);

/// Adds what the files declare to workloads that are known, unless one of the name is there. Reads
/// the files' text and runs nothing. Throws util::InputError: a file cannot be read.
void add_declared(const std::vector<PythonFile>& files, model::WorkloadCatalogue& workloads);

}  // namespace perfgate::suite
