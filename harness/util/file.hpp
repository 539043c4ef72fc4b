// SPDX-License-Identifier: Apache-2.0
// Reading and writing whole files: reads are bounded, writes are atomic.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace perfgate::util {

// An open file or folder of the operating system.

class Descriptor {
  public:
    explicit Descriptor(int fd = -1) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    [[nodiscard]] int get() const { return fd_; }
    /// Closes and reports errors: network file systems report a full disk only here.
    int close() { return ::close(std::exchange(fd_, -1)); }
    [[nodiscard]] int release() { return std::exchange(fd_, -1); }

  private:
    int fd_;
};

/// Reads a regular file of at most `limit_bytes`. `what` names it in messages ("suite",
/// "baseline"). Throws InputError for a missing file, a directory, a device, a file over the limit.
std::string read_file(const std::filesystem::path& path, std::size_t limit_bytes,
                      std::string_view what);

/// Writes through a temporary file in the same folder, synchronised to disk and renamed: a reader
/// gets the old content or the new, never part of it. "-" is standard output; devices and pipes are
/// written in place; a link's target is replaced, not the link. Creates the folder.
/// Throws Error naming the path and the cause (read-only folder, no space left).
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// The same for a library that writes files itself: `make` fills an empty file beside the target.
/// "-" and anything that is not a regular file are refused with InputError.
void make_file_atomically(const std::filesystem::path& path,
                          const std::function<void(const std::filesystem::path&)>& make);

/// The first executable file of this name in the folders of PATH; empty: there is none.
std::filesystem::path found_on_path(const std::filesystem::path& name);

/// The same for a program that runs in `folder`, with another value of PATH.
std::filesystem::path found_on_path(const std::filesystem::path& name, std::string_view folders,
                                    const std::filesystem::path& folder);

// How files are replaced as a whole: a temporary file beside the target takes its name when it is
// complete. If the process is killed meanwhile, the next replacement of the same file removes what
// it left.

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
