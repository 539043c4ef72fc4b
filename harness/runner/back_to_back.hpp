// SPDX-License-Identifier: Apache-2.0
// Two builds of the same cases on one device, back to back: one process of each in turn, in the
// order A B B A A B B A …, so that drift affects both equally and each process has a partner that
// ran directly before or after it.
#pragma once

#include <cstddef>
#include <vector>

#include "measure/measuring.hpp"
#include "measure/session.hpp"

namespace perfgate::runner {

/// The nth batch of a round in the base and the nth in the head are a pair. A case is measured
/// again on both sides or on none. Both sessions are prepared and have the same single device and
/// the same cases in the same order; a case that one build does not offer is skipped there.
class BackToBack final : public measure::Measuring {
  public:
    BackToBack(measure::Session& base, measure::Session& head, std::size_t processes)
        : base_(base), head_(head), processes_(processes) {}

    /// This many processes of each build, starting with the base; as many again for cases with too
    /// many disturbed batches.
    void measure_all();

    /// The head's run; base_run() is the other one.
    const model::Run& run() const override { return head_.run(); }
    const model::Run& base_run() const { return base_.run(); }
    bool interrupted() const override { return base_.interrupted() || head_.interrupted(); }
    void measure_again(const std::vector<model::CaseIndex>& cases, std::int64_t round,
                       std::size_t processes) override;
    /// Collects the counters of these cases on both sides further times, each in a process of its
    /// own.
    void collect_again(const std::vector<model::CaseIndex>& cases, std::int64_t round,
                       std::size_t times);

  private:
    std::vector<model::CaseIndex> in_head(model::CaseStatus of_base) const;
    std::vector<model::CaseIndex> in_both() const;
    void pass(const std::vector<model::CaseIndex>& cases, std::int64_t round);
    void replace_excluded();

    measure::Session& base_;
    measure::Session& head_;
    std::size_t processes_;
    std::size_t passes_ = 0;
};

}  // namespace perfgate::runner
