// SPDX-License-Identifier: Apache-2.0
// JUnit XML for the readers of CI systems: flat suites, exact counts, one testcase per case with a
// unique classname and name. See JunitProfile for the two profiles.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "report/columns.hpp"
#include "report/formats.hpp"
#include "report/joined.hpp"
#include "report/junit_xml.hpp"
#include "report/plain_text.hpp"
#include "report/summary.hpp"
#include "util/text.hpp"

namespace perfgate::report {

namespace {

using model::Outcome;

// GitHub cuts an annotation at 4,096 characters and Jenkins a passing case's output at 1,000.
constexpr std::size_t longest_case_log = 32'768;
constexpr std::size_t longest_passing_output = 1000;
constexpr std::size_t longest_output = 32'768;

struct Counts {
    std::int64_t tests = 0, failures = 0, errors = 0, skipped = 0;
    double time_s = 0;
};

/// What `reasons` leave out: why the verification failed, which metrics could not be
/// collected, the last lines of the worker.
std::string evidence(const JoinedCase& joined, const std::string& reasons) {
    std::string text;
    if (joined.result != nullptr) {
        const auto& verification = joined.result->verification;
        if (verification && !verification->passed) {
            const std::string detail = plain_line(verification->detail, longest_line);
            if (reasons.find(detail) == std::string::npos) text += detail + '\n';
        }
        for (const MetricRow& row : metric_rows(joined)) {
            if (row.not_collected == nullptr || row.verdict != nullptr) continue;
            text += plain_line(
                        fmt::format("not collected: {}: {}", row.metric, row.not_collected->reason),
                        longest_line) +
                    '\n';
        }
    }
    const std::string log = plain_tail(joined.verdict->log, longest_case_log);
    if (log.empty()) return text;
    text += "last lines of the worker's stderr:\n" + log;
    if (log.back() != '\n') text += '\n';
    return text;
}

void add_outcome(pugi::xml_node testcase, const JoinedCase& joined, Outcome outcome,
                 const model::Policy& policy) {
    if (outcome == Outcome::pass) return;
    const std::vector<std::string> lines = reasons(*joined.verdict, policy);
    if (outcome == Outcome::skipped) {
        set_attribute(testcase.append_child("skipped"), "message", lines.front());
        return;
    }
    pugi::xml_node node = testcase.append_child(outcome == Outcome::failure ? "failure" : "error");
    set_attribute(node, "type", to_text(joined.verdict->verdict));
    set_attribute(node, "message",
                  is_explained(joined) ? plain_line(short_reason(joined, true), longest_line)
                                       : lines.front());
    std::string reasons = fmt::format("{}\n", fmt::join(lines, "\n"));
    for (const std::string& why : why_lines(*joined.verdict)) {
        reasons += plain_line(why, longest_line) + '\n';
    }
    set_text(node, reasons + evidence(joined, reasons));
}

/// A case that passed when it was measured again: readers that support Surefire's flakyFailure show
/// it as flaky, others ignore it. The strict profile's schemas forbid it.
void add_flagged(pugi::xml_node testcase, const JoinedCase& joined) {
    if (joined.verdict->verdict != model::Verdict::pass || joined.result == nullptr) return;
    for (const std::string_view metric : model::time_metrics) {
        const auto found = joined.result->metrics.find(std::string(metric));
        if (found == joined.result->metrics.end()) continue;
        const auto again = std::count_if(found->second.batches.begin(), found->second.batches.end(),
                                         [](const model::Batch& batch) { return batch.round > 0; });
        if (again == 0) continue;
        pugi::xml_node node = testcase.append_child("flakyFailure");
        set_attribute(node, "type", "flagged");
        set_attribute(node, "message",
                      fmt::format("{} was flagged as a regression at first and passed when it was "
                                  "measured again in {} fresh processes",
                                  metric, again));
        return;
    }
}

/// The gated metrics as an aligned table, the case's notes, and its explanation unless a failure
/// contains it; nothing of a case that passed.
std::string metric_table(const model::CaseVerdict& verdict, Outcome outcome) {
    if (!needs_attention(verdict.verdict)) return {};
    const std::size_t limit = is_bad(outcome) ? longest_output : longest_passing_output;
    std::vector<std::vector<std::string>> rows = {
        {"metric", "baseline", "measured", "change", "tolerance", "verdict"}};
    const auto shown = [](std::string& text) { return text.empty() ? "-" : std::move(text); };
    for (const model::MetricVerdict& metric : verdict.metrics) {
        ValueTexts texts = texts_of(metric.baseline, metric.measured, metric.unit);
        rows.push_back({junit_name(metric.metric), shown(texts.before), shown(texts.after),
                        shown(texts.moved), plain_line(metric.tolerance, longest_junit_name),
                        std::string(to_text(metric.verdict))});
    }
    std::vector<std::string> lines;
    if (rows.size() > 1) {
        constexpr Align numbers = Align::right;
        lines = table_lines(rows, {.indent = 0, .align = {Align::left, numbers, numbers, numbers}});
    }
    for (const std::string& note : verdict.notes) {
        lines.push_back("note: " + plain_line(note, longest_line));
    }
    if (!is_bad(outcome)) {
        for (const std::string& why : why_lines(verdict)) {
            lines.push_back(plain_line(why, longest_line));
        }
    }
    return first_lines(lines, limit);
}

void add_place(pugi::xml_node testcase, const model::SourcePlace& place) {
    if (place.file.empty()) return;
    set_attribute(testcase, "file", plain_line(place.file, longest_junit_name));
    if (place.line > 0) set_attribute(testcase, "line", place.line);
}

/// What the strict profile's schemas forbid. The value is that of the case's row in other reports;
/// system-out has the other metrics of a case that did not pass, CSV and JSON have all.
void add_annotations(pugi::xml_node testcase, const JoinedCase& joined) {
    const model::CaseVerdict& verdict = *joined.verdict;
    add_place(testcase, verdict.place);
    std::vector<std::pair<std::string_view, std::string>> values;
    if (verdict.verdict != model::Verdict::pass) {
        values.emplace_back("verdict", to_text(verdict.verdict));
        if (verdict.code != model::CodeChange::unknown) {
            values.emplace_back("code", to_text(verdict.code));
        }
        if (verdict.ceiling) values.emplace_back("ceiling", in_words(*verdict.ceiling));
    }
    const Value value = find_deciding(joined).value_or(Value{});
    if (value.measured) {
        values.emplace_back(value.metric,
                            texts_of(value.baseline, value.measured, value.unit).after);
    }
    if (values.empty()) return;
    pugi::xml_node properties = testcase.append_child("properties");
    for (const auto& [name, text] : values) add_property(properties, name, text);
}

void count(Counts& counts, Outcome outcome, double wall_s) {
    ++counts.tests;
    if (outcome == Outcome::failure) ++counts.failures;
    if (outcome == Outcome::error) ++counts.errors;
    if (outcome == Outcome::skipped) ++counts.skipped;
    counts.time_s += sane_seconds(wall_s);
}

void add_environment(pugi::xml_node suite, const model::VerdictDocument& document,
                     const model::Run& run, const model::SuiteVerdict& verdict) {
    pugi::xml_node properties = suite.append_child("properties");
    const auto add = [&](std::string_view name, std::string_view value) {
        if (!value.empty()) add_property(properties, name, value);
    };
    const model::Environment& environment = document.environment;
    add("perfgate", document.tool_version);
    add("git_revision", run.git_revision);
    add("backend", document.backend);
    add("device", environment.device.name);
    add("device_key", environment.device.key);
    add("board", environment.device.board);
    add("driver", environment.driver);
    add("cuda_toolkit", environment.cuda_toolkit);
    add("cupti", environment.cupti);
    add("baseline", verdict.baseline_file);
    if (document.verify_only) add("measured", verify_only_text);
    add("exit_code", std::to_string(document.exit_code));
}

std::string suite_output(const model::SuiteVerdict& verdict) {
    std::string text;
    if (!verdict.summary.empty()) text = plain_line(verdict.summary, longest_line) + '\n';
    text += fmt::format("{}: {}\n", junit_name(verdict.name), counts_text(verdict));
    const std::string relations = relations_text(verdict);
    if (!relations.empty()) text += relations + '\n';
    for (const std::string& note : verdict.notes) {
        if (text.size() > longest_output) break;
        text += "note: " + plain_line(note, longest_line) + '\n';
    }
    return text;
}

void set_counts(pugi::xml_node node, const Counts& counts) {
    set_attribute(node, "tests", counts.tests);
    set_attribute(node, "failures", counts.failures);
    set_attribute(node, "errors", counts.errors);
    set_attribute(node, "skipped", counts.skipped);
    set_attribute(node, "time", seconds_text(counts.time_s));
}

class Writer {
  public:
    Writer(const model::VerdictDocument& document, const model::Run& run, const Options& options)
        : document_(document),
          run_(run),
          options_(options),
          github_(options.junit_profile == JunitProfile::github) {}

