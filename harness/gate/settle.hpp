// SPDX-License-Identifier: Apache-2.0
// What a rule's judgement becomes in view of what else is known of the case: the clock, the machine
// code, and whether the baseline's processes agree.
#pragma once

#include <string>
#include <vector>

#include "gate/machine_code.hpp"
#include "gate/other_work.hpp"
#include "gate/rule.hpp"
#include "gate/tail.hpp"
#include "model/baseline.hpp"
#include "model/run.hpp"

namespace perfgate::gate {

/// A judgement on its way through the stages (README.md), with the words for its sentence.
struct Decision {
    Judgement judgement;
    /// It is invalid because no test can decide about it, not for what was measured.
    bool undecided = false;
    std::string aside;                 ///< for judged_sentence()
    std::vector<std::string> reasons;  ///< to append to the sentence; some are empty
    std::string news;                  ///< of its acknowledgement, for the suite's notes
};

/// `too_good`: see Policy. `tail` is null where there are too few samples for one, `undisturbed`
/// where others' work explains nothing.
Decision settle(const Comparison& comparison, const CodeComparison& code,
                const model::CaseResult& result, const model::BaselineCase& expected,
                double too_good, const Judgement& judgement, const TailJudgement* tail = nullptr,
                const Undisturbed* undisturbed = nullptr);

/// What a decision becomes if its gate only warns, and may stay undecided.
Decision warn(Decision decision);

}  // namespace perfgate::gate
