// SPDX-License-Identifier: Apache-2.0
// Reads an item of `workloads` that names a Python file: all workloads that the file declares, or
// one of them, with the values that it declares unless the item states others.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/catalogue.hpp"
#include "model/run.hpp"
#include "suite/entry_reader.hpp"

namespace perfgate::suite {

/// The largest Python file that is read.
inline constexpr std::size_t most_python_bytes = std::size_t{4} << 20;

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

/// The Python file that an item names; nothing if it names none, or wrongly.
std::optional<PythonFile> python_file(const YamlNode& node, const std::string& suite_file);

/// The content of a file that PythonFile names. Throws util::InputError.
using ReadText = std::function<std::string(const std::string& file)>;
std::string python_text(const std::string& file);

/// Adds what the files declare to workloads that are known, unless one of the name is there. Runs
/// nothing: a workload whose declaration is no literal has one variant (is_open). Throws
/// util::InputError: a file cannot be read.
void add_declared(const std::vector<PythonFile>& files, model::WorkloadCatalogue& workloads,
                  const ReadText& read = python_text);

/// The workloads with what a run has of open ones: the variants, and the values of its cases.
model::WorkloadCatalogue known_by_run(const model::SuiteResult& measured, model::Target target,
                                      model::WorkloadCatalogue workloads);

/// Whether its cases are known only when its file has run. Its one variant stands for them, and its
/// help says why.
bool is_open(const model::WorkloadInfo& workload);

}  // namespace perfgate::suite
