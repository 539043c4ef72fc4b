// SPDX-License-Identifier: Apache-2.0
#include "util/temporary_folder.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::util {

namespace fs = std::filesystem;

namespace {

fs::path place_of_temporary_files() {
    std::error_code error;
    fs::path place = fs::temp_directory_path(error);
    if (error) throw Error("no folder for temporary files: $TMPDIR names none; expected one");
    return place;
}

/// The folders that there are; more than these are not removed by a handler of signals.
std::array<std::atomic<const char*>, 32> present;
static_assert(std::atomic<const char*>::is_always_lock_free);

void set_present(const char* path) {
    for (auto& place : present) {
        const char* none = nullptr;
        if (place.compare_exchange_strong(none, path)) return;
    }
}

void set_gone(const char* path) {
    for (auto& place : present) {
        const char* own = path;
        if (place.compare_exchange_strong(own, nullptr)) return;
    }
}

/// An entry as the kernel gives it.
struct Entry {
    std::uint64_t inode;
    std::int64_t offset;
    std::uint16_t bytes;
    std::uint8_t type;
    char name[1];
};

/// Removes what is in an open folder, without following links.
void empty(int folder, int depth) noexcept {
    constexpr int most_depth = 8;
    alignas(Entry) std::array<char, 2048> buffer{};
    long bytes = 0;
    while ((bytes = syscall(SYS_getdents64, folder, buffer.data(), buffer.size())) > 0) {
        for (long at = 0; at < bytes;) {
            const auto* entry = reinterpret_cast<const Entry*>(buffer.data() + at);
            at += entry->bytes;
            const char* name = static_cast<const char*>(entry->name);
            if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
            if (unlinkat(folder, name, 0) == 0 || depth == most_depth) continue;
            const int below = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (below < 0) continue;
            empty(below, depth + 1);
            close(below);
            unlinkat(folder, name, AT_REMOVEDIR);
        }
    }
}

}  // namespace

void remove_temporary_folders() noexcept {
    for (const auto& place : present) {
        const char* path = place;
        if (path == nullptr) continue;
        const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder < 0) continue;
        empty(folder, 0);
        close(folder);
        rmdir(path);
    }
}

TemporaryFolder::TemporaryFolder(const std::string& name)
    : TemporaryFolder(place_of_temporary_files(), name) {}

TemporaryFolder::TemporaryFolder(const fs::path& parent, const std::string& name) {
    std::error_code error;
    fs::create_directories(parent, error);
    std::string created = (parent / (name + "-XXXXXX")).string();
    if (!error && mkdtemp(created.data()) == nullptr) {
        error = std::error_code(errno, std::generic_category());
    }
    if (error) {
        throw Error("cannot create a folder in {}: {}", printable(parent.string()),
                    error.message());
    }
    path_ = created;
    set_present(path_.c_str());
}

TemporaryFolder::~TemporaryFolder() {
    set_gone(path_.c_str());
    std::error_code ignored;
    if (!kept_) fs::remove_all(path_, ignored);
}

const fs::path& TemporaryFolder::keep() {
    set_gone(path_.c_str());
    kept_ = true;
    return path_;
}

}  // namespace perfgate::util
