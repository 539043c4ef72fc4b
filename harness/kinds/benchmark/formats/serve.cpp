// SPDX-License-Identifier: Apache-2.0
// What `vllm bench serve --save-result` writes, a document or with --append-result a line for each
// run, and the JSON lines of `sglang.bench_serving --output-file`. A run is a result.
#include <string>
#include <utility>

#include "kinds/benchmark/formats/formats.hpp"
#include "kinds/benchmark/formats/json_text.hpp"
#include "kinds/benchmark/formats/table.hpp"

namespace perfgate::benchmark {

Results read_serve(std::string_view text, std::string_view source, const Layout& reading) {
    constexpr double ns_of_ms = 1e6;
    Layout layout;
    layout.name = "backend";
    layout.axes = {{"model", "model_id"},          {"dataset", "dataset_name"},
                   {"rate", "request_rate"},       {"concurrency", "max_concurrency"},
                   {"prompts", "num_prompts"},     {"input", "random_input_len"},
                   {"output", "random_output_len"}};
    // SGLang does not say how many requests failed: results of fewer have another name.
    if (reading.format == "sglang") layout.axes.push_back({"completed", "completed"});
    layout.values = {value_of("time_to_first_token", "median_ttft_ms", ns_of_ms),
                     value_of("time_per_output_token", "median_tpot_ms", ns_of_ms),
                     value_of("inter_token_latency", "median_itl_ms", ns_of_ms),
                     value_of("items_per_second", "output_throughput"),
                     value_of("requests_per_second", "request_throughput")};
    // Requests that failed take no time, and not every version counts them. `num_prompts` is what
    // was asked for: of a smaller data set fewer are sent, and all of it for 0.
    const KnownRows known{.good = {{"failed", {"0"}}},
                          .equal = std::pair("num_prompts", "completed")};
    const bool lines = has_json_lines(text);
    layout.rows = lines ? "/*" : "";
    return read_rows_of_json(lines ? parse_json_lines(text, source) : parse_json(text, source),
                             completed(std::move(layout), reading), &known);
}

}  // namespace perfgate::benchmark
