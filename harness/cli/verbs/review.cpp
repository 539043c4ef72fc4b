// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verbs/verb.hpp"
#include "review/output.hpp"
#include "runner/devices.hpp"
#include "runner/reviewed_files.hpp"
#include "util/file.hpp"

namespace perfgate::cli {

namespace {

struct ReviewOptions {
    std::string base;
    runner::ReviewedPlaces places;
    std::vector<std::string> plugins;
    std::string annotations;
    std::string json;
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
                .push_back(fmt::format("neither state has a {} in '{}': name the {}s that CI "
                                       "measures with ({})",
                                       what, place, what, option));
        }
    };
    require("--suites", "suite", places.suites, review::FileRole::suite);
    require("--profiles", "profile", places.profiles, review::FileRole::profile);
    require("--baselines", "baseline", places.baselines, review::FileRole::baseline);
    for (const std::string& folder : places.outside) {
        review.not_reviewed.push_back(
            fmt::format("the baselines in '{}', which is not in the repository", folder));
    }
}

int review_change(const CLI::App& verb, const ReviewOptions& options) {
    const runner::ReviewedPlaces places =
        runner::with_baselines_of_profiles(options.base, options.places);
    const review::Files base = runner::files_of_revision(options.base, places);
    const review::Files head = runner::files_of_working_tree(places);
    review::Review review =
        review::review(base, head, runner::load_workload_catalogue(options.plugins));
    require_files(verb, places, base, head, review);
    if (!options.json.empty()) {
        util::write_file_atomically(options.json, review::write_json(review, options.base));
    }
    if (options.json != "-") {
        util::write_file_atomically("-", review::write_text(review, options.base));
    }
    if (!options.annotations.empty()) {
        util::write_file_atomically(options.annotations,
                                    review::write_annotations(review, options.advisory));
    }
    return review::exit_code(review, options.advisory);
}

}  // namespace

void add_review(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "review", "Lists where a change weakens the gate: the working tree against a commit");
    const auto options = std::make_shared<ReviewOptions>();
    verb->add_option("--base", options->base, "The commit that the change will be merged into")
        ->required()
        ->type_name("REF");
    const auto add_places = [&](const char* name, std::vector<std::string>& places,
                                const std::string& help) {
        return verb->add_option(name, places, help + " (file, folder or pattern; repeatable)")
            ->type_name("PATH")
            ->type_size(1)
            ->allow_extra_args(false);
    };
    add_places("--suites", options->places.suites, "The suites that CI measures")
        ->capture_default_str();
    add_places("--profiles", options->places.profiles, "The profiles that CI measures with")
        ->capture_default_str();
    add_places("--baselines", options->places.baselines,
               "The baselines; default: the folders that the profiles name");
    verb->add_option("--plugin", options->plugins,
                     "A plugin with workloads, in addition to the bundled ones (repeatable)")
        ->type_name("FILE")
        ->type_size(1)
        ->allow_extra_args(false);
    verb->add_option("--annotations", options->annotations,
                     "Also write annotations for GitHub to FILE (- is standard output)")
        ->type_name("FILE");
    verb->add_option("--json", options->json, "Also write JSON to FILE (- is standard output)")
        ->type_name("FILE");
    verb->add_flag("--advisory", options->advisory, "Exit 0 instead of 1 if there are findings");
    verb->footer(
        "Lists removed suites, cases, gates, relations and tags; raised tolerances; gates that "
        "only warn; worse or removed expectations;\nbaselines by which the gate passes regressions "
        "that it failed before, or that were edited and not measured;\nacknowledged regressions; "
        "lowered profiles; rewritten ledgers; files that cannot be read. A refreshed suite is one "
        "finding.\nWhat is stricter or new is not listed. Loads no plugin of "
        "the change and runs nothing of it: run it with the base's own perfgate.\nExit code: 0 "
        "where nothing is looser, 1 where something is, 2 where there is no such commit or "
        "nothing to compare.");
    verb->callback([&invocation, options, verb] {
        invocation.body = [options, verb] { return review_change(*verb, *options); };
    });
}

}  // namespace perfgate::cli
