// SPDX-License-Identifier: Apache-2.0
// CSV: one row per case and metric, values in the metric's unit with every digit. A case whose
// verdict is not explained by a metric (it was skipped, it crashed) has a row without a metric, so
// that no case and no reason is missing. A relation has a row of the workload "expect": its left
// side is in the column of the measured value, its right side in that of the baseline. Quoted as
// RFC 4180 says; lines end with '\n'. A share changes by points (`change_points`), everything else
// by a fraction (`change`), which the interval contains.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "report/formats.hpp"
#include "report/joined.hpp"
#include "report/plain_text.hpp"
#include "report/summary.hpp"
#include "util/text.hpp"

namespace perfgate::report {

namespace {

constexpr std::size_t longest_field = 4096;

/// Untrusted text, on one line. Spreadsheets read text that begins with one of these characters as
/// a formula; the apostrophe makes it text.
void append_text(std::string& out, std::string_view text) {
    std::string room;
    const std::string_view line = plain_line(text, longest_field, room);
    const bool quoted =
        std::any_of(line.begin(), line.end(), [](char c) { return c == ',' || c == '"'; });
    if (quoted) out += '"';
    if (!line.empty() && std::string_view("=+-@").find(line.front()) != std::string_view::npos) {
        out += '\'';
    }
    if (quoted) {
        for (const char c : line) {
            if (c == '"') out += '"';
            out += c;
        }
        out += '"';
    } else {
        out += line;
    }
}

/// A row: of a metric, of a case without one, or of a relation.
struct Row {
    std::string_view suite, workload, id, case_verdict, metric, unit;
    std::string method;
    std::optional<double> samples, baseline, measured, change;
    std::string_view tolerance, verdict, reason, bound;
    std::optional<double> ceiling_share, change_points, interval_low, interval_high, interval_level;
};

using Member =
    std::variant<std::string_view Row::*, std::string Row::*, std::optional<double> Row::*>;

constexpr std::pair<std::string_view, Member> columns[] = {
    {"suite", &Row::suite},
    {"workload", &Row::workload},
    {"case", &Row::id},
    {"case_verdict", &Row::case_verdict},
    {"metric", &Row::metric},
    {"unit", &Row::unit},
    {"method", &Row::method},
    {"samples", &Row::samples},
    {"baseline", &Row::baseline},
    {"measured", &Row::measured},
    {"change", &Row::change},
    {"tolerance", &Row::tolerance},
    {"verdict", &Row::verdict},
    {"reason", &Row::reason},
    {"bound", &Row::bound},
    {"ceiling_share", &Row::ceiling_share},
    {"change_points", &Row::change_points},
    {"interval_low", &Row::interval_low},
    {"interval_high", &Row::interval_high},
    {"interval_level", &Row::interval_level},
};

void append(std::string& out, std::string_view text) {
    append_text(out, text);
}
void append(std::string& out, const std::optional<double>& value) {
    if (value) util::append_number(out, *value);
}

void append_row(std::string& out, const Row& row) {
    for (const auto& [name, member] : columns) {
        std::visit([&](auto of_row) { append(out, row.*of_row); }, member);
        out += ',';
    }
    out.back() = '\n';
}

double sample_count(const model::MetricSeries& series) {
    std::size_t count = 0;
    for (const model::Batch& batch : series.batches) count += batch.samples.size();
    return static_cast<double>(count);
}

/// The columns of the case itself, with which the rows of its metrics start.
Row row_of(std::string_view suite, const model::CaseVerdict& verdict) {
    Row row;
    row.suite = suite;
    row.workload = verdict.workload;
    row.id = verdict.id;
    row.case_verdict = row.verdict = to_text(verdict.verdict);
    row.reason = verdict.reason;
    if (verdict.ceiling) {
        row.bound = to_text(verdict.ceiling->bound);
        row.ceiling_share = verdict.ceiling->share;
    }
    return row;
}

Row row_of(Row row, const MetricRow& metric) {
    row.metric = metric.metric;
    row.unit = metric.unit;
    row.verdict = row.reason = "";
    row.measured = metric.measured();
    if (metric.series != nullptr) {
        row.method = to_text(metric.series->method);
        row.samples = sample_count(*metric.series);
    }
    if (metric.not_collected != nullptr) {
        row.verdict = to_text(model::Verdict::not_collected);
        row.reason = metric.not_collected->reason;
    }
    if (metric.verdict == nullptr) return row;
    const model::MetricVerdict& gated = *metric.verdict;
    row.baseline = gated.baseline;
    row.tolerance = gated.tolerance;
    row.verdict = to_text(gated.verdict);
    if (metric.not_collected == nullptr) row.reason = gated.sentence;
    if (metric.unit != "%") {
        row.change = gated.change;
    } else if (gated.baseline && gated.measured) {
        row.change_points = *gated.measured - *gated.baseline;
    }
    if (gated.interval) {
        row.interval_low = gated.interval->low;
        row.interval_high = gated.interval->high;
        row.interval_level = gated.interval->level;
    }
    return row;
}

void append_relation(std::string& out, std::string_view suite,
                     const model::RelationVerdict& relation) {
    const std::string name = relation_name(relation);
    Row row;
    row.suite = suite;
    row.workload = "expect";
    row.id = name;
    row.case_verdict = row.verdict = to_text(relation.verdict);
    row.unit = relation.unit;
    row.baseline = relation.right;
    row.measured = relation.left;
    row.reason = relation.sentence;
    append_row(out, row);
}

void append_case(std::string& out, std::string_view suite, const JoinedCase& joined) {
    const Row own = row_of(suite, *joined.verdict);
    std::vector<Row> rows;
    for (const MetricRow& metric : metric_rows(joined)) rows.push_back(row_of(own, metric));
    // The case has a row itself if no metric explains its verdict.
    const bool explained = joined.verdict->verdict == model::Verdict::pass
                               ? !rows.empty()
                               : std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
                                     return row.verdict == own.verdict;
                                 });
    if (!explained) append_row(out, own);
    for (const Row& row : rows) append_row(out, row);
}

}  // namespace

std::string write_csv(const model::VerdictDocument& document, const model::Run& run,
                      const Options& /*options*/) {
    std::string out;
    for (const auto& [name, member] : columns) out.append(name).append(",");
    out.back() = '\n';
    for (const JoinedSuite& suite : join(document, run)) {
        for (const JoinedCase& joined : suite.cases) append_case(out, suite.verdict->name, joined);
        for (const model::RelationVerdict& relation : suite.verdict->relations) {
            append_relation(out, suite.verdict->name, relation);
        }
    }
    return out;
}

}  // namespace perfgate::report
