// SPDX-License-Identifier: Apache-2.0
#include "runner/code_views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/case.hpp"
#include "runner/code_file.hpp"
#include "runner/git.hpp"
#include "sass/difference.hpp"
#include "sass/finding.hpp"
#include "sass/samples.hpp"
#include "sass/text.hpp"

namespace perfgate::runner {
namespace {

constexpr std::size_t most_lines = 40, most_stalls = 5, most_rows = 20000, most_source_files = 50;
constexpr std::size_t most_source_bytes = std::size_t{1} << 20, longest_source_line = 300;

/// The lines of files as a commit has them.
class CommittedSources {
  public:
    explicit CommittedSources(const model::Run& run)
        : revision_(model::names_a_commit(run.git_revision) ? run.git_revision : "") {}

    std::string line(const model::SourcePlace& place) {
        if (revision_.empty() || !lies_inside(place)) return {};
        auto known = files_.find(place.file);
        if (known == files_.end()) {
            if (files_.size() == most_source_files) return {};
            known = files_.emplace(place.file, lines_of(place.file)).first;
        }
        const auto number = static_cast<std::size_t>(place.line);
        return number <= known->second.size() ? known->second[number - 1] : std::string();
    }

  private:
    std::vector<std::string> lines_of(const std::string& path) const {
        std::vector<std::string> lines;
        const auto files = git_files(revision_, {path});
        if (!files || files->size() != 1) return lines;
        const GitFile& file = files->front();
        if (file.path != path || !file.mode.starts_with("100") ||
            file.size_bytes > most_source_bytes) {
            return lines;
        }
        const std::string content = git_content(file).value_or(std::string());
        for (std::size_t begin = 0; begin < content.size();) {
            const std::size_t end = std::min(content.find('\n', begin), content.size());
            lines.push_back(content.substr(begin, std::min(end - begin, longest_source_line)));
            begin = end + 1;
        }
        return lines;
    }

    std::string revision_;
    std::map<std::string, std::vector<std::string>> files_;
};

/// What the samples of the line are, in the same % as the line.
std::vector<report::page::Stall> stalls_of(const sass::HotLine& hot) {
    const auto share = [](std::int64_t count, const model::Samples& of_line, double percent) {
        const std::int64_t all = of_line.all();
        return all == 0 ? 0 : percent * static_cast<double>(count) / static_cast<double>(all);
    };
    const model::Samples &before = hot.line->samples_before, &after = hot.line->samples_after;
    std::map<std::string, report::page::Stall> by_reason;
    for (const auto& [reason, count] : before.reasons) {
        by_reason[reason].before = share(count, before, hot.before);
    }
    for (const auto& [reason, count] : after.reasons) {
        by_reason[reason].after = share(count, after, hot.after);
    }
    std::vector<report::page::Stall> all;
    for (auto& [reason, stall] : by_reason) {
        stall.words = sass::reason_words(reason);
        all.push_back(std::move(stall));
    }
    std::ranges::stable_sort(all, [](const auto& one, const auto& other) {
        return std::max(one.before, one.after) > std::max(other.before, other.after);
    });
    if (all.size() > most_stalls) all.resize(most_stalls);
    return all;
}

report::page::CodeKernel kernel_view(const sass::KernelPair& pair, CommittedSources& sources) {
    const model::KernelCode& after = *pair.after;
    report::page::CodeKernel view;
    view.name = after.name;
    view.compared = pair.before != nullptr;
    const model::Listing none;
    const model::Listing& listing = view.compared ? pair.before->listing : none;
    const sass::Difference difference = sass::difference(listing, after.listing);
    const auto where = view.compared ? sass::where_time_went(*pair.before, after, difference.lines)
                                     : sass::where_time_goes(after);
    view.sentence = view.compared ? difference.sentence : "the base's code is not at hand";
    if (where) view.time = where->sentence;
    view.classes = sass::classes_text(difference);
    view.rows = sass::rows_text(listing, after.listing, difference, most_rows);
    for (const sass::HotLine& hot : sass::hot_lines(difference)) {
        if (view.lines.size() == most_lines) break;
        const sass::Line& line = *hot.line;
        report::page::CodeLine& shown = view.lines.emplace_back();
        const bool in_head = line.after.line > 0;
        const model::SourcePlace& place = in_head ? line.after : line.before;
        shown.place = fmt::format("{}:{}", place.file, place.line);
        if (in_head && line.before.line > 0 && line.before != line.after) {
            shown.was = fmt::format("{}:{}", line.before.file, line.before.line);
        }
        // The head's revision need not have a line that only the base has.
        if (in_head) shown.text = sources.line(place);
        shown.instructions_before = line.instructions_before;
        shown.instructions_after = line.instructions_after;
        shown.before = hot.before;
        shown.after = hot.after;
        shown.stalls = stalls_of(hot);
    }
    return view;
}

}  // namespace

report::CodeViews code_views(const model::Run& run, const model::KeptCode& kept) {
    report::CodeViews views;
    CommittedSources sources(run);
    for (const model::CaseCode& head : kept.head) {
        std::vector<report::page::CodeKernel> kernels;
        const model::CaseCode* const base = code_in(kept.base, head.suite, head.id);
        for (const sass::KernelPair& pair : sass::kernel_pairs(base, head)) {
            if (pair.before != nullptr && pair.before->code == pair.after->code) continue;
            kernels.push_back(kernel_view(pair, sources));
        }
        if (!kernels.empty()) views.cases.try_emplace({head.suite, head.id}, std::move(kernels));
    }
    return views;
}

}  // namespace perfgate::runner
