// SPDX-License-Identifier: Apache-2.0
// What measuring and recording a program needs: a GPU without other tools, a folder, the injection
// library.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "util/temporary_folder.hpp"

namespace perfgate::command {

/// The folder for the recordings. Without a name it is temporary and removed with this object.
class RecordingFolder {
  public:
    /// Throws InputError if the named folder is not empty, Error if it cannot be created.
    explicit RecordingFolder(const std::string& named);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
    std::optional<util::TemporaryFolder> temporary_;
};

/// Throws util::InputError where another profiler would be in the program too, or other programs
/// share its GPU through MPS: its times would not be its own, and two tools in one process fight
/// over CUPTI.
void require_no_other_tools();

/// So does this, and throws util::Error where the injection library is missing.
void require_recorder(const std::filesystem::path& library);

}  // namespace perfgate::command
