// SPDX-License-Identifier: Apache-2.0
// A search over commits, oldest first, of which the last one is slow and the one before the first
// is not. Pure functions of what is decided so far.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace perfgate::bisect {

enum class Decision {
    not_slower,  ///< shown: nearer to GOOD than to BAD
    slower,      ///< shown: nearer to BAD
    undecided,   ///< neither is shown, however often it was measured: skipped
    broken,      ///< it cannot be built or measured: skipped
};

std::string_view to_text(Decision decision);

/// The commits from `first` to `last`, one of which made the case slower: the first slow one after
/// those that are not.
struct Candidates {
    std::size_t first = 0, last = 0;

    [[nodiscard]] std::size_t count() const { return last - first + 1; }
    bool operator==(const Candidates&) const = default;
};

/// `decisions` has at least one commit, and nothing for those that are not decided. The last commit
/// counts as slower whatever is decided about it.
Candidates candidates(std::span<const std::optional<Decision>> decisions);

/// The commit to decide about next: the one that divides the candidates best and has no decision.
/// Nothing: the search is over; several candidates are left if commits between them were skipped.
std::optional<std::size_t> next_commit(std::span<const std::optional<Decision>> decisions);

}  // namespace perfgate::bisect
