// SPDX-License-Identifier: Apache-2.0
// A new, private folder with an unguessable name: where others may write, too, they may have
// planted links under any guessable one.
#pragma once

#include <filesystem>
#include <string>

namespace perfgate::util {

/// Removes what is there of this process's folders. For a handler of signals that then ends the
/// process, which destroys nothing: it allocates nothing and takes no lock.
void remove_temporary_folders() noexcept;

/// Removed at the end, with all that is in it.
class TemporaryFolder {
  public:
    /// In the folder for temporary files ($TMPDIR); `name` is its beginning. Throws Error if it
    /// cannot be created.
    explicit TemporaryFolder(const std::string& name = "perfgate");
    /// In `parent`, which is created if it is missing.
    TemporaryFolder(const std::filesystem::path& parent, const std::string& name);
    ~TemporaryFolder();
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;  // nor copied

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    /// It is not removed any more.
    const std::filesystem::path& keep();

  private:
    std::filesystem::path path_;
    bool kept_ = false;
};

}  // namespace perfgate::util
