// SPDX-License-Identifier: Apache-2.0
#include "runner/builds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "util/error.hpp"
#include "util/file.hpp"
#include "util/sha256.hpp"
#include "util/temporary_folder.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files_of_build = 64;
constexpr std::string_view machine_code = ".cubin";
constexpr const char* unfinished = ".new";

/// The fingerprints of files' contents, by name.
using Contents = std::map<std::string, std::string>;

bool is_library(const std::string& name) {
    const std::size_t end = name.find(".so");
    return end != std::string::npos && (name.size() == end + 3 || name[end + 3] == '.');
}

/// A name of the files that are kept, and no path.
bool is_plain(const std::string& name) {
    return !name.empty() && name.front() != '.' && name.size() < 256 &&
           std::ranges::all_of(name, [](unsigned char c) {
               return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-' || c == '+';
           });
}

bool is_fingerprint(const std::string& code) {
    return util::is_hex(code, 32);
}

/// Whether `code` is the fingerprint of a plugin's host code (backend/plugin/loader.cpp): of one
/// module, or of two.
bool is_code_of(const std::string& code, const std::string& module, const std::string& second) {
    if (second.empty()) return module == code;
    util::Sha256 both;
    both.add(module);
    both.add(second);
    return both.fingerprint() == code;
}

/// The names of the plugin that the code is of, itself first.
std::vector<std::string> modules_in(const Contents& contents, const std::string& code) {
    for (const auto& [name, content] : contents) {
        if (is_code_of(code, content, "")) return {name};
    }
    for (const auto& [name, content] : contents) {
        for (const auto& [second, of_second] : contents) {
            if (name != second && is_code_of(code, content, of_second)) return {name, second};
        }
    }
    return {};
}

/// The files to load. Empty, with the reason in `problem`: not all of them are accounted for.
std::vector<std::string> checked(const Contents& contents, const std::string& code,
                                 const model::Libraries& libraries, std::string& problem) {
    if (contents.size() == 1 && contents.begin()->first.ends_with(machine_code)) {
        const auto& [name, content] = *contents.begin();
        // Its kernel is compared when it has run: it is no code of the host.
        if (name == content + std::string(machine_code)) return {name};
        problem = "its machine code is not what was kept";
        return {};
    }
    const std::vector<std::string> modules = modules_in(contents, code);
    if (modules.empty()) {
        problem = "its files are not those of the baseline";
        return {};
    }
    for (const auto& [name, content] : contents) {
        if (std::ranges::find(modules, name) != modules.end()) continue;
        const auto known = libraries.find(name);
        if (known != libraries.end() && known->second == content) continue;
        problem = fmt::format("{} is no library of the baseline", util::printable(name));
        return {};
    }
    return {modules.front()};
}

/// Files only, by name; nothing if something else is there, or too much.
std::optional<std::vector<fs::path>> plain_files_in(const fs::path& folder,
                                                    std::uintmax_t most_bytes) {
    std::vector<fs::path> files;
    std::uintmax_t bytes = 0;
    std::error_code error;
    fs::directory_iterator at(folder, error);
    for (; !error && at != fs::directory_iterator(); at.increment(error)) {
        std::error_code of_file;
        if (at->symlink_status(of_file).type() != fs::file_type::regular || of_file ||
            !is_plain(at->path().filename().string()) || files.size() == most_files_of_build) {
            return std::nullopt;
        }
        bytes += at->file_size(of_file);
        if (of_file || bytes > most_bytes) return std::nullopt;
        files.push_back(at->path());
    }
    if (error) return std::nullopt;
    return files;
}

std::uintmax_t size_of(const fs::path& folder) {
    std::uintmax_t bytes = 0;
    std::error_code error;
    for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator();
         at.increment(error)) {
        std::error_code of_file;
        const std::uintmax_t size = at->file_size(of_file);
        if (!of_file) bytes += size;
    }
    return bytes;
}

Contents contents_of(const std::vector<fs::path>& files) {
    Contents contents;
    for (const fs::path& file : files) {
        contents[file.filename().string()] = util::fingerprint_of_file(file);
    }
    return contents;
}

/// Removes what was begun and never kept, and the builds that were kept least recently, until the
/// others have at most `most_bytes`.
void make_room(const fs::path& folder, std::uintmax_t most_bytes) {
    struct Kept {
        fs::file_time_type since;
        fs::path folder;
        std::uintmax_t bytes = 0;
    };
    // Keeping a build takes less time: the process that began what is older was killed.
    const auto abandoned = fs::file_time_type::clock::now() - std::chrono::hours(1);
    std::vector<Kept> kept;
    std::uintmax_t bytes = 0;
    std::error_code error;
    for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator();
         at.increment(error)) {
        std::error_code ignored;
        if (at->path().filename().string().starts_with(unfinished) &&
            at->symlink_status(ignored).type() == fs::file_type::directory &&
            fs::last_write_time(at->path(), ignored) < abandoned) {
            fs::remove_all(at->path(), ignored);
            continue;
        }
        if (!is_fingerprint(at->path().filename().string()) ||
            at->symlink_status(ignored).type() != fs::file_type::directory) {
            continue;
        }
        kept.push_back({fs::last_write_time(at->path(), ignored), at->path(), size_of(at->path())});
        bytes += kept.back().bytes;
    }
    std::ranges::sort(kept, {}, [](const Kept& each) { return std::tie(each.since, each.folder); });
    for (const Kept& each : kept) {
        if (bytes <= most_bytes) return;
        std::error_code ignored;
        fs::remove_all(each.folder, ignored);
        bytes -= each.bytes;
    }
}

