// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <functional>

namespace perfgate::cli {

namespace {

/// CLI11 states what a value may be in the help text: "FILE", "TEXT:{auto,always}".
CompletionValue value_of(const CLI::Option& option) {
    using Kind = CompletionValue::Kind;
    if (option.get_name() == "--metrics") return {Kind::metric, {}};
    if (option.get_items_expected_max() == 0) return {Kind::none, {}};
    const std::string type = option.get_type_name();
    const std::size_t open = type.find('{'), close = type.find('}');
    if (open != std::string::npos && close != std::string::npos && open < close) {
        return {Kind::words, CLI::detail::split(type.substr(open + 1, close - open - 1), ',')};
    }
    const bool suite = option.get_positional() && option.get_name() == "SUITE";
    if (suite) return {type == "FILE" ? Kind::suite_file : Kind::suite, {}};
    if (type == "GLOB") return {Kind::cases, {}};
    if (type.find("FILE") != std::string::npos) return {Kind::file, {}};
    if (type.find("DIR") != std::string::npos) return {Kind::folder, {}};
    return {Kind::any, {}};
}

void each_command(const CompletionCommand& command,
                  const std::function<void(const CompletionCommand&)>& visit) {
    visit(command);
    for (const CompletionCommand& below : command.commands) each_command(below, visit);
}

/// Quotes any text as one word for all three shells.
std::string single_quoted(std::string_view text) {
    std::string quoted = "'";
    for (const char c : text) {
        if (c == '\'') {
            quoted += "'\\''";
        } else {
            quoted += c == '\n' ? ' ' : c;
        }
    }
    return quoted + "'";
}

std::string escaped(std::string_view text, std::string_view special) {
    std::string result;
    for (const char c : text) {
        if (special.find(c) != std::string_view::npos) result += '\\';
        result += c;
    }
    return result;
}

std::vector<std::string> option_names(const CompletionCommand& command) {
    std::vector<std::string> names;
    for (const CompletionOption& option : command.options) {
        names.insert(names.end(), option.names.begin(), option.names.end());
    }
    return names;
}

std::vector<std::string> command_names(const CompletionCommand& command) {
    std::vector<std::string> names;
    for (const CompletionCommand& below : command.commands) names.push_back(below.path.back());
    return names;
}

/// The word for `perfgate complete`; null: the value is none that it lists.
const char* listed(CompletionValue::Kind kind) {
    using Kind = CompletionValue::Kind;
    switch (kind) {
        case Kind::suite:
            return "suites";
        case Kind::cases:
            return "cases";
        case Kind::metric:
            return "metrics";
        default:
            return nullptr;
    }
}

std::string bash_action(const CompletionValue& value) {
    using Kind = CompletionValue::Kind;
    if (const char* what = listed(value.kind)) return fmt::format("_perfgate_listed {}", what);
    switch (value.kind) {
        case Kind::words:
            return fmt::format("_perfgate_words {}",
                               single_quoted(fmt::format("{}", fmt::join(value.words, " "))));
        case Kind::file:
            return "_perfgate_files -f";
        case Kind::folder:
            return "_perfgate_files -d";
        case Kind::suite_file:
            return "_perfgate_suite_files";
        default:
            break;
    }
    return ":";
}

std::string zsh_action(const CompletionValue& value) {
    using Kind = CompletionValue::Kind;
    if (const char* what = listed(value.kind)) return fmt::format("_perfgate_listed {}", what);
    switch (value.kind) {
        case Kind::words:
            return fmt::format("({})", fmt::join(value.words, " "));
        case Kind::file:
            return "_files";
        case Kind::folder:
            return "_files -/";
        case Kind::suite_file:
            return "_files -g \"*.(yaml|yml)\"";
        default:
            break;
    }
    return " ";
}

std::string zsh_function(const CompletionCommand& command) {
    return fmt::format("_perfgate{}{}", command.path.empty() ? "" : "_",
                       fmt::join(command.path, "_"));
}

/// fish's condition for an offer: exactly this command has been typed.
std::string fish_condition(const CompletionCommand& command) {
    if (command.path.empty()) return "__fish_use_subcommand";
    std::string condition;
    for (const std::string& name : command.path) {
        condition += fmt::format("{}__fish_seen_subcommand_from {}",
                                 condition.empty() ? "" : "; and ", name);
    }
    if (!command.commands.empty()) {
        condition += fmt::format("; and not __fish_seen_subcommand_from {}",
                                 fmt::join(command_names(command), " "));
    }
    return condition;
}

std::string fish_value(const CompletionValue& value) {
    using Kind = CompletionValue::Kind;
    if (const char* what = listed(value.kind)) {
        return fmt::format(
            " -xa '(set -l words (commandline -opc); $words[1] complete {} -- $words[2..] "
            "2>/dev/null)'",
            what);
    }
    switch (value.kind) {
        case Kind::words:
            return fmt::format(" -xa {}",
                               single_quoted(fmt::format("{}", fmt::join(value.words, " "))));
        case Kind::file:
            return " -rF";
        case Kind::folder:
            return " -xa '(__fish_complete_directories)'";
        case Kind::suite_file:
            return " -xa '(__fish_complete_suffix .yaml)'";
        case Kind::any:
            return " -x";
        default:
            break;
    }
    return "";
}

}  // namespace

CompletionCommand completion_of(const CLI::App& app) {
    CompletionCommand command;
    command.help = app.get_description();
    for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
        if (option->get_group().empty()) continue;
        const CompletionValue value = value_of(*option);
        if (option->get_positional()) {
            // Documents and suites: an argument without fixed words is a file.
            command.arguments = value;
            if (value.kind == CompletionValue::Kind::any) {
                command.arguments.kind = CompletionValue::Kind::file;
            }
            continue;
        }
        CompletionOption entry{{}, option->get_description(), value};
        for (const std::string& name : option->get_lnames()) entry.names.push_back("--" + name);
        for (const std::string& name : option->get_snames()) entry.names.push_back("-" + name);
        command.options.push_back(std::move(entry));
    }
    for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
        if (below->get_group().empty()) continue;
        CompletionCommand verb = completion_of(*below);
        // From here on, subcommands have their path, the top one first.
        const std::function<void(CompletionCommand&)> name = [&](CompletionCommand& each) {
            each.path.insert(each.path.begin(), below->get_name());
            for (CompletionCommand& deeper : each.commands) name(deeper);
        };
        name(verb);
        command.commands.push_back(std::move(verb));
    }
    return command;
}

