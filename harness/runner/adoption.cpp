// SPDX-License-Identifier: Apache-2.0
#include "runner/adoption.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "runner/devices.hpp"
#include "runner/installation.hpp"
#include "runner/reviewed_files.hpp"
#include "suite/named_plugins.hpp"
#include "suite/profile.hpp"
#include "suite/python_reader.hpp"
#include "suite/suite.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/folder.hpp"
#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t template_limit = std::size_t{1} << 20;
constexpr std::size_t archive_limit = std::size_t{1} << 30;
constexpr std::string_view usual_config = "configs/ci.yaml";
constexpr std::string_view usual_build =
    "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build";
/// In the first line of each file that `adopt` writes, and may replace.
constexpr std::string_view mark = "Written by 'perfgate adopt'";

/// What the suites say about the machine that measures them.
struct Needs {
    std::size_t suites = 0, cases = 0;
    bool gpu = false;
    bool host_alone = true;  ///< every case is one of the host backend
    /// Cases of workloads that no plugin here has: on what machine is not known.
    bool plugin = false;
    std::string own_plugin;  ///< the first that a suite names
    std::string built;       ///< the first program that a build makes, as far as is known

    [[nodiscard]] bool may_use_gpu() const { return gpu || plugin; }
};

/// A pipeline to be filled in.
struct Adopted {
    Needs needs;
    suite::Profile profile;
    std::string config, config_text;  ///< the text of one that is to be written; empty: it is there
    std::string owner, sha;   ///< "me/perfgate" and a commit; empty: only an archive is known
    std::string archive;      ///< "https://…/perfgate-0.2.0-linux-x86_64.tar.gz", for the jobs
    std::string archive_sum;  ///< SHA-256; empty: what lies beside the archive says it
    std::string baselines, build;
    std::vector<std::string> suites, plugins, runners;
};

using Values = std::map<std::string, std::string>;

/// How a CI differs from the others, beside its templates.
struct Ci {
    std::string_view name;
    std::string_view comment;  ///< what begins one
    std::string_view suffix;   ///< of names, of one of several runners
    void (*add)(const Adopted& adopted, Values& values);
    std::vector<std::string> (*steps)(const Adopted& adopted);
    /// Where jobs find an archive that is published nowhere; empty: they need a repository.
    std::string_view shelf;
    bool escapes_shell = false;  ///< scripts are in a text of Groovy
};

std::string joined(const std::vector<std::string>& words, std::string_view between) {
    return fmt::format("{}", fmt::join(words, between));
}

bool several(const Adopted& adopted) {
    return adopted.runners.size() > 1;
}

std::string guide(const Adopted& adopted) {
    if (adopted.owner.empty())
        return "'perfgate doctor' there, as the runner's user, names what is missing";
    return fmt::format("https://github.com/{}/blob/{}/ci/runner.md", adopted.owner, adopted.sha);
}

// --- templates

bool is_name(char letter) {
    return letter == '_' || (std::islower(static_cast<unsigned char>(letter)) != 0);
}

/// The placeholder that begins at `at`; empty: none does.
std::string_view placeholder(std::string_view text, std::size_t at) {
    if (text[at] != '@') return {};
    std::size_t end = at + 1;
    while (end < text.size() && is_name(text[end])) ++end;
    if (end == at + 1 || end == text.size() || text[end] != '@') return {};
    return text.substr(at + 1, end - at - 1);
}

using Lookup = std::function<std::string(std::string_view name)>;

std::string filled_line(std::string_view line, const Lookup& value) {
    std::string text;
    for (std::size_t at = 0; at < line.size();) {
        const std::string_view name = placeholder(line, at);
        if (name.empty()) {
            text += line[at++];
        } else {
            text += value(name);
            at += name.size() + 2;
        }
    }
    return text;
}

