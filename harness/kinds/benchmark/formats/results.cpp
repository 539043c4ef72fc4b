// SPDX-License-Identifier: Apache-2.0
#include "kinds/benchmark/formats/results.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <system_error>

#include "util/error.hpp"
#include "util/file.hpp"
#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::benchmark {

std::string id_of(const Result& result) {
    return model::case_id({"", result.name, result.params, model::Cache::cold}).substr(1);
}

std::string shortened(std::string_view text, std::size_t longest) {
    if (text.size() > longest_text) {
        throw util::InputError("the name {} has {} bytes; expected at most {}",
                               util::printable(text, 60), text.size(), longest_text);
    }
    if (text.size() <= longest) return std::string(text);
    const std::string mark = "..." + util::fingerprint_of(text);
    std::size_t kept = longest - mark.size();
    // A character of several bytes is not divided.
    while (kept > 0 && (static_cast<unsigned char>(text[kept]) & 0xC0U) == 0x80U) --kept;
    return std::string(text.substr(0, kept)) + mark;
}

ResultBuilder::ResultBuilder(std::string_view name) {
    result_.name = shortened(name, longest_name);
}

void ResultBuilder::add_axis(std::string_view axis, model::ParamValue value) {
    if (result_.params.size() == most_axes) {
        throw util::InputError("{}: more than {} parameters", util::printable(result_.name),
                               most_axes);
    }
    if (auto* text = std::get_if<std::string>(&value)) {
        *text = shortened(*text, longest_axis_value);
    }
    if (!is_axis_name(axis)) {
        throw util::InputError(
            "{}: '{}' is not the name of a parameter; expected letters, digits and '_-.:'",
            util::printable(result_.name), util::printable(axis, 80));
    }
    if (!result_.params.emplace(axis, std::move(value)).second) {
        throw util::InputError("{}: the parameter {} appears twice", util::printable(result_.name),
                               axis);
    }
}

void ResultBuilder::add(const std::string& metric, const model::Method& method, double value,
                        bool positive) {
    if (!std::isfinite(value) || (positive && value <= 0)) {
        fail(fmt::format("{} is {}; expected a finite number{}", metric, value,
                         positive ? " above 0" : ""));
        return;
    }
    Samples& samples = result_.metrics[metric];
    samples.method = method;
    samples.values.push_back(value);
}

void ResultBuilder::add_file(const std::string& metric, const model::Method& method,
                             SampleFile file) {
    Samples& samples = result_.metrics[metric];
    samples.method = method;
    samples.file = std::move(file);
}

void ResultBuilder::state_count(const std::string& metric, std::int64_t count) {
    const auto found = result_.metrics.find(metric);
    if (found == result_.metrics.end()) return;
    std::optional<std::int64_t>& stated = found->second.stated;
    if (stated && *stated != count) {
        fail(fmt::format("the file says of {} that it has {}, and elsewhere {} samples", metric,
                         *stated, count));
    }
    stated = count;
}

void ResultBuilder::skip(std::string reason) {
    result_.skipped = std::move(reason);
}

void ResultBuilder::fail(std::string problem) {
    if (result_.problem.empty()) result_.problem = std::move(problem);
}

void ResultBuilder::note(std::string text) {
    result_.notes.push_back(std::move(text));
}

std::string ResultBuilder::id() const {
    return id_of(result_);
}

std::string ResultBuilder::words() const {
    return util::printable(id());
}

model::ParamValue axis_value(std::string_view text) {
    const auto number = util::parsed<std::int64_t>(text);
    if (number && std::to_string(*number) == text) return *number;  // 007 is not 7
    return std::string(text);
}

bool is_axis_name(std::string_view text) {
    constexpr std::size_t longest = 64;
    return !text.empty() && text.size() <= longest && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("_-.:").find(c) != std::string_view::npos;
    });
}

void require_stated_counts(Results& results) {
    for (Result& result : results.results) {
        for (const auto& [metric, samples] : result.metrics) {
            const std::size_t count = samples.file ? samples.file->count : samples.values.size();
            if (!samples.stated || std::cmp_equal(*samples.stated, count)) continue;
            if (!result.problem.empty()) continue;
            result.problem = fmt::format(
                "{} has {}, and the file says {}: run the benchmark to its end, and keep its "
                "results whole",
                metric, util::counted(count, "sample"), *samples.stated);
        }
    }
}