std::string bash_completion(const CompletionCommand& root) {
    std::string values, words, descend;
    each_command(root, [&](const CompletionCommand& command) {
        const std::string path = fmt::format("{}", fmt::join(command.path, " "));
        for (const CompletionOption& option : command.options) {
            if (option.value.kind == CompletionValue::Kind::none) continue;
            std::vector<std::string> patterns;
            for (const std::string& name : option.names) {
                patterns.push_back(single_quoted(fmt::format("{}:{}", path, name)));
            }
            values += fmt::format("        {}) {}; return ;;\n", fmt::join(patterns, "|"),
                                  bash_action(option.value));
        }
        words += fmt::format("        {})\n", single_quoted(path));
        words +=
            fmt::format("            if [[ $cur == -* ]]; then _perfgate_words {}; else ",
                        single_quoted(fmt::format("{}", fmt::join(option_names(command), " "))));
        words +=
            command.commands.empty()
                ? bash_action(command.arguments)
                : fmt::format(
                      "_perfgate_words {}",
                      single_quoted(fmt::format("{}", fmt::join(command_names(command), " "))));
        words += "; fi ;;\n";
        for (const CompletionCommand& below : command.commands) {
            descend += fmt::format("            {}) path={} ;;\n",
                                   single_quoted(fmt::format("{}:{}", path, below.path.back())),
                                   single_quoted(fmt::format("{}", fmt::join(below.path, " "))));
        }
    });
    return fmt::format(R"sh(# Completion of perfgate for bash: source <(perfgate completion bash)

_perfgate_words() {{
    local word
    COMPREPLY=()
    for word in $1; do [[ $word == "$cur"* ]] && COMPREPLY+=("$word"); done
    return 0
}}

_perfgate_files() {{
    local line
    COMPREPLY=()
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$1" -- "$cur")
    compopt -o filenames 2>/dev/null
    return 0
}}

_perfgate_suite_files() {{
    _perfgate_files -f
    local word
    local -a found=()
    for word in "${{COMPREPLY[@]}}"; do
        [[ -d $word || $word == *.yaml || $word == *.yml ]] && found+=("$word")
    done
    COMPREPLY=("${{found[@]}}")
}}

# What perfgate itself lists. bash splits words at '=', which ids of cases contain.
_perfgate_listed() {{
    local line typed=$cur
    [[ -n ${{COMP_LINE-}} ]] && typed=${{COMP_LINE:0:COMP_POINT}} && typed=${{typed##*[[:space:]]}}
    typed=${{typed#[\'\"]}}
    COMPREPLY=()
    while IFS= read -r line; do
        [[ $line == "$typed"* ]] && COMPREPLY+=("${{line#"${{typed%"${{cur#[\'\"]}}"}}"}}")
    done < <("${{COMP_WORDS[0]}}" complete "$1" -- "${{COMP_WORDS[@]:1:COMP_CWORD-1}}" 2>/dev/null)
    compopt -o filenames 2>/dev/null
    return 0
}}

_perfgate() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}} path='' i
    COMPREPLY=()
    # bash splits --color=auto in three.
    if [[ $cur == = ]]; then
        cur=''
    elif [[ $prev == = ]]; then
        prev=${{COMP_WORDS[COMP_CWORD - 2]}}
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$path:${{COMP_WORDS[i]}}" in
{}        esac
    done
    case "$path:$prev" in
{}    esac
    case "$path" in
{}    esac
}}
complete -F _perfgate perfgate
)sh",
                       descend, values, words);
}

