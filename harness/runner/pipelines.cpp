// SPDX-License-Identifier: Apache-2.0
#include "runner/pipelines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "runner/installation.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace fs = std::filesystem;

namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
    return fmt::format("{}", fmt::join(words, between));
}

bool several(const Pipeline& pipeline) {
    return pipeline.runners.size() > 1;
}

bool is_address(const std::string& archive) {
    return archive.find("://") != std::string::npos;
}

std::string guide(const Pipeline& pipeline) {
    return pipeline.owner.empty()
               ? "'perfgate doctor' there, as the runner's user, names what is missing"
               : fmt::format("https://github.com/{}/blob/{}/ci/runner.md", pipeline.owner,
                             pipeline.sha);
}

/// As YAML reads it.
std::string yaml_word(const std::string& word) {
    return std::isalnum(static_cast<unsigned char>(word.front())) != 0 || word.front() == '.'
               ? word
               : fmt::format("'{}'", word);
}

/// A label of GitHub's own machines, which no runner has that is registered with it.
bool is_hosted(const std::string& label) {
    return label.starts_with("ubuntu-") || label.starts_with("windows-") ||
           label.starts_with("macos-");
}

void add_github(const Pipeline& pipeline, Values& values) {
    const std::string labels = joined(pipeline.runners, ", ");
    std::vector<std::string> own = pipeline.runners;
    std::erase_if(own, is_hosted);
    std::vector<std::string> registered = own;
    values["other_runner"] = "ubuntu-latest";
    if (const std::string& other = pipeline.other_runner; !other.empty()) {
        values["other_runner"] = other;
        if (!is_hosted(other)) registered.push_back(other);
    }
    if (registered.empty()) values["register_step"] = "";
    values["own_machines"] = joined(registered, " and one for ");
    const std::string machine = several(pipeline) ? "'${{ matrix.runner }}'" : labels;
    values["runs_on"] =
        own.size() == pipeline.runners.size() ? fmt::format("[self-hosted, {}]", machine) : machine;
    values["strategy"] = several(pipeline) ? fmt::format(
                                                 "strategy:\n  fail-fast: false\n  matrix:\n"
                                                 "    runner: [{}]\n",
                                                 labels)
                                           : std::string();
    std::vector<std::string> artifacts{"perfgate"};
    if (several(pipeline)) {
        artifacts.clear();
        for (const std::string& label : pipeline.runners) artifacts.push_back("perfgate-" + label);
    }
    values["artifacts"] = joined(artifacts, " ");
    values["suites"] = pipeline.suites.size() == 1
                           ? "suites: " + yaml_word(pipeline.suites.front())
                           : "suites: |\n  " + joined(pipeline.suites, "\n  ");
    std::vector<std::string> arguments;
    for (const std::string& each : pipeline.plugins) arguments.push_back("--plugin=" + each);
    const auto input = [&] {
        return arguments.empty()       ? std::string()
               : arguments.size() == 1 ? "arguments: " + arguments.front()
                                       : "arguments: |\n  " + joined(arguments, "\n  ");
    };
    values["arguments"] = input();
    if (pipeline.owner.empty()) {
        values["setup"] = values["setup_unpublished"] = lookup(values, false)("setup_archive");
        values["scripts"] = "";
        values["scripts_at"] = "${{ steps.setup.outputs.path }}/share/perfgate/ci/action";
        values["action"] = "./.perfgate/share/perfgate/ci/action";
        if (!pipeline.archive_given || is_address(pipeline.archive)) values["default_branch"] = "";
    } else {
        values["action"] = fmt::format("{}/ci/action@{}", pipeline.owner, pipeline.sha);
        values["archive_env"] = values["default_branch"] = values["setup_unpublished"] = "";
        values["scripts_at"] = ".perfgate/ci/action";
    }
    arguments.emplace_back("--set=improved=fail");
    values["nightly_arguments"] = input();
}

