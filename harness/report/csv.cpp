// SPDX-License-Identifier: Apache-2.0
// CSV: one row per case and metric, values in the metric's unit with every digit. A case whose
// verdict is not explained by a metric (it was skipped, it crashed) has a row without a metric, so
// that no case and no reason is missing. A relation has a row of the workload "expect": its left
// side is in the column of the measured value, its right side in that of the baseline. Quoted as
// RFC 4180 says; lines end with '\n'. A share changes by points (`change_points`), everything else
// by a fraction (`change`), which the interval contains.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/formats.hpp"
#include "report/joined.hpp"
#include "report/plain_text.hpp"
#include "report/summary.hpp"
#include "util/text.hpp"

namespace perfgate::report {

namespace {

constexpr std::string_view header =
    "suite,workload,case,case_verdict,metric,unit,method,samples,baseline,measured,change,"
    "tolerance,verdict,reason,bound,ceiling_share,change_points,interval_low,interval_high,"
    "interval_level\n";

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

std::string text_field(std::string_view text) {
    std::string field;
    append_text(field, text);
    return field;
}

void append_number(std::string& out, const std::optional<double>& value) {
    if (value) util::append_number(out, *value);
}

std::string number_field(const std::optional<double>& value) {
    std::string field;
    append_number(field, value);
    return field;
}

std::size_t sample_count(const model::MetricSeries& series) {
    std::size_t count = 0;
    for (const model::Batch& batch : series.batches) count += batch.samples.size();
    return count;
}

void append_count(std::string& out, std::size_t count) {
    const fmt::format_int digits(count);
    out.append(digits.data(), digits.size());
}

std::string_view verdict_of(const MetricRow& row) {
    if (row.verdict != nullptr) return to_text(row.verdict->verdict);
    return row.not_collected != nullptr ? to_text(model::Verdict::not_collected) : "";
}

std::string_view reason_of(const MetricRow& row) {
    if (row.not_collected != nullptr) return row.not_collected->reason;
    return row.verdict != nullptr ? std::string_view(row.verdict->sentence) : "";
}

/// The fields of a case that all of its rows repeat.
std::string ceiling_fields(const model::CaseVerdict& verdict) {
    if (!verdict.ceiling) return ",";
    return fmt::format("{},{}", to_text(verdict.ceiling->bound),
                       util::number_text(verdict.ceiling->share));
}

bool is_share(const MetricRow& row) {
    return row.unit == "%";
}

/// The last four fields of a metric's row.
void append_change_details(std::string& out, const MetricRow& row) {
    std::optional<double> points, low, high, level;
    if (row.verdict != nullptr) {
        const model::MetricVerdict& verdict = *row.verdict;
        if (is_share(row) && verdict.baseline && verdict.measured) {
            points = *verdict.measured - *verdict.baseline;
        }
        if (verdict.interval) {
            low = verdict.interval->low;
            high = verdict.interval->high;
            level = verdict.interval->level;
        }
    }
    append_number(out, points);
    for (const std::optional<double>& value : {low, high, level}) {
        out += ',';
        append_number(out, value);
    }
}

void append_row(std::string& out, std::string_view case_fields, const MetricRow& row,
                std::string_view ceiling) {
    out += case_fields;
    out += ',';
    append_text(out, row.metric);
    out += ',';
    append_text(out, row.unit);
    out += ',';
    if (row.series != nullptr) append_text(out, to_text(row.series->method));
    out += ',';
    if (row.series != nullptr) append_count(out, sample_count(*row.series));
    out += ',';
    if (row.verdict != nullptr) append_number(out, row.verdict->baseline);
    out += ',';
    append_number(out, row.measured());
    out += ',';
    if (row.verdict != nullptr && !is_share(row)) append_number(out, row.verdict->change);
    out += ',';
    if (row.verdict != nullptr) append_text(out, row.verdict->tolerance);
    out += ',';
    out += verdict_of(row);
    out += ',';
    append_text(out, reason_of(row));
    out += ',';
    out += ceiling;
    out += ',';
    append_change_details(out, row);
    out += '\n';
}

void append_relation(std::string& out, std::string_view suite,
                     const model::RelationVerdict& relation) {
    const std::string_view verdict = to_text(relation.verdict);
    fmt::format_to(std::back_inserter(out), "{},expect,{},{},,{},,,{},{},,,{},{},,,,,,\n", suite,
                   text_field(relation_name(relation)), verdict, text_field(relation.unit),
                   number_field(relation.right), number_field(relation.left), verdict,
                   text_field(relation.sentence));
}

/// The row for the case itself, if no metric explains its verdict.
bool needs_case_row(const JoinedCase& joined, const std::vector<MetricRow>& rows) {
    if (joined.verdict->verdict == model::Verdict::pass) return rows.empty();
    return std::none_of(rows.begin(), rows.end(), [&](const MetricRow& row) {
        return verdict_of(row) == to_text(joined.verdict->verdict);
    });
}

}  // namespace

std::string write_csv(const model::VerdictDocument& document, const model::Run& run,
                      const Options& /*options*/) {
    std::string out(header);
    for (const JoinedSuite& suite : join(document, run)) {
        const std::string suite_field = text_field(suite.verdict->name);
        for (const JoinedCase& joined : suite.cases) {
            const std::string_view case_verdict = to_text(joined.verdict->verdict);
            const std::string case_fields =
                fmt::format("{},{},{},{}", suite_field, text_field(joined.verdict->workload),
                            text_field(joined.verdict->id), case_verdict);
            const std::string ceiling = ceiling_fields(*joined.verdict);
            const std::vector<MetricRow> rows = metric_rows(joined);
            if (needs_case_row(joined, rows)) {
                fmt::format_to(std::back_inserter(out), "{},,,,,,,,,{},{},{},,,,\n", case_fields,
                               case_verdict, text_field(joined.verdict->reason), ceiling);
            }
            for (const MetricRow& row : rows) append_row(out, case_fields, row, ceiling);
        }
        for (const model::RelationVerdict& relation : suite.verdict->relations) {
            append_relation(out, suite_field, relation);
        }
    }
    return out;
}

}  // namespace perfgate::report
