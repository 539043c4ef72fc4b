// SPDX-License-Identifier: Apache-2.0
// Stored runs as arguments of verbs.
#pragma once

#include <cstddef>
#include <filesystem>

#include "model/run.hpp"

namespace perfgate::cli {

/// More than 10,000 cases with 30 metrics and their samples take.
inline constexpr std::size_t run_limit_bytes = std::size_t{512} << 20;

/// Reads a Run document. Throws InputError naming the file and what is wrong with it.
model::Run read_run(const std::filesystem::path& file);

}  // namespace perfgate::cli
