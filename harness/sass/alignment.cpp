// SPDX-License-Identifier: Apache-2.0
#include "sass/difference.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

namespace perfgate::sass {
namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// A part of both sequences.
struct Part {
    std::size_t before, before_end, after, after_end;
};

class Aligner {
  public:
    Aligner(std::span<const int> before, std::span<const int> after, std::size_t most_edits)
        : before_(before), after_(after), most_edits_(most_edits) {}

    Pairs pairs() {
        align(trimmed({0, before_.size(), 0, after_.size()}), true);
        std::ranges::sort(pairs_);
        return std::move(pairs_);
    }

  private:
    /// Pairs what both ends have in common.
    Part trimmed(Part part) {
        while (part.before < part.before_end && part.after < part.after_end &&
               before_[part.before] == after_[part.after]) {
            pairs_.emplace_back(part.before++, part.after++);
        }
        while (part.before < part.before_end && part.after < part.after_end &&
               before_[part.before_end - 1] == after_[part.after_end - 1]) {
            pairs_.emplace_back(--part.before_end, --part.after_end);
        }
        return part;
    }

    void align(const Part& part, bool with_anchors) {
        if (part.before == part.before_end || part.after == part.after_end) return;
        if (const auto found = shortest(part)) {
            pairs_.insert(pairs_.end(), found->begin(), found->end());
            return;
        }
        if (!with_anchors) return;
        Part gap = part;
        for (const auto& [left, right] : anchors(part)) {
            gap.before_end = left;
            gap.after_end = right;
            align(trimmed(gap), false);
            pairs_.emplace_back(left, right);
            gap.before = left + 1;
            gap.after = right + 1;
        }
        gap.before_end = part.before_end;
        gap.after_end = part.after_end;
        align(trimmed(gap), false);
    }

    /// What is unique on both sides, as the longest rising sequence of it.
    Pairs anchors(const Part& part) const {
        struct Uses {
            std::size_t before = 0, after = 0, first = 0, second = 0;
        };
        std::map<int, Uses> uses;
        for (std::size_t i = part.before; i < part.before_end; ++i) {
            Uses& of = uses[before_[i]];
            ++of.before;
            of.first = i;
        }
        for (std::size_t i = part.after; i < part.after_end; ++i) {
            Uses& of = uses[after_[i]];
            ++of.after;
            of.second = i;
        }
        Pairs unique;
        for (const auto& [element, of] : uses) {
            if (of.before == 1 && of.after == 1) unique.emplace_back(of.first, of.second);
        }
        std::ranges::sort(unique);
        std::vector<std::size_t> ends;  // of sequences of each length: the least last position
        std::vector<std::size_t> previous(unique.size());
        for (std::size_t i = 0; i < unique.size(); ++i) {
            const auto place = std::ranges::lower_bound(
                ends, unique[i].second,
                [&](std::size_t end, std::size_t value) { return unique[end].second < value; });
            previous[i] = place == ends.begin() ? unique.size() : *(place - 1);
            if (place == ends.end()) {
                ends.push_back(i);
            } else {
                *place = i;
            }
        }
        Pairs chain;
        for (std::size_t at = ends.empty() ? unique.size() : ends.back(); at < unique.size();
             at = previous[at]) {
            chain.push_back(unique[at]);
        }
        std::ranges::reverse(chain);
        return chain;
    }

    /// Nothing: it takes more edits than are allowed.
    std::optional<Pairs> shortest(const Part& part) const {
        const auto width = static_cast<std::int64_t>(part.before_end - part.before);
        const auto height = static_cast<std::int64_t>(part.after_end - part.after);
        const std::int64_t most = std::min(width + height, static_cast<std::int64_t>(most_edits_));
        std::vector<std::int32_t> furthest(static_cast<std::size_t>(2 * most + 3), 0);
        const auto at = [&](std::int64_t diagonal) -> std::int32_t& {
            return furthest[static_cast<std::size_t>(diagonal + most + 1)];
        };
        // Row d has the furthest position on each diagonal from -d to d before edit d.
        std::vector<std::vector<std::int32_t>> trace;
        for (std::int64_t edits = 0; edits <= most; ++edits) {
            trace.emplace_back(furthest.begin() + (most + 1 - edits),
                               furthest.begin() + (most + 2 + edits));
            for (std::int64_t diagonal = -edits; diagonal <= edits; diagonal += 2) {
                const bool down = diagonal == -edits ||
                                  (diagonal != edits && at(diagonal - 1) < at(diagonal + 1));
                std::int64_t x = down ? at(diagonal + 1) : at(diagonal - 1) + 1;
                std::int64_t y = x - diagonal;
                while (x < width && y < height && equal(part, x, y)) ++x, ++y;
                at(diagonal) = static_cast<std::int32_t>(x);
                if (x >= width && y >= height) return path(part, trace, width, height);
            }
        }
        return std::nullopt;
    }

    bool equal(const Part& part, std::int64_t x, std::int64_t y) const {
        return before_[part.before + static_cast<std::size_t>(x)] ==
               after_[part.after + static_cast<std::size_t>(y)];
    }

    static Pairs path(const Part& part, const std::vector<std::vector<std::int32_t>>& trace,
                      std::int64_t x, std::int64_t y) {
        Pairs pairs;
        const auto pair_back_to = [&](std::int64_t from_x, std::int64_t from_y) {
            while (x > from_x && y > from_y) {
                --x, --y;
                pairs.emplace_back(part.before + static_cast<std::size_t>(x),
                                   part.after + static_cast<std::size_t>(y));
            }
        };
        for (auto edits = static_cast<std::int64_t>(trace.size()) - 1; edits > 0; --edits) {
            const std::vector<std::int32_t>& row = trace[static_cast<std::size_t>(edits)];
            // Of the diagonals of the edit before, -(edits-1) to edits-1.
            const auto at = [&](std::int64_t diagonal) {
                return static_cast<std::int64_t>(row[static_cast<std::size_t>(diagonal + edits)]);
            };
            const std::int64_t diagonal = x - y;
            const bool down =
                diagonal == -edits || (diagonal != edits && at(diagonal - 1) < at(diagonal + 1));
            const std::int64_t previous = down ? diagonal + 1 : diagonal - 1;
            const std::int64_t from_x = at(previous), from_y = from_x - previous;
            pair_back_to(down ? from_x : from_x + 1, down ? from_y + 1 : from_y);
            x = from_x;
            y = from_y;
        }
        pair_back_to(0, 0);
        return pairs;
    }

    std::span<const int> before_, after_;
    std::size_t most_edits_;
    Pairs pairs_;
};

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> align(std::span<const int> before,
                                                       std::span<const int> after,
                                                       std::size_t most_edits) {
    return Aligner(before, after, most_edits).pairs();
}

}  // namespace perfgate::sass