    std::string write() {
        pugi::xml_document xml;
        pugi::xml_node declaration = xml.append_child(pugi::node_declaration);
        set_attribute(declaration, "version", "1.0");
        set_attribute(declaration, "encoding", "UTF-8");
        pugi::xml_node root = xml.append_child("testsuites");
        const std::vector<JoinedSuite> suites = join(document_, run_);
        for (std::size_t i = 0; i < suites.size(); ++i) {
            add_suite(root, suites[i], static_cast<std::int64_t>(i));
        }
        if (github_) {
            set_attribute(root, "name", "perfgate");
            set_counts(root, all_);
        }
        return xml_text(xml);
    }

  private:
    void add_suite(pugi::xml_node root, const JoinedSuite& suite, std::int64_t number) {
        const model::SuiteVerdict& verdict = *suite.verdict;
        const std::string name = junit_name(verdict.name);
        pugi::xml_node node = root.append_child("testsuite");
        set_attribute(node, "name", name);
        set_attribute(node, "id", number);
        set_attribute(node, "package", name);
        set_attribute(node, "hostname", junit_name(options_.hostname));
        set_attribute(node, "timestamp", timestamp_text(document_.started_at));
        of_suite_ = {};
        add_environment(node, document_, run_, verdict);
        for (const JoinedCase& joined : suite.cases) add_case(node, name, joined);
        for (const model::RelationVerdict& relation : verdict.relations) {
            add_relation(node, name, relation);
        }
        set_counts(node, of_suite_);
        if (github_ && !verdict.file.empty()) {
            set_attribute(node, "file", plain_line(verdict.file, longest_junit_name));
        }
        add_output(node, suite_output(verdict));
        node.append_child("system-err");
    }

