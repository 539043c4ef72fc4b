// SPDX-License-Identifier: Apache-2.0
// Rules for every verb and every option: help, and what is refused with which words.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI

namespace perfgate::cli {

/// Help with lines of at most 90 columns, and --help-all, which lists more options. Call it before
/// adding verbs.
void format_help(CLI::App& app);

/// What an option's value is, as help and manual show it: " FILE", " {auto,cuda}=auto".
std::string value_text(const CLI::Option& option);
/// An argument in a usage line: "SUITE...", "[RUN]".
std::string argument_text(const CLI::Option& option);
/// Stands before a verb's examples, at the end of its footer.
inline constexpr std::string_view examples_heading = "\nExamples:\n";
/// Those that are not hidden.
std::vector<const CLI::App*> shown_commands(const CLI::App& app);

/// The pages of the program and all of its commands, by file name: "perfgate-run.1"
/// (terminal/manual.cpp).
std::map<std::string, std::string> manual_pages(const CLI::App& app, const std::string& version);

/// Makes each option and argument of `app` and its verbs refuse an empty value by name: an unset
/// variable, as in `--config "$CONFIG"`, must not disable an option. Call it after adding all
/// verbs.
void refuse_empty_values(CLI::App& app);

/// The words of a command line; `help VERB` is `VERB --help`.
std::vector<std::string> words_of(int argc, const char* const* argv);

/// The first word that names no command or no option, as a message with the nearest name or with
/// what took its place; empty: there is none.
std::string unknown_word(const CLI::App& app, const std::vector<std::string>& words);

/// The exit code of a command line that cannot be read: 2, or end_git_bisect for a step of `git
/// bisect run`, which takes 2 for a bad commit.
int usage_code(const std::vector<std::string>& words);

/// What is wrong with the command line, in perfgate's words.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error);

/// The words in the order that CLI::App::parse() expects, the last one first. "--option=" becomes
/// "--option" and an empty value: CLI11 would read the next word as the value.
std::vector<std::string> reversed(const std::vector<std::string>& words);

}  // namespace perfgate::cli