/// The plugin and the files beside it that its code is of, with the libraries there that the case
/// loaded.
std::vector<fs::path> files_of_plugin(const fs::path& plugin, const std::string& code,
                                      const std::optional<model::Libraries>& libraries) {
    const std::string own = util::fingerprint_of_file(plugin);
    std::vector<fs::path> files{plugin};
    bool complete = is_code_of(code, own, "");
    const std::string stem = plugin.stem().string();
    std::error_code error;
    for (fs::directory_iterator at(plugin.parent_path(), error);
         !error && at != fs::directory_iterator(); at.increment(error)) {
        const std::string name = at->path().filename().string();
        std::error_code of_file;
        if (!is_library(name) || !at->is_regular_file(of_file) || of_file ||
            name == plugin.filename()) {
            continue;
        }
        const bool named = libraries && libraries->contains(name);
        if (!named && complete) continue;
        const std::string content = util::fingerprint_of_file(at->path());
        if (named && libraries->at(name) == content) {
            files.push_back(at->path());
        } else if (!complete && is_code_of(code, own, content)) {
            complete = true;
            files.push_back(at->path());
        }
    }
    if (!complete) files.clear();
    return files;
}

}  // namespace

std::string code_of_build(const model::Subject& subject, const std::vector<model::Kernel>& kernels,
                          const std::string& host_code) {
    if (subject.kernel() != nullptr) return kernels.size() == 1 ? kernels.front().code : "";
    return subject.sides().builds ? host_code : "";
}

Build build_of(const model::Subject& subject, const model::CaseResult& result,
               const model::WorkloadCatalogue& workloads) {
    Build build{code_of_build(subject, result.kernels, result.host_code), {}};
    if (build.code.empty()) return {};
    if (const model::SourceKernel* kernel = subject.kernel()) {
        build.files = {kernel->code.file};
    } else if (const auto* workload = model::find_workload(workloads, result.spec.workload)) {
        build.files = files_of_plugin(fs::absolute(workload->plugin), build.code, result.libraries);
    }
    if (build.files.empty()) return {};
    return build;
}

KeptBuilds::KeptBuilds(fs::path folder, std::uintmax_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes) {}

std::string KeptBuilds::keep(const Build& build) const {
    const fs::path place = folder_ / build.code;
    const auto failed = [&](std::string_view why) {
        return fmt::format("build {} is not kept in {}: {}", util::printable(build.code),
                           util::printable(folder_.string()), why);
    };
    if (!is_fingerprint(build.code)) return failed("its fingerprint is none");
    try {
        const util::TemporaryFolder copy(folder_, unfinished);
        // In a working tree its files would change what git says of the revision.
        if (!fs::exists(folder_ / ".gitignore")) {
            util::write_file_atomically(folder_ / ".gitignore", "*\n");
        }
        std::uintmax_t bytes = 0;
        for (const fs::path& file : build.files) {
            const bool code = build.files.size() == 1 && !is_library(file.filename().string());
            const std::string name =
                code ? util::fingerprint_of_file(file) + std::string(machine_code)
                     : file.filename().string();
            if (!is_plain(name)) return failed(util::printable(name) + " is no name for it");
            bytes += fs::file_size(file);
            if (bytes > most_bytes_) {
                return failed(fmt::format("it is larger than {} MiB", most_bytes_ >> 20));
            }
            fs::copy_file(file, copy.path() / name);
        }
        std::error_code exists;
        fs::rename(copy.path(), place, exists);
        if (exists) {
            // Kept before, or by another process now. What is not as it was kept makes place.
            const auto files = plain_files_in(place, most_bytes_);
            if (files &&
                contents_of(*files) == contents_of(plain_files_in(copy.path(), most_bytes_)
                                                       .value_or(std::vector<fs::path>{}))) {
                std::error_code ignored;
                fs::last_write_time(place, fs::file_time_type::clock::now(), ignored);
                return {};
            }
            fs::remove_all(place);
            fs::rename(copy.path(), place);
        }
        make_room(folder_, most_bytes_);
    } catch (const fs::filesystem_error& error) {
        return failed(util::printable(error.code().message()));
    } catch (const util::Error& error) {
        return failed(util::printable(error.what(), 300));
    }
    return {};
}

KeptBuilds::Taken KeptBuilds::take(const std::string& code, const model::Libraries& libraries,
                                   const fs::path& to) const {
    const fs::path place = folder_ / code;
    std::error_code error;
    if (!is_fingerprint(code) ||
        fs::symlink_status(place, error).type() != fs::file_type::directory) {
        return {
            {},
            fmt::format("{} does not have the baseline's build, which 'perfgate baseline refresh' "
                        "keeps there; 'perfgate ab --base rev:REF' measures both sides here",
                        util::printable(folder_.string()))};
    }
    const auto refused = [&](std::string_view why) {
        return Taken{{},
                     fmt::format("{} is refused: {}; 'perfgate baseline refresh SUITE' keeps "
                                 "it anew",
                                 util::printable(place.string()), why)};
    };
    const auto files = plain_files_in(place, most_bytes_);
    if (!files || files->empty()) return refused("it is no folder of plain files");
    try {
        fs::create_directories(to);
        for (const fs::path& file : *files) fs::copy_file(file, to / file.filename());
    } catch (const fs::filesystem_error& failed) {
        return refused(util::printable(failed.code().message()));
    }
    const auto copies = plain_files_in(to, most_bytes_);
    std::string problem = "it cannot be read";
    std::vector<std::string> names;
    if (copies) names = checked(contents_of(*copies), code, libraries, problem);
    if (names.empty()) {
        fs::remove_all(to, error);
        return refused(problem);
    }
    Taken taken;
    for (const std::string& name : names) taken.files.push_back(to / name);
    return taken;
}

}  // namespace perfgate::runner
