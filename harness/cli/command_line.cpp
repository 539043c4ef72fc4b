// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "util/text.hpp"

namespace perfgate::cli {
namespace {

const CLI::App* command_named(const CLI::App& app, const std::string& name) {
    const auto found =
        app.get_subcommands([&](const CLI::App* below) { return below->get_name() == name; });
    return found.empty() ? nullptr : found.front();
}

std::vector<std::string> shown_commands(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
        if (!below->get_group().empty()) names.push_back(below->get_name());
    }
    return names;
}

std::vector<std::string> shown_options(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
        if (option->get_group().empty()) continue;
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
}

/// Options that earlier versions had, and what to do instead.
constexpr std::array<std::pair<std::string_view, std::string_view>, 1> removed_options{{
    {"--costs", "leave it out; cases are dealt out to the shards in turn"},
}};

/// What was meant: the nearest name, or the only one that begins with the word.
std::string suggestion(const std::string& word, const std::vector<std::string>& names) {
    std::string near = util::did_you_mean(word, names);
    if (!near.empty()) return near;
    const auto begins = [&](const std::string& name) { return name.starts_with(word); };
    if (std::count_if(names.begin(), names.end(), begins) != 1) return {};
    return "; did you mean '" + *std::find_if(names.begin(), names.end(), begins) + "'?";
}

std::string unknown(std::string_view what, const std::string& word,
                    const std::vector<std::string>& names, const std::string& path) {
    for (const auto& [old, instead] : removed_options) {
        if (word == old) return word + " was removed: " + std::string(instead);
    }
    const std::string meant = suggestion(word, names);
    return "unknown " + std::string(what) + " '" + util::printable(word) + "'" +
           (meant.empty() ? "; '" + path + " --help' lists them" : meant);
}

}  // namespace

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

std::string unknown_word(const CLI::App& app, int argc, const char* const* argv) {
    const CLI::App* command = &app;
    std::string path = app.get_name();
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--") break;
        const bool has_commands =
            !command->get_subcommands([](const CLI::App*) { return true; }).empty();
        if (!word.starts_with('-')) {
            if (!has_commands) continue;
            const CLI::App* below = command_named(*command, word);
            if (!below) return unknown("command", word, shown_commands(*command), path);
            command = below;
            path += " " + word;
        } else if (word.starts_with("--")) {
            const std::string name = word.substr(0, word.find('='));
            const CLI::Option* option = command->get_option_no_throw(name);
            if (!option) return unknown("option", name, shown_options(*command), path);
            // The next word is its value, whatever it looks like.
            if (option->get_items_expected_max() > 0 && word == name) ++i;
        }
    }
    return {};
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