/// Calls `each` with every line, without its end.
template <class Each>
void for_lines(std::string_view text, const Each& each) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        each(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

/// The text with its placeholders (@name@) replaced. One that is alone in its line stands for
/// lines, which are indented as it is; if there are none, the line is left out.
std::string filled(std::string_view text, const Lookup& value) {
    std::string result;
    for_lines(text, [&](std::string_view line) {
        const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
        const std::string_view name =
            indent < line.size() ? placeholder(line, indent) : std::string_view();
        if (name.empty() || indent + name.size() + 2 != line.size()) {
            result += filled_line(line, value) + '\n';
            return;
        }
        for_lines(value(name), [&](std::string_view inner) {
            if (!inner.empty()) result.append(line.substr(0, indent)).append(inner);
            result += '\n';
        });
    });
    return result;
}

/// For a text of Groovy between three quotes.
std::string escaped(const std::string& script) {
    std::string text;
    for (const char letter : script) {
        if (letter == '\\' || letter == '\'') text += '\\';
        text += letter;
    }
    return text;
}

std::string read_template(const fs::path& path) {
    if (!fs::exists(path)) {
        throw util::Error(
            fmt::format("the pipelines are not installed: {} is absent; install perfgate again",
                        path.string()));
    }
    return util::read_file(path, template_limit, "template");
}

/// A value, or a fragment that is filled in itself.
Lookup lookup(const Values& values, bool escapes_shell) {
    return [&values, escapes_shell](std::string_view name) {
        const auto found = values.find(std::string(name));
        if (found != values.end()) return found->second;
        const std::string text =
            filled(read_template(pipeline_templates() / "fragments" / name), lookup(values, false));
        return escapes_shell ? escaped(text) : text;
    };
}

// --- what is adopted

/// Letters, digits and those `allowed`: nothing that YAML or a shell reads as more than a word.
bool is_plain(std::string_view text, std::string_view allowed) {
    return !text.empty() && !text.starts_with('-') &&
           std::all_of(text.begin(), text.end(), [&](char letter) {
               return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
                      allowed.find(letter) != std::string_view::npos;
           });
}

void require_plain(std::string_view what, const std::string& path, std::string_view allowed) {
    const fs::path normal = fs::path(path).lexically_normal();
    if (!is_plain(path, allowed) || normal.is_absolute() || normal.string().starts_with("..")) {
        throw util::InputError(
            fmt::format("{} '{}': expected a path below this folder, of letters, digits and {}",
                        what, util::printable(path), allowed));
    }
}

bool is_profile(const std::string& text, const std::string& file) {
    try {
        suite::parse_profile(text, file);
        return true;
    } catch (const util::InputError&) {
        return false;
    }
}

void add_problem(std::string& problems, std::string_view problem) {
    problems += (problems.empty() ? "" : "\n") + std::string(problem);
}

/// Whether a build makes the program: it is a path, and no script is there.
bool is_built(const std::string& program, const std::string& suite) {
    if (program.find('/') == std::string::npos) return false;
    const fs::path places[] = {fs::path(suite).parent_path() / program, program};
    return std::none_of(std::begin(places), std::end(places), [](const fs::path& place) {
        std::error_code error;
        if (!fs::is_regular_file(place, error)) return false;
        std::ifstream file(place, std::ios::binary);
        char first[2] = {};
        return file.read(first, sizeof first) && first[0] == '#' && first[1] == '!';
    });
}

/// The Python files that a suite names, which must be there.
std::size_t scripts_of(const std::string& text, const std::string& path) {
    const std::vector<suite::PythonFile> scripts = suite::needs_of_text(text, path).scripts;
    for (const suite::PythonFile& python : scripts) {
        std::error_code error;
        if (fs::exists(python.file, error)) continue;
        throw util::InputError(
            fmt::format("{}: there is no file {}", python.place, util::printable(python.file)));
    }
    return scripts.size();
}

/// Reads every suite without its plugins, and executes nothing.
Needs needs_of(const AdoptionChoice& choice, const std::string& config) {
    const review::Files files =
        files_of_working_tree({.suites = choice.suites, .profiles = {config}, .baselines = {}});
    const model::WorkloadCatalogue bundled = load_workload_catalogue({});
    std::string problems;
    std::string unknown;  // the first workload that neither a suite's plugin nor --plugin may have
    std::map<std::string, std::string> file_of;  // by the suite's name
    Needs needs;
    for (const auto& [path, file] : files) {
        if (file.role != review::FileRole::suite) continue;
        if (!file.fault.empty()) {
            add_problem(problems, fmt::format("{}: {}", util::printable(path), file.fault));
            continue;
        }
        try {
            std::vector<std::string> notes;
            const std::size_t scripts = scripts_of(file.content, path);
            const suite::Suite suite = review::read_suite(path, files, bundled, notes);
            // What only a run knows of them may be for any machine.
            const bool open = scripts > 0 && !notes.empty();
            needs.plugin = needs.plugin || open;
            needs.host_alone = needs.host_alone && !open;
            const auto [other, is_new] = file_of.emplace(suite.name, path);
            if (!is_new) {
                add_problem(
                    problems,
                    fmt::format("{}: the suite '{}' is also in {}", util::printable(path),
                                util::printable(suite.name), util::printable(other->second)));
            }
            ++needs.suites;
            needs.cases += suite.cases.size();
            if (needs.own_plugin.empty() && !suite.plugins.empty()) {
                needs.own_plugin = suite.plugins.front();
            }
            for (const suite::SuiteCase& each : suite.cases) {
                needs.plugin = needs.plugin || each.inferred;
                if (each.inferred && suite.plugins.empty() && unknown.empty()) {
                    unknown = notes.empty() ? "a workload is unknown" : notes.front();
                }
                needs.host_alone = needs.host_alone && each.target == model::Target::host;
                const bool of_gpu = each.target == model::Target::program
                                        ? each.subject->needs_gpu()
                                        : each.target == model::Target::cuda;
                needs.gpu = needs.gpu || (of_gpu && !each.inferred);
                if (each.target != model::Target::program || !needs.built.empty()) continue;
                model::CaseResult said;
                each.subject->describe(said);
                if (is_built(said.command.front(), path)) needs.built = said.command.front();
            }
        } catch (const util::InputError& problem) {
            add_problem(problems,
                        is_profile(file.content, path)
                            ? fmt::format("{}: is a config and no suite; name the suites alone, or "
                                          "this file with --config",
                                          util::printable(path))
                            : problem.what());
        }
    }
    for (const std::string& place :
         empty_places(choice.suites, review::FileRole::suite, files, files)) {
        add_problem(problems, fmt::format("no suite matches '{}': name files or a pattern of this "
                                          "repository; 'perfgate init' writes one",
                                          util::printable(place)));
    }
    if (problems.empty() && !unknown.empty() && choice.plugins.empty()) {
        add_problem(problems,
                    fmt::format("{}; name the plugin that has it: 'plugins' in the suite, or "
                                "--plugin FILE",
                                unknown));
    }
    if (!problems.empty()) throw util::InputError(problems);
    return needs;
}

/// The release's config, without what is about its own folder.
std::string new_config(bool gpu) {
    std::string text = read_template(release_config());
    text.erase(0, text.find("\n\n") + 2);
    const std::string_view strict =
        "# A runner without a GPU is an error, not a run of something "
        "else.\nbackend: cuda\n";
    const std::size_t at = text.find(strict);
    if (at == std::string::npos) {
        throw util::Error(
            fmt::format("{} names no backend: install perfgate again", release_config().string()));
    }
    if (!gpu) text.replace(at, strict.size(), "# No case needs a GPU.\nbackend: host\n");
    return text;
}

/// The lines "commit SHA" and "repository OWNER/NAME" of the release.
Values release_facts() {
    Values facts;
    std::error_code error;
    const fs::path file = release_build_file();
    if (!fs::exists(file, error)) return facts;
    for_lines(util::read_file(file, template_limit, "file"), [&](std::string_view line) {
        const std::size_t space = line.find(' ');
        if (space == std::string_view::npos) return;
        facts[std::string(line.substr(0, space))] = line.substr(space + 1);
    });
    return facts;
}

bool is_repository(std::string_view text) {
    const std::size_t slash = text.find('/');
    return slash != std::string_view::npos && slash > 0 && slash + 1 < text.size() &&
           text.find('/', slash + 1) == std::string_view::npos && is_plain(text, "._-/");
}

void find_repository(const AdoptionChoice& choice, const Ci& ci, Adopted& adopted) {
    const std::string& from = choice.from;
    Values facts = release_facts();
    const std::size_t at = from.find('@');
    adopted.owner = from.empty() ? facts["repository"] : from.substr(0, at);
    adopted.sha = at == std::string::npos ? facts["commit"] : from.substr(at + 1);
    if (!is_repository(adopted.owner)) {
        if (!from.empty()) {
            throw util::InputError(fmt::format("--from {}: expected OWNER/NAME or OWNER/NAME@SHA",
                                               util::printable(from)));
        }
        throw util::InputError(fmt::format(
            "this perfgate does not know where it is published: name {}the repository of its "
            "release, --from OWNER/perfgate{}",
            ci.shelf.empty() ? "" : "the .tar.gz that it was unpacked from, --archive FILE, or ",
            adopted.sha.empty() ? "@SHA" : ""));
    }
    if (!util::is_hex(adopted.sha, 40)) {
        throw util::InputError(fmt::format(
            "--from {}: expected OWNER/NAME@SHA, with the 40 hexadecimal digits of perfgate's "
            "commit",
            util::printable(from)));
    }
    adopted.archive = fmt::format(
        "https://github.com/{0}/releases/download/v{1}/perfgate-{1}-linux-x86_64.tar.gz",
        adopted.owner, PERFGATE_VERSION);
}

/// What an archive is called for the jobs: package registries and addresses do not take each '+'.
std::string shelf_name(const std::string& archive) {
    std::string name = fs::path(archive).filename().string();
    std::replace(name.begin(), name.end(), '+', '-');
    return name;
}

void find_archive(const std::string& file, const Ci& ci, Adopted& adopted) {
    if (ci.shelf.empty()) {
        throw util::InputError(
            "--archive: GitHub's workflows use the actions of perfgate's repository; name it, "
            "--from OWNER/perfgate@SHA");
    }
    const std::string name = shelf_name(file);
    if (!is_plain(name, "._-") || !name.starts_with("perfgate-") ||
        !name.ends_with("-linux-x86_64.tar.gz")) {
        throw util::InputError(
            fmt::format("--archive {}: expected a release, perfgate-{}-linux-x86_64.tar.gz",
                        util::printable(file), PERFGATE_VERSION));
    }
    const std::string content = util::read_file(file, archive_limit, "archive");
    if (!content.starts_with("\x1f\x8b")) {
        throw util::InputError(fmt::format("--archive {}: is no gzip file", util::printable(file)));
    }
    util::Sha256 sum;
    sum.add(content);
    for (const std::uint8_t byte : sum.digest()) adopted.archive_sum += fmt::format("{:02x}", byte);
    adopted.archive = std::string(ci.shelf) + name;
}

void require_labels(const std::vector<std::string>& labels) {
    for (const std::string& label : labels) {
        if (!is_plain(label, "._-")) {
            throw util::InputError(
                fmt::format("--runner {}: expected a label of letters, digits and . _ -",
                            util::printable(label)));
        }
    }
    if (std::set<std::string>(labels.begin(), labels.end()).size() != labels.size()) {
        throw util::InputError("--runner: expected each label once");
    }
}

Adopted adopted_by(const AdoptionChoice& choice, const Ci& ci, std::vector<std::string>& warnings) {
    std::error_code error;
    if (!fs::exists(".git", error)) {
        throw util::InputError(
            "no .git in this folder: run 'perfgate adopt' in the root of the repository");
    }
    for (const std::string& each : choice.suites) require_plain("SUITE", each, "_./-+*?[]");
    for (const std::string& each : choice.plugins) require_plain("--plugin", each, "_./-+");
    require_labels(choice.runners);
    Adopted adopted;
    adopted.config = choice.config.empty() ? std::string(usual_config) : choice.config;
    require_plain("--config", adopted.config, "_./-");
    if (choice.archive.empty()) {
        find_repository(choice, ci, adopted);
    } else {
        find_archive(choice.archive, ci, adopted);
    }
    AdoptionChoice chosen = choice;
    std::erase(chosen.suites, adopted.config);  // a shell put it among the suites
    if (chosen.suites.empty()) throw util::InputError("no suite is named beside the config");
    adopted.needs = needs_of(chosen, adopted.config);
    if (choice.config.empty() && !fs::exists(adopted.config, error)) {
        adopted.config_text = new_config(adopted.needs.may_use_gpu());
        adopted.profile = suite::parse_profile(adopted.config_text, adopted.config);
    } else {
        adopted.profile = suite::load_profile(adopted.config);
    }
    const std::string backend = adopted.profile.backend.value_or(std::string(suite::usual_backend));
    if (backend == "cuda" && adopted.needs.host_alone) {
        throw util::InputError(
            fmt::format("{} says 'backend: cuda', and no case of these suites is for a GPU; "
                        "expected 'backend: host'",
                        adopted.config));
    }
    if (backend == "cuda" && !adopted.needs.may_use_gpu()) {
        warnings.push_back(
            fmt::format("{} says 'backend: cuda', and these suites seem to need no GPU; if so, say "
                        "'backend: host'",
                        adopted.config));
    }
    if (backend != "cuda" && adopted.needs.gpu) {
        warnings.push_back(fmt::format(
            "{} says 'backend: {}': cases for a GPU are {}; 'backend: cuda' fails instead",
            adopted.config, backend,
            backend == "host" ? "not measured" : "not measured on a runner without one"));
    }
    adopted.baselines = fs::path(suite::baselines_of(adopted.profile)).lexically_normal().string();
    require_plain("the config's baselines", adopted.baselines, "_./-");
    adopted.suites = chosen.suites;
    adopted.plugins = choice.plugins;
    adopted.runners = choice.runners;
    if (adopted.runners.empty()) {
        const bool gpu = backend == "cuda" || (backend == "auto" && adopted.needs.may_use_gpu());
        adopted.runners.emplace_back(gpu ? "gpu" : "quiet");
    }
    if (choice.build) {
        adopted.build = *choice.build;
    } else if (const bool plugin = !choice.plugins.empty() || !adopted.needs.own_plugin.empty();
               plugin || !adopted.needs.built.empty()) {
        // Sources, Python and scripts are measured as they are.
        if (fs::exists("CMakeLists.txt", error)) {
            adopted.build = usual_build;
        } else if (plugin) {
            throw util::InputError(fmt::format(
                "how is {} built? There is no CMakeLists.txt here: give --build COMMAND",
                choice.plugins.empty() ? util::printable(adopted.needs.own_plugin)
                                       : choice.plugins.front()));
        } else {
            warnings.push_back(fmt::format(
                "{} is no script that is here, and there is no CMakeLists.txt: if a build makes "
                "it, give --build COMMAND",
                util::printable(adopted.needs.built)));
        }
    }
    if (std::any_of(adopted.build.begin(), adopted.build.end(),
                    [](unsigned char letter) { return letter < ' ' || letter == 0x7f; })) {
        throw util::InputError("--build: expected a command of one line");
    }
    return adopted;
}

// --- the values of templates

/// As YAML reads it.
std::string yaml_word(const std::string& word) {
    return std::isalnum(static_cast<unsigned char>(word.front())) != 0 || word.front() == '.'
               ? word
               : fmt::format("'{}'", word);
}

Values common_values(const Adopted& adopted, const Ci& ci) {
    std::string plugins, quoted;
    for (const std::string& each : adopted.plugins) plugins += fmt::format("--plugin {} ", each);
    for (const std::string& each : adopted.suites) {
        quoted += fmt::format("{}'{}'", quoted.empty() ? "" : " ", each);
    }
    const std::string suites = joined(adopted.suites, " ");
    Values values{
        {"actions", adopted.owner},
        {"sha", adopted.sha},
        {"version", PERFGATE_VERSION},
        {"archive", adopted.archive},
        {"archive_sum", adopted.archive_sum},
        {"guide", guide(adopted)},
        {"config", adopted.config},
        {"baselines", adopted.baselines},
        {"suite_words", suites},
        {"quoted_suites", quoted},
        {"plugin_words", plugins},
        {"run_words", fmt::format("{} {}--config {}", suites, plugins, adopted.config)},
        {"build_command", adopted.build},
        {"suffix", several(adopted) ? std::string(ci.suffix) : std::string()},
        {"count", std::to_string(adopted.runners.size())},
    };
    if (adopted.build.empty()) {
        for (const char* name : {"build", "build_script", "gitlab_build", "gitlab_cache"})
            values[name];
    }
    ci.add(adopted, values);
    return values;
}

void add_github(const Adopted& adopted, Values& values) {
    const std::string labels = joined(adopted.runners, ", ");
    values["runs_on"] = several(adopted) ? "[self-hosted, '${{ matrix.runner }}']"
                                         : fmt::format("[self-hosted, {}]", labels);
    values["strategy"] = several(adopted) ? fmt::format(
                                                "strategy:\n  fail-fast: false\n  matrix:\n"
                                                "    runner: [{}]\n",
                                                labels)
                                          : std::string();
    std::vector<std::string> artifacts{"perfgate"};
    if (several(adopted)) {
        artifacts.clear();
        for (const std::string& label : adopted.runners) artifacts.push_back("perfgate-" + label);
    }
    values["artifacts"] = joined(artifacts, " ");
    values["suites"] = adopted.suites.size() == 1
                           ? "suites: " + yaml_word(adopted.suites.front())
                           : "suites: |\n  " + joined(adopted.suites, "\n  ");
    std::vector<std::string> arguments;
    for (const std::string& each : adopted.plugins) arguments.push_back("--plugin=" + each);
    const auto input = [&] {
        return arguments.empty()       ? std::string()
               : arguments.size() == 1 ? "arguments: " + arguments.front()
                                       : "arguments: |\n  " + joined(arguments, "\n  ");
    };
    values["arguments"] = input();
    arguments.emplace_back("--set=improved=fail");
    values["nightly_arguments"] = input();
}

void add_gitlab(const Adopted& adopted, Values& values) {
    const std::string labels = joined(adopted.runners, ", ");
    values["tags"] = several(adopted) ? "['$RUNNER']" : fmt::format("[{}]", labels);
    values["gitlab_parallel"] =
        several(adopted) ? fmt::format("parallel:\n  matrix:\n    - RUNNER: [{}]\n", labels)
                         : std::string();
}

void add_buildkite(const Adopted& adopted, Values& values) {
    values["buildkite_queue"] = several(adopted) ? "{{matrix}}" : adopted.runners.front();
    values["buildkite_label"] = several(adopted) ? " {{matrix}}" : "";
    values["buildkite_matrix"] = several(adopted)
                                     ? fmt::format("matrix: [{}]\n", joined(adopted.runners, ", "))
                                     : std::string();
}

void add_jenkins(const Adopted& adopted, Values& values) {
    values["jenkins_labels"] = fmt::format("'{}'", joined(adopted.runners, "', '"));
}

// --- the steps that remain

std::string machine_step(const Adopted& adopted, std::string_view registers) {
    return fmt::format("{} {}: {}", registers, joined(adopted.runners, " and one for "),
                       guide(adopted));
}

std::vector<std::string> github_steps(const Adopted& adopted) {
    return {machine_step(adopted, "Register a self-hosted runner with the label"),
            "Commit these files with the suites, and push them to the default branch",
            "Start the workflow 'perfgate nightly' (Actions, Run workflow; or: gh workflow run "
            "perfgate-nightly.yml), and merge the pull request that it opens: the first baselines",
            "Require the check 'gate' in the rules of the default branch (Settings, Rules)"};
}

std::vector<std::string> gitlab_steps(const Adopted& adopted) {
    std::error_code error;
    return {
        machine_step(adopted, "Register a runner with the tag"),
        fs::exists(".gitlab-ci.yml", error)
            ? "Add `include: .gitlab/perfgate.yml` to .gitlab-ci.yml; commit and push"
            : "Commit a .gitlab-ci.yml with `include: .gitlab/perfgate.yml` and these files, and "
              "push them",
        "Start the job 'perfgate-baselines' in a pipeline of the default branch, and commit its "
        "artifact, or, with a protected PERFGATE_TOKEN, merge what it opens: the first baselines",
        "Require the job 'perfgate': Settings, Merge requests, Pipelines must succeed"};
}

std::vector<std::string> buildkite_steps(const Adopted& adopted) {
    return {machine_step(adopted, "Start an agent in the queue"),
            "Commit these files with the suites, and push them",
            "Add to the pipeline's steps: buildkite-agent pipeline upload --no-interpolation "
            ".buildkite/perfgate.yml; its step 'perfgate' is the check to require",
            fmt::format("Start a build of the default branch with PERFGATE_BASELINES=1, and commit "
                        "its artifact {}: the first baselines",
                        adopted.baselines)};
}

std::vector<std::string> jenkins_steps(const Adopted& adopted) {
    return {machine_step(adopted, "Start an agent with the label"),
            "Commit these files with the suites, and push them",
            "Create a multibranch pipeline with the script path Jenkinsfile.perfgate; its build is "
            "the check to require",
            fmt::format("Build the default branch with the parameter BASELINES, and commit what it "
                        "archives from {}: the first baselines",
                        adopted.baselines)};
}

constexpr std::string_view registry =
    "$CI_API_V4_URL/projects/$CI_PROJECT_ID/packages/generic/perfgate/" PERFGATE_VERSION "/";

constexpr Ci all_ci[] = {
    {"github", "#", "-${{ matrix.runner }}", add_github, github_steps, ""},
    {"gitlab", "#", "-$RUNNER", add_gitlab, gitlab_steps, registry},
    {"buildkite", "#", "", add_buildkite, buildkite_steps, "/opt/"},
    {"jenkins", "//", "-$RUNNER", add_jenkins, jenkins_steps, "/opt/", true},
};

std::string archive_step(const std::string& file, const Ci& ci) {
    const std::string quoted = util::shell_word(file);
    if (ci.shelf != registry) {
        return fmt::format(
            "Copy {} to {}{} on each agent, or change PERFGATE_ARCHIVE in the pipeline to another "
            "file or address",
            quoted, ci.shelf, shelf_name(file));
    }
    return fmt::format(
        "Put the release into the project's package registry. With GITLAB (such as "
        "https://gitlab.com), ID (the project's) and "
        "TOKEN (an access token of scope api): curl --fail --header \"PRIVATE-TOKEN: $TOKEN\" "
        "--upload-file {} "
        "\"$GITLAB/api/v4/projects/$ID/packages/generic/perfgate/{}/{}\". Or let the CI/CD "
        "variable PERFGATE_ARCHIVE name "
        "an address or a file on the runner",
        quoted, PERFGATE_VERSION, shelf_name(file));
}

// --- writing

using Texts = std::map<std::string, std::string>;  ///< by path

Texts texts_of(const Adopted& adopted, const Ci& ci) {
    const fs::path from = pipeline_templates() / ci.name;
    if (!fs::is_directory(from)) read_template(from);
    const Values values = common_values(adopted, ci);
    Texts texts;
    for (const auto& entry : fs::recursive_directory_iterator(from)) {
        if (!entry.is_regular_file()) continue;
        texts[fs::relative(entry.path(), from).string()] =
            fmt::format("{} {} {}, which replaces this file when it is run again.\n", ci.comment,
                        mark, PERFGATE_VERSION) +
            filled(read_template(entry.path()), lookup(values, ci.escapes_shell));
    }
    return texts;
}

/// Whether the file may be replaced: it is absent, or an earlier `adopt` wrote it.
bool is_ours(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    if (status.type() == fs::file_type::not_found) return true;
    if (status.type() != fs::file_type::regular) return false;
    const std::string text = util::read_file(path, template_limit, "file");
    return text.substr(0, text.find('\n')).find(mark) != std::string::npos;
}

}  // namespace

