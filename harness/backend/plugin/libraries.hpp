// SPDX-License-Identifier: Apache-2.0
// Which shared libraries plugins brought into this process: what they link, and what has been
// loaded at run time so far. This is the dynamic linker's list, so a library that was unloaded
// again, or loaded into a namespace of its own (dlmopen), is not detected.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace perfgate::backend {

struct Library {
    std::string name;            ///< as requested: "libhelper.so.1"
    std::filesystem::path file;  ///< with links resolved; as requested if the file is gone
};

/// Libraries that are loaded at the first call count as perfgate's own: call it before the first
/// plugin is loaded.
void note_own_libraries();

/// The libraries that belong to `modules`, files of one plugin: those they link, directly or not,
/// and those that no module of `all_modules` links, which were loaded at run time by an unknown
/// plugin. Without perfgate's own, the modules themselves and the platform's (below). By name and
/// file.
std::vector<Library> libraries_loaded_by(const std::vector<std::filesystem::path>& modules,
                                         const std::vector<std::filesystem::path>& all_modules);

/// Whether a library belongs to the platform: C library, the compiler's runtime, CUDA driver, CUDA
/// toolkit. Their versions are part of a run's environment; if they counted as code, each system
/// update would change every plugin. Decided by file name (table in libraries.cpp), except for
/// files in or below `plugin_folder`: libraries that come with a plugin are its own, whatever their
/// name.
bool is_platform_library(const std::filesystem::path& file,
                         const std::filesystem::path& plugin_folder);

}  // namespace perfgate::backend
