// SPDX-License-Identifier: Apache-2.0
// What holds for every option of every verb.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace perfgate::cli {

/// Makes each option and argument of `app` and its verbs refuse an empty value, with its name: a
/// variable that is not set, as in `--profile "$PROFILE"`, must not turn an option off. Call it
/// when all verbs are there.
void refuse_empty_values(CLI::App& app);

/// The words of a command line for CLI::App::parse(), which wants the last one first. "--option="
/// becomes "--option" and an empty value: CLI11 would take the next word for the value.
std::vector<std::string> reversed_words(int argc, const char* const* argv);

}  // namespace perfgate::cli
