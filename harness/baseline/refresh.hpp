// SPDX-License-Identifier: Apache-2.0
// Accepts a Run as the new reference: makes baselines from runs. Reads and writes no files.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "baseline/acceptance.hpp"
#include "model/baseline.hpp"
#include "model/run.hpp"

namespace perfgate::baseline {

/// The processes of a baseline that is measured as one.
inline constexpr std::size_t enough_processes = 20;
/// The fewest that a refresh takes by itself, of programs. A stored run of fewer replaces no
/// baseline of more.
inline constexpr std::size_t least_processes = 9;

/// A case that is not fit to be a reference, and why.
struct Refused {
    std::string id, why;
    std::string enough = {};  ///< what would do: "; gpu_time: 12% would do"
    bool failed = false;      ///< it is incorrect or did not run to its end

    bool operator==(const Refused&) const = default;
};

/// A case that is slower than the baseline, and how much.
struct Slower {
    std::string id, sentence;

    bool operator==(const Slower&) const = default;
};

/// The new baseline, and the result for each case (by id).
struct Refreshed {
    model::Baseline baseline;
    std::vector<std::string> accepted;   ///< new, or with new values
    std::vector<std::string> unchanged;  ///< measured again with the same result
    std::vector<std::string> kept;       ///< not measured now: unchanged in the baseline
    std::vector<std::string> removed;    ///< no longer in the suite
    std::vector<Refused> refused;        ///< not stored: what the baseline has stays
    /// They pass, and the run has fewer processes: these values stay.
    std::vector<std::string> better_known;
    /// They pass and run the baseline's code, and neither has `enough_processes`: the run's join
    /// the baseline's, up to so many, unless anchors are reset. They are among `accepted`.
    std::vector<std::string> pooled;
    std::vector<Slower> slower;  ///< also of `refused`: who judged the run names them
    std::size_t fewer = 0;       ///< accepted cases that have fewer processes than before
    /// Acknowledged metrics, which keep their expected value until their day is over.
    std::size_t acknowledged = 0;
    std::optional<model::LedgerEntry> entry = std::nullopt;  ///< absent: nothing changed

    /// Whether the baseline has a case of this run.
    [[nodiscard]] bool stored_any() const {
        return !accepted.empty() || !unchanged.empty() || !better_known.empty();
    }
};

/// The baseline of one suite of a run. Measured cases replace those of `existing`. Skipped ones,
/// those of a benchmark that did not run, and in a partial suite all that were not selected, stay
/// unchanged. Cases that a whole suite no longer has are removed. A case stays identical to the
/// byte if its metrics, board and tools are the same and there is no new name or reason.
///
/// With `acceptance.add_board` only times change: those of the run's board join the baseline's, or
/// replace those of the same board. Cases are refused that it does not have, that launch other code
/// or the same in another way (if the code is not known: whose gated exact metrics differ), or that
/// are slower by more than the tolerance and `cross_board_tolerance`.
///
/// Cases that are incorrect, failed, incomplete or whose processes disagree are refused, and those
/// that a stored run (`acceptance.stored_run`) has in too few processes for the baseline, unless
/// anchors are reset; the others are stored: see require_stored(). Throws InputError, naming the
/// cases, if accepted changes add up beyond the bound; also for an interrupted run or one that
/// measured nothing.
///
/// `passing` are the ids of cases that pass against `existing`. Of such a case the baseline's
/// values stay if the run measured a gated time in fewer processes than the baseline has, and in
/// fewer than `enough_processes`: what it would detect must not get worse unnoticed.
/// `renamed` has the former ids of cases that `existing` has by their new ones: these are accepted,
/// and the former ones removed.
Refreshed refresh(const model::Run& run, const model::SuiteResult& suite,
                  const std::optional<model::Baseline>& existing, const Acceptance& acceptance,
                  const std::set<std::string>& passing = {},
                  const std::map<std::string, std::string>& renamed = {});

/// Throws InputError if nothing of any suite is stored, with the cases, why, and the remedy.
void require_stored(const std::vector<Refreshed>& all, const std::string& remedy);

}  // namespace perfgate::baseline
