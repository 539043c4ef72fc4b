// SPDX-License-Identifier: Apache-2.0
#include "runner/run_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>

#include "document/run.hpp"
#include "model/error.hpp"
#include "model/file.hpp"
#include "model/text.hpp"

namespace perfgate::runner {

namespace {

/// A private folder with an unguessable name: in the folder for temporary files, others may have
/// planted links under any guessable name.
std::filesystem::path make_private_folder() {
    std::error_code error;
    const std::filesystem::path place = std::filesystem::temp_directory_path(error);
    if (error) {
        throw model::Error("no folder for temporary files: $TMPDIR names none; expected one");
    }
    std::string name = (place / "perfgate-run-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
        throw model::Error(fmt::format("cannot create a folder in {}: {}", place.string(),
                                       std::generic_category().message(errno)));
    }
    return name;
}

}  // namespace

model::Run read_run(const std::filesystem::path& file) {
    return document::parse_run(model::read_file(file, run_limit_bytes, "run"), file.string());
}

int store_run(const model::Run& run, const std::filesystem::path& folder) {
    const std::string text = document::write_run(run);
    try {
        model::write_file_atomically(folder / "run.json", text);
        return 0;
    } catch (const model::Error& error) {
        fmt::print(stderr, "perfgate: {}\n", model::printable(error.what(), 1000));
    }
    try {
        const std::filesystem::path elsewhere = make_private_folder() / "run.json";
        model::write_file_atomically(elsewhere, text);
        fmt::print(stderr, "perfgate: the run is in {} instead\n", elsewhere.string());
    } catch (const model::Error& error) {
        fmt::print(stderr, "perfgate: {}\n", model::printable(error.what(), 1000));
    }
    return 3;
}

}  // namespace perfgate::runner
