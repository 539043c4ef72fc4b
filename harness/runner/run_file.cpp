// SPDX-License-Identifier: Apache-2.0
#include "runner/run_file.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "document/run.hpp"
#include "model/date.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/folder.hpp"
#include "util/sha256.hpp"
#include "util/temporary_folder.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

model::Run read_run(const std::filesystem::path& file) {
    return document::parse_run(util::read_file(file, run_limit_bytes, "run"), file.string());
}

int store_run(const model::Run& run, const std::filesystem::path& folder) {
    const std::string text = document::write_run(run);
    try {
        util::Folder(folder).write("run.json", text);
        return 0;
    } catch (const util::Error& error) {
        fmt::print(stderr, "perfgate: {}\n", util::printable(error.what(), 1000));
    }
    try {
        util::TemporaryFolder private_folder("perfgate-run");
        const std::filesystem::path elsewhere = private_folder.path() / "run.json";
        util::write_file_atomically(elsewhere, text);
        private_folder.keep();
        fmt::print(stderr, "perfgate: the run is in {} instead\n", elsewhere.string());
    } catch (const util::Error& error) {
        fmt::print(stderr, "perfgate: {}\n", util::printable(error.what(), 1000));
    }
    return 3;
}

void DistinctFiles::add(const std::string& file, std::string_view content) {
    const auto [first, added] = files_.emplace(util::fingerprint_of(content), file);
    if (added) return;
    throw util::InputError(
        "{} and {} have the same content, which is one measurement and not two: name each file "
        "once",
        util::printable(first->second), util::printable(file));
}

std::string utc_now() {
    return model::utc_text(
        std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));
}

}  // namespace perfgate::runner
