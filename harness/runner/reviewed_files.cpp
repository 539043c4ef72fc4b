// SPDX-License-Identifier: Apache-2.0
#include "runner/reviewed_files.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "baseline/file_changes.hpp"
#include "baseline/store.hpp"
#include "runner/git.hpp"
#include "suite/named_plugins.hpp"
#include "suite/profile.hpp"
#include "suite/yaml_reader.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

namespace fs = std::filesystem;
using review::File;
using review::FileRole;

constexpr std::size_t most_files = 100'000;
constexpr std::string_view ledger_ending = ".ledger.jsonl";

/// As git writes it: "suites", not "./suites/" or its absolute path.
std::string plain_path(const std::string& place) {
    fs::path path = fs::path(place).lexically_normal();
    if (path.is_absolute()) path = path.lexically_relative(fs::current_path());
    std::string text = path.generic_string();
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    return text.empty() ? "." : text;
}

std::vector<std::string> parts_of(const std::string& path) {
    std::vector<std::string> parts;
    if (path == ".") return parts;
    for (const fs::path& part : fs::path(path)) parts.push_back(part.generic_string());
    return parts;
}

bool is_pattern(std::string_view text) {
    return text.find_first_of("*?[") != std::string_view::npos;
}

/// Whether it is part of an interrupted change, which the next command here would finish.
bool is_staged(const std::string& path) {
    return fmt::format("/{}", path).find(fmt::format("/{}/", baseline::staging_name)) !=
           std::string::npos;
}

enum class Entry { regular, folder, link, other };

/// Where the files of one role are.
class Place {
  public:
    Place(FileRole role, const std::string& text)
        : role_(role), path_(plain_path(text)), parts_(parts_of(path_)) {}

    FileRole role() const { return role_; }
    bool names(const std::string& path) const { return path == path_; }

    /// Whether an entry of a tree is one of its files, or a link that hides some.
    bool has(const std::string& path, Entry entry) const {
        switch (relation_to(path)) {
            case Relation::above:
                return entry == Entry::link;
            case Relation::at:
                return entry != Entry::folder;
            case Relation::below:
                return entry == Entry::regular ? is_read(path) : entry != Entry::folder;
            case Relation::apart:
                break;
        }
        return false;
    }

    bool may_be_in(const std::string& folder) const {
        const Relation relation = relation_to(folder);
        return relation == Relation::above || relation == Relation::below ||
               (relation == Relation::at && !is_pattern(path_));
    }

    /// What to list to find them: no pattern, and no more parts than needed to come upon a link.
    std::string listed() const {
        std::string root;
        for (const std::string& part : parts_) {
            if (is_pattern(part)) break;
            root += (root.empty() ? "" : "/") + part;
            if (part != "..") break;
        }
        return root.empty() ? "." : root;
    }

  private:
    /// How a path relates to the place: it is apart, a folder above it, the place, or below it.
    enum class Relation { apart, above, at, below };

    Relation relation_to(const std::string& path) const {
        if (names(path)) return Relation::at;
        const std::vector<std::string> parts = parts_of(path);
        for (std::size_t i = 0; i < std::min(parts.size(), parts_.size()); ++i) {
            const bool same = is_pattern(parts_[i])
                                  ? fnmatch(parts_[i].c_str(), parts[i].c_str(), FNM_PERIOD) == 0
                                  : parts_[i] == parts[i];
            if (!same) return Relation::apart;
        }
        if (parts.size() < parts_.size()) return Relation::above;
        if (parts.size() == parts_.size()) return Relation::at;
        return is_pattern(path_) ? Relation::apart : Relation::below;
    }

    /// Whether the verbs would read a file of this name in the folder. No pattern finds a hidden
    /// suite.
    bool is_read(const std::string& path) const {
        if (role_ == FileRole::baseline) {
            return path.ends_with(".json") || path.ends_with(ledger_ending) || is_staged(path);
        }
        if (role_ == FileRole::python) return false;  // one is named by its file
        if (role_ == FileRole::suite && is_hidden(path)) return false;
        return path.ends_with(".yaml") || path.ends_with(".yml");
    }

    bool is_hidden(const std::string& path) const {
        const std::vector<std::string> parts = parts_of(path);
        return std::any_of(parts.begin() + static_cast<std::ptrdiff_t>(parts_.size()), parts.end(),
                           [](const std::string& part) { return part.starts_with('.'); });
    }

