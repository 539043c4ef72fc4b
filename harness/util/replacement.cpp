// SPDX-License-Identifier: Apache-2.0
#include "util/replacement.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::util {

namespace {

constexpr std::string_view ending = ".tmp";
constexpr std::size_t random_digits = 8;

/// Long names are cut: the temporary name must not exceed NAME_MAX if the target's does not.
std::string beginning_for(const std::string& name) {
    return fmt::format(".{:.200}.", name);
}

/// No number of a process: those of containers repeat.
std::string temporary_name(const std::string& name) {
    std::random_device random;
    return fmt::format("{}{:08x}{}", beginning_for(name), random(), ending);
}

bool is_temporary_name(std::string_view text, std::string_view beginning) {
    return text.size() == beginning.size() + random_digits + ending.size() &&
           text.starts_with(beginning) && text.ends_with(ending) &&
           is_hex(text.substr(beginning.size(), random_digits), random_digits);
}

std::vector<std::string> temporaries(int folder, const std::string& name) {
    std::vector<std::string> found;
    const std::string beginning = beginning_for(name);
    Descriptor readable(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (readable.get() < 0) return found;
    const auto close = [](DIR* entries) { ::closedir(entries); };
    const std::unique_ptr<DIR, decltype(close)> entries(::fdopendir(readable.get()), close);
    if (!entries) return found;
    static_cast<void>(readable.release());
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this call's
    while (const dirent* entry = ::readdir(entries.get())) {
        if (is_temporary_name(entry->d_name, beginning)) found.emplace_back(entry->d_name);
    }
    return found;
}

}  // namespace

int write_all(int fd, std::string_view content) {
    while (!content.empty()) {
        const ssize_t written = ::write(fd, content.data(), content.size());
        if (written > 0) {
            content.remove_prefix(static_cast<std::size_t>(written));
        } else if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            // Standard output may be a pipe that its reader made non-blocking.
            pollfd ready{fd, POLLOUT, 0};
            if (::poll(&ready, 1, -1) < 0 && errno != EINTR) return errno;
        } else if (written == 0) {
            return EIO;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

void fail_write(const std::filesystem::path& path, int error) {
    throw Error("cannot write {}: {}", printable(path.native()),
                std::generic_category().message(error));
}

int synchronise(int fd) {
    // EINVAL and ENOTSUP: a file system without synchronisation, not a failed write.
    if (::fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP) return 0;
    return errno;
}

void remove_left_temporaries(int folder, const std::string& name) {
    for (const std::string& temporary : temporaries(folder, name)) {
        constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
        const Descriptor left(::openat(folder, temporary.c_str(), flags));
        struct stat status {};
        // The writer holds this lock, and the kernel releases it when the writer ends.
        if (left.get() >= 0 && ::fstat(left.get(), &status) == 0 && S_ISREG(status.st_mode) &&
            ::flock(left.get(), LOCK_EX | LOCK_NB) == 0) {
            ::unlinkat(folder, temporary.c_str(), 0);
        }
    }
}

Replacement::Replacement(Descriptor folder, std::string name, std::filesystem::path shown)
    : folder_(std::move(folder)), name_(std::move(name)), shown_(std::move(shown)) {
    remove_left_temporaries(folder_.get(), name_);
    create();
}

Replacement::~Replacement() {
    if (!finished_) ::unlinkat(folder_.get(), temporary_.c_str(), 0);
}

void Replacement::create() {
    constexpr int most_attempts = 100;
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        temporary_ = temporary_name(name_);
        file_ = Descriptor(::openat(folder_.get(), temporary_.c_str(), flags, 0666));
        if (file_.get() < 0 && errno == EEXIST) continue;
        if (file_.get() < 0) fail_write(shown_, errno);
        // Before the lock was there, another writer may have taken it for a file that was left.
        if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) continue;
        struct stat status {};
        if (::fstat(file_.get(), &status) == 0 && status.st_nlink > 0) return;
    }
    fail_write(shown_, EEXIST);
}

void Replacement::finish() {
    if (const int error = synchronise(file_.get()); error != 0) fail_write(shown_, error);
    // Closing releases the lock: renamed first, it cannot be taken for a file that was left.
    if (::renameat(folder_.get(), temporary_.c_str(), folder_.get(), name_.c_str()) != 0) {
        fail_write(shown_, errno);
    }
    finished_ = true;
    if (file_.close() != 0) fail_write(shown_, errno);
    synchronise(folder_.get());
}

}  // namespace perfgate::util
