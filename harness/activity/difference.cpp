// SPDX-License-Identifier: Apache-2.0
#include "activity/difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

namespace perfgate::activity {
namespace {

using Side = double Change::*;

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

struct Seen {
    KernelDifference kernel;
    /// Fingerprints of all processes; an empty one is not known.
    std::set<std::string> code_before, code_after;
};

template <class Item, class Key>
void largest_first(std::vector<Item>& items, const Key& change_of) {
    std::stable_sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
        return std::abs(change_of(a).difference()) > std::abs(change_of(b).difference());
    });
}

}  // namespace

ProfileDifference difference(const std::vector<Profile>& before,
                             const std::vector<Profile>& after) {
    ProfileDifference result;
    std::map<std::string, PieceDifference> ranges;
    std::map<std::string, Seen> kernels;  // by symbol
    const auto add = [&](const std::vector<Profile>& profiles, Side side,
                         std::set<std::string> Seen::*code, std::string_view which) {
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
                Seen& seen = kernels[kernel.symbol];
                seen.kernel.name = kernel.name;
                seen.kernel.launches.*side += static_cast<double>(kernel.time.count);
                seen.kernel.total_ns.*side += static_cast<double>(kernel.time.total_ns);
                (seen.*code).insert(kernel.fingerprint);
            }
        }
    };
    add(before, &Change::before, &Seen::code_before, "before");
    add(after, &Change::after, &Seen::code_after, "after");

    for (auto& [name, range] : ranges) {
        range.name = name;
        take_means(range);
        result.ranges.push_back(range);
    }
    for (auto& [symbol, seen] : kernels) {
        seen.kernel.code_changed = !seen.code_before.empty() && !seen.code_after.empty() &&
                                   !seen.code_before.contains("") &&
                                   !seen.code_after.contains("") &&
                                   seen.code_before != seen.code_after;
        const bool same = seen.kernel.launches.difference() == 0 &&
                          seen.kernel.total_ns.difference() == 0 && !seen.kernel.code_changed;
        if (!same) result.kernels.push_back(seen.kernel);
    }
    largest_first(result.ranges, [](const PieceDifference& piece) { return piece.gpu_time_ns; });
    largest_first(result.kernels, [](const KernelDifference& each) { return each.total_ns; });
    return result;
}

}  // namespace perfgate::activity