    FileRole role_;
    std::string path_;
    std::vector<std::string> parts_;
};

std::vector<Place> all_places(const ReviewedPlaces& places) {
    std::vector<Place> all;
    for (const std::string& text : places.suites) all.emplace_back(FileRole::suite, text);
    for (const std::string& text : places.profiles) all.emplace_back(FileRole::profile, text);
    for (const std::string& text : places.baselines) all.emplace_back(FileRole::baseline, text);
    return all;
}

/// The role of an entry of a tree; nothing: it is not reviewed. A profile that is named by its file
/// may be beside suites that a pattern matches.
std::optional<FileRole> role_of(const std::vector<Place>& places, const std::string& path,
                                Entry entry) {
    std::optional<FileRole> role;
    for (const Place& place : places) {
        if (!place.has(path, entry)) continue;
        if (place.role() == FileRole::profile && place.names(path)) return FileRole::profile;
        if (role && *role != place.role() && entry == Entry::regular) {
            throw util::InputError(
                "{} is in two of SUITE, --config and --baselines; expected one, or the config "
                "named by its file",
                util::printable(path));
        }
        role = role.value_or(place.role());
    }
    if (role == FileRole::baseline && path.ends_with(ledger_ending)) return FileRole::ledger;
    return role;
}

std::set<std::string> listed_by(const std::vector<Place>& places) {
    std::set<std::string> roots;
    for (const Place& place : places) roots.insert(place.listed());
    return roots;
}

std::size_t limit_of(FileRole role) {
    if (role == FileRole::baseline) return baseline::baseline_limit_bytes;
    if (role == FileRole::python) return suite::most_python_bytes;
    return role == FileRole::ledger ? baseline::ledger_limit_bytes : suite::most_yaml_bytes;
}

std::string too_large(FileRole role) {
    return fmt::format("larger than {} bytes, the most that is read", limit_of(role));
}

void add(review::Files& files, const std::string& path, File file) {
    if (files.size() == most_files) {
        throw util::InputError(
            "more than {} files to review; expected fewer: SUITE, --config and --baselines name "
            "folders",
            most_files);
    }
    if (is_staged(path) && file.fault.empty()) {
        file.fault = "part of a change of baselines that was interrupted";
    }
    files.emplace(path, std::move(file));
}

void add_git_file(review::Files& files, const runner::GitFile& listed,
                  const std::vector<Place>& places) {
    const Entry entry = listed.mode.starts_with("100") ? Entry::regular : Entry::link;
    const std::optional<FileRole> role = role_of(places, listed.path, entry);
    if (!role) return;
    File file{*role, "", ""};
    if (listed.mode == "160000") {
        file.fault = "a submodule";
    } else if (listed.size_bytes > limit_of(*role)) {
        file.fault = too_large(*role);
        file.content = listed.object;
    } else {
        auto content = runner::git_content(listed);
        if (!content) {
            throw util::InputError("git does not have {} any more; expected a whole repository",
                                   util::printable(listed.path));
        }
        file.content = std::move(*content);
        if (entry == Entry::link) file.fault = "a link, which is not followed";
    }
    add(files, listed.path, std::move(file));
}

void add_file(review::Files& files, const std::string& path, Entry entry,
              const std::vector<Place>& places) {
    const std::optional<FileRole> role = role_of(places, path, entry);
    if (!role) return;
    File file{*role, "", ""};
    std::error_code error;
    if (entry == Entry::link) {
        file.fault = "a link, which is not followed";
        file.content = fs::read_symlink(path, error).string();
    } else {
        try {
            file.content = util::read_file(path, limit_of(*role), "file");
        } catch (const util::InputError& problem) {
            file.fault = problem.what();
        }
    }
    add(files, path, std::move(file));
}

Entry entry_of(const fs::file_status& status) {
    switch (status.type()) {
        case fs::file_type::regular:
            return Entry::regular;
        case fs::file_type::directory:
            return Entry::folder;
        case fs::file_type::symlink:
            return Entry::link;
        default:
            return Entry::other;
    }
}

