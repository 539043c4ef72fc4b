// SPDX-License-Identifier: Apache-2.0
// Hidden verbs: what completion scripts ask for, one name a line; the scripts; manual pages.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "baseline/store.hpp"
#include "cli/options/options.hpp"
#include "cli/terminal/completion.hpp"
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

}  // namespace

Body add_complete(CLI::App& verb) {
    struct Options {
        std::string what;
        std::vector<std::string> words;
    };
    const auto options = std::make_shared<Options>();
    verb.add_option("WHAT", options->what)
        ->required()
        ->check(one_of({"cases", "suites", "metrics"}));
    verb.add_option("WORDS", options->words);
    return [options] {
        std::string text;
        for (const std::string& name : options->what == "cases"    ? listed_cases(options->words)
                                       : options->what == "suites" ? listed_suites()
                                                                   : listed_metrics()) {
            text += util::printable(name) + '\n';
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
    return [shell, &verb] {
        const CompletionCommand root = completion_of(*verb.get_parent());
        util::write_file_atomically("-", *shell == "bash"  ? bash_completion(root)
                                         : *shell == "zsh" ? zsh_completion(root)
                                                           : fish_completion(root));
        return 0;
    };
}

/// For the build: manual pages and completion scripts, in the folders where shells and man look.
Body add_pages(CLI::App& verb) {
    const auto folder = std::make_shared<std::string>();
    verb.add_option("DIR", *folder)->required();
    return [folder, &verb] {
        const CLI::App& app = *verb.get_parent();
        const util::Folder to(*folder);
        for (const auto& [name, text] : manual_pages(app, PERFGATE_VERSION)) {
            to.below("man/man1").write(name, text);
        }
        const CompletionCommand root = completion_of(app);
        to.below("bash-completion/completions").write("perfgate", bash_completion(root));
        to.below("zsh/site-functions").write("_perfgate", zsh_completion(root));
        to.below("fish/vendor_completions.d").write("perfgate.fish", fish_completion(root));
        return 0;
    };
}

}  // namespace perfgate::cli
