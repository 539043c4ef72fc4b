// SPDX-License-Identifier: Apache-2.0
// Runs a program under the injection library, which records its GPU activity (`profile`).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "inject/settings.hpp"

namespace perfgate::runner {

/// The folder for the recordings. Without a name it is temporary and removed with this object.
class RecordingFolder {
  public:
    /// Throws InputError if the named folder is not empty, Error if it cannot be created.
    explicit RecordingFolder(const std::string& named);
    ~RecordingFolder();
    RecordingFolder(const RecordingFolder&) = delete;
    RecordingFolder& operator=(const RecordingFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
    bool temporary_ = false;
};

/// Runs the program until it ends, is interrupted, or `time_limit_s` (0: none) is over. Returns why
/// it did not end normally; nothing if it did. Throws InputError if another profiler or MPS is in
/// use, Error without the injection library.
std::optional<std::string> record_program(const std::vector<std::string>& words,
                                          const inject::Settings& settings, double time_limit_s);

}  // namespace perfgate::runner
