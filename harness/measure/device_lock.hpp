// SPDX-License-Identifier: Apache-2.0
// One run per device and host: a file per board that is locked while a run measures. The kernel
// releases the lock when the process ends, however it ends.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace perfgate::measure {

/// Where the locks are: $PERFGATE_LOCK_DIR, else /run/lock, else /tmp. Containers that share a GPU
/// must share this folder.
std::filesystem::path lock_folder();

class DeviceLock {
  public:
    struct Waiting {
        double limit_s = 600;                                 ///< 0: do not wait
        std::function<bool()> stop;                           ///< true: interrupted
        std::function<void(const std::string& holder)> tell;  ///< once, when it has to wait
    };
    /// Locks the board (Device::board). Throws util::Error naming the holder after the limit, and
    /// Interrupted.
    DeviceLock(const std::string& board, const std::string& name, const Waiting& waiting);
    ~DeviceLock();
    DeviceLock(DeviceLock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
    DeviceLock& operator=(DeviceLock&&) = delete;

  private:
    int fd_ = -1;
};

}  // namespace perfgate::measure
