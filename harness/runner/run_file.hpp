// SPDX-License-Identifier: Apache-2.0
// Runs as files: stored by the verbs that measure, read by those that do not.
#pragma once

#include <cstddef>
#include <filesystem>

#include "model/run.hpp"

namespace perfgate::runner {

/// More than 10,000 cases with 30 metrics and their samples take.
inline constexpr std::size_t run_limit_bytes = std::size_t{512} << 20;

/// Reads a Run document. Throws InputError naming the file and what is wrong with it.
model::Run read_run(const std::filesystem::path& file);

/// Stores the Run as run.json in the folder, or, where there is no room for it, where temporary
/// files go: what a GPU has measured for minutes is not thrown away. 3 where it is not in its
/// place; where no place takes it the reports are still to come.
int store_run(const model::Run& run, const std::filesystem::path& folder);

}  // namespace perfgate::runner
