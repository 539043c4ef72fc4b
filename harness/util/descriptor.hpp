// SPDX-License-Identifier: Apache-2.0
// An open file or folder of the operating system.
#pragma once

#include <unistd.h>

#include <utility>

namespace perfgate::util {

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

}  // namespace perfgate::util
