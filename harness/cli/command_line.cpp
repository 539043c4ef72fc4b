// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <utility>

#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"
#include "util/text.hpp"

namespace perfgate::cli {
namespace {

constexpr std::size_t help_columns = 90;
constexpr std::size_t text_column = 30;

const CLI::App* command_named(const CLI::App& app, const std::string& name) {
    const auto found =
        app.get_subcommands([&](const CLI::App* below) { return below->get_name() == name; });
    return found.empty() ? nullptr : found.front();
}

std::vector<std::string> shown_options(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
        if (option->get_group().empty()) continue;
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
}

/// `text` in lines of at most help_columns, each behind `indent` blanks; its own line breaks stay.
std::string wrapped(std::string_view text, std::size_t indent) {
    std::string out;
    while (!text.empty()) {
        const std::size_t line_end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, line_end);
        text.remove_prefix(std::min(line_end + 1, text.size()));
        const std::size_t width = help_columns - indent;
        while (line.size() > width) {
            std::size_t end = line.rfind(' ', width);
            if (end == std::string_view::npos || end == 0) {
                end = std::min(line.find(' ', width), line.size());
            }
            out += std::string(indent, ' ') + std::string(line.substr(0, end)) + '\n';
            line.remove_prefix(std::min(end + 1, line.size()));
        }
        out += std::string(indent, ' ') + std::string(line) + '\n';
    }
    return out;
}

/// A list of words that is longer than a line, in several.
std::string with_breaks(std::string list) {
    constexpr std::string_view next_line = "\n      ";
    std::size_t begin = 0;
    while (list.size() - begin > help_columns) {
        const std::size_t comma = list.rfind(',', begin + help_columns - 1);
        if (comma == std::string::npos || comma < begin + next_line.size()) break;
        list.insert(comma + 1, next_line);
        begin = comma + 2;
    }
    return list;
}

/// A name in two columns with its text, which begins on the next line if the name is long.
std::string entry(const std::string& name, const std::string& text) {
    std::string out = with_breaks("  " + name);
    std::string behind = wrapped(text, text_column);
    if (out.size() + 2 <= text_column) {
        behind.erase(0, std::min(out.size(), behind.size()));
    } else {
        out += '\n';
    }
    return out + behind;
}

class Help final : public CLI::FormatterBase {
  public:
    std::string make_help(const CLI::App* app, std::string name,
                          CLI::AppFormatMode mode) const override {
        const std::vector<const CLI::Option*> options =
            app->get_options([](const CLI::Option*) { return true; });
        const std::vector<const CLI::App*> commands = shown_commands(*app);
        const std::string path = name.empty() ? app->get_display_name(true) : name;
        std::string usage = fmt::format("Usage: {} [OPTIONS]", path);
        std::string arguments;
        for (const CLI::Option* option : options) {
            if (!option->get_positional()) continue;
            usage += ' ' + argument_text(*option);
            arguments += entry(option->get_name(true, false) + value_text(*option),
                               option->get_description());
        }
        if (!commands.empty()) usage += " COMMAND";
        std::string text = wrapped(app->get_description(), 0) + wrapped(usage, 0);
        if (!arguments.empty()) text += "\nArguments:\n" + arguments;
        bool more = false;
        for (const std::string& group : groups_of(*app)) {
            if (group == more_group && mode == CLI::AppFormatMode::Normal) {
                more = true;
                continue;
            }
            text += fmt::format("\n{}:\n", group);
            for (const CLI::Option* option : options) {
                if (option->get_positional() || option->get_group() != group) continue;
                text += entry(option->get_name(false, true) + value_text(*option),
                              option->get_description());
            }
        }
        if (!commands.empty()) text += "\nCommands:\n";
        for (const CLI::App* below : commands) {
            text += entry(below->get_name(), below->get_description());
        }
        if (!app->get_footer().empty()) text += '\n' + wrapped(app->get_footer(), 0);
        if (more) text += fmt::format("'{} --help-all' lists more options.\n", path);
        return text;
    }

  private:
    /// What measures, judges and reports; --help and what is rarely used last.
    static std::vector<std::string> groups_of(const CLI::App& app) {
        std::vector<std::string> groups;
        for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
            const std::string& group = option->get_group();
            if (group.empty() || option->get_positional()) continue;
            if (std::ranges::find(groups, group) == groups.end()) {
                groups.push_back(group);
            }
        }
        const std::vector<std::string> order{measure_group, judge_group, report_group, "",
                                             "Options",     more_group};
        const auto place = [&](const std::string& group) {
            const auto found = std::ranges::find(order, group);
            return found == order.end() ? order.begin() + 3 : found;
        };
        std::ranges::stable_sort(groups,
                                 [&](const auto& a, const auto& b) { return place(a) < place(b); });
        return groups;
    }
};

