// SPDX-License-Identifier: Apache-2.0
// The pairs of processes of one step, of GOOD and of a commit.
#pragma once

#include <cstddef>

#include "bisect/decision.hpp"
#include "bisect/search.hpp"
#include "model/run.hpp"
#include "runner/back_to_back.hpp"
#include "runner/execution.hpp"

namespace perfgate::bisect {

/// Measures until they decide, or there have been as many looks as there may be, and sets what the
/// step says of them.
class Pairs {
  public:
    Pairs(const Target& target, double false_alarms, Step& step)
        : target_(target), false_alarms_(false_alarms), step_(step) {}

    /// `pairs` before the first look, as many as the sides' sessions are prepared for.
    void measure(runner::BackToBack& both, runner::Execution& head, std::size_t pairs);

  private:
    void judge(const model::Run& good, const model::Run& commit);

    const Target& target_;
    double false_alarms_;
    Step& step_;
    model::CaseIndex at_;
    bool timing_ = true;
    bool is_final_ = false;  ///< more pairs change nothing
};

}  // namespace perfgate::bisect
