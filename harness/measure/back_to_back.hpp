// SPDX-License-Identifier: Apache-2.0
// Two builds of the same cases on one device, back to back: one process of each in turn, in the
// order A B B A A B B A …, so that what drifts hits both alike and each process has a partner that
// ran right beside it.
#pragma once

#include <functional>
#include <vector>

#include "measure/coordinator.hpp"
#include "measure/journal.hpp"
#include "measure/workers.hpp"
#include "model/plan.hpp"
#include "model/run.hpp"

namespace perfgate::measure {

/// One of the builds. The plans of both have the same cases in the same order; a case that a build
/// does not offer has a reason to be skipped.
struct Side {
    const model::Plan* plan = nullptr;
    const Capabilities* capabilities = nullptr;
    Workers* workers = nullptr;
    Journal* journal = nullptr;
};

struct BothRuns {
    model::Run base, head;
};

/// As MeasureOptions::again, of the head's cases.
using AgainOfBoth =
    std::function<std::vector<Suspicion>(const model::Run& base, const model::Run& head)>;

/// The nth batch of a round in the base and the nth in the head are a pair. A case is measured
/// again on both sides or on none. `options` holds for each side; its `again`, `unchanged` and
/// `resumed` are not asked. Throws model::InputError where the head's variants cannot run a case,
/// before anything is measured; of the base such a case is skipped.
BothRuns measure_back_to_back(const Side& base, const Side& head, const MeasureOptions& options,
                              const AgainOfBoth& again);

}  // namespace perfgate::measure