/// What earlier versions had, and what to type in its place. `verb` empty: in every verb.
struct Renamed {
    std::string_view verb, word, now;
};
constexpr Renamed renamed[] = {
    {"perfgate", "import",
     "'perfgate compare FILE… --out DIR', which stores results as DIR/run.json"},
    {"perfgate", "merge", "'perfgate compare RUN… --out DIR', of all shards"},
    {"perfgate", "explain", "'perfgate report RUN --why', for one case with --filter CASE"},
    {"perfgate", "metrics", "'perfgate list --metrics'"},
    {"baseline", "diff", "'perfgate baseline refresh RUN --dry-run'"},
    {"baseline", "log", "'perfgate baseline show SUITE --log'"},
    {"", "--profile", "--config FILE"},
    {"", "--profiles", "--config PATH"},
    {"review", "--suites", "the argument SUITE"},
    {"", "--no-baseline", "--set no_baseline=fail, or --set no_baseline=skip"},
    {"", "--inconclusive", "--set inconclusive=fail, or --set inconclusive=pass"},
    {"", "--not-shown", "--set not_shown=fail, or --set not_shown=pass"},
    {"", "--junit-profile", "--set junit_profile=strict, or --set junit_profile=github"},
    {"", "--creep", "--set creep=PERCENT"},
    {"", "--canary", "--set canary=true"},
    {"", "--json", "--report json:FILE, or --report with a file that ends in .json"},
    {"", "--junit", "--report junit:FILE, or --report with a file that ends in .xml"},
    {"", "--csv", "--report csv:FILE, or --report with a file that ends in .csv"},
    {"", "--markdown", "--report markdown:FILE, or --report with a file that ends in .md"},
    {"", "--html", "--report html:FILE, or --report with a file that ends in .html"},
    {"", "--annotations", "--report annotations:FILE"},
    {"", "--trace", "--report trace:FILE"},
    {"", "--sqlite", "--report sqlite:FILE, or --report with a file that ends in .sqlite"},
    {"", "--suite-out", "--report suite:FILE, or --report with a file that ends in .yaml"},
    {"", "--base-root", "--base dir:DIR"},
    {"", "--head-root", "--head dir:DIR"},
    {"", "--base-rev", "--base rev:REF"},
    {"", "--head-rev", "--head rev:REF"},
    {"", "--base-env", "--base env:NAME=VALUE"},
    {"", "--head-env", "--head env:NAME=VALUE"},
    {"", "--across-devices", "'perfgate report --base FILE --head FILE'"},
    {"", "--name", "--suite NAME/FIRST"},
    {"", "--case", "--filter GLOB"},
    {"", "--case-limit", "--time-limit SECONDS"},
    {"", "--verify-seed", "--seed N"},
    {"", "--baseline-processes", "--processes N, of which the baseline has four times as many"},
    {"profile", "--range", "--capture range:NAME"},
    {"profile", "--profiler-api", "--capture profiler-api"},
    {"profile", "--after-launches", "--capture after-launches:N"},
    {"profile", "--delay", "--capture delay:SECONDS"},
    {"profile", "--duration", "--capture duration:SECONDS"},
    {"profile", "--rows", "--verbose, which shows all rows"},
    {"", "--device", "--devices LIST, or --device-key KEY"},
    {"", "--costs", "left out: cases are dealt out to the shards in turn"},
};

/// What other tools call a command.
struct Synonym {
    std::string_view verb, word, meant;
};
constexpr Synonym usual_elsewhere[] = {
    {"perfgate", "bench", "run"},
    {"perfgate", "benchmark", "run"},
    {"perfgate", "measure", "run"},
    {"perfgate", "test", "run"},
    {"perfgate", "check", "validate SUITE"},
    {"perfgate", "lint", "validate SUITE"},
    {"perfgate", "diff", "compare"},
    {"perfgate", "record", "profile"},
    {"perfgate", "new", "init"},
    {"perfgate", "update", "baseline refresh"},
    {"perfgate", "refresh", "baseline refresh"},
    {"perfgate", "accept", "baseline accept"},
    {"baseline", "update", "refresh"},
    {"baseline", "save", "refresh"},
    {"baseline", "record", "refresh"},
    {"baseline", "create", "refresh"},
    {"baseline", "delete", "prune"},
    {"baseline", "remove", "prune"},
    {"baseline", "list", "show"},
};

