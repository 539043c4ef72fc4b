// SPDX-License-Identifier: Apache-2.0
#include "report/console_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "model/quantity.hpp"
#include "report/plain_text.hpp"

namespace perfgate::report {

namespace {

constexpr std::size_t narrowest_id = 24;

/// Shown if a case has them and they fit; the last is dropped first.
constexpr std::string_view extra_metrics[] = {"achieved_flops", "sm_throughput", "dram_throughput"};
constexpr std::string_view baseline_title = "baseline";
constexpr std::string_view stated_flops = "flop/s (stated)";
constexpr std::string_view ceiling_title = "ceiling";
constexpr std::string_view several_metrics = "measured";  // the column of values of several metrics
constexpr std::string_view metric_title = "metric";

/// The arithmetic that the workload states, over the measured time.
std::optional<double> stated_rate(const JoinedCase& joined) {
    if (joined.result == nullptr || !joined.result->work || !(joined.result->work->flops > 0)) {
        return std::nullopt;
    }
    const std::optional<Value> time = find_time(joined);
    if (!time || time->unit != "ns" || !(time->measured.value_or(0) > 0)) return std::nullopt;
    return joined.result->work->flops / (*time->measured * 1e-9);
}

/// "87 % of copy", "60 % of bf16".
std::string ceiling_cell(const std::optional<model::CeilingShare>& ceiling) {
    if (!ceiling) return {};
    return fmt::format("{:.0f} % of {}", ceiling->share * 100, log_line(ceiling->ceiling));
}

std::string cell(const std::optional<double>& value, std::string_view unit) {
    return value ? log_line(model::quantity_text(*value, unit)) : std::string();
}

/// A column that is empty in all rows is left out.
bool has_content(const Column& column) {
    return std::any_of(column.cells.begin(), column.cells.end(),
                       [](const std::string& text) { return !text.empty(); });
}

/// The value that a row shows.
std::optional<Value> row_value(const JoinedCase& joined, bool list_all) {
    return list_all ? find_time(joined) : find_deciding(joined);
}

/// The metric of all rows, or a word for several.
std::string value_title(const std::vector<JoinedCase>& listed, bool list_all) {
    std::string_view title;
    for (const JoinedCase& joined : listed) {
        const std::optional<Value> value = row_value(joined, list_all);
        if (!value) continue;
        if (!title.empty() && title != value->metric) {
            return std::string(list_all ? "time" : several_metrics);
        }
        title = value->metric;
    }
    return title.empty() ? "time" : log_line(title);
}

/// "95 % interval": the level of all that have one.
std::string interval_title(const std::vector<JoinedCase>& listed) {
    for (const JoinedCase& joined : listed) {
        const std::optional<Value> time = find_time(joined);
        if (time && time->interval) {
            return fmt::format("{:g} % interval", 100 * time->interval->level);
        }
    }
    return "interval";
}

std::size_t table_width(const std::vector<Column>& columns) {
    std::size_t width = 0;
    for (const Column& column : columns) width += column.width + column_gap.size();
    return width - column_gap.size();
}

bool is_extra(const Column& column) {
    return column.title == stated_flops || column.title == ceiling_title ||
           std::find(std::begin(extra_metrics), std::end(extra_metrics), column.title) !=
               std::end(extra_metrics);
}

}  // namespace

std::vector<Column> make_columns(const std::vector<JoinedCase>& listed, bool list_all) {
    Column verdict{"verdict", Align::left, {}, 0};
    Column id{"case", Align::left, {}, 0};
    Column baseline{std::string(baseline_title), Align::right, {}, 0};
    Column measured{value_title(listed, list_all), Align::right, {}, 0};
    Column change{"change", Align::right, {}, 0};
    Column metric{std::string(metric_title), Align::left, {}, 0};
    Column interval{interval_title(listed), Align::right, {}, 0};
    Column stated{std::string(stated_flops), Align::right, {}, 0};
    Column ceiling{std::string(ceiling_title), Align::right, {}, 0};
    std::vector<Column> extras;
    for (const std::string_view extra : extra_metrics) {
        extras.push_back({std::string(extra), Align::right, {}, 0});
    }
    for (const JoinedCase& joined : listed) {
        verdict.add(std::string(to_text(joined.verdict->verdict)));
        id.add(log_line(joined.verdict->id));
        const Value value = row_value(joined, list_all).value_or(Value{});
        baseline.add(cell(value.baseline, value.unit));
        measured.add(cell(value.measured, value.unit));
        change.add(moved_text(value));
        metric.add(measured.title == several_metrics ? log_line(value.metric) : "");
        interval.add(list_all && value.interval
                         ? model::interval_text(value.interval->low, value.interval->high)
                         : "");
        stated.add(cell(stated_rate(joined), "flop/s"));
        ceiling.add(ceiling_cell(joined.verdict->ceiling));
        for (Column& extra : extras) {
            const Value other = find_value(joined, extra.title).value_or(Value{});
            extra.add(cell(other.measured, other.unit));
        }
    }
    // Measured arithmetic is preferred to stated; only one of them is shown.
    if (has_content(extras.front())) stated.cells.clear();
    extras.insert(extras.begin(), std::move(stated));
    extras.insert(extras.begin(), std::move(ceiling));

    std::vector<Column> columns;
    columns.push_back(std::move(verdict));
    columns.push_back(std::move(id));
    for (Column* column : {&baseline, &measured, &change, &metric, &interval}) {
        if (has_content(*column)) columns.push_back(std::move(*column));
    }
    for (Column& extra : extras) {
        if (has_content(extra)) columns.push_back(std::move(extra));
    }
    for (Column& column : columns) {
        column.width = std::max(column.width, display_width(column.title));
    }
    return columns;
}

void fit(std::vector<Column>& columns, std::size_t width) {
    if (width == 0) return;
    while (table_width(columns) > width && is_extra(columns.back())) columns.pop_back();
    // The reason below a row names its metric.
    for (const std::string_view title : {baseline_title, several_metrics, metric_title}) {
        if (table_width(columns) <= width) break;
        std::erase_if(columns, [&](const Column& column) { return column.title == title; });
    }
    const std::size_t total = table_width(columns);
    if (total <= width) return;
    Column& id = columns[id_column];
    const std::size_t excess = total - width;
    id.width =
        id.width > narrowest_id + excess ? id.width - excess : std::min(id.width, narrowest_id);
}

}  // namespace perfgate::report
