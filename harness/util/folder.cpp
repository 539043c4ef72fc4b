// SPDX-License-Identifier: Apache-2.0
#include "util/folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::util {

namespace {

namespace fs = std::filesystem;

constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

const char* kind_of(mode_t mode) {
    if (S_ISLNK(mode)) return "a link";
    if (S_ISDIR(mode)) return "a folder";
    if (S_ISREG(mode)) return "a file";
    if (S_ISFIFO(mode)) return "a pipe";
    if (S_ISSOCK(mode)) return "a socket";
    return "a device";
}

[[noreturn]] void refuse_kind(const fs::path& path, const char* expected, mode_t found) {
    throw InputError("{}: expected {}, found {}; remove it", printable(path.native()), expected,
                     kind_of(found));
}

[[noreturn]] void fail_create(const fs::path& path, const std::string& why) {
    throw Error("cannot create the folder {}: {}", printable(path.native()), why);
}

std::string cause(int error) {
    return std::generic_category().message(error);
}

bool leads_out(const fs::path& step) {
    return step == ".." || step.is_absolute();
}

/// One step down, never through a link.
int open_folder(int above, const std::string& name) {
    return ::openat(above, name.c_str(), folder_flags | O_NOFOLLOW);
}

}  // namespace

Folder::Folder(fs::path path, Descriptor open) : path_(std::move(path)), open_(std::move(open)) {}

Folder::Folder(fs::path path) : path_(path.empty() ? fs::path(".") : std::move(path)) {
    std::error_code error;
    fs::create_directories(path_, error);
    if (error) fail_create(path_, error.message());
    open_ = Descriptor(::open(path_.c_str(), folder_flags));
    if (open_.get() < 0) fail_create(path_, cause(errno));
}

std::optional<Folder> Folder::find(const fs::path& path) {
    fs::path named = path.empty() ? fs::path(".") : path;
    Descriptor open(::open(named.c_str(), folder_flags));
    if (open.get() < 0) return std::nullopt;
    return Folder(std::move(named), std::move(open));
}

Descriptor Folder::duplicate() const {
    Descriptor copy(::fcntl(open_.get(), F_DUPFD_CLOEXEC, 0));
    if (copy.get() < 0) fail_write(path_, errno);
    return copy;
}

Folder Folder::below(const fs::path& relative) const {
    Folder folder(path_, duplicate());
    for (const fs::path& step : relative) {
        if (step.empty() || step == ".") continue;
        if (leads_out(step)) {
            throw InputError("{} leads out of {}", printable(relative.native()),
                             printable(path_.native()));
        }
        const std::string& name = step.native();
        folder.path_ /= step;
        if (::mkdirat(folder.open_.get(), name.c_str(), 0777) != 0 && errno != EEXIST) {
            fail_create(folder.path_, cause(errno));
        }
        Descriptor open(open_folder(folder.open_.get(), name));
        if (open.get() < 0) {
            const int error = errno;
            struct stat status {};
            if (::fstatat(folder.open_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                !S_ISDIR(status.st_mode)) {
                refuse_kind(folder.path_, "a folder", status.st_mode);
            }
            fail_create(folder.path_, cause(error));
        }
        folder.open_ = std::move(open);
    }
    return folder;
}

std::optional<Folder> Folder::find_below(const fs::path& relative) const {
    Folder folder(path_, duplicate());
    for (const fs::path& step : relative) {
        if (step.empty() || step == ".") continue;
        if (leads_out(step)) return std::nullopt;
        Descriptor open(open_folder(folder.open_.get(), step.native()));
        if (open.get() < 0) return std::nullopt;
        folder.path_ /= step;
        folder.open_ = std::move(open);
    }
    return folder;
}

void Folder::write(const std::string& name, std::string_view content) const {
    const fs::path shown = path_ / name;
    Replacement replacement(duplicate(), name, shown);
    if (const int error = write_all(replacement.file(), content); error != 0) {
        fail_write(shown, error);
    }
    replacement.finish();
}

Descriptor Folder::create(const std::string& name) const {
    if (::unlinkat(open_.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
        fail_write(path_ / name, errno);
    }
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY;
    Descriptor file(::openat(open_.get(), name.c_str(), flags, 0666));
    if (file.get() < 0) fail_write(path_ / name, errno);
    return file;
}

Descriptor Folder::append(const std::string& name) const {
    // O_NONBLOCK: opening a pipe without a reader must not wait.
    constexpr int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    const fs::path shown = path_ / name;
    Descriptor file(::openat(open_.get(), name.c_str(), flags));
    const int error = errno;
    struct stat status {};
    const bool known =
        file.get() >= 0 ? ::fstat(file.get(), &status) == 0
                        : ::fstatat(open_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (known && !S_ISREG(status.st_mode)) refuse_kind(shown, "a file", status.st_mode);
    if (file.get() < 0) fail_write(shown, error);
    if (status.st_nlink > 1) {
        throw InputError(
            "{}: the file has {} names (hard links), and what is added would be in all of them; "
            "replace it with a copy",
            printable(shown.native()), status.st_nlink);
    }
    return file;
}

void Folder::remove(const std::string& name) const {
    remove_left_temporaries(open_.get(), name);
    ::unlinkat(open_.get(), name.c_str(), 0);
}

void remove_below(const fs::path& folder, const fs::path& relative) {
    const std::optional<Folder> named = Folder::find(folder);
    if (!named) return;
    const std::optional<Folder> place = named->find_below(relative.parent_path());
    if (place) place->remove(relative.filename());
}

}  // namespace perfgate::util
