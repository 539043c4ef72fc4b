// SPDX-License-Identifier: Apache-2.0
#include "kinds/command/instances.hpp"

#include "util/text.hpp"

namespace perfgate::command {

Instances instances_of(const Recorded& recorded, const std::string& pattern, const Piece& piece,
                       std::int64_t skip) {
    Instances found;
    for (const auto& [timeline, part] : recorded.processes()) {
        std::int64_t left = skip;
        std::size_t next = 0;
        std::unordered_map<std::string, bool> known;
        for (const activity::Range& range : timeline.ranges()) {
            const std::string name = timeline.range_name(range);
            const auto [match, added] = known.try_emplace(name, false);
            if (added) match->second = util::glob_match(pattern, name);
            if (range.open) {
                const std::uint64_t begin = range.time.begin;
                if (match->second && part.contains({begin, begin + 1})) ++found.open;
                continue;
            }
            if (!match->second) {
                if (found.others.size() < most_names) found.others.insert(name);
                continue;
            }
            const std::size_t place = next++;
            if (!part.contains(range.time)) {
                ++found.outside;
                continue;
            }
            ++found.matched;
            if (left-- > 0) continue;
            std::optional<std::uint32_t> thread;
            if (piece.own_thread) thread = range.thread;
            found.counted.push_back({&timeline, range.time, thread, place});
        }
    }
    return found;
}

bool KernelPattern::matches(const activity::Timeline& timeline, const activity::Work& work) {
    const activity::LaunchConfiguration& launch = timeline.configuration(work);
    const std::string& symbol = timeline.recording().text(launch.symbol);
    const auto [known, added] = known_.try_emplace(symbol, false);
    if (added) {
        const std::string name = util::demangled(symbol);
        known->second =
            util::glob_match(piece_.pattern, symbol) || util::glob_match(piece_.pattern, name);
        if (!known->second && other_names_.size() < most_names) other_names_.insert(name);
    }
    const model::LaunchSize size{launch.grid, launch.block};
    if (!known->second || piece_.size.allows(size)) return known->second;
    if (other_sizes_.size() < most_names) other_sizes_.insert(model::in_words(size));
    return false;
}

}  // namespace perfgate::command
