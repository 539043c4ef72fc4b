// SPDX-License-Identifier: Apache-2.0
// JUnit XML for the readers of CI systems: flat suites, exact counts, one testcase per case with a
// unique classname and name. See JunitProfile for the two profiles.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "model/quantity.hpp"
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
constexpr std::size_t longest_log = 32'768;
constexpr std::size_t longest_passing_output = 1000;
constexpr std::size_t longest_output = 32'768;

// GitLab takes 30 MB a file. With more values than this only gated metrics become properties.
constexpr std::size_t most_values = 200'000;

struct Counts {
    std::int64_t tests = 0, failures = 0, errors = 0, skipped = 0;
    double time_s = 0;
};

Counts& operator+=(Counts& left, const Counts& right) {
    left.tests += right.tests;
    left.failures += right.failures;
    left.errors += right.errors;
    left.skipped += right.skipped;
    left.time_s += right.time_s;
    return left;
}

std::string join_lines(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
        text += line;
        text += '\n';
    }
    return text;
}

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
    const std::string log = plain_tail(joined.verdict->log, longest_log);
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
    std::string reasons = join_lines(lines);
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

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    return lines;
}

std::string quantity_cell(const std::optional<double>& value, std::string_view unit) {
    return value ? model::quantity_text(*value, unit) : "-";
}

std::string change_cell(const model::MetricVerdict& metric) {
    if (!metric.baseline || !metric.measured) return "-";
    const std::string text = model::moved_text(*metric.baseline, *metric.measured, metric.unit);
    return text.empty() ? "-" : text;
}

/// The gated metrics as an aligned table, the case's notes, and its explanation unless a failure
/// contains it.
std::string metric_table(const model::CaseVerdict& verdict, Outcome outcome) {
    const std::size_t limit = is_bad(outcome) ? longest_output : longest_passing_output;
    std::vector<std::vector<std::string>> rows = {
        {"metric", "baseline", "measured", "change", "tolerance", "verdict"}};
    for (const model::MetricVerdict& metric : verdict.metrics) {
        rows.push_back({junit_name(metric.metric), quantity_cell(metric.baseline, metric.unit),
                        quantity_cell(metric.measured, metric.unit), change_cell(metric),
                        plain_line(metric.tolerance, longest_junit_name),
                        std::string(to_text(metric.verdict))});
    }
    std::vector<std::string> lines;
    if (rows.size() > 1) {
        constexpr Align numbers = Align::right;
        lines =
            lines_of(table(rows, {.indent = 0, .align = {Align::left, numbers, numbers, numbers}}));
    }
    for (const std::string& note : verdict.notes) {
        lines.push_back("note: " + plain_line(note, longest_line));
    }
    if (!is_bad(outcome)) {
        for (const std::string& why : why_lines(verdict)) {
            lines.push_back(plain_line(why, longest_line));
        }
    }
    std::string text;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (text.size() + lines[i].size() + 1 > limit) {
            return text + fmt::format("({} more lines left out)\n", lines.size() - i);
        }
        text += lines[i] + '\n';
    }
    return text;
}

/// A value and its unit. Counts have every digit, what is measured has as many as mean something.
std::string property_value(double value, std::string_view unit) {
    constexpr double digits = 1e7;
    double rounded = value;
    if (std::isfinite(value) && value != std::trunc(value)) {
        const double scale = digits / std::pow(10, std::ceil(std::log10(std::fabs(value))));
        rounded = scale >= 1 ? std::round(value * scale) / scale : std::round(value);
    }
    std::string text = util::number_text(rounded);
    if (!unit.empty()) text.append(" ").append(unit);
    return text;
}

void add_place(pugi::xml_node testcase, const model::SourcePlace& place) {
    if (place.file.empty()) return;
    set_attribute(testcase, "file", plain_line(place.file, longest_junit_name));
    if (place.line > 0) set_attribute(testcase, "line", place.line);
}

/// What the strict profile's schemas forbid.
void add_annotations(pugi::xml_node testcase, const JoinedCase& joined, bool only_gated) {
    add_place(testcase, joined.verdict->place);
    pugi::xml_node properties = testcase.append_child("properties");
    add_property(properties, "verdict", to_text(joined.verdict->verdict));
    if (joined.verdict->code != model::CodeChange::unknown) {
        add_property(properties, "code", to_text(joined.verdict->code));
    }
    if (joined.verdict->ceiling) {
        add_property(properties, "bound", to_text(joined.verdict->ceiling->bound));
        // A case that measures it as a metric has that below, in %.
        if (joined.result == nullptr || !joined.result->metrics.contains("ceiling_share")) {
            add_property(properties, "ceiling_share",
                         util::number_text(joined.verdict->ceiling->share));
        }
    }
    for (const MetricRow& row : metric_rows(joined)) {
        if (only_gated && row.verdict == nullptr) continue;
        const std::optional<double> measured = row.measured();
        if (measured) add_property(properties, row.metric, property_value(*measured, row.unit));
    }
}

