// SPDX-License-Identifier: Apache-2.0
#include "measure/device_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "measure/workers.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::measure {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Opens the lock file, which other users' runs must be able to lock too. In world-writable folders
/// Linux refuses O_CREAT for a file of another user, so first try without it.
int open_lock(const fs::path& path) {
    constexpr int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    for (int attempt = 0; attempt < 10; ++attempt) {
        int fd = ::open(path.c_str(), O_RDWR | flags);
        if (fd < 0 && errno == EACCES) fd = ::open(path.c_str(), O_RDONLY | flags);
        if (fd >= 0 || errno != ENOENT) return fd;
        fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | flags, 0666);
        if (fd >= 0) {
            ::fchmod(fd, 0666);  // regardless of the umask
            return fd;
        }
        if (errno != EEXIST) return fd;
    }
    return -1;
}

/// What the holder wrote: "pid 1234". Only a hint for people.
std::string holder(int fd) {
    std::array<char, 64> text{};
    const ssize_t size = ::pread(fd, text.data(), text.size() - 1, 0);
    std::string line(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    line.resize(std::min(line.find('\n'), line.size()));
    return line.empty() ? "another process" : util::printable(line, 60);
}

}  // namespace

fs::path lock_folder() {
    const char* chosen = std::getenv("PERFGATE_LOCK_DIR");
    if (chosen && *chosen) return chosen;
    return ::access("/run/lock", W_OK | X_OK) == 0 ? "/run/lock" : "/tmp";
}

DeviceLock::DeviceLock(const std::string& board, const std::string& name, const Waiting& waiting) {
    const fs::path folder = lock_folder();
    std::error_code ignored;
    fs::create_directories(folder, ignored);
    const fs::path path = folder / fmt::format("perfgate-{}.lock", util::slug(board));
    fd_ = open_lock(path);
    struct stat about {};
    if (fd_ < 0 || fstat(fd_, &about) != 0 || !S_ISREG(about.st_mode)) {
        const std::string why = fd_ < 0 ? std::strerror(errno) : "it is not a regular file";
        if (fd_ >= 0) ::close(fd_);
        throw util::Error(
            fmt::format("the lock of {}: {}: {}; name another folder with PERFGATE_LOCK_DIR", name,
                        path.string(), why));
    }

    const auto end = Clock::now() + std::chrono::duration<double>(waiting.limit_s);
    bool announced = false;
    while (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
        const int error = errno;
        const std::string who = holder(fd_);
        const bool busy = error == EWOULDBLOCK || error == EINTR;
        const bool stopped = waiting.stop && waiting.stop();
        if (busy && !stopped && Clock::now() < end) {
            if (!announced && waiting.tell) waiting.tell(who);
            announced = true;
            const timespec pause{0, 50'000'000};
            nanosleep(&pause, nullptr);
            continue;
        }
        ::close(fd_);
        fd_ = -1;
        if (!busy) {
            throw util::Error(
                fmt::format("the lock of {}: {}: {}", name, path.string(), std::strerror(error)));
        }
        if (stopped) throw Interrupted();
        throw util::Error(fmt::format(
            "{} is in use by {} (lock {}), and was for {:g} s; wait longer with --lock-wait", name,
            who, path.string(), waiting.limit_s));
    }
    const std::string self = fmt::format("pid {}\n", getpid());
    if (::ftruncate(fd_, 0) == 0 &&
        ::pwrite(fd_, self.data(), self.size(), 0) != static_cast<ssize_t>(self.size())) {
        return;  // only the hint is lost; the lock still holds
    }
}

DeviceLock::~DeviceLock() {
    // The file stays: if it were removed, two runs could hold locks on two files of the same name.
    if (fd_ >= 0) ::close(fd_);
}

}  // namespace perfgate::measure
