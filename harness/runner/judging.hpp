// SPDX-License-Identifier: Apache-2.0
// Asking the gate about a run, with the stored baselines.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gate/baseline_set.hpp"
#include "gate/batch_rule.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"
#include "runner/choice.hpp"
#include "runner/reports.hpp"

namespace perfgate::runner {

/// Reads the baselines that a Judge of these suites will load on the device; throws as it does.
/// `whole`: the suites are measured whole, so that a complete policy needs those of all suites.
void check_baselines(const JudgingChoice& choice, const model::Device& device,
                     std::vector<std::string> suites, bool whole);

/// The cases that the gate flags (gate::flagged), without those of which a count fails already.
std::vector<model::CaseIndex> worth_measuring_again(const model::Run& run,
                                                    const gate::BaselineSet& baselines,
                                                    const model::Policy& policy,
                                                    const gate::Rule& rule);

/// The cases with a host time (model/host_time.hpp) that fails, also one that the suite expects.
std::vector<model::CaseIndex> failing_host_times(const model::Run& run,
                                                 const model::VerdictDocument& verdict);

/// The ids of cases whose baseline's commit `perfgate ab --base rev:` cannot measure: those of
/// plugins, which are built by hand, and of programs and machine code that are not in a checkout.
/// `builds`: the config says how one is built, which makes what has a relative path.
std::set<std::string> without_base(const model::Run& run, bool builds);

/// Judges the runs of one command by one policy and one set of baselines. A command that measures
/// makes its judge first: a baseline that cannot be used ends it before anything is measured.
class Judge {
  public:
    /// Loads the baselines of the run's suites for its device; of every suite if the policy is
    /// `complete` and the run is to have them all. What the run measured is not read. Throws
    /// util::InputError for a baseline that cannot be used.
    Judge(JudgingChoice choice, const model::Run& run);

    const gate::BaselineSet& baselines() const { return baselines_; }
    const model::Policy& policy() const { return choice_.policy; }

    /// Explains what changed, too.
    model::VerdictDocument verdict(const model::Run& run) const;

    /// The cases of the run so far that are worth being measured again.
    std::vector<model::CaseIndex> flagged(const model::Run& run) const;

    /// The cases about which their base would decide (gate::undecided_on_board).
    std::vector<model::CaseIndex> undecided_on_board(const model::Run& run) const;

    /// The cases that more processes may decide: those that do not pass yet, without those that
    /// fail by counts alone. Those without a baseline are among them, because their values may
    /// become one.
    std::vector<model::CaseIndex> unsettled(const model::Run& run) const;

    /// See gate::first_looks; without cases of which a count fails already.
    std::map<model::CaseIndex, std::size_t> first_looks(const model::Run& run) const;

    std::vector<model::CaseIndex> failing_host_times(const model::Run& run) const;

    /// The cases of which a counter regressed, or looks as if it had; of those that were collected
    /// again, the ones whose spread is tested.
    std::vector<model::CaseIndex> failing_counters(const model::Run& run, bool again) const;

    /// Writes the reports of a verdict, with commands for what can be accepted. As write_reports.
    int report(const model::VerdictDocument& document, const model::Run& run,
               OutputOptions reports) const;

    /// Writes the reports of a verdict, notes improvements and proves. Returns the exit code.
    int conclude(const model::VerdictDocument& document, const model::Run& run,
                 const OutputOptions& reports) const;

  private:
    /// Proves on the run's documents that each gate can fail, and says so on standard error
    /// (gate/proof.hpp). 0, or 3 if one cannot or fails when it should not; also 0 if it is not
    /// asked for, or the run was interrupted or only verified.
    int prove(const model::Run& run) const;
    /// Notes in the ledgers which cases the run first shows improved, or no longer, where the
    /// policy fails improvements that stay unaccepted. 0, or 3 if it cannot be noted.
    int note_improvements(const model::VerdictDocument& document, const model::Run& run) const;

    JudgingChoice choice_;
    gate::BatchRule rule_;
    std::vector<std::string> others_;  ///< suites that have a baseline and were not given
    gate::BaselineSet baselines_;
};

}  // namespace perfgate::runner
