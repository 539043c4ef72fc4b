// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace perfgate::cli {

void refuse_empty_values(CLI::App& app) {
    for (CLI::Option* option : app.get_options()) {
        if (option->get_items_expected_max() == 0) continue;  // a flag
        // CLI11 puts the name of an option before its message, but not that of a hidden one.
        const std::string name =
            option->get_group().empty() ? "--" + option->get_lnames().front() + ": " : "";
        option->check([name](const std::string& value) {
            return value.empty() ? name + "expected a value, found an empty one" : std::string();
        });
    }
    for (CLI::App* verb : app.get_subcommands({})) refuse_empty_values(*verb);
}

std::vector<std::string> reversed_words(int argc, const char* const* argv) {
    std::vector<std::string> words;
    bool options = true;
    for (int i = 1; i < argc; ++i) {
        std::string word = argv[i];
        options = options && word != "--";
        const bool unset = options && word.starts_with("--") && word.find('=') == word.size() - 1;
        if (unset) word.pop_back();
        words.push_back(std::move(word));
        if (unset) words.emplace_back();
    }
    std::reverse(words.begin(), words.end());
    return words;
}

}  // namespace perfgate::cli