void add_gitlab(const Pipeline& pipeline, Values& values) {
    const std::string labels = joined(pipeline.runners, ", ");
    const std::string& other = pipeline.other_runner;
    values["other_tags"] = other.empty() ? std::string() : fmt::format("tags: [{}]\n", other);
    values["review_tag"] = other.empty() ? pipeline.runners.front() : other;
    // Beside a measurement it waits; elsewhere it has none to disturb.
    values["review_group"] = !other.empty()      ? "null"
                             : several(pipeline) ? "perfgate-" + pipeline.runners.front()
                                                 : "perfgate";
    values["tags"] = several(pipeline) ? "['$RUNNER']" : fmt::format("[{}]", labels);
    values["gitlab_parallel"] =
        several(pipeline) ? fmt::format("parallel:\n  matrix:\n    - RUNNER: [{}]\n", labels)
                          : std::string();
}

void add_buildkite(const Pipeline& pipeline, Values& values) {
    values["cache_folder"] = "";  // a clone anew would delete it: the agent's own is used
    values["buildkite_queue"] = several(pipeline) ? "{{matrix}}" : pipeline.runners.front();
    values["buildkite_label"] = several(pipeline) ? " {{matrix}}" : "";
    values["buildkite_matrix"] = several(pipeline)
                                     ? fmt::format("matrix: [{}]\n", joined(pipeline.runners, ", "))
                                     : std::string();
}

void add_jenkins(const Pipeline& pipeline, Values& values) {
    values["cache_folder"] = "";  // as for Buildkite
    values["jenkins_labels"] = fmt::format("'{}'", joined(pipeline.runners, "', '"));
}

constexpr std::string_view release =
    "${{ github.server_url }}/${{ github.repository }}/releases/download/"
    "perfgate-" PERFGATE_VERSION "/";
constexpr std::string_view registry =
    "$CI_API_V4_URL/projects/$CI_PROJECT_ID/packages/generic/perfgate/" PERFGATE_VERSION "/";

constexpr Ci all_ci[] = {
    {"github", "#", "-${{ matrix.runner }}", add_github, release, "shelf_github", "get_github",
     "the file .path in the folder of the runner, which is then restarted"},
    {"gitlab", "#", "-$RUNNER", add_gitlab, registry, "shelf_gitlab", "get_gitlab",
     "'environment' of the runner's config.toml, such as [\"PATH=/opt/venv/bin:/usr/bin:/bin\"]"},
    {"buildkite", "#", "", add_buildkite, "/opt/", "shelf_agents", "", "the agent's PATH"},
    {"jenkins", "//", "-$RUNNER", add_jenkins, "/opt/", "shelf_agents", "", "the agent's PATH",
     true},
};

