// SPDX-License-Identifier: Apache-2.0
// The formats in which benchmarks write their results: a table, one reader per file. The text is
// untrusted: readers refuse what they do not know (another version, another unit) and never guess.
// They read text alone; files beside it, which they name, are read afterwards (results.hpp).
//
// To add a format: write <name>.cpp with its reader, declare it here, add a row in formats.cpp and
// a golden test made from real output (tests/unit/benchmark_formats_test.cpp). Nothing else knows
// formats.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "document/json_reader.hpp"
#include "kinds/benchmark/formats/layout.hpp"
#include "kinds/benchmark/formats/results.hpp"

namespace perfgate::benchmark {

using Reader = Results(std::string_view text, std::string_view source, const Layout& reading);

/// What the keys of a suite name in files of the format.
enum class PlaceKind : std::uint8_t { counter, column, path, group };

struct Format {
    std::string_view name;
    Reader* read;
    /// Metrics that it has without being told, the main one first. Empty: the suite names all.
    std::span<const std::string_view> metrics;
    /// Which versions wrote the output that its reader was made from.
    std::string_view made_from;
    std::string_view extension = ".json";  ///< of its files
    /// A member of the document, or of its first row, by which JSON is recognised; empty: none is.
    std::string_view recognised_by = {};
    /// Likewise a text in front of the rows of what is no JSON.
    std::string_view heading = {};
    PlaceKind places = PlaceKind::counter;
    /// Whether suites may state parameters and samples: rows are a table.
    bool is_table = false;
    /// How a result gets several samples; empty: it cannot.
    std::string_view more_samples = {};
    /// What is appended to the file's name for the folder of files beside it; empty: there is none.
    std::string_view folder_suffix = {};
    /// Programs print it among other things, to either of their outputs.
    bool is_printed = false;
    bool of_gpu = false;  ///< what writes it measures GPUs alone

    /// Files say that they are of it. Of others it is not known what their times are of.
    [[nodiscard]] constexpr bool is_recognised() const {
        return !recognised_by.empty() || !heading.empty();
    }
    /// The suite says where names and values are.
    [[nodiscard]] constexpr bool is_generic() const { return metrics.empty(); }
    [[nodiscard]] constexpr bool has_rows() const {
        return is_generic() && (places == PlaceKind::path || places == PlaceKind::group);
    }
};

std::span<const Format> formats();
const Format* find_format(std::string_view name);
std::vector<std::string> format_names();

/// Reads a file's text, and the files beside it in `folder`, and checks it. Throws
/// util::InputError, which begins with `source`.
Results read_results(std::string_view text, std::string_view source, const Layout& reading,
                     const std::filesystem::path& folder);

/// What the text says: samples in other files are not read.
Results read_text(std::string_view text, std::string_view source, const Layout& reading);

/// The format of a text, by its beginning; null: it is none of these. Throws util::InputError for
/// what begins like JSON and is none.
const Format* recognised(std::string_view text, std::string_view source);

/// The rows of github-action-benchmark at a path of a document, "/*" of its custom JSON. Their unit
/// is a time, or of one of the values of `reading`.
Results read_action_benches(const document::JsonDocument& document, const std::string& rows,
                            const Layout& reading);
/// Whether its readers take this unit as one of time.
bool is_action_time(std::string_view unit);

inline constexpr double ns_of_s = 1e9;

/// A parameter: booleans and numbers as they are, text by axis_value(text). Throws
/// util::InputError, with the place, for anything else.
model::ParamValue axis_value(document::JsonValue value);

/// The layout of a tool's format with what the suite adds to it.
Layout completed(Layout of_tool, const Layout& reading);
/// A value of a tool's format, as a metric of the catalogue.
Value value_of(std::string_view metric, std::string from, double factor = 1);

Reader read_criterion, read_google_benchmark, read_hyperfine, read_nvbench, read_pytest_benchmark,
    read_csv, read_json, read_json_lines, read_lines_of_text, read_cutlass_profiler,
    read_github_action_benchmark, read_llama_bench, read_nccl_tests, read_ncu, read_nsys_stats,
    read_serve;

}  // namespace perfgate::benchmark