std::string zsh_completion(const CompletionCommand& root) {
    std::string text =
        "#compdef perfgate\n# Completion of perfgate for zsh: a file _perfgate in $fpath\n\n"
        "_perfgate_listed() {\n"
        "    local -a found\n"
        "    found=(${(f)\"$($program[1] complete $1 -- ${program[2,-1]} 2>/dev/null)\"})\n"
        "    compadd -- $found\n"
        "}\n\n";
    each_command(root, [&](const CompletionCommand& command) {
        text +=
            fmt::format("{}() {{\n    local line state\n{}    _arguments -C", zsh_function(command),
                        command.path.empty() ? "    local -a program=($words)\n" : "");
        for (const CompletionOption& option : command.options) {
            const std::string help = escaped(option.help, "[]:\\");
            for (const std::string& name : option.names) {
                std::string entry = "*" + name;
                if (option.value.kind != CompletionValue::Kind::none && name.size() > 2) {
                    entry += '=';
                }
                entry += fmt::format("[{}]", help);
                if (option.value.kind != CompletionValue::Kind::none) {
                    entry += ":value:" + zsh_action(option.value);
                }
                text += " \\\n        " + single_quoted(entry);
            }
        }
        if (command.commands.empty()) {
            if (command.arguments.kind != CompletionValue::Kind::none) {
                text +=
                    " \\\n        " + single_quoted("*:argument:" + zsh_action(command.arguments));
            }
            text += "\n}\n\n";
            return;
        }
        text +=
            " \\\n        '1:command:->command' '*::argument:->argument'\n    case $state in\n"
            "    command)\n        local -a commands=(";
        for (const CompletionCommand& below : command.commands) {
            text += "\n            " +
                    single_quoted(escaped(below.path.back(), ":\\") + ":" + below.help);
        }
        text +=
            ")\n        _describe command commands ;;\n    argument)\n        case $line[1] in\n";
        for (const CompletionCommand& below : command.commands) {
            text += fmt::format("        {}) {} ;;\n", below.path.back(), zsh_function(below));
        }
        text += "        esac ;;\n    esac\n}\n\n";
    });
    return text +
           "if [ \"$funcstack[1]\" = _perfgate ]; then _perfgate \"$@\"; else compdef _perfgate "
           "perfgate; fi\n";
}

std::string fish_completion(const CompletionCommand& root) {
    std::string text =
        "# Completion of perfgate for fish: perfgate completion fish | source\n\n"
        "complete -c perfgate -f\n";
    each_command(root, [&](const CompletionCommand& command) {
        const std::string start =
            "complete -c perfgate -n " + single_quoted(fish_condition(command));
        for (const CompletionCommand& below : command.commands) {
            text += fmt::format("{} -a {} -d {}\n", start, below.path.back(),
                                single_quoted(below.help));
        }
        for (const CompletionOption& option : command.options) {
            text += start;
            for (const std::string& name : option.names) {
                text += name.size() > 2 ? " -l " + name.substr(2) : " -s " + name.substr(1);
            }
            text += fmt::format("{} -d {}\n", fish_value(option.value), single_quoted(option.help));
        }
        using Kind = CompletionValue::Kind;
        if (command.arguments.kind == Kind::words) {
            text += start + fish_value(command.arguments) + "\n";
        }
        if (command.arguments.kind == Kind::file) text += start + " -F\n";
        if (listed(command.arguments.kind) || command.arguments.kind == Kind::suite_file) {
            text += start + fish_value(command.arguments) + "\n";
        }
    });
    return text;
}

}  // namespace perfgate::cli
