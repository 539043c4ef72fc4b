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

/// Shown if a case has them and they fit.
constexpr std::string_view extra_metrics[] = {"achieved_flops", "sm_throughput", "dram_throughput"};
constexpr std::string_view several_metrics = "measured";  // the column of values of several metrics

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
        if (!title.empty() && title != value->metric) return std::string(several_metrics);
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

}  // namespace

std::vector<std::string> case_table(const std::vector<JoinedCase>& listed, bool list_all,
                                    std::size_t width) {
    const std::string title = value_title(listed, list_all);
    // Measured arithmetic is preferred to stated; only one of them is shown.
    const bool has_rate = std::any_of(listed.begin(), listed.end(), [](const JoinedCase& joined) {
        return find_value(joined, extra_metrics[0]).value_or(Value{}).measured.has_value();
    });
    std::vector<std::vector<std::string>> rows{{"verdict", "case", "baseline", title, "change",
                                                "metric", interval_title(listed), "detects",
                                                "ceiling", "flop/s (stated)"}};
    rows.front().insert(rows.front().end(), std::begin(extra_metrics), std::end(extra_metrics));
    for (const JoinedCase& joined : listed) {
        const Value value = row_value(joined, list_all).value_or(Value{});
        const ValueTexts texts = texts_of(value.baseline, value.measured, value.unit);
        rows.push_back({std::string(to_text(joined.verdict->verdict)), log_line(joined.verdict->id),
                        log_line(texts.before), log_line(texts.after), texts.moved,
                        title == several_metrics ? log_line(value.metric) : "",
                        list_all && value.interval
                            ? model::interval_text(value.interval->low, value.interval->high)
                            : "",
                        list_all && value.minimum_detectable_change
                            ? model::detected_text(*value.minimum_detectable_change)
                            : "",
                        ceiling_cell(joined.verdict->ceiling),
                        has_rate ? "" : cell(stated_rate(joined), "flop/s")});
        for (const std::string_view extra : extra_metrics) {
            const Value other = find_value(joined, extra).value_or(Value{});
            rows.back().push_back(cell(other.measured, other.unit));
        }
    }
    TableLayout layout{.indent = 0, .width = width, .cut = 1, .leave_out_empty = true};
    layout.align.resize(rows.front().size(), Align::right);
    layout.align[0] = layout.align[1] = layout.align[5] = Align::left;
    // What the sentences or the files have, too. The reason below a row names its metric.
    layout.drop = {12, 11, 10, 9, 8, 7, 2};
    if (title == several_metrics) layout.drop.push_back(3);
    layout.drop.push_back(5);
    return table_lines(rows, layout);
}

}  // namespace perfgate::report
