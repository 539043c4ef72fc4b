// SPDX-License-Identifier: Apache-2.0
#include "baseline/lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include "baseline/file_changes.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::baseline {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::string cause(int error) {
    return std::generic_category().message(error);
}

/// Whether the locked file is still the one at `path`: a folder may have been replaced meanwhile.
bool is_at(const fs::path& path, int fd) {
    struct stat here {
    }, locked{};
    return ::stat(path.c_str(), &here) == 0 && ::fstat(fd, &locked) == 0 &&
           here.st_dev == locked.st_dev && here.st_ino == locked.st_ino;
}

/// A descriptor with the lock, or -1 and an errno: EWOULDBLOCK if another process holds it.
template <typename Flock>
int try_lock(const fs::path& path, int flags, const Flock& flock, int& error) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0666);
    if (fd < 0) {
        error = errno;
        return -1;
    }
    error = flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    if (error == 0 && !is_at(path, fd)) error = EWOULDBLOCK;
    if (error == 0) return fd;
    ::close(fd);
    return -1;
}

}  // namespace

BaselineLock::BaselineLock(fs::path folder, const Waiting& waiting) : folder_(std::move(folder)) {
    const std::string shown = util::printable(folder_.string());
    std::error_code problem;
    fs::create_directories(folder_, problem);
    if (problem) {
        throw util::Error("cannot create the folder {}: {}", shown, problem.message());
    }
    const auto lock = [&](int fd, int operation) {
        return waiting.flock ? waiting.flock(fd, operation) : ::flock(fd, operation);
    };
    // A link to a folder is followed.
    const fs::path itself = folder_ / ".";
    const auto end = Clock::now() + std::chrono::duration<double>(waiting.limit_s);
    for (bool told = false;; told = true) {
        int error = 0;
        fd_ = try_lock(itself, O_RDONLY | O_DIRECTORY, lock, error);
        // NFS locks only what is open for writing, which a folder cannot be.
        if (error != 0 && error != EWOULDBLOCK && error != EINTR) {
            fd_ = try_lock(folder_ / ".perfgate.lock", O_RDWR | O_CREAT, lock, error);
        }
        if (fd_ >= 0) break;
        if (error != EWOULDBLOCK && error != EINTR) {
            throw util::Error(
                "cannot lock {}: {}; keep the baselines where files can be written and locked",
                shown, cause(error));
        }
        if (Clock::now() >= end) {
            throw util::Error(
                "{}: another perfgate has been writing here for {:g} s: end it, or try again later",
                shown, waiting.limit_s);
        }
        if (!told && waiting.tell) waiting.tell();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    try {
        const std::string recovered = finish_interrupted_change(folder_);
        if (!recovered.empty() && waiting.recovered) waiting.recovered(recovered);
    } catch (...) {
        ::close(fd_);
        throw;
    }
}

BaselineLock::~BaselineLock() {
    ::close(fd_);
}

}  // namespace perfgate::baseline
