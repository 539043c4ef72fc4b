// SPDX-License-Identifier: Apache-2.0
// `--export-json`. The times of all runs are samples, in seconds.
#include <cstdint>

#include "document/json_reader.hpp"
#include "kinds/benchmark/formats/formats.hpp"
#include "kinds/benchmark/formats/json_text.hpp"

namespace perfgate::benchmark {

namespace {

using document::JsonDocument;
using document::JsonKind;
using document::JsonValue;

Result result_of_command(JsonValue entry) {
    ResultBuilder builder(entry.at("command").text());
    if (const auto parameters = entry.find("parameters")) {
        parameters->members([&](std::string_view name, JsonValue value) {
            builder.add_axis(name, axis_value(value.text()));
        });
    }
    const auto codes = entry.find("exit_codes");
    if (codes) {
        codes->elements([&](JsonValue code) {
            // null: ended by a signal
            if (code.kind() != JsonKind::null && code.integer() == 0) return;
            builder.fail("the command did not exit with 0 in every run");
        });
    }
    entry.at("times").elements([&](JsonValue time) {
        builder.add("real_time", {"hyperfine", ""}, ns_of_s * number_of(time));
    });
    if (codes) builder.state_count("real_time", static_cast<std::int64_t>(codes->size()));
    Result result = builder.take();
    if (result.metrics.empty() && result.problem.empty()) result.problem = "it has no times";
    return result;
}

}  // namespace

Results read_hyperfine(std::string_view text, std::string_view source, const Layout& /*reading*/) {
    const JsonDocument document = parse_json(text, source);
    Results results;
    document.root().at("results").elements(
        [&](JsonValue entry) { results.results.push_back(result_of_command(entry)); });
    return results;
}

}  // namespace perfgate::benchmark
