// SPDX-License-Identifier: Apache-2.0
// CSV: one row per case and metric, values in the metric's unit with every digit; a case without
// metrics has one row, so that none disappears. Quoted as RFC 4180 says; lines end with '\n'.
#include <cstddef>
#include <optional>
#include <string_view>

#include "model/text.hpp"
#include "report/formats.hpp"
#include "report/joined.hpp"
#include "report/plain_text.hpp"

namespace perfgate::report {

namespace {

constexpr std::string_view header =
    "suite,workload,case,case_verdict,metric,unit,method,samples,baseline,measured,change,"
    "tolerance,verdict,reason\n";

constexpr std::size_t longest_field = 4096;

/// Text from outside, on one line. A spreadsheet takes what begins with one of these characters for
/// a formula; the apostrophe makes it text.
std::string text_field(std::string_view text) {
    std::string field = plain_line(text, longest_field);
    if (!field.empty() && std::string_view("=+-@").find(field.front()) != std::string_view::npos) {
        field.insert(field.begin(), '\'');
    }
    if (field.find_first_of(",\"") == std::string::npos) return field;
    std::string quoted = "\"";
    for (const char c : field) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    quoted += '"';
    return quoted;
}

std::string number_field(const std::optional<double>& value) {
    return value ? model::number_text(*value) : std::string();
}

std::size_t sample_count(const model::MetricSeries& series) {
    std::size_t count = 0;
    for (const model::Batch& batch : series.batches) count += batch.samples.size();
    return count;
}

std::string_view verdict_of(const MetricRow& row) {
    if (row.verdict != nullptr) return to_text(row.verdict->verdict);
    return row.not_collected != nullptr ? to_text(model::Verdict::not_collected) : "";
}

std::string_view reason_of(const MetricRow& row) {
    if (row.not_collected != nullptr) return row.not_collected->reason;
    return row.verdict != nullptr ? std::string_view(row.verdict->sentence) : "";
}

void append_row(std::string& out, std::string_view case_fields, const MetricRow& row) {
    const auto field = [&out](const std::string& text) {
        out += ',';
        out += text;
    };
    out += case_fields;
    field(text_field(row.metric));
    field(text_field(row.unit));
    field(row.series != nullptr ? text_field(row.series->method) : "");
    field(row.series != nullptr ? std::to_string(sample_count(*row.series)) : "");
    field(number_field(row.verdict != nullptr ? row.verdict->baseline : std::nullopt));
    field(number_field(row.measured()));
    field(number_field(row.verdict != nullptr ? row.verdict->change : std::nullopt));
    field(row.verdict != nullptr ? text_field(row.verdict->tolerance) : "");
    field(std::string(verdict_of(row)));
    field(text_field(reason_of(row)));
    out += '\n';
}

}  // namespace

std::string write_csv(const model::VerdictDocument& document, const model::Run& run,
                      const Options& /*options*/) {
    std::string out(header);
    for (const JoinedSuite& suite : join(document, run)) {
        const std::string suite_field = text_field(suite.verdict->name);
        for (const JoinedCase& joined : suite.cases) {
            const std::string case_verdict(to_text(joined.verdict->verdict));
            const std::string case_fields = suite_field + ',' +
                                            text_field(joined.verdict->workload) + ',' +
                                            text_field(joined.verdict->id) + ',' + case_verdict;
            const std::vector<MetricRow> rows = metric_rows(joined);
            for (const MetricRow& row : rows) append_row(out, case_fields, row);
            if (rows.empty()) {
                out += case_fields + ",,,,,,,,," + case_verdict + ',' +
                       text_field(joined.verdict->reason) + '\n';
            }
        }
    }
    return out;
}

}  // namespace perfgate::report
