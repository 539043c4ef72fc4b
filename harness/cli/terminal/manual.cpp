// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <vector>

#include "cli/command_line.hpp"

namespace perfgate::cli {
namespace {

/// Text that roff prints as it is.
std::string roff(std::string_view text) {
    std::string out;
    bool line_start = true;
    for (const char c : text) {
        if (line_start && (c == '.' || c == '\'')) out += "\\&";
        line_start = c == '\n';
        if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else {
            out += c;
        }
    }
    return out;
}

/// Every line of the text on a line of its own.
std::string line_by_line(std::string_view text) {
    std::string out = roff(text);
    for (std::size_t at = out.find('\n'); at != std::string::npos; at = out.find('\n', at + 5)) {
        out.replace(at, 1, "\n.br\n");
    }
    return out + "\n";
}

/// As --help formats them.
std::string option_entries(const CLI::App& app, bool positional) {
    std::string text;
    for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
        if (option->get_group().empty() || option->get_positional() != positional) continue;
        text += fmt::format(".TP\n.B {}\n",
                            roff(option->get_name(positional, !positional) + value_text(*option)));
        text += roff(option->get_description()) + "\n";
    }
    return text;
}

void add_pages(const CLI::App& app, const std::string& name, const std::string& version,
               std::map<std::string, std::string>& pages) {
    std::string dashed = name;
    std::string title;
    for (char& c : dashed) {
        if (c == ' ') c = '-';
        title += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    std::string text = fmt::format(
        ".\\\" Made from perfgate's command-line definition.\n"
        ".TH {} 1 \"\" \"perfgate {}\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B {}\n",
        roff(title), roff(version), roff(dashed), roff(app.get_description()), roff(name));
    const std::vector<const CLI::App*> commands = shown_commands(app);
    const std::string arguments = option_entries(app, true);
    text += "[OPTIONS]";
    for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
        if (option->get_positional()) text += " " + roff(argument_text(*option));
    }
    text += commands.empty() ? "\n" : " COMMAND\n";
    if (!arguments.empty()) text += ".SH ARGUMENTS\n" + arguments;
    text += ".SH OPTIONS\n" + option_entries(app, false);
    if (!commands.empty()) text += ".SH COMMANDS\n";
    for (const CLI::App* below : commands) {
        text += fmt::format(".TP\n.B {}\n{}\n", roff(below->get_name()),
                            roff(below->get_description()));
    }
    const std::string footer = app.get_footer();
    const std::size_t notes_end = std::min(footer.find(examples_heading), footer.size());
    if (notes_end != 0) text += ".SH NOTES\n" + line_by_line(footer.substr(0, notes_end));
    if (notes_end != footer.size()) {
        text += ".SH EXAMPLES\n.nf\n" + roff(footer.substr(notes_end + examples_heading.size())) +
                "\n.fi\n";
    }
    if (!commands.empty()) {
        text += ".SH SEE ALSO\n";
        std::vector<std::string> others;
        for (const CLI::App* below : commands) {
            others.push_back(fmt::format(".BR {} (1)", roff(dashed + "-" + below->get_name())));
        }
        text += fmt::format("{}\n", fmt::join(others, ",\n"));
    }
    pages[dashed + ".1"] = text;
    for (const CLI::App* below : commands) {
        add_pages(*below, name + " " + below->get_name(), version, pages);
    }
}

}  // namespace

std::map<std::string, std::string> manual_pages(const CLI::App& app, const std::string& version) {
    std::map<std::string, std::string> pages;
    add_pages(app, app.get_name(), version, pages);
    return pages;
}

}  // namespace perfgate::cli
