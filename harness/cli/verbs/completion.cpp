// SPDX-License-Identifier: Apache-2.0
// Hidden verbs: what a shell may offer for a command line, a line each; the scripts that ask for
// it; manual pages.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "baseline/store.hpp"
#include "cli/command_line.hpp"
#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"
#include "runner/devices.hpp"
#include "runner/metric_list.hpp"
#include "suite/suite.hpp"
#include "util/file.hpp"
#include "util/folder.hpp"
#include "util/text.hpp"

namespace perfgate::cli {
namespace {

namespace fs = std::filesystem;

bool is_suite(const fs::path& file) {
    std::error_code error;
    return (file.extension() == ".yaml" || file.extension() == ".yml") &&
           fs::is_regular_file(file, error);
}

/// Those on the command line; without any, those in suites/.
std::vector<std::string> suite_files(const std::vector<std::string>& words) {
    std::vector<std::string> files;
    for (const std::string& word : words) {
        if (is_suite(word)) files.push_back(word);
    }
    std::error_code error;
    if (!files.empty() || !fs::is_directory("suites", error)) return files;
    for (const auto& entry : fs::directory_iterator("suites", error)) {
        if (is_suite(entry.path())) files.push_back(entry.path().string());
    }
    return files;
}

std::set<std::string> listed_cases(const std::vector<std::string>& words) {
    std::vector<std::string> plugins;
    for (const std::string& word : words) {
        if (word.ends_with(".so")) plugins.push_back(word.substr(word.find('=') + 1));
    }
    std::set<std::string> ids;
    for (const suite::Suite& suite :
         suite::load_suites(suite_files(words), runner::load_workload_catalogue(plugins))) {
        for (const suite::SuiteCase& suite_case : suite.cases) ids.insert(suite_case.id);
    }
    return ids;
}

std::set<std::string> listed_suites() {
    std::set<std::string> names;
    for (const baseline::BaselinePlace& place : baseline::stored_places("baselines")) {
        names.insert(place.suite);
    }
    for (const std::string& file : suite_files({})) names.insert(file);
    return names;
}

std::set<std::string> listed_metrics() {
    std::set<std::string> names;
    for (const runner::ListedMetric& row : runner::list_metrics({}, "GH100").metrics) {
        names.insert(row.metric.definition.name);
    }
    return names;
}

/// Name and description. A name that begins with ':' has the shell offer paths.
using Offers = std::map<std::string, std::string>;

Offers without_descriptions(const std::set<std::string>& names) {
    Offers offers;
    for (const std::string& name : names) offers.emplace(name, "");
    return offers;
}

/// What the value of an option or an argument may be; help states it: "FILE", "TEXT:{auto,cuda}".
Offers values_of(const CLI::Option& option, const std::vector<std::string>& words) {
    const std::string type = option.get_type_name();
    const std::size_t open = type.find('{'), close = type.find('}');
    if (open != std::string::npos && close != std::string::npos && open < close) {
        const auto listed = CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
        return without_descriptions({listed.begin(), listed.end()});
    }
    if (type == "GLOB") return without_descriptions(listed_cases(words));
    if (type == "FILE|NAME") return without_descriptions(listed_suites());
    if (option.get_name() == "SUITE") return {{":suites", ""}};
    if (type.find("FILE") != std::string::npos) return {{":files", ""}};
    if (type.find("DIR") != std::string::npos) return {{":folders", ""}};
    return {};
}

/// What follows the words of `command`, of which the last is incomplete.
Offers offered(const CLI::App& command, const std::vector<std::string>& words) {
    const CLI::App* at = &command;
    const CLI::Option* option = nullptr;  // whose value comes next
    bool metrics = false;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == "--") return {{":files", ""}};
        if (option != nullptr) {
            option = nullptr;
        } else if (word.starts_with('-')) {
            option = at->get_option_no_throw(word);
            if (option != nullptr && option->get_items_expected_max() == 0) option = nullptr;
            metrics = metrics || word == "--metrics";
        } else {
            for (const CLI::App* below : shown_commands(*at)) {
                if (below->get_name() != word) continue;
                at = below;
                break;
            }
        }
    }
    if (option != nullptr) return values_of(*option, words);
    const std::string& last = words.back();
    Offers offers;
    if (const std::size_t end = last.find('='); last.starts_with("--") && end != last.npos) {
        option = at->get_option_no_throw(last.substr(0, end));
        if (option == nullptr) return {};
        for (const auto& [value, text] : values_of(*option, words)) {
            offers.emplace(value.starts_with(':') ? value : last.substr(0, end + 1) + value, text);
        }
        return offers;
    }
    for (const CLI::App* below : shown_commands(*at)) {
        offers.emplace(below->get_name(), below->get_description());
    }
    for (const CLI::Option* each : at->get_options([](const CLI::Option*) { return true; })) {
        if (each->get_group().empty()) continue;
        if (!last.starts_with('-')) {
            if (metrics) return without_descriptions(listed_metrics());
            if (each->get_positional()) offers.merge(values_of(*each, words));
            continue;
        }
        for (const std::string& name : each->get_lnames()) {
            offers.emplace("--" + name, each->get_description());
        }
    }
    return offers;
}

