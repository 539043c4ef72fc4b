// SPDX-License-Identifier: Apache-2.0
#include "runner/reviewed_files.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "baseline/file_changes.hpp"
#include "baseline/store.hpp"
#include "model/error.hpp"
#include "model/file.hpp"
#include "model/text.hpp"
#include "runner/git.hpp"
#include "suite/yaml_reader.hpp"

namespace perfgate::runner {

namespace {

namespace fs = std::filesystem;
using review::File;
using review::FileRole;

constexpr std::size_t most_files = 100'000;
constexpr std::string_view ledger_ending = ".ledger.jsonl";

/// As git writes it: "suites", not "./suites/".
std::string plain_path(const std::string& folder) {
    std::string path = fs::path(folder).lexically_normal().generic_string();
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    return path;
}

std::array<std::pair<FileRole, std::string>, 3> roots_of(const ReviewedFolders& folders) {
    return {{{FileRole::suite, plain_path(folders.suites)},
             {FileRole::profile, plain_path(folders.profiles)},
             {FileRole::baseline, plain_path(folders.baselines)}}};
}

std::size_t limit_of(FileRole role) {
    if (role == FileRole::baseline) return baseline::baseline_limit_bytes;
    return role == FileRole::ledger ? baseline::ledger_limit_bytes : suite::most_yaml_bytes;
}

/// Whether it is part of an interrupted change, which the next command here would finish.
bool is_staged(const std::string& path) {
    return path.find(fmt::format("/{}/", baseline::staging_name)) != std::string::npos;
}

/// Whether the verbs would read a file of this name in a folder of `role`, which becomes the file's
/// role.
bool is_read(const std::string& path, FileRole& role) {
    if (role == FileRole::baseline && is_staged(path)) return true;
    if (role == FileRole::baseline && path.ends_with(ledger_ending)) role = FileRole::ledger;
    if (role == FileRole::ledger) return true;
    if (role == FileRole::baseline) return path.ends_with(".json");
    return path.ends_with(".yaml") || path.ends_with(".yml");
}

std::string too_large(FileRole role) {
    return fmt::format("larger than {} bytes, the most that is read", limit_of(role));
}

void add(review::Files& files, const std::string& path, File file) {
    if (files.size() == most_files) {
        throw model::InputError(
            fmt::format("more than {} files to review; expected fewer: "
                        "--suites, --profiles and --baselines name folders",
                        most_files));
    }
    if (is_staged(path) && file.fault.empty()) {
        file.fault = "part of a change of baselines that was interrupted";
    }
    files.emplace(path, std::move(file));
}

void add_git_file(review::Files& files, const runner::GitFile& listed, FileRole role) {
    const bool regular = listed.mode.starts_with("100");
    if (!is_read(listed.path, role) && regular) return;
    File file{role, "", ""};
    if (listed.mode == "160000") {
        file.fault = "a submodule";
    } else if (listed.size_bytes > limit_of(role)) {
        file.fault = too_large(role);
        file.content = listed.object;
    } else {
        auto content = runner::git_content(listed);
        if (!content) {
            throw model::InputError(
                fmt::format("git does not have {} any more; expected a whole repository",
                            model::printable(listed.path)));
        }
        file.content = std::move(*content);
        if (!regular) file.fault = "a link, which is not followed";
    }
    add(files, listed.path, std::move(file));
}

void add_file(review::Files& files, const fs::path& path, const fs::file_status& status,
              FileRole role) {
    const std::string name = path.generic_string();
    if (status.type() == fs::file_type::directory) return;
    const bool regular = status.type() == fs::file_type::regular;
    if (!is_read(name, role) && regular) return;
    File file{role, "", ""};
    std::error_code error;
    if (status.type() == fs::file_type::symlink) {
        file.fault = "a link, which is not followed";
        file.content = fs::read_symlink(path, error).string();
    } else {
        try {
            file.content = model::read_file(path, limit_of(role), "file");
        } catch (const model::InputError& problem) {
            file.fault = problem.what();
        }
    }
    add(files, name, std::move(file));
}

/// `root` and everything below it, without following links.
void add_tree(review::Files& files, const fs::path& root, FileRole role) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(root, error);
    if (status.type() == fs::file_type::not_found) return;
    add_file(files, root, status, role);
    if (status.type() != fs::file_type::directory) return;
    const auto refuse = [&] {
        throw model::InputError(fmt::format("cannot read the folder {}: {}",
                                            model::printable(root.string()), error.message()));
    };
    fs::recursive_directory_iterator entry(root, error);
    if (error) refuse();
    for (; entry != fs::recursive_directory_iterator(); entry.increment(error)) {
        if (error) refuse();
        add_file(files, entry->path(), entry->symlink_status(error), role);
    }
    if (error) refuse();
}

}  // namespace

review::Files files_of_revision(const std::string& revision, const ReviewedFolders& folders) {
    review::Files files;
    for (const auto& [role, root] : roots_of(folders)) {
        const auto listed = runner::git_files(revision, {root});
        if (!listed) {
            throw model::InputError(fmt::format(
                "git has no commit {} here; expected a branch, tag or commit of the repository "
                "that perfgate runs in",
                model::printable(revision)));
        }
        for (const runner::GitFile& file : *listed) add_git_file(files, file, role);
    }
    return files;
}

review::Files files_of_working_tree(const ReviewedFolders& folders) {
    review::Files files;
    for (const auto& [role, root] : roots_of(folders)) add_tree(files, root, role);
    return files;
}

}  // namespace perfgate::runner