/// What was meant: the nearest name, or the only one that begins with the word.
std::string suggestion(const std::string& word, const std::vector<std::string>& names) {
    std::string near = util::did_you_mean(word, names);
    if (!near.empty()) return near;
    const auto begins = [&](const std::string& name) { return name.starts_with(word); };
    if (std::ranges::count_if(names, begins) != 1) return {};
    return "; did you mean '" + *std::ranges::find_if(names, begins) + "'?";
}

std::string unknown(std::string_view what, const std::string& word,
                    const std::vector<std::string>& names, const CLI::App& command,
                    const std::string& path) {
    for (const Renamed& each : renamed) {
        if (word != each.word || (!each.verb.empty() && command.get_name() != each.verb)) continue;
        return fmt::format("{} is now {}", word, each.now);
    }
    std::string meant = suggestion(word, names);
    for (const Synonym& each : usual_elsewhere) {
        if (what != "command" || word != each.word || command.get_name() != each.verb) continue;
        meant = fmt::format("; did you mean '{}'?", each.meant);
    }
    return fmt::format("unknown {} '{}'{}", what, util::printable(word),
                       meant.empty() ? fmt::format("; '{} --help' lists them", path) : meant);
}

/// The chosen command.
const CLI::App& innermost(const CLI::App& app) {
    const auto chosen = app.get_subcommands();
    return chosen.empty() ? app : innermost(*chosen.back());
}

/// Whether it runs a program, whose words come after "--".
bool takes_program(const CLI::App& command) {
    return command.get_option_no_throw("PROGRAM") != nullptr;
}

/// `program` is the place of the program's first word.
std::string program_without_dashes(const std::string& path, const std::vector<std::string>& words,
                                   std::size_t program) {
    std::string line;
    for (std::size_t i = program; i < words.size(); ++i) line += ' ' + util::shell_word(words[i]);
    return fmt::format("{} takes a program's words after --: {} --{}", path, path,
                       util::printable(line, 200));
}

std::string path_of(const CLI::App& app) {
    return app.get_parent() == nullptr ? app.get_name()
                                       : path_of(*app.get_parent()) + ' ' + app.get_name();
}

}  // namespace

std::string value_text(const CLI::Option& option) {
    std::string text;
    if (option.get_items_expected_max() > 0) {
        text = option.get_type_name();
        const std::size_t words = text.find(":{");
        if (words != std::string::npos) text.erase(0, words + 1);
        text = ' ' + text;
        if (!option.get_default_str().empty()) text += '=' + option.get_default_str();
    }
    return option.get_required() && !option.get_positional() ? text + " (required)" : text;
}

std::string argument_text(const CLI::Option& option) {
    std::string text = option.get_name(true, false);
    if (option.get_expected_max() >= CLI::detail::expected_max_vector_size) text += "...";
    return option.get_required() ? text : '[' + text + ']';
}

std::vector<const CLI::App*> shown_commands(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App* below) { return !below->get_group().empty(); });
}

void format_help(CLI::App& app) {
    app.formatter(std::make_shared<Help>());
    app.set_help_flag("-h,--help", "Print the most used options");
    app.set_help_all_flag("--help-all", "Print all options");
}

void add_verbs(CLI::App& app, std::span<const Verb> table, Body& chosen) {
    app.require_subcommand(1);
    for (const Verb& each : table) {
        CLI::App* verb = app.add_subcommand(each.name, each.description);
        if (each.hidden) verb->group("");
        if (!each.below.empty()) add_verbs(*verb, each.below, chosen);
        if (each.add == nullptr) continue;
        verb->callback([&chosen, body = each.add(*verb)] { chosen = body; });
        if (*each.examples == '\0') continue;
        verb->footer(
            fmt::format("{}\n{}  {}", verb->get_footer(), examples_heading, each.examples));
    }
}

