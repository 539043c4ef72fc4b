// SPDX-License-Identifier: Apache-2.0
// What is generated from the command-line definition, so that new verbs and options are in it
// without further changes: completion scripts of shells, and manual pages.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace perfgate::cli {

/// What an argument may be.
struct CompletionValue {
    /// suite_file: a YAML file; suite, cases and metric: what `perfgate complete` lists.
    enum class Kind { none, any, file, folder, words, suite_file, suite, cases, metric };
    Kind kind = Kind::none;          ///< none: takes no value
    std::vector<std::string> words;  ///< of Kind::words
};

struct CompletionOption {
    std::vector<std::string> names;  ///< "--color", "-h"
    std::string help;
    CompletionValue value;
};

/// A command with its options, arguments and subcommands. `path` is empty for perfgate itself,
/// {"baseline", "show"} for a verb's verb.
struct CompletionCommand {
    std::vector<std::string> path;
    std::string help;
    std::vector<CompletionOption> options;
    CompletionValue arguments;                ///< of all positionals, which are of one kind
    std::vector<CompletionCommand> commands;  ///< the verbs below this one
};

/// Everything that --help shows; what is hidden there is left out here.
CompletionCommand completion_of(const CLI::App& app);

std::string bash_completion(const CompletionCommand& root);
std::string zsh_completion(const CompletionCommand& root);
std::string fish_completion(const CompletionCommand& root);

/// The pages of the program and all of its commands, by file name: "perfgate-run.1".
std::map<std::string, std::string> manual_pages(const CLI::App& app, const std::string& version);

}  // namespace perfgate::cli
