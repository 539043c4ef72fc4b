// SPDX-License-Identifier: Apache-2.0
#include "util/file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <system_error>
#include <vector>

#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::util {

namespace {

namespace fs = std::filesystem;

/// Padding for readers that load many bytes at once, such as the JSON parser.
constexpr std::size_t room_behind = 64;

std::string cause(int error) {
    return std::generic_category().message(error);
}

std::string size_text(std::size_t bytes) {
    constexpr std::array units = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
    return fmt::format("{:.4g} {}", value, units[unit]);
}

const char* kind_of(mode_t mode) {
    if (S_ISDIR(mode)) return "a directory";
    if (S_ISFIFO(mode)) return "a pipe";
    if (S_ISSOCK(mode)) return "a socket";
    return "a device";
}

void write_standard_output(std::string_view content) {
    const int flushed = std::fflush(stdout) == 0 ? 0 : errno;
    const int error = flushed != 0 ? flushed : write_all(STDOUT_FILENO, content);
    if (error != 0) fail_write("standard output", error);
}

/// Whether `path` is written in place. For /dev/null, a pipe and a shell's >(command) there is
/// nothing to rename onto; /dev/stdout and /dev/fd/3 may lead to a file, which others hold open.
bool is_device(const fs::path& path) {
    struct stat status {};
    const bool exists = ::stat(path.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) fail_write(path, EISDIR);
    const std::string_view name = path.native();
    const bool open_already = name.starts_with("/dev/fd/") || name.starts_with("/proc/self/fd/") ||
                              name == "/dev/stdout" || name == "/dev/stderr";
    return exists && (!S_ISREG(status.st_mode) || open_already);
}

void write_in_place(const fs::path& path, std::string_view content) {
    // O_NONBLOCK: opening a pipe without a reader must not wait.
    constexpr int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    Descriptor file(::open(path.c_str(), flags));
    if (file.get() < 0 && errno == ENXIO) {
        throw Error("cannot write {}: this pipe has no reader; name a file",
                    printable(path.native()));
    }
    if (file.get() < 0) fail_write(path, errno);
    if (const int error = write_all(file.get(), content); error != 0) fail_write(path, error);
    if (file.close() != 0) fail_write(path, errno);
}

/// The target itself when `path` is a link: renaming onto a link would replace the link.
fs::path follow_links(const fs::path& path) {
    std::error_code ignored;
    if (!fs::is_symlink(path, ignored)) return path;
    const fs::path target = fs::weakly_canonical(path, ignored);
    return ignored ? path : target;
}

/// Where a file that the user names is written.
struct Target {
    explicit Target(const fs::path& path)
        : file(follow_links(path)),
          folder(file.has_parent_path() ? file.parent_path() : fs::path(".")) {
        std::error_code error;
        fs::create_directories(folder, error);
        if (error) {
            throw Error("cannot write {}: cannot create the folder {}: {}",
                        printable(path.native()), printable(folder.native()), error.message());
        }
        open = Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (open.get() < 0) fail_write(path, errno);
    }

    fs::path file, folder;
    Descriptor open;
};

}  // namespace

std::string read_file(const fs::path& path, std::size_t limit_bytes, std::string_view what) {
    const auto refuse = [&](const std::string& reason) -> InputError {
        return InputError(fmt::format("{} {}: {}", what, printable(path.native()), reason));
    };
    // O_NONBLOCK: opening a pipe without a writer must not wait.
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    if (file.get() < 0) throw refuse(cause(errno));
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) throw refuse(cause(errno));
    if (!S_ISREG(status.st_mode)) {
        throw refuse(fmt::format("expected a file, found {}", kind_of(status.st_mode)));
    }
    const auto refuse_size = [&] {
        return refuse(
            fmt::format("larger than {}, the most a {} may have", size_text(limit_bytes), what));
    };
    const auto announced = static_cast<std::size_t>(std::max<off_t>(0, status.st_size));
    if (announced > limit_bytes) throw refuse_size();

    // The announced size is a hint: files in /proc announce 0, others may grow meanwhile.
    std::string content;
    content.reserve(announced + room_behind);
    content.resize(announced + 1);
    std::size_t filled = 0;
    for (;;) {
        const ssize_t got = ::read(file.get(), content.data() + filled, content.size() - filled);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw refuse(cause(errno));
        if (got == 0) break;
        filled += static_cast<std::size_t>(got);
        if (filled > limit_bytes) throw refuse_size();
        if (filled == content.size()) content.resize(std::max<std::size_t>(4096, filled * 2));
    }
    content.resize(filled);
    return content;
}

void write_file_atomically(const fs::path& path, std::string_view content) {
    if (path == "-") return write_standard_output(content);
    if (path.empty()) throw Error("cannot write a file without a name");

    if (is_device(path)) return write_in_place(path, content);

    Target target(path);
    Replacement replacement(std::move(target.open), target.file.filename(), path);
    if (const int reason = write_all(replacement.file(), content); reason != 0) {
        fail_write(path, reason);
    }
    replacement.finish();
}

void make_file_atomically(const fs::path& path, const std::function<void(const fs::path&)>& make) {
    if (path.empty()) throw Error("cannot write a file without a name");
    std::error_code ignored;
    const bool exists = fs::exists(path, ignored);
    if (path == "-" || (exists && !fs::is_regular_file(path, ignored))) {
        throw InputError("cannot write {}: this output needs a file of its own",
                         printable(path.native()));
    }
    Target target(path);
    Replacement replacement(std::move(target.open), target.file.filename(), path);
    make(target.folder / replacement.temporary());
    replacement.finish();
}

std::filesystem::path found_on_path(const std::filesystem::path& name) {
    const char* const variable = std::getenv("PATH");
    return found_on_path(name, variable ? variable : "", {});
}

std::filesystem::path found_on_path(const std::filesystem::path& name, std::string_view folders,
                                    const std::filesystem::path& folder) {
    while (!folders.empty()) {
        const std::size_t end = std::min(folders.find(':'), folders.size());
        std::error_code error;
        std::filesystem::path candidate = folder / folders.substr(0, end) / name;
        if (std::filesystem::is_regular_file(candidate, error) &&
            ::access(candidate.c_str(), X_OK) == 0) {
            return candidate;
        }
        folders.remove_prefix(std::min(end + 1, folders.size()));
    }
    return {};
}

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
