// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"
#include "review/review.hpp"
#include "runner/devices.hpp"
#include "runner/reviewed_files.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::cli {

namespace {

struct ReviewOptions {
    std::string base;
    runner::ReviewedPlaces places;
    std::vector<std::string> plugins;
    ReportFiles files;
    bool advisory = false;
};

/// Suites are compared in any case; other files where the command line names them.
void require_files(const CLI::App& verb, const runner::ReviewedPlaces& places,
                   const review::Files& base, const review::Files& head, review::Review& review) {
    const auto require = [&](const char* option, std::string_view what,
                             const std::vector<std::string>& of_role, review::FileRole role) {
        const bool needed = role == review::FileRole::suite || verb.count(option) > 0;
        for (const std::string& place : runner::empty_places(of_role, role, base, head)) {
            (needed ? review.not_compared : review.not_reviewed)
                .push_back(fmt::format(
                    "neither state has a {} in '{}': name the {}s that CI measures with ({})", what,
                    place, what, option));
        }
    };
    require("SUITE", "suite", places.suites, review::FileRole::suite);
    require("--config", "config", places.profiles, review::FileRole::profile);
    require("--baselines", "baseline", places.baselines, review::FileRole::baseline);
    for (const std::string& folder : places.outside) {
        review.not_reviewed.push_back(
            fmt::format("the baselines in '{}', which is not in the repository", folder));
    }
}

int review_change(const CLI::App& verb, const ReviewOptions& options) {
    if (!options.base.starts_with("rev:") || options.base.size() == 4) {
        throw util::InputError("--base {}: expected a commit, as rev:REF",
                               util::printable(options.base));
    }
    const std::string base_commit = options.base.substr(4);
    const runner::ReviewedPlaces places =
        runner::with_baselines_of_profiles(base_commit, options.places);
    const review::Files base = runner::files_of_revision(base_commit, places);
    const review::Files head = runner::files_of_working_tree(places);
    review::Review review =
        review::review(base, head, runner::load_workload_catalogue(options.plugins));
    require_files(verb, places, base, head, review);
    const std::string& json = options.files.at("json");
    const std::string& annotations = options.files.at("annotations");
    if (!json.empty()) util::write_file_atomically(json, review::write_json(review, base_commit));
    if (json != "-") util::write_file_atomically("-", review::write_text(review, base_commit));
    if (!annotations.empty()) {
        util::write_file_atomically(annotations,
                                    review::write_annotations(review, options.advisory));
    }
    return review::exit_code(review, options.advisory);
}

}  // namespace

Body add_review(CLI::App& verb) {
    const auto options = std::make_shared<ReviewOptions>();
    verb.add_option("SUITE", options->places.suites,
                    "The suites that CI measures (files, folders or patterns)")
        ->type_name("PATH")
        ->capture_default_str();
    verb.add_option("--base", options->base,
                    "The commit that the change will be merged into, as rev:origin/main")
        ->required()
        ->type_name("SIDE");
    add_repeatable(verb, "--config", options->places.profiles,
                   "The configs that CI measures with (file, folder or pattern; repeatable)",
                   "PATH")
        ->capture_default_str();
    add_repeatable(verb, "--baselines", options->places.baselines,
                   "The baselines; default: the folders that the configs name (repeatable)",
                   "PATH");
    add_plugin_option(verb, options->plugins);
    add_report_option(verb, {{"json", ".json"}, {"annotations", ""}}, options->files);
    verb.add_flag("--advisory", options->advisory, "Exit 0 instead of 1 if there are findings");
    verb.footer(
        "Lists removed suites, cases, gates, relations and tags; raised tolerances; gates that "
        "only warn; worse or removed expectations; baselines by which the gate passes regressions "
        "that it failed before, or that were edited and not measured; acknowledged regressions; "
        "lowered configs; rewritten ledgers; files that cannot be read. A refreshed suite is one "
        "finding. What is stricter or new is not listed. Loads no plugin of the change and runs "
        "nothing of it: run it with the base's own perfgate. Exit code: 0 where nothing is looser, "
        "1 where something is, 2 where there is no such commit or nothing to compare.");
    return [options, &verb] { return review_change(verb, *options); };
}

}  // namespace perfgate::cli