void refuse_empty_values(CLI::App& app) {
    for (CLI::Option* option : app.get_options()) {
        // Flags, and what completion asks about.
        if (option->get_items_expected_max() == 0 || option->get_name() == "WORD") continue;
        // CLI11 puts the name of an option before its message, but not that of a hidden one.
        const std::string name =
            option->get_group().empty() ? "--" + option->get_lnames().front() + ": " : "";
        option->check([name](const std::string& value) {
            return value.empty() ? name + "expected a value, found an empty one" : std::string();
        });
    }
    for (CLI::App* verb : app.get_subcommands({})) refuse_empty_values(*verb);
}

std::vector<std::string> words_of(int argc, const char* const* argv) {
    std::vector<std::string> words(argv + 1, argv + argc);
    if (words.empty() || words.front() != "help") return words;
    words.erase(words.begin());
    words.emplace_back("--help");
    return words;
}

std::string unknown_word(const CLI::App& app, const std::vector<std::string>& words) {
    const CLI::App* command = &app;
    std::size_t program = 0;  // its first word; 0: there is none yet
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == "--") break;
        const std::string path = path_of(*command);
        const bool has_commands =
            !command->get_subcommands([](const CLI::App*) { return true; }).empty();
        if (!word.starts_with('-')) {
            if (program == 0 && takes_program(*command)) program = i;
            if (!has_commands) continue;
            const CLI::App* below = command_named(*command, word);
            if (!below) {
                std::vector<std::string> names;
                for (const CLI::App* shown : shown_commands(*command)) {
                    names.push_back(shown->get_name());
                }
                return unknown("command", word, names, *command, path);
            }
            command = below;
        } else if (word.starts_with("--")) {
            const std::string name = word.substr(0, word.find('='));
            const CLI::Option* option = command->get_option_no_throw(name);
            if (!option && program > 0) return program_without_dashes(path, words, program);
            if (!option) return unknown("option", name, shown_options(*command), *command, path);
            // The next word is its value, whatever it looks like.
            if (option->get_items_expected_max() > 0 && word == name) ++i;
        } else if (program > 0) {
            return program_without_dashes(path, words, program);
        }
    }
    return {};
}

int usage_code(const std::vector<std::string>& words) {
    const auto has = [&](std::string_view word) {
        return std::ranges::find(words, word) != words.end();
    };
    return has("bisect") && has("--step") ? end_git_bisect : 2;
}

std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
    const CLI::App& command = innermost(app);
    const std::string path = path_of(command);
    std::string said = error.what();
    const std::string kind = error.get_name();
    const auto behind = [&](std::string_view start) { return said.substr(start.size()); };
    if (kind == "RequiredError" && said.starts_with("A subcommand")) {
        std::vector<std::string> names;
        for (const CLI::App* below : shown_commands(command)) names.push_back(below->get_name());
        return fmt::format("{}: name a command: {}", path, fmt::join(names, ", "));
    }
    if (kind == "RequiredError") {
        return fmt::format("{0} needs {1}; '{0} --help' describes it", path,
                           said.substr(0, said.find(' ')));
    }
    if (said.starts_with("The following argument")) {
        return fmt::format("{} takes no more arguments: leave out {}", path,
                           util::printable(said.substr(said.find(": ") + 2)));
    }
    if (kind == "ConversionError") {
        constexpr std::string_view start = "Could not convert: ";
        const std::string text = said.starts_with(start) ? behind(start) : said;
        const std::size_t end = std::min(text.find_first_of(" :"), text.size());
        const CLI::Option* option = command.get_option_no_throw(text.substr(0, end));
        if (option != nullptr && option->get_items_expected_max() == 0) {
            return text.substr(0, end) + " takes no value";
        }
        return fmt::format("{}: expected a number, found '{}'", text.substr(0, end),
                           util::printable(text.substr(std::min(end + 3, text.size()))));
    }
    if (kind == "ArgumentMismatch") {
        const std::string name = said.substr(0, said.find_first_of(": "));
        if (said.find("flag override") != std::string::npos) return name + " takes no value";
        return said.find("t Most") != std::string::npos || said.find("got ") != std::string::npos
                   ? name + ": expected one value, found several"
                   : name + ": expected a value";
    }
    return said;
}

std::vector<std::string> reversed(const std::vector<std::string>& words) {
    std::vector<std::string> result;
    bool options = true;
    for (std::string word : words) {
        options = options && word != "--";
        const bool unset = options && word.starts_with("--") && word.find('=') == word.size() - 1;
        if (unset) word.pop_back();
        result.push_back(std::move(word));
        if (unset) result.emplace_back();
    }
    std::ranges::reverse(result);
    return result;
}

}  // namespace perfgate::cli
