// SPDX-License-Identifier: Apache-2.0
#include "baseline/file_changes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <thread>
#include <utility>

#include "document/archive.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/folder.hpp"
#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::baseline {

namespace {

namespace fs = std::filesystem;
using util::Folder;

constexpr const char* list_name = "list";
constexpr std::size_t list_limit_bytes = std::size_t{16} << 20;
constexpr std::size_t file_limit_bytes = std::size_t{256} << 20;

/// What a staged file is for. Its own name is its number in the list.
struct Step {
    std::string name;
    std::string digest;  ///< of the new content; empty: the file is removed
};

struct List {
    /// The inode of the staging folder. A list that came with a checkout is of another folder: what
    /// nobody accepted here is not finished here.
    std::uint64_t folder = 0;
    std::vector<Step> steps;
};

constexpr document::Schema list_schema{"perfgate.change", 1, 1};

PERFGATE_FIELDS(Step, named(required, "file", name), required(digest))

PERFGATE_FIELDS(List, required(folder, steps))

std::uint64_t inode_of(const Folder& folder) {
    struct stat status {};
    return ::fstat(folder.descriptor(), &status) == 0 ? status.st_ino : 0;
}

fs::path staging_path(const fs::path& folder) {
    return folder / staging_name;
}

/// The content of a plain file; nothing if there is none.
std::optional<std::string> content_of(const Folder& folder, const std::string& name) {
    struct stat status {};
    if (::fstatat(folder.descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode)) {
        return std::nullopt;
    }
    return util::read_file(folder.path() / name, file_limit_bytes, "file");
}

/// Only what is written here: a list must not name other files.
bool is_place(const fs::path& name) {
    const std::string& text = name.native();
    if (text == ".gitattributes") return true;
    const std::size_t slash = text.find('/');
    return slash != std::string::npos && slash > 0 &&
           text.find('/', slash + 1) == std::string::npos && text.front() != '.' &&
           text[slash + 1] != '.' && (text.ends_with(".json") || text.ends_with(".jsonl"));
}

std::optional<List> read_list(const Folder& staging) {
    struct stat status {};
    if (::fstatat(staging.descriptor(), list_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        return std::nullopt;
    }
    const fs::path path = staging.path() / list_name;
    if (!S_ISREG(status.st_mode)) {
        throw util::InputError("{}: expected a file", util::printable(path.string()));
    }
    List list;
    document::JsonDocument parsed(util::read_file(path, list_limit_bytes, "list"), path.string());
    document::read_document(parsed, list_schema, list);
    for (const Step& step : list.steps) {
        if (!is_place(step.name)) {
            throw util::InputError("{}: '{}' is no file of a baseline",
                                   util::printable(path.string()), util::printable(step.name));
        }
    }
    return list;
}

/// The change of the list, as far as it is not made. Repeating it changes nothing.
void make_steps(const Folder& folder, const Folder& staging, const List& list) {
    for (std::size_t i = 0; i < list.steps.size(); ++i) {
        const Step& step = list.steps[i];
        const fs::path name = step.name;
        const Folder place = folder.below(name.parent_path());
        const std::string file = name.filename();
        const fs::path shown = folder.path() / name;
        if (step.digest.empty()) {
            if (::unlinkat(place.descriptor(), file.c_str(), 0) != 0 && errno != ENOENT) {
                util::fail_write(shown, errno);
            }
        } else {
            const std::string staged = std::to_string(i);
            const std::optional<std::string> content = content_of(staging, staged);
            if (content && util::fingerprint_of(*content) == step.digest) {
                if (::renameat(staging.descriptor(), staged.c_str(), place.descriptor(),
                               file.c_str()) != 0) {
                    util::fail_write(shown, errno);
                }
            } else if (const auto moved = content_of(place, file);
                       !moved || util::fingerprint_of(*moved) != step.digest) {
                throw util::InputError("the new {} is not there", util::printable(shown.string()));
            }
        }
        util::synchronise(place.descriptor());
    }
}

/// The list first: without it, what remains was not decided.
void remove_staging(const Folder& folder, const Folder& staging) {
    ::unlinkat(staging.descriptor(), list_name, 0);
    std::error_code ignored;
    fs::remove_all(staging_path(folder.path()), ignored);
    util::synchronise(folder.descriptor());
}

/// Fails before the change is decided if a file could not be moved to its place afterwards.
void require_place(const Folder& folder, const Folder& staging, const fs::path& name) {
    const Folder place = folder.below(name.parent_path());
    struct stat above {};
    struct stat here {};
    struct stat target {};
    if (::fstat(staging.descriptor(), &above) != 0 || ::fstat(place.descriptor(), &here) != 0) {
        util::fail_write(folder.path() / name, errno);
    }
    if (above.st_dev != here.st_dev) util::fail_write(folder.path() / name, EXDEV);
    if (::faccessat(place.descriptor(), ".", W_OK, AT_EACCESS) != 0) {
        util::fail_write(folder.path() / name, errno);
    }
    if (::fstatat(place.descriptor(), name.filename().c_str(), &target, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISDIR(target.st_mode)) {
        util::fail_write(folder.path() / name, EISDIR);
    }
}

std::string remedy(const fs::path& folder) {
    return fmt::format("restore {} from version control and remove {}",
                       util::printable(folder.string()),
                       util::printable(staging_path(folder).string()));
}

}  // namespace

void change_files(const fs::path& folder_path, const std::vector<FileChange>& changes) {
    if (changes.empty()) return;
    const Folder folder(folder_path);
    const Folder staging = folder.below(staging_name);
    List list;
    try {
        list.folder = inode_of(staging);
        staging.write(".gitignore", "*\n");
        for (const FileChange& change : changes) {
            require_place(folder, staging, change.name);
            const std::string number = std::to_string(list.steps.size());
            Step& step = list.steps.emplace_back(Step{change.name.native(), {}});
            if (!change.content) continue;
            step.digest = util::fingerprint_of(*change.content);
            const util::Descriptor file = staging.create(number);
            int error = util::write_all(file.get(), *change.content);
            if (error == 0) error = util::synchronise(file.get());
            if (error != 0) util::fail_write(folder_path / change.name, error);
        }
        staging.write(list_name, document::write_document(list_schema, list));
    } catch (...) {
        remove_staging(folder, staging);
        throw;
    }
    try {
        make_steps(folder, staging, list);
    } catch (const util::Error& error) {
        throw util::Error(
            "{}; the change is kept in {}, and the next command that writes there finishes it",
            error.what(), util::printable(staging.path().string()));
    }
    remove_staging(folder, staging);
}

std::string finish_interrupted_change(const fs::path& folder_path) {
    std::error_code ignored;
    if (fs::symlink_status(staging_path(folder_path), ignored).type() == fs::file_type::not_found) {
        return {};
    }
    const Folder folder(folder_path);
    const Folder staging = folder.below(staging_name);
    const std::string shown = util::printable(folder_path.string());
    std::size_t files = 0;
    bool decided = false;
    try {
        if (const std::optional<List> list = read_list(staging)) {
            if (list->folder != inode_of(staging)) {
                throw util::InputError("it was begun in another folder");
            }
            decided = true;
            files = list->steps.size();
            make_steps(folder, staging, *list);
        }
    } catch (const util::InputError& error) {
        throw util::InputError(
            "{}: an interrupted change of the baselines cannot be finished: {}; {}", shown,
            error.what(), remedy(folder_path));
    }
    remove_staging(folder, staging);
    return decided
               ? fmt::format("{}: finished the change of {} that was interrupted", shown,
                             util::counted(files, "file"))
               : fmt::format("{}: removed the temporary files of a command that was interrupted",
                             shown);
}

std::string interrupted_change(const fs::path& folder_path) {
    std::error_code ignored;
    if (fs::symlink_status(staging_path(folder_path), ignored).type() == fs::file_type::not_found) {
        return {};
    }
    const util::Descriptor locked(::open(folder_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (::flock(locked.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) return {};
    return fmt::format(
        "{}: a command was interrupted while it changed the baselines: 'perfgate baseline accept', "
        "'refresh' or 'prune' here finishes or removes what it left; elsewhere {}",
        util::printable(staging_path(folder_path).string()), remedy(folder_path));
}

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::string cause(int error) {
    return std::generic_category().message(error);
}

/// Tells whether the locked file is still the one at `path`: others may have replaced a folder.
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
