// SPDX-License-Identifier: Apache-2.0
// Files under names that perfgate chooses, in a folder that the user names. Whoever made the
// folder, such as a checkout of somebody else's branch, may have planted links under these names.
// Therefore nothing below the folder is followed: a link, pipe or device in the place of a file is
// replaced by the file, what it points to stays as it is, and a link in the place of a folder is
// refused.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "util/file.hpp"

namespace perfgate::util {

class Folder {
  public:
    /// The folder that the user names, which may be a link. It is created if it is missing. Throws
    /// Error.
    explicit Folder(std::filesystem::path path);
    /// The same; nothing if it is missing or no folder.
    static std::optional<Folder> find(const std::filesystem::path& path);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] int descriptor() const { return open_.get(); }

    /// The folder below with this relative path, created if it is missing. Throws InputError if a
    /// link or a file has the name of one on the way.
    [[nodiscard]] Folder below(const std::filesystem::path& relative) const;
    /// The same; nothing if it is missing, or if something else has its name.
    [[nodiscard]] std::optional<Folder> find_below(const std::filesystem::path& relative) const;

    /// Writes a file as a whole, as write_file_atomically does. Throws Error.
    void write(const std::string& name, std::string_view content) const;
    /// A new, empty file in place of what has this name. Throws Error.
    [[nodiscard]] Descriptor create(const std::string& name) const;
    /// An existing file, to add to it. Throws InputError if it is no plain file, or one with
    /// several names.
    [[nodiscard]] Descriptor append(const std::string& name) const;
    /// Removes what has this name, unless it is a folder, and temporary files that writers of it
    /// left. Nothing is reported: what stays is found when it is written.
    void remove(const std::string& name) const;

  private:
    Folder(std::filesystem::path path, Descriptor open);
    [[nodiscard]] Descriptor duplicate() const;

    std::filesystem::path path_;
    Descriptor open_;
};

/// Removes the file with this relative path below the folder, as Folder::remove does.
void remove_below(const std::filesystem::path& folder, const std::filesystem::path& relative);

}  // namespace perfgate::util
