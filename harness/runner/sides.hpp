// SPDX-License-Identifier: Apache-2.0
// The sides of a comparison as `ab` takes them: `--base rev:main --base env:X=1 --head env:X=2`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/subject.hpp"

namespace perfgate::runner {

/// What a side has of its own; what is not named is as the suites have it.
struct Side {
    std::string build;           ///< a plugin, or a folder of plugins
    std::string revision;        ///< of git
    std::string folder;          ///< a checkout, in place of the suite's folder
    model::Variables variables;  ///< of programs and benchmarks

    [[nodiscard]] bool has_place() const { return !revision.empty() || !folder.empty(); }
};

/// From the words of an option, `--base` or `--head`: build:PATH, rev:REF, dir:DIR, env:NAME=VALUE
/// (repeatable; its value is taken as it is). Throws util::InputError, naming the option, for
/// anything else, for a path that is absent, and for a name that a suite's `env` may not have
/// either.
Side side_of(std::string_view option, const std::vector<std::string>& words);

/// For verbs that read files: throws util::InputError if a word is a side that only `ab` measures.
void require_files(std::string_view option, const std::vector<std::string>& words);

/// Throws util::InputError if both name the same file or folder, through whatever links. `kind` is
/// the word before the colon.
void require_different(std::string_view kind, const std::string& base, const std::string& head);

/// "FOO, PATH": the names of those that one side lacks or has another value of. Empty: none.
std::string differing_names(const model::Variables& base, const model::Variables& head);

}  // namespace perfgate::runner
