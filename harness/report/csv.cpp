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

bool is_share(const MetricRow& row) {
    return row.unit == "%";
}

/// A relation, a metric of a case, or a case without a metric.
struct Row {
    std::string_view suite;
    const model::RelationVerdict* relation = nullptr;  ///< null: of a case
    const model::CaseVerdict* verdict = nullptr;       ///< null: of a relation
    const MetricRow* metric = nullptr;

    const model::MetricVerdict* gated() const {
        return metric != nullptr ? metric->verdict : nullptr;
    }
    const model::MetricSeries* series() const {
        return metric != nullptr ? metric->series : nullptr;
    }
    const model::CeilingShare* ceiling() const {
        return verdict != nullptr && verdict->ceiling ? &*verdict->ceiling : nullptr;
    }
    std::string_view own_verdict() const {
        return to_text(relation != nullptr ? relation->verdict : verdict->verdict);
    }
};

void append_number(std::string& out, const std::optional<double>& value) {
    if (value) util::append_number(out, *value);
}

/// A bound of the interval, or its level.
template <double model::ChangeInterval::*member>
void append_interval(std::string& out, const Row& row) {
    if (row.gated() != nullptr && row.gated()->interval) {
        util::append_number(out, *row.gated()->interval.*member);
    }
}

struct Column {
    std::string_view name;
    void (*append)(std::string& out, const Row& row);
};

constexpr Column columns[] = {
    {"suite", [](std::string& out, const Row& row) { append_text(out, row.suite); }},
    {"workload",
     [](std::string& out, const Row& row) {
         append_text(out, row.relation != nullptr ? "expect" : row.verdict->workload);
     }},
    {"case",
     [](std::string& out, const Row& row) {
         append_text(out, row.relation != nullptr ? relation_name(*row.relation) : row.verdict->id);
     }},
    {"case_verdict", [](std::string& out, const Row& row) { out += row.own_verdict(); }},
    {"metric",
     [](std::string& out, const Row& row) {
         if (row.metric != nullptr) append_text(out, row.metric->metric);
     }},
    {"unit",
     [](std::string& out, const Row& row) {
         if (row.metric != nullptr) append_text(out, row.metric->unit);
         if (row.relation != nullptr) append_text(out, row.relation->unit);
     }},
    {"method",
     [](std::string& out, const Row& row) {
         if (row.series() != nullptr) append_text(out, to_text(row.series()->method));
     }},
    {"samples",
     [](std::string& out, const Row& row) {
         if (row.series() != nullptr) out += std::to_string(sample_count(*row.series()));
     }},
    {"baseline",
     [](std::string& out, const Row& row) {
         if (row.gated() != nullptr) append_number(out, row.gated()->baseline);
         if (row.relation != nullptr) append_number(out, row.relation->right);
     }},
    {"measured",
     [](std::string& out, const Row& row) {
         if (row.metric != nullptr) append_number(out, row.metric->measured());
         if (row.relation != nullptr) append_number(out, row.relation->left);
     }},
    {"change",
     [](std::string& out, const Row& row) {
         if (row.gated() != nullptr && !is_share(*row.metric)) {
             append_number(out, row.gated()->change);
         }
     }},
    {"tolerance",
     [](std::string& out, const Row& row) {
         if (row.gated() != nullptr) append_text(out, row.gated()->tolerance);
     }},
    {"verdict",
     [](std::string& out, const Row& row) {
         out += row.metric != nullptr ? verdict_of(*row.metric) : row.own_verdict();
     }},
    {"reason",
     [](std::string& out, const Row& row) {
         append_text(out, row.relation != nullptr ? std::string_view(row.relation->sentence)
                          : row.metric != nullptr ? reason_of(*row.metric)
                                                  : std::string_view(row.verdict->reason));
     }},
    {"bound",
     [](std::string& out, const Row& row) {
         if (row.ceiling() != nullptr) out += to_text(row.ceiling()->bound);
     }},
    {"ceiling_share",
     [](std::string& out, const Row& row) {
         if (row.ceiling() != nullptr) util::append_number(out, row.ceiling()->share);
     }},
    {"change_points",
     [](std::string& out, const Row& row) {
         const model::MetricVerdict* gated = row.gated();
         if (gated != nullptr && is_share(*row.metric) && gated->baseline && gated->measured) {
             util::append_number(out, *gated->measured - *gated->baseline);
         }
     }},
    {"interval_low", append_interval<&model::ChangeInterval::low>},
    {"interval_high", append_interval<&model::ChangeInterval::high>},
    {"interval_level", append_interval<&model::ChangeInterval::level>},
};

void append_row(std::string& out, const Row& row) {
    for (const Column& column : columns) {
        column.append(out, row);
        out += ',';
    }
    out.back() = '\n';
}

/// The row for the case itself, if no metric explains its verdict.
bool needs_case_row(const model::CaseVerdict& verdict, const std::vector<MetricRow>& rows) {
    if (verdict.verdict == model::Verdict::pass) return rows.empty();
    return std::none_of(rows.begin(), rows.end(), [&](const MetricRow& row) {
        return verdict_of(row) == to_text(verdict.verdict);
    });
}

}  // namespace

std::string write_csv(const model::VerdictDocument& document, const model::Run& run,
                      const Options& /*options*/) {
    std::string out;
    for (const Column& column : columns) out.append(column.name).append(",");
    out.back() = '\n';
    for (const JoinedSuite& suite : join(document, run)) {
        const std::string_view name = suite.verdict->name;
        for (const JoinedCase& joined : suite.cases) {
            const std::vector<MetricRow> rows = metric_rows(joined);
            if (needs_case_row(*joined.verdict, rows)) {
                append_row(out, {name, nullptr, joined.verdict});
            }
            for (const MetricRow& row : rows)
                append_row(out, {name, nullptr, joined.verdict, &row});
        }
        for (const model::RelationVerdict& relation : suite.verdict->relations) {
            append_row(out, {name, &relation});
        }
    }
    return out;
}

}  // namespace perfgate::report
