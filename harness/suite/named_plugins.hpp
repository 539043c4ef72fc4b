// SPDX-License-Identifier: Apache-2.0
// What suites say of plugins and Python files, read from their text before any is loaded.
#pragma once

#include <string>
#include <vector>

#include "model/catalogue.hpp"
#include "suite/python_reader.hpp"
#include "suite/yaml_reader.hpp"

namespace perfgate::suite {

/// A plugin that a suite names, or a workload of one of its entries.
struct NamedInSuite {
    std::string name;   ///< a plugin's file, as it is written; a workload
    std::string place;  ///< "suites/a.yaml:3:5"
};

struct NeedsOfSuite {
    std::vector<NamedInSuite> plugins, workloads;
    std::vector<PythonFile> scripts;
    bool workers = false;  ///< perfgate's own processes measure an entry; programs do not need them
};

/// Nothing if the file cannot be read as a suite: what is wrong is said when it is.
NeedsOfSuite needs_of(const std::string& suite_file);
NeedsOfSuite needs_of_text(const std::string& yaml, const std::string& suite_file);

/// The Python files of the suites, each once for each interpreter.
std::vector<PythonFile> python_files(const std::vector<std::string>& suite_files);

/// A plugin's file, relative to the folder of its suite, from anywhere; `libNAME.so` for an absent
/// `NAME.so` is not tried.
std::string file_of_plugin(const std::string& named, const std::string& suite_file);

/// A line for each workload of a suite that is another suite's: what its plugin or Python file
/// declares belongs to the suites that name that file. `workloads` are those of all suites.
std::vector<std::string> borrowed_workloads(const std::vector<std::string>& suite_files,
                                            const model::WorkloadCatalogue& workloads);

// What an entry of a suite says about a workload whose plugin is not there.

/// A workload that has the variants and parameters that the entry names, with the types of the
/// values that it gives them: enough to list the entry's cases with the ids that they have with the
/// plugin. What a variant runs on is not known.
model::WorkloadInfo inferred_workload(const YamlNode& entry);

/// Adds what `workload` has to the one of its name.
void add_inferred(const model::WorkloadInfo& workload, model::WorkloadCatalogue& workloads);

}  // namespace perfgate::suite
