// SPDX-License-Identifier: Apache-2.0
#include "kinds/benchmark/formats/sample_files.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <system_error>

#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::benchmark {

namespace {

namespace fs = std::filesystem;

/// Where the file is, with links followed: inside of the folder.
fs::path place_of(const fs::path& folder, const std::string& name) {
    const auto quoted = [&] { return util::printable(name, 200); };
    const fs::path relative = name;
    if (name.empty() || name.find('\0') != std::string::npos || relative.is_absolute()) {
        throw util::InputError(
            fmt::format("'{}' is no file beside the results; expected a relative path", quoted()));
    }
    std::error_code error;
    const fs::path root = fs::canonical(folder, error);
    fs::path file = error ? fs::path() : fs::canonical(root / relative, error);
    if (error) {
        throw util::InputError(
            fmt::format("the samples in '{}' cannot be read: {}; keep the files that the benchmark "
                        "writes beside its results",
                        quoted(), error.message()));
    }
    const fs::path within = file.lexically_relative(root);
    if (within.empty() || *within.begin() == "..") {
        throw util::InputError(fmt::format(
            "'{}' is outside of the folder of the results; expected a file in it", quoted()));
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
        throw util::InputError(fmt::format("'{}' has {} bytes; expected {}: {} samples",
                                           util::printable(file.name, 200), bytes.size(), size,
                                           file.count));
    }
    samples.values.reserve(file.count);
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
    }
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
                        fmt::format("no samples, or more than {} in the files beside the results; "
                                    "expected a benchmark that takes fewer",
                                    most_samples));
                }
                read_samples(folder, samples, result.problem);
                samples.file.reset();
            }
        }
    } catch (const util::InputError& error) {
        throw util::InputError(fmt::format("{}: {}", source, error.what()));
    }
}

}  // namespace perfgate::benchmark
