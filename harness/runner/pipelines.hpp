// SPDX-License-Identifier: Apache-2.0
// The pipelines of each CI, from the templates in share/perfgate/pipelines: a folder of files, and
// the steps that are left for a person.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runner/pipeline_text.hpp"

namespace perfgate::runner {

/// A pipeline to be filled in.
struct Pipeline {
    std::string config;
    std::string owner, sha;      ///< "me/perfgate" and a commit; empty: only an archive is known
    std::string archive;         ///< "https://…/perfgate-0.2.0-linux-x86_64.tar.gz", for the jobs
    std::string archive_sum;     ///< SHA-256; empty: what lies beside the archive says it
    std::string archive_file;    ///< what is to be put where jobs find it; empty: it is published
    bool archive_given = false;  ///< `archive` is where the user says, not the shelf
    bool python = false;         ///< jobs start Python, which needs what the suites' files import
    std::string baselines, build;
    std::vector<std::string> suites, plugins, runners;
    std::string other_runner;  ///< of the jobs that do not measure; empty: the CI's own
};

/// How a CI differs from the others, beside its templates.
struct Ci {
    std::string_view name;
    std::string_view comment;  ///< what begins one
    std::string_view suffix;   ///< of names, of one of several runners
    void (*add)(const Pipeline& pipeline, Values& values);
    /// Where jobs find an archive that is published nowhere.
    std::string_view shelf;
    std::string_view shelf_step;  ///< the fragment that says how it gets there
    std::string_view get;        ///< the fragment that gets it from there; empty: as from elsewhere
    std::string_view path;       ///< where the PATH of the jobs is set
    bool escapes_shell = false;  ///< scripts are in a text of Groovy
};

/// The names for AdoptionChoice::ci, the default first.
std::vector<std::string> known_ci();

/// `name` is one of these.
const Ci& ci_of(std::string_view name);

/// What an archive is called for the jobs: package registries and addresses do not take each '+'.
std::string shelf_name(const std::string& archive);

/// By path, each beginning with a line that has `mark`.
std::map<std::string, std::string> files_of(const Pipeline& pipeline, const Ci& ci,
                                            std::string_view mark);
std::vector<std::string> steps_of(const Pipeline& pipeline, const Ci& ci);

}  // namespace perfgate::runner
