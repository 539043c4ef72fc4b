// SPDX-License-Identifier: Apache-2.0
// cargo-criterion's messages (`--message-format=json`), one on each line. A sample is so many
// iterations and their time together.
#include <cstddef>
#include <vector>

#include "document/json_reader.hpp"
#include "kinds/benchmark/formats/formats.hpp"
#include "kinds/benchmark/formats/json_text.hpp"

namespace perfgate::benchmark {

namespace {

using document::JsonValue;

std::vector<double> numbers_of(JsonValue array) {
    std::vector<double> numbers;
    array.elements([&](JsonValue each) { numbers.push_back(number_of(each)); });
    return numbers;
}

Result result_of_message(JsonValue message) {
    ResultBuilder builder(message.at("id").text());
    const JsonValue unit = message.at("unit");
    if (unit.text() != "ns") unit.fail("expected ns");
    const std::vector<double> iterations = numbers_of(message.at("iteration_count"));
    const std::vector<double> times = numbers_of(message.at("measured_values"));
    if (iterations.size() != times.size()) {
        message.at("measured_values").fail("expected as many as iteration_count");
    }
    for (std::size_t i = 0; i < times.size(); ++i) {
        builder.add("real_time", {"criterion", "samples"}, times[i] / iterations[i]);
    }
    Result result = builder.take();
    if (times.empty()) result.problem = "it has no samples";
    return result;
}

}  // namespace

Results read_criterion(std::string_view text, std::string_view source, const Layout& /*reading*/) {
    Results results;
    parse_json_lines(text, source).root().elements([&](JsonValue message) {
        if (message.at("reason").text() != "benchmark-complete") return;
        results.results.push_back(result_of_message(message));
    });
    return results;
}

}  // namespace perfgate::benchmark