constexpr const char* bash_script = R"sh(# Completion of perfgate for bash

_perfgate_paths() {
    local line
    while IFS= read -r line; do
        [[ $2 && -f $line && $line != *.yaml && $line != *.yml ]] || COMPREPLY+=("$line")
    done < <(compgen "$1" -- "$cur")
    compopt -o filenames 2>/dev/null
}

_perfgate() {
    # bash splits words at = and :, which ids of cases and sides contain.
    local i line glue='' cur=${COMP_WORDS[COMP_CWORD]}
    local -a words=()
    for ((i = 1; i <= COMP_CWORD; i++)); do
        if [[ $glue || (${COMP_WORDS[i]} == [=:] && $i -gt 1) ]]; then
            words[-1]+=${COMP_WORDS[i]}
        else
            words+=("${COMP_WORDS[i]}")
        fi
        [[ ${COMP_WORDS[i]} == [=:] ]] && glue=1 || glue=''
    done
    words[-1]=${words[-1]#[\'\"]}
    cur=${cur#[\'\"]}
    [[ $cur == [=:] ]] && cur=''
    local before=${words[-1]%"$cur"}
    COMPREPLY=()
    while IFS=$'\t' read -r line _; do
        case $line in
        :files) _perfgate_paths -f '' ;;
        :folders) _perfgate_paths -d '' ;;
        :suites) _perfgate_paths -f suites ;;
        *)
            COMPREPLY+=("${line#"$before"}")
            [[ $line == *[[:space:]\[]* ]] && compopt -o filenames 2>/dev/null ;;
        esac
    done < <("${COMP_WORDS[0]}" complete -- "${words[@]}" 2>/dev/null)
    return 0
}
complete -F _perfgate perfgate
)sh";

constexpr const char* zsh_script = R"sh(#compdef perfgate
# Completion of perfgate for zsh: a file _perfgate in $fpath

_perfgate() {
    local line
    local -a offered
    for line in ${(f)"$($words[1] complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)"}; do
        case $line in
        :files) _files ;;
        :folders) _files -/ ;;
        :suites) _files -g '*.(yaml|yml)' ;;
        *) offered+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
        esac
    done
    (( $#offered )) && _describe perfgate offered
}

if [ "$funcstack[1]" = _perfgate ]; then _perfgate "$@"; else compdef _perfgate perfgate; fi
)sh";

constexpr const char* fish_script = R"sh(# Completion of perfgate for fish

function __perfgate_offered
    set -l words (commandline -opc)
    for line in ($words[1] complete -- $words[2..] (commandline -ct) 2>/dev/null)
        switch $line
            case ':files*'
                __fish_complete_path (commandline -ct)
            case ':folders*'
                __fish_complete_directories (commandline -ct)
            case ':suites*'
                __fish_complete_suffix .yaml
            case '*'
                echo $line
        end
    end
end
complete -c perfgate -f -a '(__perfgate_offered)'
)sh";

}  // namespace

Body add_complete(CLI::App& verb) {
    const auto words = std::make_shared<std::vector<std::string>>();
    verb.add_option("WORD", *words);
    return [words, &verb] {
        if (words->empty()) words->emplace_back();
        std::string text;
        for (const auto& [name, description] : offered(*verb.get_parent(), *words)) {
            const bool path = name.starts_with(':');
            if (!path && !name.starts_with(words->back())) continue;
            text += path ? name + '\n'
                         : util::printable(name) + '\t' + util::printable(description) + '\n';
        }
        util::write_file_atomically("-", text);
        return 0;
    };
}

Body add_completion(CLI::App& verb) {
    const auto shell = std::make_shared<std::string>();
    verb.add_option("SHELL", *shell, "The shell")
        ->required()
        ->check(one_of({"bash", "zsh", "fish"}));
    return [shell] {
        util::write_file_atomically("-", *shell == "bash"  ? bash_script
                                         : *shell == "zsh" ? zsh_script
                                                           : fish_script);
        return 0;
    };
}

/// For the build: manual pages and completion scripts, in the folders where shells and man look.
Body add_pages(CLI::App& verb) {
    const auto folder = std::make_shared<std::string>();
    verb.add_option("DIR", *folder)->required();
    return [folder, &verb] {
        const util::Folder to(*folder);
        for (const auto& [name, text] : manual_pages(*verb.get_parent(), PERFGATE_VERSION)) {
            to.below("man/man1").write(name, text);
        }
        to.below("bash-completion/completions").write("perfgate", bash_script);
        to.below("zsh/site-functions").write("_perfgate", zsh_script);
        to.below("fish/vendor_completions.d").write("perfgate.fish", fish_script);
        return 0;
    };
}

}  // namespace perfgate::cli
