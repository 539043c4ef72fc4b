// SPDX-License-Identifier: Apache-2.0
// Which shared libraries plugins brought into this process: what they link, and what has been
// loaded at run time so far. It is read from the dynamic linker's list, so that a library that was
// unloaded again, or loaded into a namespace of its own (dlmopen), is not seen.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace perfgate::backend {

struct Library {
    std::string name;            ///< as it was asked for: "libhelper.so.1"
    std::filesystem::path file;  ///< without links; as it was asked for where it is gone
};

/// What is loaded at the first call is perfgate's own, and no plugin's: call it before the first
/// plugin is loaded.
void note_own_libraries();

/// The libraries that belong to `modules`, files of one plugin: those they link, directly or not,
/// and those that no module of `all_modules` links, which somebody loaded at run time; who it was
/// cannot be told. Without perfgate's own, the modules themselves and the platform's (below). By
/// name and file.
std::vector<Library> libraries_loaded_by(const std::vector<std::filesystem::path>& modules,
                                         const std::vector<std::filesystem::path>& all_modules);

/// Whether a library belongs to the platform: C library, the compiler's runtime, CUDA driver, CUDA
/// toolkit. Their versions are part of a run's environment; as code, each system update would be a
/// change of every plugin. Told by file name, the table is in libraries.cpp; not so for a file in
/// or below `plugin_folder`: what a plugin brings along is its own, whatever its name.
bool is_platform_library(const std::filesystem::path& file,
                         const std::filesystem::path& plugin_folder);

}  // namespace perfgate::backend
