// SPDX-License-Identifier: Apache-2.0
#include "report/html.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document/json_writer.hpp"
#include "report/formats.hpp"
#include "report/html_parts.hpp"
#include "report/joined.hpp"
#include "report/plain_text.hpp"
#include "report/summary.hpp"

namespace perfgate::report {

namespace {

using document::JsonLayout;
using document::JsonWriter;
using document::write_field;
using document::write_unless_default;
using model::Verdict;

/// The reasons that the overview lists.
constexpr std::size_t most_groups = 10;

void write_suite(JsonWriter& json, const model::SuiteVerdict& suite) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "name", html_name(suite.name));
    write_field(json, "file", html_name(suite.file));
    write_field(json, "counts", counts_text(suite));
    write_unless_default(json, "baseline", html_name(suite.baseline_file));
    write_unless_default(json, "relations_in_words", relations_text(suite));
    write_unless_default(json, "notes", html_lines(suite.notes));
    if (!suite.relations.empty()) {
        json.key("relations");
        json.begin_array(JsonLayout::compact);
        for (const model::RelationVerdict& relation : suite.relations) {
            json.begin_object(JsonLayout::compact);
            write_field(json, "verdict", static_cast<std::int64_t>(relation.verdict));
            write_field(json, "word", relation_word(relation.verdict));
            write_field(json, "name", html_name(relation_name(relation)));
            write_place(json, relation.place);
            write_field(json, "sentence", plain_line(relation.sentence, longest_line));
            json.end_object();
        }
        json.end_array();
    }
    json.end_object();
}

/// The reasons, worst first: effect, number of cases, sentence.
void write_groups(JsonWriter& json, const std::vector<JoinedSuite>& suites,
                  const model::Policy& policy) {
    std::vector<JoinedGroup> groups;
    for (const JoinedSuite& suite : suites) {
        for (JoinedGroup& group : groups_of(suite, policy)) groups.push_back(std::move(group));
    }
    if (groups.empty()) return;
    std::stable_sort(groups.begin(), groups.end(),
                     [](const JoinedGroup& left, const JoinedGroup& right) {
                         return left.effect < right.effect;
                     });
    json.key("groups");
    json.begin_array(JsonLayout::compact);
    for (std::size_t i = 0; i < std::min(groups.size(), most_groups); ++i) {
        json.begin_array(JsonLayout::compact);
        json.value(to_text(groups[i].effect));
        json.value(static_cast<std::int64_t>(groups[i].cases.size()));
        json.value(plain_line(groups[i].sentence, longest_html_name));
        json.end_array();
    }
    json.end_array();
    if (groups.size() > most_groups) {
        write_field(json, "more_groups", static_cast<std::int64_t>(groups.size() - most_groups));
    }
}

std::string json_text(const model::VerdictDocument& document, const model::Run& run) {
    const std::vector<JoinedSuite> suites = join(document, run);
    JsonWriter json(JsonLayout::compact);
    json.begin_object(JsonLayout::compact);
    write_unless_default(json, "summary", plain_line(document.summary, longest_line));
    write_field(json, "counts", counts_text(document));
    write_field(json, "exit_code", static_cast<std::int64_t>(document.exit_code));
    write_unless_default(json, "interrupted", document.interrupted);
    write_unless_default(json, "verify_only", run.verify_only);
    write_groups(json, suites, document.policy);
    json.key("facts");
    write_facts(json, document, run);
    json.key("ceilings");
    write_ceilings(json, document.environment.ceilings);
    json.key("verdicts");
    write_verdict_table(json, document.policy);
    json.key("suites");
    json.begin_array(JsonLayout::compact);
    for (const JoinedSuite& suite : suites) write_suite(json, *suite.verdict);
    json.end_array();
    write_html_cases(json, suites, document.policy, run);
    json.end_object();
    return json.finish();
}

}  // namespace

bool has_html_page() {
    return !report_page().empty();
}

std::string html_data(const model::VerdictDocument& document, const model::Run& run) {
    std::string data;
    append_fit_for_script(data, json_text(document, run));
    return data;
}

std::string write_html(const model::VerdictDocument& document, const model::Run& run,
                       const Options& /*options*/) {
    return fill_page(report_page(), json_text(document, run));
}

}  // namespace perfgate::report
