// SPDX-License-Identifier: Apache-2.0
#include "runner/source_lines.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "model/case.hpp"
#include "model/run.hpp"
#include "runner/git.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/folder.hpp"

namespace perfgate::runner {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_source_files = 50, most_source_bytes = std::size_t{1} << 20,
                      longest_source_line = 300;
constexpr std::string_view dirty_ending = "-dirty";

/// A file of the working tree, if no part of its path is a link.
std::optional<std::string> working_file(const fs::path& path) {
    const auto here = util::Folder::find(".");
    const auto folder = here ? here->find_below(path.parent_path()) : std::nullopt;
    if (!folder) return std::nullopt;
    const util::Descriptor file(::openat(folder->descriptor(), path.filename().c_str(),
                                         O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return std::nullopt;
    }
    try {
        // What was looked at, whatever has its name now.
        return util::read_file(fmt::format("/proc/self/fd/{}", file.get()), most_source_bytes,
                               "source");
    } catch (const util::Error&) {  // too large: it is shown without text
        return std::nullopt;
    }
}

std::vector<std::string> lines_of_file(std::string revision, const std::string& path) {
    std::vector<std::string> lines;
    const bool changed = revision.ends_with(dirty_ending);
    if (changed) revision.resize(revision.size() - dirty_ending.size());
    if (!model::names_a_commit(revision)) return lines;
    const auto files = git_files(revision, {path});
    if (!files || files->size() != 1) return lines;
    const GitFile& file = files->front();
    if (file.path != path || !file.mode.starts_with("100") || file.size_bytes > most_source_bytes) {
        return lines;
    }
    const std::string content =
        (changed ? working_file(path) : git_content(file)).value_or(std::string());
    for (std::size_t begin = 0; begin < content.size();) {
        const std::size_t end = std::min(content.find('\n', begin), content.size());
        lines.push_back(content.substr(begin, std::min(end - begin, longest_source_line)));
        begin = end + 1;
    }
    return lines;
}

}  // namespace

std::vector<model::SourceLine> source_lines(const std::vector<model::CaseCode>& code,
                                            const RevisionOf& revision_of) {
    std::map<std::pair<std::string, std::string>, std::set<std::int64_t>> wanted;
    for (const model::CaseCode& each : code) {
        if (each.kernels.empty()) continue;
        const std::string revision = revision_of(each);
        for (const model::KernelCode& kernel : each.kernels) {
            for (const model::Instruction& instruction : kernel.listing.instructions) {
                const auto& [file, line] = instruction.place;
                if (lies_inside(instruction.place)) wanted[{file, revision}].insert(line);
            }
        }
    }
    std::map<model::SourcePlace, std::string> texts;  // empty: it is not known
    std::size_t files = 0;
    for (const auto& [place, numbers] : wanted) {
        const auto& [file, revision] = place;
        std::vector<std::string> lines;
        if (files++ < most_source_files) lines = lines_of_file(revision, file);
        for (const std::int64_t number : numbers) {
            const auto at = static_cast<std::size_t>(number);
            const std::string text = at <= lines.size() ? lines[at - 1] : std::string();
            std::string& known = texts.try_emplace({file, number}, text).first->second;
            if (known != text) known.clear();
        }
    }
    std::vector<model::SourceLine> found;
    for (const auto& [place, text] : texts) {
        if (!text.empty()) found.push_back({place, text});
    }
    return found;
}

}  // namespace perfgate::runner
