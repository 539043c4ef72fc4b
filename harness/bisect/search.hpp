// SPDX-License-Identifier: Apache-2.0
// A search over commits, oldest first, of which the last one is slow and the one before the first
// is not. Pure functions of what is decided so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// A search as a document: what was decided, for a restart, and what was found, for other programs.

/// A metric of a case that BAD makes worse, which the search follows.
struct Target {
    std::string suite, id, metric, unit;
    double good = 0, bad = 0;  ///< its values in the comparison of BAD with GOOD, in the unit
    double bad_spread = 0;     ///< spread_of() BAD's processes

    bool operator==(const Target&) const = default;
};

/// One commit, built, measured and decided about.
struct Step {
    std::string commit;
    Decision decision = Decision::undecided;
    std::string why;               ///< of a commit that is skipped
    std::optional<double> change;  ///< as a fraction of GOOD; absent: it was not measured
    std::int64_t pairs = 0;        ///< of processes
    double wall_s = 0;             ///< with the build

    bool operator==(const Step&) const = default;
};

enum class Outcome {
    running,    ///< the search is not over
    not_shown,  ///< BAD is not shown to be slower than GOOD
    found,      ///< one commit
    one_of,     ///< one of several, because their neighbours were skipped
};

std::string_view to_text(Outcome outcome);

struct SearchDocument {
    std::string good, bad;  ///< commits
    /// Fingerprint of what else decides: with another suite, selection, build, backend, plugin or
    /// level of false alarms it is another search.
    std::string settings;
    std::string device;  ///< key
    std::optional<Target> target;
    std::vector<Step> steps;  ///< in the order in which they were taken
    Outcome outcome = Outcome::running;
    std::vector<std::string> commits;  ///< the culprit, or those that may be, oldest first

    bool operator==(const SearchDocument&) const = default;
};

/// JSON, schema "perfgate.bisect" version 1.
std::string write_search(const SearchDocument& search);
/// Throws util::InputError.
SearchDocument parse_search(std::string json, std::string_view source);

}  // namespace perfgate::bisect
