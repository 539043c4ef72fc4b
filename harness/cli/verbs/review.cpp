// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/verbs/verb.hpp"
#include "model/file.hpp"
#include "report/columns.hpp"
#include "review/output.hpp"
#include "review/review.hpp"
#include "runner/catalogue.hpp"
#include "runner/reviewed_files.hpp"

namespace perfgate::cli {

namespace {

using review::Finding;

struct ReviewOptions {
    std::string base;
    runner::ReviewedFolders folders;
    std::vector<std::string> plugins;
    std::string annotations;
    std::string json;
    bool advisory = false;
};

std::string place_text(const model::SourcePlace& place) {
    return place.line > 0 ? fmt::format("{}:{}", review::cell(place.file), place.line)
                          : review::cell(place.file);
}

std::string cases_text(const Finding& finding) {
    if (finding.cases.empty()) return "";
    std::string text = review::cell(finding.cases.front());
    if (finding.cases.size() > 1) text += fmt::format(" and {} more", finding.cases.size() - 1);
    return text;
}

std::string findings_text(const std::vector<Finding>& findings,
                          const std::vector<std::string>& notes, const std::string& base) {
    std::string text;
    if (findings.empty()) {
        text = fmt::format("nothing is looser than in {}\n", review::cell(base));
    } else {
        text = fmt::format("{} {} looser than in {}:\n\n", findings.size(),
                           findings.size() == 1 ? "thing is" : "things are", review::cell(base));
        std::vector<std::vector<std::string>> rows{{"what", "of", "change", "where", "case"}};
        for (const Finding& finding : findings) {
            rows.push_back({std::string(to_text(finding.kind)), review::cell(finding.subject),
                            review::change_text(finding), place_text(finding.place),
                            cases_text(finding)});
        }
        text += report::table(rows);
    }
    for (const std::string& note : notes)
        text += "note: not reviewed: " + review::cell(note) + '\n';
    return text;
}

int review_change(const ReviewOptions& options) {
    const review::Files base = runner::files_of_revision(options.base, options.folders);
    const review::Files head = runner::files_of_working_tree(options.folders);
    const model::WorkloadCatalogue workloads = runner::load_workload_catalogue(options.plugins);
    const review::Expectations before = read_expectations(base, head, workloads);
    const review::Expectations after = read_expectations(head, base, workloads);
    const std::vector<Finding> findings = review::loosened(before, after);
    const std::vector<std::string> notes = review::not_reviewed(before, after);
    if (!options.json.empty()) {
        model::write_file_atomically(options.json,
                                     review::write_json(findings, notes, options.base));
    }
    if (options.json != "-") {
        model::write_file_atomically("-", findings_text(findings, notes, options.base));
    }
    if (!options.annotations.empty()) {
        model::write_file_atomically(options.annotations,
                                     review::write_annotations(findings, options.advisory));
    }
    return findings.empty() || options.advisory ? 0 : 1;
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
                     "Also write annotations for GitHub to FILE (- is stdout)")
        ->type_name("FILE");
    verb->add_option("--json", options->json, "Also write JSON to FILE (- is stdout)")
        ->type_name("FILE");
    verb->add_flag("--advisory", options->advisory, "Exit 0 regardless of the findings");
    verb->footer(
        "Lists removed suites, cases, gates, relations and tags; raised tolerances; worse or "
        "removed expectations;\nacknowledged regressions; lowered profiles; rewritten ledgers; "
        "files that cannot be read. What is stricter\nor new is not listed. Loads no plugin of "
        "the change and runs nothing of it: run it with the base's own perfgate.\nExit code: 0 "
        "where nothing is looser, 1 where something is, 2 where there is no such commit.");
    verb->callback([&invocation, options] {
        invocation.body = [options] { return review_change(*options); };
    });
}

}  // namespace perfgate::cli
