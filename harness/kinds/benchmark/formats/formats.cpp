// SPDX-License-Identifier: Apache-2.0
#include "kinds/benchmark/formats/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "kinds/benchmark/formats/json_text.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::benchmark {

namespace {

constexpr std::array<std::string_view, 4> of_google_benchmark{
    "real_time", "cpu_time", "items_per_second", "bytes_per_second"};
constexpr std::array<std::string_view, 1> real_time{"real_time"};
constexpr std::array<std::string_view, 3> of_nvbench{"real_time", "items_per_second",
                                                     "bytes_per_second"};
constexpr std::array<std::string_view, 2> of_llama_bench{"real_time", "items_per_second"};
constexpr std::array<std::string_view, 2> of_nccl_tests{"real_time", "bytes_per_second"};
constexpr std::array<std::string_view, 5> of_serve{"time_to_first_token", "time_per_output_token",
                                                   "inter_token_latency", "items_per_second",
                                                   "requests_per_second"};

constexpr std::array table{
    Format{.name = "google-benchmark",
           .read = read_google_benchmark,
           .metrics = of_google_benchmark,
           .made_from = "Google Benchmark 1.7.1 and 1.9.5",
           .recognised_by = "context",
           .more_samples = "--benchmark_repetitions"},
    Format{.name = "hyperfine",
           .read = read_hyperfine,
           .metrics = real_time,
           .made_from = "hyperfine 1.15.0",
           .recognised_by = "results",
           .more_samples = "--runs"},
    Format{.name = "nvbench",
           .read = read_nvbench,
           .metrics = of_nvbench,
           .made_from = "nvbench 0.1.0",
           .recognised_by = "meta",
           .more_samples = "--jsonbin in place of --json",
           .folder_suffix = "-bin",
           .of_gpu = true},
    Format{.name = "pytest-benchmark",
           .read = read_pytest_benchmark,
           .metrics = real_time,
           .made_from = "pytest-benchmark 3.2.2, 3.4.1, 4.0.0 and 5.2.3",
           .recognised_by = "machine_info",
           .more_samples = "--benchmark-json, which has the data of all rounds"},
    Format{.name = "criterion",
           .read = read_criterion,
           .metrics = real_time,
           .made_from = "cargo-criterion 1.1.0, --message-format=json",
           .extension = ".jsonl",
           .recognised_by = "reason",
           .more_samples = "--sample-size"},
    Format{.name = "llama-bench",
           .read = read_llama_bench,
           .metrics = of_llama_bench,
           .made_from = "llama-bench of llama.cpp, build 5163",
           .recognised_by = "avg_ts",
           .heading = "avg_ns,stddev_ns",
           .places = PlaceKind::column,
           .is_table = true,
           .more_samples = "-o json, which has all repetitions"},
    Format{.name = "vllm",
           .read = read_serve,
           .metrics = of_serve,
           .made_from = "vllm bench serve",
           .recognised_by = "tokenizer_id",
           .places = PlaceKind::column,
           .is_table = true},
    Format{.name = "sglang",
           .read = read_serve,
           .metrics = of_serve,
           .made_from = "sglang.bench_serving",
           .extension = ".jsonl",
           .recognised_by = "random_range_ratio",
           .places = PlaceKind::column,
           .is_table = true},
    Format{.name = "nccl-tests",
           .read = read_nccl_tests,
           .metrics = of_nccl_tests,
           .made_from = "nccl-tests 2.18.3, text",
           .extension = ".txt",
           .heading = "# nThread ",
           .is_printed = true,
           .of_gpu = true},
    Format{.name = "cutlass-profiler",
           .read = read_cutlass_profiler,
           .metrics = real_time,
           .made_from = "CUTLASS profiler, CSV",
           .extension = ".csv",
           .heading = "Problem,Provider,",
           .places = PlaceKind::column,
           .is_table = true,
           .of_gpu = true},
    Format{.name = "nsys-stats",
           .read = read_nsys_stats,
           .metrics = real_time,
           .made_from = "nsys stats, CSV of cuda_gpu_kern_sum",
           .extension = ".csv",
           .heading = "Time (%),Total Time (ns),Instances,",
           .places = PlaceKind::column,
           .is_table = true,
           .of_gpu = true},
    Format{.name = "ncu",
           .read = read_ncu,
           .metrics = real_time,
           .made_from = "Nsight Compute 2025.3.1, --csv",
           .extension = ".csv",
           .heading = "\"ID\",\"Process ID\",\"Process Name\",",
           .places = PlaceKind::column,
           .more_samples = "several launches",
           .of_gpu = true},
    Format{.name = "github-action-benchmark",
           .read = read_github_action_benchmark,
           .metrics = real_time,
           .made_from = "custom JSON of github-action-benchmark",
           .places = PlaceKind::path,
           .is_table = true},
    Format{.name = "csv",
           .read = read_csv,
           .metrics = {},
           .made_from = "RFC 4180",
           .extension = ".csv",
           .places = PlaceKind::column,
           .is_table = true,
           .more_samples = "a line for each"},
    Format{.name = "json",
           .read = read_json,
           .metrics = {},
           .made_from = "RFC 8259, RFC 6901",
           .places = PlaceKind::path,
           .is_table = true,
           .more_samples = "a path with '*'"},
    Format{.name = "jsonl",
           .read = read_json_lines,
           .metrics = {},
           .made_from = "a document of RFC 8259 on each line",
           .extension = ".jsonl",
           .places = PlaceKind::path,
           .is_table = true,
           .more_samples = "a path with '*'"},
    Format{.name = "text",
           .read = read_lines_of_text,
           .metrics = {},
           .made_from = "any text, by a regular expression of RE2",
           .extension = ".txt",
           .places = PlaceKind::group,
           .is_table = true,
           .more_samples = "a match for each",
           .is_printed = true},
};

std::string_view without_byte_order_mark(std::string_view text) {
    constexpr std::string_view mark = "\xef\xbb\xbf";
    return text.substr(text.starts_with(mark) ? mark.size() : 0);
}

/// The text's first line, if it cannot be the JSON that the format is.
std::optional<std::string> line_of_no_json(std::string_view text, const Format& stated) {
    if (stated.extension != ".json") return std::nullopt;
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (text.starts_with('{') || text.starts_with('[')) return std::nullopt;
    return util::printable(text.substr(0, text.find('\n')), 60);
}

/// The end of a message about a text that is not of the stated format.
std::string other_format(std::string_view text, std::string_view source, const Format& stated) {
    try {
        const Format* other = recognised(text, source);
        if (other == nullptr || other == &stated) return {};
        return fmt::format("; this looks like '{}': name it as the format", other->name);
    } catch (const util::InputError&) {
        return {};
    }
}

}  // namespace

