// SPDX-License-Identifier: Apache-2.0
// How files are replaced as a whole: a temporary file beside the target takes its name when it is
// complete. If the process is killed meanwhile, the next replacement of the same file removes what
// it left.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "util/file.hpp"

namespace perfgate::util {

/// Writes all of `content`; returns 0 or the errno of what went wrong.
int write_all(int fd, std::string_view content);

/// Throws Error with the path and the cause.
[[noreturn]] void fail_write(const std::filesystem::path& path, int error);

/// Synchronises to disk what was written, or renamed in a folder; returns 0 or an errno. A file
/// system that cannot is no fault.
int synchronise(int fd);

/// Removes temporary files for `name` in the folder whose writers have ended.
void remove_left_temporaries(int folder, const std::string& name);

/// Links are not followed: a file that takes the name of a link replaces the link.
class Replacement {
  public:
    /// Replaces the file `name` in the open folder; `shown` is the path in messages. Throws Error.
    Replacement(Descriptor folder, std::string name, std::filesystem::path shown);
    Replacement& operator=(Replacement&&) = delete;  // nor copied
    /// Removes the temporary file, unless it is finished.
    ~Replacement();

    [[nodiscard]] int file() const { return file_.get(); }
    [[nodiscard]] const std::string& temporary() const { return temporary_; }

    /// Synchronises the file to disk and gives it its name. Throws Error.
    void finish();

  private:
    void create();

    Descriptor folder_;
    std::string name_, temporary_;
    std::filesystem::path shown_;
    Descriptor file_;
    bool finished_ = false;
};

}  // namespace perfgate::util