std::vector<std::string> known_ci() {
    std::vector<std::string> names;
    for (const Ci& ci : all_ci) names.emplace_back(ci.name);
    return names;
}

Adoption adopt(const AdoptionChoice& choice) {
    const auto* const ci = std::find_if(std::begin(all_ci), std::end(all_ci),
                                        [&](const Ci& each) { return each.name == choice.ci; });
    Adoption adoption;
    const Adopted adopted = adopted_by(choice, *ci, adoption.warnings);
    Texts texts = texts_of(adopted, *ci);
    for (const auto& [path, text] : texts) {
        if (is_ours(path)) continue;
        throw util::InputError(fmt::format(
            "{} exists, and 'perfgate adopt' did not write it: rename or remove it; nothing was "
            "written",
            path));
    }
    if (!adopted.config_text.empty()) texts[adopted.config] = adopted.config_text;
    const util::Folder root(".");
    for (const auto& [path, text] : texts) {
        root.below(fs::path(path).parent_path()).write(fs::path(path).filename(), text);
        adoption.files.push_back(path);
    }
    adoption.found = fmt::format(
        "{} with {}, config {}, backend {}, baselines in {}, {} {}, {}",
        util::counted(adopted.needs.suites, "suite"), util::counted(adopted.needs.cases, "case"),
        adopted.config, adopted.profile.backend.value_or(std::string(suite::usual_backend)),
        adopted.baselines, several(adopted) ? "runners" : "runner", joined(adopted.runners, ", "),
        adopted.build.empty() ? std::string("nothing is built (else: --build COMMAND)")
                              : fmt::format("built by: {}", util::printable(adopted.build)));
    adoption.steps = ci->steps(adopted);
    if (!choice.archive.empty()) {
        adoption.steps.insert(adoption.steps.begin() + 1, archive_step(choice.archive, *ci));
    }
    return adoption;
}

}  // namespace perfgate::runner
