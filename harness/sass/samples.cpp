// SPDX-License-Identifier: Apache-2.0
#include "sass/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include "model/kernel_name.hpp"

namespace perfgate::sass {
namespace {

constexpr double deviations = 4, share_of_added = 0.5, share_of_range = 0.75, least_share = 0.1;
constexpr std::int64_t longest_range = 20;
/// Processes of the same code are apart by up to this much.
constexpr double least_added = 0.02;

struct Words {
    std::string_view reason, words;
};

// The names of the hardware's counters, as CUPTI has them.
constexpr Words known_reasons[] = {
    {"barrier", "waiting at a barrier"},
    {"branch_resolving", "waiting for a branch"},
    {"dispatch_stall", "waiting for the dispatcher"},
    {"drain", "waiting for stores at its end"},
    {"gmma", "waiting for the matrix unit"},
    {"imc_miss", "waiting for constant memory"},
    {"lg_throttle", "waiting for the queue of global and local memory"},
    {"long_scoreboard", "waiting for memory"},
    {"math_pipe_throttle", "waiting for an arithmetic unit"},
    {"membar", "waiting at a memory fence"},
    {"mio_throttle", "waiting for the queue of shared memory and special functions"},
    {"misc", "waiting"},
    {"no_instructions", "waiting for instructions"},
    {"not_selected", "ready, while another warp is issued"},
    {"selected", "issuing"},
    {"short_scoreboard", "waiting for shared memory or a special function"},
    {"sleeping", "sleeping"},
    {"tex_throttle", "waiting for the queue of textures"},
    {"wait", "waiting for the fixed latency of instructions"},
    {"warpgroup_arrive", "waiting for the warps of its group"},
};

/// How much more the halves of the launches differ than counts do by chance; at least 1.
double dispersion_of(const model::KernelCode& kernel) {
    constexpr std::int64_t fewest = 20;
    std::map<model::SourcePlace, model::Samples> lines;
    for (const model::Instruction& each : kernel.listing.instructions) {
        lines[each.place].add(each.samples);
    }
    double sum = 0;
    std::int64_t counted = 0;
    for (const auto& [place, samples] : lines) {
        const std::int64_t all = samples.all();
        if (all < fewest) continue;
        const auto apart = static_cast<double>(2 * samples.of_half - all);
        sum += apart * apart / static_cast<double>(all);
        ++counted;
    }
    return counted == 0 ? 1 : std::max(1.0, sum / static_cast<double>(counted));
}

/// Neighbouring lines of a file.
struct Range {
    model::SourcePlace first, last;
    const Line* most = nullptr;  ///< of them, the one with the most
    double added = 0;
    model::Samples before, after;  ///< what they cause
};

/// The shortest range of the head's lines with so much of what was added; nothing: none is short.
template <class Added>
std::optional<Range> shortest_range(const std::vector<Line>& lines, double wanted,
                                    const Added& added_to) {
    std::vector<const Line*> sorted;
    for (const Line& line : lines) {
        if (line.after.line > 0) sorted.push_back(&line);
    }
    std::sort(sorted.begin(), sorted.end(),
              [](const Line* one, const Line* other) { return one->after < other->after; });
    std::optional<Range> shortest;
    for (std::size_t begin = 0; begin < sorted.size(); ++begin) {
        Range range{sorted[begin]->after, {}, sorted[begin], 0, {}, {}};
        for (std::size_t end = begin; end < sorted.size(); ++end) {
            const Line& line = *sorted[end];
            const std::int64_t length = line.after.line - range.first.line;
            if (line.after.file != range.first.file || length >= longest_range ||
                (shortest && length >= shortest->last.line - shortest->first.line)) {
                break;
            }
            const double added = added_to(line.caused_before, line.caused_after);
            if (added > added_to(range.most->caused_before, range.most->caused_after)) {
                range.most = &line;
            }
            range.last = line.after;
            range.added += added;
            range.before.add(line.caused_before);
            range.after.add(line.caused_after);
            if (range.added < wanted) continue;
            shortest = range;
            break;
        }
    }
    return shortest;
}

/// The samples of a kernel as those of one launch.
class OfLaunch {
  public:
    explicit OfLaunch(const model::KernelCode& kernel)
        : all(samples_of(kernel)), launches_(static_cast<double>(kernel.launches)) {
        if (any()) dispersion_ = dispersion_of(kernel);
    }
    bool any() const { return launches_ >= 1 && !all.reasons.empty(); }
    double count(std::int64_t samples) const { return static_cast<double>(samples) / launches_; }
    double count(const model::Samples& samples) const { return count(samples.all()); }
    double variance(const model::Samples& samples) const {
        const auto counted = static_cast<double>(std::max<std::int64_t>(samples.all(), 1));
        return dispersion_ * counted / (launches_ * launches_);
    }

