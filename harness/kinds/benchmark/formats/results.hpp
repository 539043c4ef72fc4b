// SPDX-License-Identifier: Apache-2.0
// What a benchmark reported, whatever the format: results with their names, parameters and values,
// in the units of perfgate's metrics.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kinds/benchmark/formats/layout.hpp"
#include "model/case.hpp"
#include "model/metric.hpp"

namespace perfgate::benchmark {

/// Limits of one file.
inline constexpr std::size_t most_bytes = std::size_t{64} << 20;
inline constexpr std::size_t most_results = 10'000;
inline constexpr std::size_t longest_name = 300;  ///< bytes; longer ones are shortened
/// Of a name or parameter as it is written.
inline constexpr std::size_t longest_text = std::size_t{64} << 10;
inline constexpr std::size_t most_axes = 32;
inline constexpr std::size_t longest_axis_value = 200;  ///< bytes; likewise
/// Of one file and those beside it that have samples: as many as `most_bytes` hold.
inline constexpr std::size_t most_samples = most_bytes / sizeof(float);

/// A file of float32 numbers, little endian, that results name: read_sample_files reads it.
struct SampleFile {
    std::string name;       ///< relative to the folder of the results; untrusted
    std::size_t count = 0;  ///< of numbers
    double factor = 1;      ///< to the unit of the metric
    std::optional<double> mean = std::nullopt;  ///< of the numbers, as the results state it
};

/// The values of one metric in one file: those of one process.
struct Samples {
    model::Method method;
    std::vector<double> values;
    std::optional<std::int64_t> stated = std::nullopt;  ///< how many there are, as the file says
    std::optional<SampleFile> file = std::nullopt;      ///< where they are, until they are read
};

struct Result {
    std::string name;      ///< the variant of the case
    model::Params params;  ///< its axes
    std::map<std::string, Samples> metrics;
    std::string problem;  ///< why it has no values; empty: it has
    std::string skipped;  ///< why the benchmark left it out on purpose; empty: it did not
    std::vector<std::string> notes = {};  ///< how it was measured
};

struct Results {
    std::vector<Result> results;     ///< in the file's order; name and parameters appear once
    std::vector<std::string> notes;  ///< what makes all values doubtful
    std::string machine;             ///< name of the host, as far as the file says
    std::string device;              ///< what they were measured on, in words, likewise
    std::string measured_at;         ///< UTC, "2026-11-21T10:00:00Z", likewise
    std::string revision;            ///< of git, likewise
    /// By column that the suite does not name: the text that all rows have there.
    std::map<std::string, std::string> constants = {};
    std::optional<util::OtherWork> other_work =
        std::nullopt;  ///< while it ran; stored ones: unknown
};

/// Builds a result step by step. What is wrong with a value is the result's problem, so that the
/// others of the file can be judged.
class ResultBuilder {
  public:
    explicit ResultBuilder(std::string_view name);

    /// Throws util::InputError for a parameter that is there already.
    void add_axis(std::string_view axis, model::ParamValue value);
    /// A time or a rate must be above 0, every value finite.
    void add(const std::string& metric, const model::Method& method, double value,
             bool positive = true);
    /// The values are in a file, which read_results reads.
    void add_file(const std::string& metric, const model::Method& method, SampleFile file);
    /// How many samples of the metric the file says that there are, if it has any.
    void state_count(const std::string& metric, std::int64_t count);
    void fail(std::string problem);
    template <class First, class... Rest>
    void fail(fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest) {
        fail(fmt::format(text, std::forward<First>(first), std::forward<Rest>(rest)...));
    }
    void skip(std::string reason);

    /// How it was measured, as far as that is no part of its name.
    void note(std::string text);

    [[nodiscard]] std::string id() const;
    /// "sort[n=100]", for messages.
    [[nodiscard]] std::string words() const;
    Result take() { return std::move(result_); }

  private:
    Result result_;
};

/// "sort[n=100]": what makes a result different from the others of its file.
std::string id_of(const Result& result);

/// A text that is too long for a case id: its beginning, and a fingerprint of all of it, so that
/// equal texts stay equal and others differ. Throws util::InputError beyond `longest_text`.
std::string shortened(std::string_view text, std::size_t longest);

/// Integers as integers, so that 8 and "8" are one parameter; other text as text.
model::ParamValue axis_value(std::string_view text);

/// Letters, digits and "_-.:", not too long: what may stand before '=' in a case id.
bool is_axis_name(std::string_view text);

/// A result that lacks samples has a problem: those that are there may be the fast ones.
void require_stated_counts(Results& results);

/// Refuses names that are no text for a case id, too many results, and results that appear twice.
/// Throws util::InputError that begins with `source`.
void check(const Results& results, std::string_view source);

// Samples that a benchmark writes into files beside its results.

/// Reads the files that the results name, from `folder`, in which the results are. Throws
/// util::InputError, which begins with `source`, for a name that leads out of the folder (by '..'
/// or by a link), a file that is absent, is no regular file or has another size than stated, and
/// for more than most_samples in all. A sample that is not above 0 is the result's problem, and so
/// are samples with another mean than the results state: they are of another run.
void read_sample_files(const std::filesystem::path& folder, std::string_view source,
                       Results& results);

}  // namespace perfgate::benchmark
