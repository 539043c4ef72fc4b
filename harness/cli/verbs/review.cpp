// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/verbs/verb.hpp"
#include "model/file.hpp"
#include "review/output.hpp"
#include "runner/devices.hpp"
#include "runner/reviewed_files.hpp"

namespace perfgate::cli {

namespace {

struct ReviewOptions {
    std::string base;
    runner::ReviewedFolders folders;
    std::vector<std::string> plugins;
    std::string annotations;
    std::string json;
    bool advisory = false;
};

int review_change(const ReviewOptions& options) {
    const review::Files base = runner::files_of_revision(options.base, options.folders);
    const review::Files head = runner::files_of_working_tree(options.folders);
    const review::Review review =
        review::review(base, head, runner::load_workload_catalogue(options.plugins));
    if (!options.json.empty()) {
        model::write_file_atomically(options.json, review::write_json(review, options.base));
    }
    if (options.json != "-") {
        model::write_file_atomically("-", review::write_text(review, options.base));
    }
    if (!options.annotations.empty()) {
        model::write_file_atomically(options.annotations,
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
    verb->add_option("--suites", options->folders.suites, "Folder of the suites")
        ->type_name("DIR")
        ->capture_default_str();
    verb->add_option("--profiles", options->folders.profiles, "Folder of the profiles")
        ->type_name("DIR")
        ->capture_default_str();
    verb->add_option("--baselines", options->folders.baselines, "Folder of the baselines")
        ->type_name("DIR")
        ->capture_default_str();
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
    verb->add_flag("--advisory", options->advisory, "Exit 0 regardless of the findings");
    verb->footer(
        "Lists removed suites, cases, gates, relations and tags; raised tolerances; gates that "
        "only warn; worse or removed expectations;\nacknowledged regressions; lowered profiles; "
        "rewritten ledgers; "
        "files that cannot be read. What is stricter\nor new is not listed. Loads no plugin of "
        "the change and runs nothing of it: run it with the base's own perfgate.\nExit code: 0 "
        "where nothing is looser, 1 where something is, 2 where there is no such commit.");
    verb->callback([&invocation, options] {
        invocation.body = [options] { return review_change(*options); };
    });
}

}  // namespace perfgate::cli