std::span<const Format> formats() {
    return table;
}

const Format* find_format(std::string_view name) {
    const auto* const found = std::ranges::find(table, name, &Format::name);
    return found == table.end() ? nullptr : &*found;
}

Value value_of(std::string_view metric, std::string from, double factor) {
    Value value;
    value.from = std::move(from);
    value.factor = factor;
    value.definition.name = metric;
    // Times and rates: perfgate's own definitions of metrics are not known here.
    value.definition.metric_class = model::MetricClass::timing;
    return value;
}

Layout completed(Layout of_tool, const Layout& reading) {
    of_tool.format = reading.format;
    const auto append = [](auto& to, const auto& from) {
        to.insert(to.end(), from.begin(), from.end());
    };
    append(of_tool.axes, reading.axes);
    append(of_tool.values, reading.values);
    append(of_tool.samples, reading.samples);
    return of_tool;
}

std::vector<std::string> format_names() {
    std::vector<std::string> names;
    names.reserve(std::size(table));
    for (const Format& format : table) names.emplace_back(format.name);
    return names;
}

model::ParamValue axis_value(document::JsonValue value) {
    using document::JsonKind;
    switch (value.kind()) {
        case JsonKind::boolean:
            return value.boolean();
        case JsonKind::integer:
            return value.integer();
        case JsonKind::real:
            return value.number();
        default:
            return axis_value(value.text());
    }
}

Results read_text(std::string_view text, std::string_view source, const Layout& reading) {
    const Format* format = find_format(reading.format);
    if (format == nullptr) {
        throw util::InputError("{}: no format is named '{}'", source,
                               util::printable(reading.format, 80));
    }
    text = without_byte_order_mark(text);
    if (text.empty()) throw util::InputError("{}: the file is empty", source);
    Results results;
    try {
        results = format->read(text, source, reading);
    } catch (const util::InputError& error) {
        if (const auto line = line_of_no_json(text, *format)) {
            throw util::InputError("{}: expected the JSON of '{}', found '{}'", source,
                                   format->name, *line);
        }
        const std::string why = error.what();
        throw util::InputError("{}{}{}", why.starts_with(source) ? "" : source,
                               why.starts_with(source) ? why : ": " + why,
                               other_format(text, source, *format));
    }
    check(results, source);
    require_stated_counts(results);
    return results;
}

Results read_results(std::string_view text, std::string_view source, const Layout& reading,
                     const std::filesystem::path& folder) {
    Results results = read_text(text, source, reading);
    read_sample_files(folder, source, results);
    return results;
}

const Format* recognised(std::string_view text, std::string_view source) {
    text = without_byte_order_mark(text);
    const std::string_view start =
        text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (!start.starts_with('{') && !start.starts_with('[')) {
        constexpr std::size_t longest_preamble = 64 << 10;
        const std::string_view preamble = start.substr(0, longest_preamble);
        for (const Format& format : table) {
            const bool has = preamble.find(format.heading) != std::string_view::npos;
            if (!format.heading.empty() && has) return &format;
        }
        return nullptr;
    }
    const document::JsonDocument document =
        has_json_lines(text) ? parse_json_lines(text, source)
                             : parse_json(text, source, RepeatedKeys::are_renamed);
    std::optional<document::JsonValue> top = document.root();
    if (top->kind() == document::JsonKind::array) {
        std::optional<document::JsonValue> first;
        top->elements([&](document::JsonValue each) {
            if (!first) first = each;
        });
        top = first;
    }
    if (!top || top->kind() != document::JsonKind::object) return nullptr;
    for (const Format& format : table) {
        if (!format.recognised_by.empty() && top->find(format.recognised_by)) return &format;
    }
    return nullptr;
}

}  // namespace perfgate::benchmark