Values values_of(const Pipeline& pipeline, const Ci& ci) {
    std::string plugins, quoted;
    for (const std::string& each : pipeline.plugins) plugins += fmt::format("--plugin {} ", each);
    for (const std::string& each : pipeline.suites) {
        quoted += fmt::format("{}'{}'", quoted.empty() ? "" : " ", each);
    }
    const std::string suites = joined(pipeline.suites, " ");
    std::vector<std::string> registered = pipeline.runners;
    const bool apart = !pipeline.other_runner.empty() &&
                       (ci.name != "github" || !is_hosted(pipeline.other_runner));
    if (apart) registered.push_back(pipeline.other_runner);
    const std::string renamed = shelf_name(pipeline.archive_file);
    const std::string file = util::shell_word(pipeline.archive_file);
    const bool copied = fs::path(pipeline.archive_file).filename() != renamed;
    Values values{
        {"actions", pipeline.owner},
        {"sha", pipeline.sha},
        {"version", PERFGATE_VERSION},
        {"archive", pipeline.archive},
        {"archive_sum", pipeline.archive_sum},
        {"archive_file", file},
        {"archive_name", renamed},
        {"archive_hosted",
         ci.name == "github" && is_address(pipeline.archive) && !apart
             ? ". GitHub's own machines run the jobs that do not measure: if they cannot reach it, "
               "commit the file and name that with --archive-at"
             : ""},
        {"archive_copy", copied ? fmt::format("cp {} /tmp/{} && ", file, renamed) : ""},
        {"archive_upload", copied ? "/tmp/" + renamed : file},
        {"machines", joined(registered, " and one for ")},
        {"machines_apart",
         apart
             ? fmt::format(". Those with {} run jobs that may write: make them ephemeral, separate "
                           "from those that measure, and let only these workflows use them",
                           pipeline.other_runner)
             : ""},
        {"guide", guide(pipeline)},
        {"jobs_path", std::string(ci.path)},
        {"config", pipeline.config},
        {"baselines", pipeline.baselines},
        {"suite_words", suites},
        {"quoted_suites", quoted},
        {"plugin_words", plugins},
        {"run_words", fmt::format("{} {}--config {}", suites, plugins, pipeline.config)},
        {"build_command", pipeline.build},
        {"suffix", several(pipeline) ? std::string(ci.suffix) : std::string()},
        {"count", std::to_string(pipeline.runners.size())},
    };
    if (pipeline.build.empty()) {
        for (const char* name : {"build", "build_script", "gitlab_build", "gitlab_cache"}) {
            values[name];
        }
    }
    const Lookup fragment = lookup(values, false);
    values["get_own"] = ci.get.empty() ? "" : fragment(ci.get);
    values["shelf_step"] = pipeline.archive_file.empty()
                               ? ""
                               : fragment(pipeline.archive_given ? "shelf_given" : ci.shelf_step);
    values["python_step"] = pipeline.python ? fragment("python_step") : "";
    std::error_code error;
    values["include_step"] =
        fs::exists(".gitlab-ci.yml", error)
            ? "Add `include: .gitlab/perfgate.yml` to .gitlab-ci.yml; commit and push"
            : "Commit a .gitlab-ci.yml with `include: .gitlab/perfgate.yml` and these files, and "
              "push them";
    ci.add(pipeline, values);
    return values;
}

}  // namespace

std::vector<std::string> known_ci() {
    std::vector<std::string> names;
    for (const Ci& ci : all_ci) names.emplace_back(ci.name);
    return names;
}

const Ci& ci_of(std::string_view name) {
    return *std::find_if(std::begin(all_ci), std::end(all_ci),
                         [&](const Ci& each) { return each.name == name; });
}

std::string shelf_name(const std::string& archive) {
    std::string name = fs::path(archive).filename().string();
    std::replace(name.begin(), name.end(), '+', '-');
    return name;
}

std::map<std::string, std::string> files_of(const Pipeline& pipeline, const Ci& ci,
                                            std::string_view mark) {
    const fs::path from = pipeline_templates() / ci.name;
    if (!fs::is_directory(from)) read_template(from);
    const Values values = values_of(pipeline, ci);
    std::map<std::string, std::string> texts;
    for (const auto& entry : fs::recursive_directory_iterator(from)) {
        if (!entry.is_regular_file()) continue;
        texts[fs::relative(entry.path(), from).string()] =
            fmt::format("{} {} {}, which replaces this file when it is run again.\n", ci.comment,
                        mark, PERFGATE_VERSION) +
            filled(read_template(entry.path()), lookup(values, ci.escapes_shell));
    }
    return texts;
}

std::vector<std::string> steps_of(const Pipeline& pipeline, const Ci& ci) {
    const Values values = values_of(pipeline, ci);
    std::vector<std::string> steps;
    for_lines(
        filled(read_template(pipeline_templates() / "steps" / ci.name), lookup(values, false)),
        [&](std::string_view step) { steps.emplace_back(step); });
    return steps;
}

}  // namespace perfgate::runner
