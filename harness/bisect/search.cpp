// SPDX-License-Identifier: Apache-2.0
#include "bisect/search.hpp"

#include "util/word_of.hpp"

namespace perfgate::bisect {

std::string_view to_text(Decision decision) {
    return util::word_of<Decision::broken>(decision,
                                           {"not slower", "slower", "undecided", "broken"});
}

Candidates candidates(std::span<const std::optional<Decision>> decisions) {
    Candidates found{0, 0};
    while (found.last + 1 < decisions.size() && decisions[found.last] != Decision::slower) {
        ++found.last;
    }
    for (std::size_t i = 0; i < found.last; ++i) {
        if (decisions[i] == Decision::not_slower) found.first = i + 1;
    }
    return found;
}

std::optional<std::size_t> next_commit(std::span<const std::optional<Decision>> decisions) {
    const Candidates among = candidates(decisions);
    // The last one is known to be slow.
    const auto distance = [&](std::size_t i) {
        const std::size_t doubled = 2 * i + 1;
        const std::size_t middle = among.first + among.last;
        return doubled > middle ? doubled - middle : middle - doubled;
    };
    std::optional<std::size_t> best;
    for (std::size_t i = among.first; i < among.last; ++i) {
        if (decisions[i]) continue;
        if (!best || distance(i) < distance(*best)) best = i;
    }
    return best;
}

}  // namespace perfgate::bisect
