// SPDX-License-Identifier: Apache-2.0
// The journal: every result on disk as soon as it exists, one JSON line per case and phase, so that
// a crash of the coordinator loses nothing that was measured.
#pragma once

#include <filesystem>
#include <string>

#include "model/run.hpp"

namespace perfgate::measure {

class Journal {
  public:
    /// Creates the folder and an empty journal.jsonl in it. Throws model::Error.
    explicit Journal(const std::filesystem::path& folder);
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    /// Appends the case as it stands now; a later line for the same case replaces an earlier one.
    void add(const std::string& suite, const model::CaseResult& result);

  private:
    std::filesystem::path path_;
    int fd_ = -1;
};

}  // namespace perfgate::measure
