// SPDX-License-Identifier: Apache-2.0
#include "model/kernel_change.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>

#include "model/kernel_name.hpp"
#include "model/quantity.hpp"
#include "util/text.hpp"

namespace perfgate::model {

namespace {

/// Smaller relative changes of the number of launches are ignored, because instances vary.
constexpr double least_launches = 0.01;
/// The smallest share of the case's change that is reported.
constexpr double least_share = 0.1;
/// The most kernels that a sentence lists.
constexpr std::size_t most_figures = 3;

/// In sentences.
std::string_view words_of(KernelChangeKind kind) {
    return util::word_of<KernelChangeKind::shorter>(
        kind, {"replaced by", "added", "removed", "called more often", "called less often",
               "took longer", "took less time"});
}

/// By name, in the order of the first launches.
std::vector<KernelUse> by_name(const std::vector<KernelUse>& all) {
    std::vector<KernelUse> uses;
    std::map<std::string_view, std::size_t> places;
    for (const KernelUse& each : all) {
        const auto [place, fresh] = places.try_emplace(each.name, uses.size());
        if (fresh) uses.push_back({each.name});
        uses[place->second].launches += each.launches;
        uses[place->second].time_ns += each.time_ns;
    }
    return uses;
}

constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

/// For each of `uses`, the position of that name in `others`.
std::vector<std::size_t> places_in(const std::vector<KernelUse>& others,
                                   const std::vector<KernelUse>& uses) {
    std::map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < others.size(); ++i) places.emplace(others[i].name, i);
    std::vector<std::size_t> found;
    for (const KernelUse& use : uses) {
        const auto place = places.find(use.name);
        found.push_back(place == places.end() ? nowhere : place->second);
    }
    return found;
}

/// Marks a longest increasing subsequence of the matched positions: kernels that both sides launch
/// in the same order, between which others were replaced.
std::vector<bool> in_order(const std::vector<std::size_t>& places) {
    std::vector<std::size_t> tails, previous(places.size(), nowhere);
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i] == nowhere) continue;
        const auto tail = std::ranges::lower_bound(
            tails, places[i],
            [&](std::size_t index, std::size_t place) { return places[index] < place; });
        if (tail != tails.begin()) previous[i] = *std::prev(tail);
        if (tail == tails.end()) {
            tails.push_back(i);
        } else {
            *tail = i;
        }
    }
    std::vector<bool> marked(places.size(), false);
    for (std::size_t i = tails.empty() ? nowhere : tails.back(); i != nowhere; i = previous[i]) {
        marked[i] = true;
    }
    return marked;
}

void longest_first(std::vector<KernelUse>& uses) {
    std::ranges::stable_sort(uses, std::greater{}, &KernelUse::time_ns);
}

/// Kernels that only one side has, by the number of common ones before them.
std::vector<KernelChange> replacements(const std::vector<KernelUse>& before,
                                       const std::vector<std::size_t>& places_before,
                                       const std::vector<KernelUse>& after,
                                       const std::vector<std::size_t>& places_after) {
    const std::vector<bool> anchors = in_order(places_after);
    std::vector<bool> anchors_before(before.size(), false);
    for (std::size_t i = 0; i < after.size(); ++i) {
        if (anchors[i]) anchors_before[places_after[i]] = true;
    }
    std::map<std::size_t, KernelChange> gaps;
    std::size_t gap = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (anchors_before[i]) ++gap;
        if (places_before[i] == nowhere) gaps[gap].before.push_back(before[i]);
    }
    gap = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
        if (anchors[i]) ++gap;
        if (places_after[i] == nowhere) gaps[gap].after.push_back(after[i]);
    }
    std::vector<KernelChange> changes;
    KernelChange added{KernelChangeKind::added, {}, {}}, removed{KernelChangeKind::removed, {}, {}};
    const auto append = [](std::vector<KernelUse>& to, const std::vector<KernelUse>& from) {
        to.insert(to.end(), from.begin(), from.end());
    };
    for (auto& [number, change] : gaps) {
        if (change.before.empty()) {
            append(added.after, change.after);
        } else if (change.after.empty()) {
            append(removed.before, change.before);
        } else {
            changes.push_back(std::move(change));
        }
    }
    if (!added.after.empty()) changes.push_back(std::move(added));
    if (!removed.before.empty()) changes.push_back(std::move(removed));
    for (KernelChange& change : changes) {
        longest_first(change.before);
        longest_first(change.after);
    }
    return changes;
}

/// The change of a kernel that both sides have; nothing if it is none.
std::optional<KernelChangeKind> change_between(const KernelUse& before, const KernelUse& after,
                                               std::optional<double> moved_ns) {
    const double more = after.launches - before.launches;
    if (more != 0 &&
        std::fabs(more) >= least_launches * std::fmax(before.launches, after.launches)) {
        return more > 0 ? KernelChangeKind::more_often : KernelChangeKind::less_often;
    }
    const double longer = after.time_ns - before.time_ns;
    if (!moved_ns || longer * *moved_ns <= 0 ||
        std::fabs(longer) < least_share * std::fabs(*moved_ns)) {
        return std::nullopt;
    }
    return longer > 0 ? KernelChangeKind::longer : KernelChangeKind::shorter;
}

