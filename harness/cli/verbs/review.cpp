// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/reviewed_files.hpp"
#include "cli/terminal/table.hpp"
#include "cli/verbs/verb.hpp"
#include "document/json_writer.hpp"
#include "model/file.hpp"
#include "report/plain_text.hpp"
#include "report/workflow_command.hpp"
#include "review/review.hpp"
#include "runner/catalogue.hpp"

namespace perfgate::cli {

namespace {

using review::Finding;

constexpr std::size_t longest_cell = 200;
constexpr std::size_t most_ids = 5;  ///< of cases, in an annotation

struct ReviewOptions {
    std::string base;
    ReviewedFolders folders;
    std::vector<std::string> plugins;
    std::string annotations;
    std::string json;
    bool advisory = false;
};

/// What a stranger wrote, for a terminal or a job's log.
std::string cell(std::string_view text) {
    return report::log_line(text, longest_cell);
}

std::string place_text(const model::SourcePlace& place) {
    return place.line > 0 ? fmt::format("{}:{}", cell(place.file), place.line) : cell(place.file);
}

std::string change_text(const Finding& finding) {
    if (finding.before.empty()) return cell(finding.after);
    return cell(finding.before) + " → " + cell(finding.after);
}

std::string cases_text(const Finding& finding) {
    if (finding.cases.empty()) return "";
    std::string text = cell(finding.cases.front());
    if (finding.cases.size() > 1) text += fmt::format(" and {} more", finding.cases.size() - 1);
    return text;
}

std::string as_text(const std::vector<Finding>& findings, const std::vector<std::string>& notes,
                    const std::string& base) {
    std::string text;
    if (findings.empty()) {
        text = fmt::format("nothing is looser than in {}\n", cell(base));
    } else {
        text = fmt::format("{} {} looser than in {}:\n\n", findings.size(),
                           findings.size() == 1 ? "thing is" : "things are", cell(base));
        std::vector<std::vector<std::string>> rows{{"what", "of", "change", "where", "case"}};
        for (const Finding& finding : findings) {
            rows.push_back({std::string(to_text(finding.kind)), cell(finding.subject),
                            change_text(finding), place_text(finding.place), cases_text(finding)});
        }
        text += table(rows);
    }
    for (const std::string& note : notes) text += "note: not reviewed: " + cell(note) + '\n';
    return text;
}

std::string as_json(const std::vector<Finding>& findings, const std::vector<std::string>& notes,
                    const std::string& base) {
    using enum document::JsonLayout;
    document::JsonWriter json;
    json.begin_object(lines);
    write_field(json, "schema", "perfgate.review");
    write_field(json, "version", std::int64_t{1});
    write_field(json, "base", base);
    json.key("findings");
    json.begin_array(lines);
    for (const Finding& finding : findings) {
        json.begin_object(compact);
        write_field(json, "kind", to_text(finding.kind));
        write_field(json, "file", finding.place.file);
        write_unless_default(json, "line", finding.place.line);
        write_field(json, "subject", finding.subject);
        write_field(json, "before", finding.before);
        write_field(json, "after", finding.after);
        write_unless_default(json, "cases", finding.cases);
        json.end_object();
    }
    json.end_array();
    write_field(json, "not_reviewed", notes);
    json.end_object();
    return json.finish();
}

std::string annotation(const Finding& finding, std::string_view kind, std::size_t without) {
    std::string message = change_text(finding);
    if (!finding.cases.empty()) {
        const std::size_t shown_ids = std::min(finding.cases.size(), most_ids);
        for (std::size_t i = 0; i < shown_ids; ++i) message += '\n' + cell(finding.cases[i]);
        if (finding.cases.size() > shown_ids) {
            message += fmt::format("\nand {} more cases", finding.cases.size() - shown_ids);
        }
    }
    if (without > 0) message += fmt::format("\n{} more findings: see the log", without);
    return report::workflow_command(
        kind, finding.place, fmt::format("{}: {}", to_text(finding.kind), cell(finding.subject)),
        message);
}

std::string as_annotations(const std::vector<Finding>& findings, bool advisory) {
    std::string text;
    const std::size_t count = std::min(findings.size(), report::most_annotations);
    for (std::size_t i = 0; i < count; ++i) {
        text += annotation(findings[i], advisory ? "warning" : "error",
                           i + 1 == count ? findings.size() - count : 0);
    }
    return text;
}

int review_change(const ReviewOptions& options) {
    const review::Files base = files_of_revision(options.base, options.folders);
    const review::Files head = files_of_working_tree(options.folders);
    const model::WorkloadCatalogue workloads = runner::load_workload_catalogue(options.plugins);
    const review::Expectations before = read_expectations(base, head, workloads);
    const review::Expectations after = read_expectations(head, base, workloads);
    const std::vector<Finding> findings = review::loosened(before, after);
    const std::vector<std::string> notes = review::not_reviewed(before, after);
    if (!options.json.empty()) {
        model::write_file_atomically(options.json, as_json(findings, notes, options.base));
    }
    if (options.json != "-") {
        model::write_file_atomically("-", as_text(findings, notes, options.base));
    }
    if (!options.annotations.empty()) {
        model::write_file_atomically(options.annotations,
                                     as_annotations(findings, options.advisory));
    }
    return findings.empty() || options.advisory ? 0 : 1;
}

}  // namespace

void add_review(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "review",
        "Lists what a change takes away from the gate: the working tree against a commit");
    const auto options = std::make_shared<ReviewOptions>();
    verb->add_option("--base", options->base, "The commit that the change is to be merged into")
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
    verb->add_flag("--advisory", options->advisory, "Exit 0 whatever is found");
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