    const model::Samples all;

  private:
    double launches_, dispersion_ = 1;
};

/// What there is more of after than before, in words.
std::string reason_added(const OfLaunch& before, const model::Samples& was, const OfLaunch& after,
                         const model::Samples& is) {
    std::map<std::string, double> added;
    for (const auto& [reason, count] : is.reasons) added[reason] += after.count(count);
    for (const auto& [reason, count] : was.reasons) added[reason] -= before.count(count);
    const auto most = std::ranges::max_element(
        added, [](auto& one, auto& other) { return one.second < other.second; });
    return reason_words(most == added.end() ? "misc" : most->first);
}

/// 0 of nothing.
double percent_of(const model::Samples& part, const model::Samples& all) {
    const std::int64_t whole = all.all();
    return whole == 0 ? 0 : 100 * static_cast<double>(part.all()) / static_cast<double>(whole);
}

bool has_lines(const model::Listing& listing) {
    return std::ranges::any_of(listing.instructions,
                               [](const model::Instruction& each) { return each.place.line > 0; });
}

std::string without_lines(const model::Listing& listing) {
    return has_lines(listing) ? "" : "; lines are known of code that -lineinfo compiles";
}

/// "are at blend.cu:19"; of a line whose results other lines wait for: "are due to blend.cu:19".
std::string are_of(const model::SourcePlace& place, const model::Samples& caused,
                   const model::Samples& there) {
    const bool elsewhere = 2 * there.all() < caused.all();
    return fmt::format("{} {}:{}", elsewhere ? "are due to" : "are at", place.file, place.line);
}

}  // namespace

model::Samples samples_of(const model::KernelCode& kernel) {
    model::Samples all;
    for (const model::Instruction& each : kernel.listing.instructions) all.add(each.samples);
    return all;
}

std::vector<HotLine> hot_lines(const Difference& difference) {
    model::Samples before, after;
    for (const Line& line : difference.lines) {
        before.add(line.samples_before);
        after.add(line.samples_after);
    }
    std::vector<HotLine> lines;
    for (const Line& line : difference.lines) {
        lines.push_back({&line, percent_of(line.samples_before, before),
                         percent_of(line.samples_after, after)});
    }
    std::ranges::stable_sort(lines, [](const HotLine& one, const HotLine& other) {
        return std::max(one.before, one.after) > std::max(other.before, other.after);
    });
    return lines;
}

std::string reason_words(std::string_view reason) {
    for (const Words& known : known_reasons) {
        if (known.reason == reason) return std::string(known.words);
    }
    return fmt::format("stalled ({})", reason);
}

std::optional<WhereTimeWent> where_time_went(const model::KernelCode& before,
                                             const model::KernelCode& after,
                                             const std::vector<Line>& lines) {
    const OfLaunch was(before), is(after);
    if (!was.any() || !is.any()) return std::nullopt;
    const auto added_to = [&](const model::Samples& left, const model::Samples& right) {
        return is.count(right) - was.count(left);
    };
    const auto percent = [&](double added) { return 100 * added / was.count(was.all); };
    const auto is_shown = [&](const model::Samples& left, const model::Samples& right) {
        return added_to(left, right) >=
               deviations * std::sqrt(was.variance(left) + is.variance(right));
    };
    WhereTimeWent found;
    found.added = added_to(was.all, is.all);
    if (!is_shown(was.all, is.all) || found.added < least_added * was.count(was.all)) {
        found.sentence =
            fmt::format("a launch is not shown to have more samples than the base's ({:+.1f} %)",
                        percent(found.added));
        return found;
    }
    const Line* most = nullptr;
    double most_added = share_of_added * found.added;
    for (const Line& line : lines) {
        const double added = added_to(line.caused_before, line.caused_after);
        if (line.after.line == 0 || added < most_added ||
            !is_shown(line.caused_before, line.caused_after)) {
            continue;
        }
        most = &line;
        most_added = added;
    }
    if (most == nullptr) {
        const auto range = shortest_range(lines, share_of_range * found.added, added_to);
        if (range && is_shown(range->before, range->after)) {
            found.place = range->most->after;
            found.sentence = fmt::format("{:.0f} % of the added samples are at {}:{}-{}, {}",
                                         std::min(100.0, 100 * range->added / found.added),
                                         range->first.file, range->first.line, range->last.line,
                                         reason_added(was, range->before, is, range->after));
            return found;
        }
        found.sentence =
            fmt::format("{:+.0f} % samples in {}, mostly {}; no line has half of them{}",
                        percent(found.added), model::brief_kernel_name(after.name),
                        reason_added(was, was.all, is, is.all), without_lines(after.listing));
        return found;
    }
    found.place = most->after;
    found.sentence = fmt::format("{:.0f} % of the added samples {}, {}",
                                 std::min(100.0, 100 * most_added / found.added),
                                 are_of(most->after, most->caused_after, most->samples_after),
                                 reason_added(was, most->caused_before, is, most->caused_after));
    return found;
}

std::optional<WhereTimeWent> where_time_goes(const model::KernelCode& kernel) {
    const OfLaunch is(kernel);
    if (!is.any()) return std::nullopt;
    std::map<model::SourcePlace, model::Samples> by_place, there;
    const std::vector<model::Samples> caused = samples_by_cause(kernel.listing);
    for (std::size_t i = 0; i < caused.size(); ++i) {
        const model::Instruction& each = kernel.listing.instructions[i];
        if (each.place.line == 0) continue;
        by_place[each.place].add(caused[i]);
        there[each.place].add(each.samples);
    }
    std::vector<std::pair<model::SourcePlace, model::Samples>> lines(by_place.begin(),
                                                                     by_place.end());
    std::ranges::stable_sort(lines, [](const auto& one, const auto& other) {
        return one.second.all() > other.second.all();
    });
    const auto share = [&](const model::Samples& part) {
        return is.count(part) / is.count(is.all);
    };
    const auto stands_out = [&] {
        if (lines.empty() || share(lines[0].second) < least_share) return false;
        if (lines.size() == 1) return true;
        const model::Samples &first = lines[0].second, &second = lines[1].second;
        return is.count(first) - is.count(second) >=
               deviations * std::sqrt(is.variance(first) + is.variance(second));
    };
    WhereTimeWent found;
    found.added = is.count(is.all);
    if (!stands_out()) {
        found.sentence =
            fmt::format("the samples of {} are mostly {}; no line stands out{}",
                        model::brief_kernel_name(kernel.name), reason_added(is, {}, is, is.all),
                        without_lines(kernel.listing));
        return found;
    }
    found.place = lines[0].first;
    found.sentence = fmt::format("{:.0f} % of the samples {}, {}", 100 * share(lines[0].second),
                                 are_of(found.place, lines[0].second, there[found.place]),
                                 reason_added(is, {}, is, lines[0].second));
    return found;
}

}  // namespace perfgate::sass
