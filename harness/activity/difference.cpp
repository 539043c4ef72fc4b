// SPDX-License-Identifier: Apache-2.0
#include "activity/difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "util/text.hpp"

namespace perfgate::activity {
namespace {

using Side = double Change::*;
using model::KernelUse;

/// If the GPU time of a range moved by less than this share, no kernel is said to account for it.
constexpr double least_move = 0.01;

void add_work(PieceDifference& piece, Side side, double instances, const WorkSummary& work) {
    piece.instances.*side += instances;
    piece.gpu_time_ns.*side += static_cast<double>(work.gpu_time_ns);
    piece.span_ns.*side += static_cast<double>(work.span_ns);
    piece.idle_ns.*side += static_cast<double>(work.idle_ns);
    piece.kernels.*side += static_cast<double>(work.kernels);
    piece.copies.*side += static_cast<double>(work.copies);
    piece.synchronisations.*side += static_cast<double>(work.synchronisations);
}

void take_means(PieceDifference& piece) {
    for (const Side side : {&Change::before, &Change::after}) {
        const double instances = std::max(piece.instances.*side, 1.0);
        for (Change* change : {&piece.gpu_time_ns, &piece.span_ns, &piece.idle_ns, &piece.kernels,
                               &piece.copies, &piece.synchronisations}) {
            change->*side /= instances;
        }
    }
}

/// Launches by kernel, in the order of the first ones; nothing where it is not known. Of several
/// processes those of the first one come first.
using Uses = std::optional<std::vector<KernelUse>>;

/// What one side has.
struct SideOf {
    std::map<std::string, std::set<std::string>>
        code;  ///< by name, of all processes; "": not known
    std::map<std::string, Uses> ranges;
    Uses program = std::vector<KernelUse>();
};

void add_range_uses(const Profile& profile, const RangeSummary& range, Uses& uses) {
    if (range.kernels.empty() && range.total.kernels != 0) uses.reset();
    if (!uses) return;
    for (const RangeKernel& each : range.kernels) {
        uses->push_back({profile.kernels[each.kernel].name, static_cast<double>(each.launches),
                         static_cast<double>(each.total_ns)});
    }
}

void add_program_uses(const Profile& profile, Uses& uses) {
    std::vector<const KernelSummary*> in_order;
    for (const KernelSummary& kernel : profile.kernels) {
        if (kernel.order == 0) uses.reset();
        in_order.push_back(&kernel);
    }
    if (!uses) return;
    std::ranges::stable_sort(in_order,
                             [](const auto* a, const auto* b) { return a->order < b->order; });
    for (const KernelSummary* kernel : in_order) {
        uses->push_back({kernel->name, static_cast<double>(kernel->time.count),
                         static_cast<double>(kernel->time.total_ns)});
    }
}

SideOf side_of(const std::vector<Profile>& profiles) {
    SideOf side;
    for (const Profile& profile : profiles) {
        for (const KernelSummary& kernel : profile.kernels) {
            side.code[kernel.name].insert(kernel.fingerprint);
        }
        for (const RangeSummary& range : profile.ranges) {
            Uses& uses =
                side.ranges.try_emplace(range.name, std::vector<KernelUse>()).first->second;
            add_range_uses(profile, range, uses);
        }
        add_program_uses(profile, side.program);
    }
    return side;
}

std::vector<KernelUse> per_instance(std::vector<KernelUse> uses, double instances) {
    for (KernelUse& use : uses) {
        use.launches /= std::max(instances, 1.0);
        use.time_ns /= std::max(instances, 1.0);
    }
    return uses;
}

/// False: which kernels ran in it is not known of both sides.
bool add_changes(const Uses& before, const Uses& after, PieceDifference& range) {
    if (!before || !after) return false;
    const double moved_ns = range.gpu_time_ns.difference();
    const bool moved = std::abs(moved_ns) >= least_move * range.gpu_time_ns.before;
    range.changes = model::kernel_changes(per_instance(*before, range.instances.before),
                                          per_instance(*after, range.instances.after),
                                          moved ? std::optional(moved_ns) : std::nullopt);
    return true;
}

void add_replacements(const SideOf& before, const SideOf& after,
                      std::map<std::string, KernelDifference>& kernels) {
    if (!before.program || !after.program) return;
    for (const model::KernelChange& change :
         model::kernel_changes(*before.program, *after.program, std::nullopt)) {
        if (change.kind != model::KernelChangeKind::replaced) continue;
        const auto pair = [&](const std::vector<KernelUse>& uses,
                              const std::vector<KernelUse>& others) {
            for (const KernelUse& use : uses) {
                kernels[use.name].counterpart = others.front().name;
                kernels[use.name].counterparts = others.size();
            }
        };
        pair(change.before, change.after);
        pair(change.after, change.before);
    }
}

bool code_changed(const SideOf& before, const SideOf& after, const std::string& name) {
    const auto was = before.code.find(name), is = after.code.find(name);
    return was != before.code.end() && is != after.code.end() && !was->second.contains("") &&
           !is->second.contains("") && was->second != is->second;
}

template <class Item, class Key>
void largest_first(std::vector<Item>& items, const Key& change_of) {
    std::ranges::stable_sort(items, [&](const Item& a, const Item& b) {
        return std::abs(change_of(a).difference()) > std::abs(change_of(b).difference());
    });
}

}  // namespace

ProfileDifference difference(const std::vector<Profile>& before,
                             const std::vector<Profile>& after) {
    ProfileDifference result;
    std::map<std::string, PieceDifference> ranges;
    std::map<std::string, KernelDifference> kernels;  // by name
    const auto add = [&](const std::vector<Profile>& profiles, Side side, std::string_view which) {
        for (const Profile& profile : profiles) {
            for (const std::string& reason : profile.incomplete) {
                result.notes.push_back(
                    fmt::format("the recording {} is not complete: {}", which, reason));
            }
            const auto level = profile.header.find("level");
            if (level == profile.header.end() || level->second != "api") {
                result.calls_on_record = false;
            }
            add_work(result.program, side, 0, profile.program);
            for (const RangeSummary& range : profile.ranges) {
                add_work(ranges[range.name], side, static_cast<double>(range.instances.size()),
                         range.total);
            }
            for (const KernelSummary& kernel : profile.kernels) {
                KernelDifference& seen = kernels[kernel.name];
                seen.launches.*side += static_cast<double>(kernel.time.count);
                seen.total_ns.*side += static_cast<double>(kernel.time.total_ns);
            }
        }
    };
    add(before, &Change::before, "before");
    add(after, &Change::after, "after");
    const SideOf was = side_of(before), is = side_of(after);

    std::size_t not_listed = 0;
    for (auto& [name, range] : ranges) {
        range.name = name;
        take_means(range);
        const auto uses_before = was.ranges.find(name), uses_after = is.ranges.find(name);
        if (uses_before != was.ranges.end() && uses_after != is.ranges.end() &&
            !add_changes(uses_before->second, uses_after->second, range)) {
            ++not_listed;
        }
        result.ranges.push_back(range);
    }
    if (not_listed != 0) {
        result.notes.push_back(fmt::format(
            "how the kernels of {} changed is not known: a profile does not list them (it has too "
            "many, or an older perfgate wrote it)",
            util::counted(not_listed, "range")));
    }
    add_replacements(was, is, kernels);
    for (auto& [name, kernel] : kernels) {
        kernel.name = name;
        kernel.code_changed = code_changed(was, is, name);
        const bool same = kernel.launches.difference() == 0 && kernel.total_ns.difference() == 0 &&
                          !kernel.code_changed;
        if (!same) result.kernels.push_back(kernel);
    }
    largest_first(result.ranges, [](const PieceDifference& piece) { return piece.gpu_time_ns; });
    largest_first(result.kernels, [](const KernelDifference& each) { return each.total_ns; });
    return result;
}

}  // namespace perfgate::activity
