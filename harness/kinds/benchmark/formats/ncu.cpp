// SPDX-License-Identifier: Apache-2.0
// `ncu --csv`: a line for each launch with a column for each counter, below them a line with their
// units (`--page raw`), or a line for each counter of a launch (the other pages). Launches of a
// kernel with one grid and block are samples. A value's `from` is a counter's name in both.
#include <algorithm>
#include <string>

#include "kinds/benchmark/formats/csv.hpp"
#include "kinds/benchmark/formats/formats.hpp"
#include "model/unit.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::benchmark {

namespace {

constexpr const char* duration = "gpu__time_duration.sum";
constexpr const char* metric_name = "Metric Name";

Layout layout_of(const Layout& reading) {
    Layout layout;
    layout.name = "Kernel Name";
    layout.axes = {{"grid", "Grid Size"}, {"block", "Block Size"}};
    layout.values = {value_of("real_time", duration)};
    layout.values.front().definition.unit = "ns";
    return completed(std::move(layout), reading);
}

/// The file says in which unit a value is; the suite says of which quantity it is.
void take_unit(const std::string& unit, std::size_t line, Value& value) {
    const auto known = model::reported_unit(unit);
    if (!known && value.definition.unit == "count") return;  // "cycle", "inst"
    if (!known || known->base != value.definition.unit) {
        const std::string expected = model::units_for(value.definition.unit);
        throw util::InputError("line {}: {} is in '{}'; expected {}", line,
                               util::printable(value.from, 80), util::printable(unit, 40),
                               expected.empty() ? value.definition.unit : expected);
    }
    value.factor = known->factor;
}

/// Of the raw page.
Layout with_units(std::string_view text, Layout layout) {
    std::vector<std::string> columns{layout.name};
    for (const Value& value : layout.values) columns.push_back(value.from);
    const CsvHeader header = find_csv_header(text, columns);
    const std::vector<std::string> units = first_csv_record(header);
    for (Value& value : layout.values) {
        const auto found = std::ranges::find(header.fields, value.from);
        const auto column = static_cast<std::size_t>(found - header.fields.begin());
        if (column < units.size()) take_unit(units[column], header.line + 1, value);
    }
    return layout;
}

/// Of the pages with a line for each counter.
Layout by_rows(Layout layout) {
    for (Value& value : layout.values) {
        value.where.emplace_back(metric_name, value.from);
        value.from = "Metric Value";
        if (value.definition.unit != "count") value.unit_from = "Metric Unit";
    }
    return layout;
}

}  // namespace

Results read_ncu(std::string_view text, std::string_view /*source*/, const Layout& reading) {
    const KnownRows known{.all_are_repetitions = true,
                          .device = {{"device__attribute_display_name", ""}, {"CC", "CC "}}};
    CsvForm form{.known = &known, .thousands = true, .comment = "=="};
    Layout layout = layout_of(reading);
    const CsvHeader header = find_csv_header(text, {layout.name, metric_name, "Metric Value"});
    const bool rows = std::ranges::find(header.fields, metric_name) != header.fields.end();
    form.units_row = !rows;
    layout = rows ? by_rows(std::move(layout)) : with_units(text, std::move(layout));
    return read_rows_of_csv(text, layout, form);
}

}  // namespace perfgate::benchmark