    Outcome counted(Outcome outcome, double wall_s) {
        count(of_suite_, outcome, wall_s);
        count(all_, outcome, wall_s);
        return outcome;
    }

    void add_case(pugi::xml_node suite, const std::string& suite_name, const JoinedCase& joined) {
        const Outcome outcome =
            counted(outcome_of(*joined.verdict, document_.policy), joined.verdict->wall_s);
        const std::string classname = suite_name + '.' + junit_name(joined.verdict->workload);
        pugi::xml_node node = suite.append_child("testcase");
        set_attribute(node, "classname", classname);
        set_attribute(node, "name", names_.claim(classname, junit_name(joined.verdict->id)));
        set_attribute(node, "time", seconds_text(joined.verdict->wall_s));
        if (github_) add_annotations(node, joined);
        add_outcome(node, joined, outcome, document_.policy);
        if (github_) {
            add_flagged(node, joined);
            const std::string table = metric_table(*joined.verdict, outcome);
            if (!table.empty()) add_output(node, table);
        }
    }

    void add_relation(pugi::xml_node suite, const std::string& suite_name,
                      const model::RelationVerdict& relation) {
        const Outcome outcome = counted(outcome_of(relation.verdict, document_.policy), 0);
        const std::string classname = suite_name + ".expect";
        pugi::xml_node node = suite.append_child("testcase");
        set_attribute(node, "classname", classname);
        set_attribute(node, "name", names_.claim(classname, junit_name(relation_name(relation))));
        set_attribute(node, "time", seconds_text(0));
        if (github_) {
            add_place(node, relation.place);
            if (relation.verdict != model::Verdict::pass) {
                add_property(node.append_child("properties"), "verdict", to_text(relation.verdict));
            }
        }
        if (outcome == Outcome::pass) return;
        const std::string sentence = plain_line(relation.sentence, longest_line);
        if (outcome == Outcome::skipped) {
            set_attribute(node.append_child("skipped"), "message", sentence);
            return;
        }
        pugi::xml_node bad = node.append_child(outcome == Outcome::failure ? "failure" : "error");
        set_attribute(bad, "type", to_text(relation.verdict));
        set_attribute(bad, "message", sentence);
        set_text(bad, sentence + '\n');
    }

    const model::VerdictDocument& document_;
    const model::Run& run_;
    const Options& options_;
    bool github_;
    Counts of_suite_, all_;
    UniqueNames names_;
};

}  // namespace

std::string write_junit(const model::VerdictDocument& document, const model::Run& run,
                        const Options& options) {
    return Writer(document, run, options).write();
}

}  // namespace perfgate::report
