// SPDX-License-Identifier: Apache-2.0
// Any JSON, by paths that the suite states: `rows` leads to the results, all others begin there.
// Without `rows` the document is one result. A result without a name path has the name of its
// member.
#include "kinds/benchmark/formats/table.hpp"

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "kinds/benchmark/formats/formats.hpp"
#include "kinds/benchmark/formats/json_text.hpp"
#include "util/error.hpp"

namespace perfgate::benchmark {

namespace {

using document::JsonDocument;
using document::JsonKind;
using document::JsonValue;

std::string as_path(const std::string& place) {
    return place.empty() || place.starts_with('/') ? place : '/' + place;
}

/// What the row has at the path, as text that is equal for equal values.
std::string canonical(JsonValue value) {
    switch (value.kind()) {
        case JsonKind::null:
            return "null";
        case JsonKind::array: {
            std::string text = "[";
            value.elements([&](JsonValue each) { text += canonical(each) + ','; });
            return text + ']';
        }
        case JsonKind::object: {
            std::string text = "{";
            value.members([&](std::string_view key, JsonValue each) {
                text += fmt::format("{}:{},", key, canonical(each));
            });
            return text + '}';
        }
        case JsonKind::text:
            return std::string(value.text());
        default:
            return model::to_text(axis_value(value));
    }
}

/// The paths of a layout, parsed once.
class Rows {
  public:
    explicit Rows(const Places& places) {
        for (const std::string& place : places.all()) {
            placed_.insert(paths_.emplace_back(as_path(place)).first());
        }
    }

    [[nodiscard]] Row row(std::string_view key, JsonValue value) const {
        Row row;
        row.at = value.path();
        if (row.at.empty()) row.at = "the document";
        row.key = key;
        for (const JsonPath& path : paths_) row.cells.push_back(cell(path, value));
        if (value.kind() != JsonKind::object || placed_.contains("*")) return row;
        value.members([&](std::string_view name, JsonValue member) {
            if (placed_.contains(std::string(name))) return;
            row.others.push_back({name, canonical(member), member.kind() != JsonKind::text});
        });
        return row;
    }

  private:
    static Cell cell(const JsonPath& path, JsonValue row) {
        Cell cell;
        path.each(
            row,
            [&](std::string_view, JsonValue found) {
                if (found.kind() == JsonKind::null) {
                    if (cell.lacks.empty()) cell.lacks = found.path();
                } else if (found.kind() == JsonKind::array || found.kind() == JsonKind::object) {
                    found.number();  // says that it is none
                } else {
                    // A number in quotes is a text: no value.
                    cell.values.push_back(found.kind() == JsonKind::text ? std::string(found.text())
                                                                         : axis_value(found));
                }
            },
            [&](JsonValue at) {
                if (cell.lacks.empty()) cell.lacks = at.path();
            });
        return cell;
    }

    std::vector<JsonPath> paths_;
    std::set<std::string> placed_;  ///< members of a row
};

}  // namespace

Results read_rows_of_json(const JsonDocument& document, const Layout& reading,
                          const KnownRows* known) {
    Table table(reading, Table::Numbers::are_numbers, known);
    const Rows rows(table.places());
    JsonPath(as_path(reading.rows)).each(document.root(), [&](std::string_view key, JsonValue row) {
        if (!table.is_full()) table.add(rows.row(key, row));
    });
    return table.take();
}

Results read_json(std::string_view text, std::string_view source, const Layout& reading) {
    if (has_json_lines(text)) {
        // They are an array, in which a name leads nowhere.
        const std::string path = as_path(reading.rows.empty() ? reading.name : reading.rows);
        if (path.size() > 1 && path.find_first_of("*0123456789", 1) != 1) {
            throw util::InputError(
                "{}: several JSON documents, one on each line, in which '{}' leads nowhere: were "
                "the results written twice? Of lines, 'rows' begins with /*",
                source, path);
        }
        return read_rows_of_json(parse_json_lines(text, source), reading);
    }
    return read_rows_of_json(parse_json(text, source), reading);
}

Results read_json_lines(std::string_view text, std::string_view source, const Layout& reading) {
    Layout lines = reading;
    if (lines.rows.empty()) lines.rows = "/*";
    return read_rows_of_json(parse_json_lines(text, source), lines);
}

}  // namespace perfgate::benchmark
