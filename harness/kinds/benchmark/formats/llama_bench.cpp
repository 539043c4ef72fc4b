// SPDX-License-Identifier: Apache-2.0
// llama-bench of llama.cpp: `-o json`, `-o jsonl` (all repetitions) and `-o csv` (means). A row is
// a test: processing a prompt (n_prompt), generating tokens (n_gen), or both.
#include <string>

#include "kinds/benchmark/formats/csv.hpp"
#include "kinds/benchmark/formats/formats.hpp"
#include "kinds/benchmark/formats/json.hpp"
#include "kinds/benchmark/formats/json_text.hpp"

namespace perfgate::benchmark {

namespace {

Layout layout_of(const Layout& reading, bool samples) {
    Layout layout;
    layout.name = "model_type";
    layout.axes = {{"n_prompt", "n_prompt"}, {"n_gen", "n_gen"}};
    layout.values = {value_of("real_time", samples ? "/samples_ns/*" : "avg_ns"),
                     value_of("items_per_second", samples ? "/samples_ts/*" : "avg_ts")};
    // What tells runs of the same test apart.
    layout.samples = {"test_time"};
    return completed(std::move(layout), reading);
}

/// Means of the repetitions.
constexpr std::string_view mean = "mean";

}  // namespace

Results read_llama_bench(std::string_view text, std::string_view source, const Layout& reading) {
    const KnownRows known;
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    const char first = begin == std::string_view::npos ? ' ' : text[begin];
    if (first == '[' || first == '{') {
        Layout layout = layout_of(reading, true);
        layout.rows = "/*";
        return read_rows_of_json(
            first == '{' ? parse_json_lines(text, source) : parse_json(text, source), layout,
            &known);
    }
    Results results = read_rows_of_csv(text, layout_of(reading, false), {.known = &known});
    for (Result& result : results.results) {
        for (auto& [metric, samples] : result.metrics) samples.method.way = mean;
    }
    return results;
}

}  // namespace perfgate::benchmark