/// What is at `root` and below it, without following links, as far as it may be reviewed.
void add_tree(review::Files& files, const std::string& root, const std::vector<Place>& places) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(root, error);
    if (status.type() == fs::file_type::not_found) return;
    const auto may_be_in = [&](const std::string& folder) {
        return std::ranges::any_of(places,
                                   [&](const Place& place) { return place.may_be_in(folder); });
    };
    add_file(files, root, entry_of(status), places);
    if (status.type() != fs::file_type::directory || !may_be_in(root)) return;
    const auto refuse = [&] {
        throw util::InputError("cannot read the folder {}: {}", util::printable(root),
                               error.message());
    };
    fs::recursive_directory_iterator entry(root, error);
    if (error) refuse();
    for (; entry != fs::recursive_directory_iterator(); entry.increment(error)) {
        if (error) refuse();
        const std::string path = entry->path().lexically_normal().generic_string();
        const Entry kind = entry_of(entry->symlink_status(error));
        if (kind == Entry::folder && !may_be_in(path)) {
            entry.disable_recursion_pending();
        } else {
            add_file(files, path, kind, places);
        }
    }
    if (error) refuse();
}

void add_baselines(const review::Files& files, std::set<std::string>& folders) {
    for (const auto& [path, file] : files) {
        if (file.role != FileRole::profile || !file.fault.empty()) continue;
        try {
            folders.insert(suite::baselines_of(suite::parse_profile(file.content, path)));
        } catch (const util::InputError&) {
            // The review lists it as unreadable.
        }
    }
}

/// The Python files that the suites among the files name.
std::vector<Place> python_places(const review::Files& files) {
    std::set<std::string> named;
    for (const auto& [path, file] : files) {
        if (file.role != FileRole::suite) continue;
        for (const suite::PythonFile& python : suite::needs_of_text(file.content, path).scripts) {
            named.insert(python.file);
        }
    }
    std::vector<Place> places;
    for (const std::string& file : named) places.emplace_back(FileRole::python, file);
    return places;
}

}  // namespace

review::Files files_of_revision(const std::string& revision, const ReviewedPlaces& places) {
    const std::vector<Place> all = all_places(places);
    review::Files files;
    for (const std::string& root : listed_by(all)) {
        const auto listed = runner::git_files(revision, {root});
        if (!listed && !runner::git_commit(".", revision).empty()) {
            throw util::InputError(
                "git lists no files of {} in {}; expected a place in the repository that perfgate "
                "runs in",
                util::printable(revision), util::printable(root));
        }
        if (!listed) {
            throw util::InputError(
                "git has no commit {} here; expected a branch, tag or commit of the repository "
                "that perfgate runs in",
                util::printable(revision));
        }
        for (const runner::GitFile& file : *listed) add_git_file(files, file, all);
    }
    const std::vector<Place> python = python_places(files);
    for (const std::string& root : listed_by(python)) {
        const auto listed = runner::git_files(revision, {root});
        if (!listed) continue;  // it is not in the repository
        for (const runner::GitFile& file : *listed) add_git_file(files, file, python);
    }
    return files;
}

review::Files files_of_working_tree(const ReviewedPlaces& places) {
    const std::vector<Place> all = all_places(places);
    review::Files files;
    for (const std::string& root : listed_by(all)) add_tree(files, root, all);
    const std::vector<Place> python = python_places(files);
    for (const std::string& root : listed_by(python)) add_tree(files, root, python);
    return files;
}

ReviewedPlaces with_baselines_of_profiles(const std::string& revision, ReviewedPlaces places) {
    if (!places.baselines.empty()) return places;
    ReviewedPlaces of_profiles;
    of_profiles.suites.clear();
    of_profiles.profiles = places.profiles;
    std::set<std::string> folders;
    add_baselines(files_of_revision(revision, of_profiles), folders);
    add_baselines(files_of_working_tree(of_profiles), folders);
    if (folders.empty()) folders.emplace(suite::usual_baselines);
    for (const std::string& folder : folders) {
        const Place place(FileRole::baseline, folder);
        (runner::git_files(revision, {place.listed()}) ? places.baselines : places.outside)
            .push_back(folder);
    }
    return places;
}

std::vector<std::string> empty_places(const std::vector<std::string>& places, review::FileRole role,
                                      const review::Files& before, const review::Files& after) {
    std::vector<std::string> empty;
    for (const std::string& text : places) {
        const Place place(role, text);
        const auto has_some = [&](const review::Files& files) {
            return std::ranges::any_of(files, [&](const auto& file) {
                return file.second.role == role && file.second.fault.empty() &&
                       place.has(file.first, Entry::regular);
            });
        };
        if (!has_some(before) && !has_some(after)) empty.push_back(text);
    }
    return empty;
}

}  // namespace perfgate::runner
