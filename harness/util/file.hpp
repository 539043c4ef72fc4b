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

}  // namespace perfgate::util
