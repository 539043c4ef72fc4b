// SPDX-License-Identifier: Apache-2.0
#include "baseline/file_changes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include "document/archive.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/folder.hpp"
#include "util/replacement.hpp"
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

std::string digest_of(std::string_view content) {
    util::Sha256 sum;
    sum.add(content);
    return sum.fingerprint();
}

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
            if (content && digest_of(*content) == step.digest) {
                if (::renameat(staging.descriptor(), staged.c_str(), place.descriptor(),
                               file.c_str()) != 0) {
                    util::fail_write(shown, errno);
                }
            } else if (const auto moved = content_of(place, file);
                       !moved || digest_of(*moved) != step.digest) {
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
            step.digest = digest_of(*change.content);
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

}  // namespace perfgate::baseline
