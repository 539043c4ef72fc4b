// SPDX-License-Identifier: Apache-2.0
// Completion scripts of shells, made from the command line that is there: a verb or an option that
// is added is completed without further ado.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace perfgate::cli {

/// What may stand in an argument's place.
struct CompletionValue {
    enum class Kind { none, any, file, folder, words };
    Kind kind = Kind::none;          ///< none: takes no value
    std::vector<std::string> words;  ///< of Kind::words
};

struct CompletionOption {
    std::vector<std::string> names;  ///< "--color", "-h"
    std::string help;
    CompletionValue value;
};

/// A command with what may follow it. `path` is empty for perfgate itself, {"baseline", "diff"} for
/// a verb's verb.
struct CompletionCommand {
    std::vector<std::string> path;
    std::string help;
    std::vector<CompletionOption> options;
    CompletionValue arguments;                ///< of all positionals, which look alike
    std::vector<CompletionCommand> commands;  ///< the verbs below this one
};

/// Everything that --help shows; what is hidden there is left out here.
CompletionCommand completion_of(const CLI::App& app);

std::string bash_completion(const CompletionCommand& root);
std::string zsh_completion(const CompletionCommand& root);
std::string fish_completion(const CompletionCommand& root);

}  // namespace perfgate::cli
