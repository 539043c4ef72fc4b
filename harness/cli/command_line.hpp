// SPDX-License-Identifier: Apache-2.0
// Rules for every option of every verb.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace perfgate::cli {

/// Makes each option and argument of `app` and its verbs refuse an empty value by name: an unset
/// variable, as in `--profile "$PROFILE"`, must not disable an option. Call it after adding all
/// verbs.
void refuse_empty_values(CLI::App& app);

/// The first word that names no command or no option, as a message with the nearest name; empty:
/// there is none.
std::string unknown_word(const CLI::App& app, int argc, const char* const* argv);

/// The words of a command line for CLI::App::parse(), which expects the last one first. "--option="
/// becomes "--option" and an empty value: CLI11 would read the next word as the value.
std::vector<std::string> reversed_words(int argc, const char* const* argv);

}  // namespace perfgate::cli
