// SPDX-License-Identifier: Apache-2.0
// `perfgate init`: a project that works, copied from share/perfgate/templates.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate::runner {

/// A kind of project: a row here, and a folder of its name in templates/, beside this file.
struct ProjectKind {
    std::string_view name;
    std::string_view what;
    /// The commands that build it, store a baseline and gate; "{perfgate}" is this program,
    /// "{cmake_prefix}" what CMake needs to find it.
    std::vector<std::string_view> commands;
    /// Of the first, without CMake; "{include}" is the SDK's folder. Empty: none.
    std::string_view instead = {};
};

/// In the order of the help text; the first is the default.
const std::vector<ProjectKind>& project_kinds();

struct NewProject {
    std::vector<std::filesystem::path> files;  ///< relative to the folder
    std::string to_ignore;              ///< for a .gitignore that is there; empty: it was written
    std::vector<std::string> commands;  ///< to be run in the folder
    std::string instead;                ///< of the first; may be empty
    std::string adopt;                  ///< writes CI pipelines, in the root of a repository
};

/// Copies the kind's files into the folder, which it makes, with a .gitignore if it has none.
/// Throws util::InputError, and writes nothing, if a file exists, which it names; util::Error if
/// the templates are absent.
NewProject start_project(const ProjectKind& kind, const std::filesystem::path& folder);

}  // namespace perfgate::runner
