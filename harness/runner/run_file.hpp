// SPDX-License-Identifier: Apache-2.0
// Runs as files: stored by the verbs that measure, read by those that do not.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "model/run.hpp"

namespace perfgate::runner {

/// More than the size of 10,000 cases with 30 metrics and their samples.
inline constexpr std::size_t run_limit_bytes = std::size_t{512} << 20;

/// Reads a Run document. Throws InputError naming the file and what is wrong with it.
model::Run read_run(const std::filesystem::path& file);

/// Stores the Run as run.json in the folder or, if that is not possible, in the folder for
/// temporary files, so that minutes of measuring are not lost. Returns 3 if it is not in its place,
/// even if it could not be stored at all: the reports are still written.
int store_run(const model::Run& run, const std::filesystem::path& folder);

/// Files that count as measurements of their own: the same one twice would look like precision.
class DistinctFiles {
  public:
    /// Throws util::InputError, naming both files, if another one has the same content.
    void add(const std::string& file, std::string_view content);

  private:
    std::map<std::string, std::string> files_;  ///< by the content's fingerprint
};

// The time of day, for documents.

/// "2026-11-21T10:00:00Z".
std::string utc_now();

}  // namespace perfgate::runner
