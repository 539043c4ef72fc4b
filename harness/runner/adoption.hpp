// SPDX-License-Identifier: Apache-2.0
// `perfgate adopt`: the CI pipelines of somebody's repository, filled in from
// share/perfgate/pipelines for its suites.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate::runner {

struct AdoptionChoice {
    /// Files or patterns, as `review` takes them. A config that a pattern matches is no suite.
    std::vector<std::string> suites = {"suites/*.yaml"};
    /// Empty: configs/ci.yaml, which is written for these suites if it is absent.
    std::string config;
    std::vector<std::string> plugins;
    /// One line; not given: CMake's if there is a CMakeLists.txt and the suites name a plugin, a
    /// program that is no script or machine code that is absent or that git ignores; empty: nothing
    /// is built.
    std::optional<std::string> build;
    std::string ci;
    /// Labels, one for each kind of machine; empty: "gpu", or "quiet" if no case needs a GPU.
    std::vector<std::string> runners;
    /// Label of the machines of the jobs that do not measure, some of which may write; empty:
    /// GitHub's own, or any of GitLab's.
    std::string other_runner;
    /// OWNER/NAME or OWNER/NAME@SHA: where the release and the actions are. Empty, or without a
    /// SHA: what the release says of itself.
    std::string from;
    /// The release's .tar.gz, which is published nowhere.
    std::string archive;
    /// Where jobs find it: an address, or a file of the machine or, for GitHub, of the repository.
    /// Empty: in what the CI has for it.
    std::string archive_place;
};

struct Adoption {
    std::vector<std::string> files;     ///< written, below the current folder
    std::vector<std::string> replaced;  ///< of these, what had another content
    std::string found;                  ///< what the suites need, in one line
    std::vector<std::string> warnings;  ///< one line each
    /// What is left for a person, in this order.
    std::vector<std::string> steps;
};

/// Checks the suites and the config, executes nothing of them, and writes the pipelines. The
/// current folder is the repository's root. Throws util::InputError, and writes nothing, for
/// anything that is wrong, and for a file that somebody else wrote; util::Error if templates are
/// absent.
Adoption adopt(const AdoptionChoice& choice);

}  // namespace perfgate::runner
