// SPDX-License-Identifier: Apache-2.0
// llama-bench of llama.cpp: `-o json`, `-o jsonl` (all repetitions) and `-o csv` (means). A row is
// a test: processing a prompt (n_prompt), generating tokens (n_gen), or both.
#include <cstdint>

#include "kinds/benchmark/formats/csv.hpp"
#include "kinds/benchmark/formats/formats.hpp"
#include "kinds/benchmark/formats/json_text.hpp"
#include "kinds/benchmark/formats/table.hpp"

namespace perfgate::benchmark {

namespace {

constexpr const char* depth = "n_depth";

/// Tokens that are in the context before. Older builds do not know it, so that none is no part of a
/// name.
void leave_out_no_depth(Results& results) {
    for (Result& result : results.results) {
        const auto found = result.params.find(depth);
        if (found != result.params.end() && found->second == model::ParamValue(std::int64_t{0})) {
            result.params.erase(found);
        }
    }
}

Layout layout_of(const Layout& reading, bool samples, bool has_depth) {
    Layout layout;
    layout.name = "model_type";
    layout.axes = {{"n_prompt", "n_prompt"}, {"n_gen", "n_gen"}};
    if (has_depth) layout.axes.emplace_back(depth, depth);
    layout.values = {value_of("real_time", samples ? "/samples_ns/*" : "avg_ns"),
                     value_of("items_per_second", samples ? "/samples_ts/*" : "avg_ts")};
    // What tells runs of the same test apart.
    layout.samples = {"test_time"};
    return completed(std::move(layout), reading);
}

/// Means of the repetitions.
constexpr std::string_view mean_way = "mean";

}  // namespace

Results read_llama_bench(std::string_view text, std::string_view source, const Layout& reading) {
    const KnownRows known{.device = {{"gpu_info", ""}, {"cpu_info", ""}}};
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    const char first = begin == std::string_view::npos ? ' ' : text[begin];
    const bool has_depth = text.find(depth) != std::string_view::npos;
    if (first == '[' || first == '{') {
        Layout layout = layout_of(reading, true, has_depth);
        layout.rows = "/*";
        Results results = read_rows_of_json(
            first == '{' ? parse_json_lines(text, source) : parse_json(text, source), layout,
            &known);
        leave_out_no_depth(results);
        return results;
    }
    Results results =
        read_rows_of_csv(text, layout_of(reading, false, has_depth), {.known = &known});
    leave_out_no_depth(results);
    for (Result& result : results.results) {
        for (auto& [metric, samples] : result.metrics) samples.method.way = mean_way;
    }
    return results;
}

}  // namespace perfgate::benchmark
