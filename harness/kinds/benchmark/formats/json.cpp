// SPDX-License-Identifier: Apache-2.0
// Any JSON, by paths that the suite states: `rows` leads to the results, all others begin there. A
// result without a name path has the name of its member.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "document/json_reader.hpp"
#include "kinds/benchmark/formats/formats.hpp"
#include "kinds/benchmark/formats/json_path.hpp"
#include "util/text.hpp"

namespace perfgate::benchmark {

namespace {

using document::JsonDocument;
using document::JsonValue;

/// The one value that the path leads to.
JsonValue only_one(const JsonPath& path, const std::string& text, JsonValue row) {
    std::vector<JsonValue> found;
    path.each(row, [&](std::string_view, JsonValue value) { found.push_back(value); });
    if (found.size() != 1) {
        row.fail(fmt::format("'{}' leads to {} values; expected one", util::printable(text, 80),
                             found.size()));
    }
    return found.front();
}

/// The paths of the suite, parsed once.
struct Paths {
    struct Named {
        std::string text;
        JsonPath path;
    };
    JsonPath rows;
    Named name;
    std::vector<std::pair<std::string, Named>> axes;
    std::vector<JsonPath> values;

    explicit Paths(const Layout& reading)
        : rows(reading.rows), name{reading.name, JsonPath(reading.name)} {
        for (const auto& [axis, path] : reading.axes) {
            axes.emplace_back(axis, Named{path, JsonPath(path)});
        }
        for (const Value& value : reading.values) values.emplace_back(value.from);
    }
};

Result result_of(JsonValue row, std::string_view key, const Paths& paths, const Layout& reading) {
    if (paths.name.text.empty() && key.empty()) {
        row.fail("the rows have no names; expected 'case', a path to the name of each");
    }
    ResultBuilder builder(
        paths.name.text.empty() ? key : only_one(paths.name.path, paths.name.text, row).text());
    for (const auto& [axis, path] : paths.axes) {
        builder.add_axis(axis, axis_value(only_one(path.path, path.text, row)));
    }
    for (std::size_t i = 0; i < reading.values.size(); ++i) {
        const Value& value = reading.values[i];
        const bool positive = value.definition.metric_class == model::MetricClass::timing;
        // A row may lack a value, but not some of its samples: the others may be the fast ones.
        bool found = false;
        std::optional<JsonValue> lacks;
        paths.values[i].each(
            row,
            [&](std::string_view, JsonValue number) {
                found = true;
                builder.add(value.definition.name, {"json", ""}, value.factor * number.number(),
                            positive);
            },
            [&](JsonValue at) {
                if (!lacks) lacks = at;
            });
        if (found && lacks) {
            lacks->fail(
                fmt::format("'{}' has no value here, but has values elsewhere in the row: each "
                            "sample needs one",
                            util::printable(value.from, 80)));
        }
    }
    return builder.take();
}

}  // namespace

Results read_json(std::string_view text, std::string_view source, const Layout& reading) {
    const JsonDocument document(std::string(text), source);
    const Paths paths(reading);
    Results results;
    paths.rows.each(document.root(), [&](std::string_view key, JsonValue row) {
        if (results.results.size() > most_results) return;
        results.results.push_back(result_of(row, key, paths, reading));
    });
    return results;
}

}  // namespace perfgate::benchmark
