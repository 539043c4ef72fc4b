// SPDX-License-Identifier: Apache-2.0
#include "util/temporary_folder.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
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

}  // namespace

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
        throw Error(fmt::format("cannot create a folder in {}: {}", printable(parent.string()),
                                error.message()));
    }
    path_ = created;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    if (!kept_) fs::remove_all(path_, ignored);
}

const fs::path& TemporaryFolder::keep() {
    kept_ = true;
    return path_;
}

}  // namespace perfgate::util