std::string launches_text(double launches) {
    return util::number_text(std::round(launches * 100) / 100);
}

std::string_view others(std::size_t count) {
    return count == 1 ? "other" : "others";
}

/// "softmax_warp_forward and 2 others (3 per step, 120.0 µs)". `unlike`: a name that it must be
/// distinguishable from.
std::string group_text(const std::vector<KernelUse>& uses, const std::string& unlike,
                       std::string_view instance) {
    std::string text = distinct_kernel_name(uses.front().name, unlike);
    if (uses.size() > 1) {
        text += fmt::format(" and {} {}", uses.size() - 1, others(uses.size() - 1));
    }
    return text + fmt::format(" ({} per {}, {})", launches_text(launches_of(uses)), instance,
                              quantity_text(time_of(uses), "ns"));
}

/// "gemm 1 → 3 per step (10.00 µs → 30.00 µs)".
std::string change_text(const KernelUse& before, const KernelUse& after,
                        std::string_view instance) {
    const std::string name = brief_kernel_name(after.name);
    const QuantityTexts times = quantity_texts(before.time_ns, after.time_ns, "ns");
    const std::string was = launches_text(before.launches);
    const std::string is = launches_text(after.launches);
    return fmt::format("{} {} per {} ({} → {})", name,
                       was == is ? is : fmt::format("{} → {}", was, is), instance, times.before,
                       times.after);
}

}  // namespace

double time_of(const std::vector<KernelUse>& uses) {
    return std::accumulate(uses.begin(), uses.end(), 0.0,
                           [](double sum, const KernelUse& use) { return sum + use.time_ns; });
}

double launches_of(const std::vector<KernelUse>& uses) {
    return std::accumulate(uses.begin(), uses.end(), 0.0,
                           [](double sum, const KernelUse& use) { return sum + use.launches; });
}

double KernelChange::added_time_ns() const {
    return time_of(after) - time_of(before);
}

std::vector<KernelChange> kernel_changes(const std::vector<KernelUse>& before,
                                         const std::vector<KernelUse>& after,
                                         std::optional<double> moved_ns) {
    const std::vector<KernelUse> was = by_name(before), is = by_name(after);
    const std::vector<std::size_t> places_was = places_in(is, was), places_is = places_in(was, is);
    std::vector<KernelChange> changes = replacements(was, places_was, is, places_is);

    std::map<KernelChangeKind, std::vector<std::size_t>> common;
    for (std::size_t i = 0; i < is.size(); ++i) {
        if (places_is[i] == nowhere) continue;
        if (const auto kind = change_between(was[places_is[i]], is[i], moved_ns)) {
            common[*kind].push_back(i);
        }
    }
    for (auto& [kind, places] : common) {
        const auto moved = [&](std::size_t i) {
            return std::fabs(is[i].time_ns - was[places_is[i]].time_ns);
        };
        std::ranges::stable_sort(places,
                                 [&](std::size_t a, std::size_t b) { return moved(a) > moved(b); });
        KernelChange change{kind, {}, {}};
        for (const std::size_t i : places) {
            change.before.push_back(was[places_is[i]]);
            change.after.push_back(is[i]);
        }
        changes.push_back(std::move(change));
    }
    std::ranges::stable_sort(changes, [](const KernelChange& a, const KernelChange& b) {
        return std::fabs(a.added_time_ns()) > std::fabs(b.added_time_ns());
    });
    return changes;
}

std::string sentence_of(const KernelChange& change, std::string_view instance) {
    const std::string_view words = words_of(change.kind);
    const std::string none;
    switch (change.kind) {
        case KernelChangeKind::replaced: {
            const std::string& was = change.before.front().name;
            const std::string& is = change.after.front().name;
            return fmt::format("{} {} {}", group_text(change.before, is, instance), words,
                               group_text(change.after, was, instance));
        }
        case KernelChangeKind::added:
            return fmt::format("{}: {}", words, group_text(change.after, none, instance));
        case KernelChangeKind::removed:
            return fmt::format("{}: {}", words, group_text(change.before, none, instance));
        default: {
            std::string figures;
            const std::size_t shown = std::min(change.after.size(), most_figures);
            for (std::size_t i = 0; i < shown; ++i) {
                figures +=
                    (i == 0 ? "" : ", ") + change_text(change.before[i], change.after[i], instance);
            }
            if (const std::size_t left = change.after.size() - shown; left > 0) {
                figures += fmt::format(" and {} {}", left, others(left));
            }
            return fmt::format("{}: {}", words, figures);
        }
    }
}

}  // namespace perfgate::model