void check(const Results& results, std::string_view source) {
    const auto refuse = [&](const std::string& why) {
        throw util::InputError("{}: {}", source, why);
    };
    if (results.results.empty()) refuse("it has no result");
    const auto is_skipped = [](const Result& result) { return !result.skipped.empty(); };
    if (std::ranges::all_of(results.results, is_skipped)) {
        refuse(fmt::format("{}, and all others", results.results.front().skipped));
    }
    if (results.results.size() > most_results) {
        refuse(
            fmt::format("{} results; expected at most {}", results.results.size(), most_results));
    }
    std::set<std::string> ids;
    for (const Result& result : results.results) {
        if (result.name.empty()) refuse("a result has no name");
        if (util::printable(result.name, longest_name + 1) != result.name) {
            refuse(fmt::format("the name {} has characters that are not printable",
                               util::printable(result.name, 80)));
        }
        if (result.name == model::unknown_cases) refuse("a result is named '*'");
        std::string id = id_of(result);
        if (!ids.insert(id).second) {
            refuse(fmt::format("the result {} appears twice", util::printable(id)));
        }
    }
}

namespace {

namespace fs = std::filesystem;

/// Where the file is, with links followed: inside of the folder.
fs::path place_of(const fs::path& folder, const std::string& name) {
    const auto quoted = [&] { return util::printable(name, 200); };
    const fs::path relative = name;
    if (name.empty() || name.find('\0') != std::string::npos || relative.is_absolute()) {
        throw util::InputError("'{}' is no file beside the results; expected a relative path",
                               quoted());
    }
    std::error_code error;
    const fs::path root = fs::canonical(folder, error);
    fs::path file = error ? fs::path() : fs::canonical(root / relative, error);
    if (error) {
        throw util::InputError(
            "the samples in '{}' cannot be read: {}; keep the files that the benchmark writes "
            "beside its results",
            quoted(), error.message());
    }
    const fs::path within = file.lexically_relative(root);
    if (within.empty() || *within.begin() == "..") {
        throw util::InputError(
            "'{}' is outside of the folder of the results; expected a file in it", quoted());
    }
    return file;
}

double number_at(std::string_view bytes, std::size_t index) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < sizeof bits; ++i) {
        const auto byte = static_cast<unsigned char>(bytes[index * sizeof bits + i]);
        bits |= static_cast<std::uint32_t>(byte) << (8 * i);
    }
    return std::bit_cast<float>(bits);
}

void read_samples(const fs::path& folder, Samples& samples, std::string& problem) {
    const SampleFile& file = *samples.file;
    const std::size_t size = file.count * sizeof(float);
    const std::string bytes = util::read_file(place_of(folder, file.name), size, "sample file");
    if (bytes.size() != size) {
        throw util::InputError("'{}' has {} bytes; expected {}: {} samples",
                               util::printable(file.name, 200), bytes.size(), size, file.count);
    }
    samples.values.reserve(file.count);
    double sum = 0;
    for (std::size_t i = 0; i < file.count; ++i) {
        const double value = number_at(bytes, i) * file.factor;
        if (!std::isfinite(value) || value <= 0) {
            if (problem.empty()) {
                problem = fmt::format("sample {} of '{}' is {}; expected a finite number above 0",
                                      i, util::printable(file.name, 200), value);
            }
            return;
        }
        samples.values.push_back(value);
        sum += number_at(bytes, i);
    }
    // Both are of the same float32 numbers, so that only the rounding of the sum differs.
    constexpr double rounding = 1e-5;
    const double mean = sum / static_cast<double>(file.count);
    if (!file.mean || std::fabs(*file.mean - mean) <= rounding * mean || !problem.empty()) return;
    problem = fmt::format(
        "the samples in '{}' have a mean of {:.6g}, and the results say {:.6g}: they are of "
        "another run; keep the files of each run in a folder of their own",
        util::printable(file.name, 200), mean, *file.mean);
}

}  // namespace

void read_sample_files(const fs::path& folder, std::string_view source, Results& results) {
    std::size_t all = 0;
    try {
        for (Result& result : results.results) {
            for (auto& [metric, samples] : result.metrics) {
                if (!samples.file) continue;
                all += samples.file->count;
                if (samples.file->count == 0 || samples.file->count > most_samples ||
                    all > most_samples) {
                    throw util::InputError(
                        "no samples, or more than {} in the files beside the results; expected a "
                        "benchmark that takes fewer",
                        most_samples);
                }
                read_samples(folder, samples, result.problem);
                samples.file.reset();
            }
        }
    } catch (const util::InputError& error) {
        throw util::InputError("{}: {}", source, error.what());
    }
}

}  // namespace perfgate::benchmark