void add_metric_table(pugi::xml_node testcase, const model::CaseVerdict& verdict, Outcome outcome) {
    const std::string table = metric_table(verdict, outcome);
    if (!table.empty()) add_output(testcase, table);
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

std::string suite_output(const model::SuiteVerdict& verdict, bool only_gated) {
    std::string text;
    if (!verdict.summary.empty()) text = plain_line(verdict.summary, longest_line) + '\n';
    text += fmt::format("{}: {}\n", junit_name(verdict.name), counts_text(verdict));
    const std::string relations = relations_text(verdict);
    if (!relations.empty()) text += relations + '\n';
    if (only_gated) {
        text +=
            "note: only gated metrics are properties here, there are too many; --report csv:FILE "
            "has all\n";
    }
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
        only_gated_ = count_values(suites) > most_values;
        // Attributes come first in the file: count before writing.
        if (github_) {
            Counts total;
            for (const JoinedSuite& suite : suites) total += count_suite(suite);
            set_attribute(root, "name", "perfgate");
            set_counts(root, total);
        }
        for (std::size_t i = 0; i < suites.size(); ++i) {
            add_suite(root, suites[i], static_cast<std::int64_t>(i));
        }
        return xml_text(xml);
    }

  private:
    static std::size_t count_values(const std::vector<JoinedSuite>& suites) {
        std::size_t values = 0;
        for (const JoinedSuite& suite : suites) {
            for (const JoinedCase& joined : suite.cases) {
                if (joined.result != nullptr) values += joined.result->metrics.size();
            }
        }
        return values;
    }

    Counts count_suite(const JoinedSuite& suite) const {
        Counts counts;
        for (const JoinedCase& joined : suite.cases) {
            count(counts, outcome_of(*joined.verdict, document_.policy), joined.verdict->wall_s);
        }
        for (const model::RelationVerdict& relation : suite.verdict->relations) {
            count(counts, outcome_of(relation.verdict, document_.policy), 0);
        }
        return counts;
    }

    void add_suite(pugi::xml_node root, const JoinedSuite& suite, std::int64_t number) {
        const model::SuiteVerdict& verdict = *suite.verdict;
        const std::string name = junit_name(verdict.name);
        pugi::xml_node node = root.append_child("testsuite");
        set_attribute(node, "name", name);
        set_attribute(node, "id", number);
        set_attribute(node, "package", name);
        set_attribute(node, "hostname", junit_name(options_.hostname));
        set_attribute(node, "timestamp", timestamp_text(document_.started_at));
        set_counts(node, count_suite(suite));
        if (github_ && !verdict.file.empty()) {
            set_attribute(node, "file", plain_line(verdict.file, longest_junit_name));
        }
        add_environment(node, document_, run_, verdict);
        for (const JoinedCase& joined : suite.cases) add_case(node, name, joined);
        for (const model::RelationVerdict& relation : verdict.relations) {
            add_relation(node, name, relation);
        }
        add_output(node, suite_output(verdict, github_ && only_gated_));
        node.append_child("system-err");
    }

    void add_case(pugi::xml_node suite, const std::string& suite_name, const JoinedCase& joined) {
        const Outcome outcome = outcome_of(*joined.verdict, document_.policy);
        const std::string classname = suite_name + '.' + junit_name(joined.verdict->workload);
        pugi::xml_node node = suite.append_child("testcase");
        set_attribute(node, "classname", classname);
        set_attribute(node, "name", names_.claim(classname, junit_name(joined.verdict->id)));
        set_attribute(node, "time", seconds_text(joined.verdict->wall_s));
        if (github_) add_annotations(node, joined, only_gated_);
        add_outcome(node, joined, outcome, document_.policy);
        if (github_) {
            add_flagged(node, joined);
            add_metric_table(node, *joined.verdict, outcome);
        }
    }

    void add_relation(pugi::xml_node suite, const std::string& suite_name,
                      const model::RelationVerdict& relation) {
        const Outcome outcome = outcome_of(relation.verdict, document_.policy);
        const std::string classname = suite_name + ".expect";
        pugi::xml_node node = suite.append_child("testcase");
        set_attribute(node, "classname", classname);
        set_attribute(node, "name", names_.claim(classname, junit_name(relation_name(relation))));
        set_attribute(node, "time", seconds_text(0));
        if (github_) add_place(node, relation.place);
        if (github_ && relation.left && relation.right) {
            pugi::xml_node properties = node.append_child("properties");
            add_property(properties, "left", property_value(*relation.left, relation.unit));
            add_property(properties, "right", property_value(*relation.right, relation.unit));
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
    bool only_gated_ = false;
    UniqueNames names_;
};

}  // namespace

std::string write_junit(const model::VerdictDocument& document, const model::Run& run,
                        const Options& options) {
    return Writer(document, run, options).write();
}

}  // namespace perfgate::report
