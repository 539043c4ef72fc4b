// SPDX-License-Identifier: Apache-2.0
// Samples that a benchmark writes into files beside its results.
#pragma once

#include <filesystem>
#include <string_view>

#include "kinds/benchmark/formats/results.hpp"

namespace perfgate::benchmark {

/// Reads the files that the results name, from `folder`, in which the results are. Throws
/// util::InputError, which begins with `source`, for a name that leads out of the folder (by '..'
/// or by a link), a file that is absent, is no regular file or has another size than stated, and
/// for more than most_samples in all. A sample that is not above 0 is the result's problem.
void read_sample_files(const std::filesystem::path& folder, std::string_view source,
                       Results& results);

}  // namespace perfgate::benchmark
