// SPDX-License-Identifier: Apache-2.0
// A case that is being measured, and how the cases of a run are measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "measure/backend.hpp"
#include "measure/journal.hpp"
#include "measure/programs.hpp"
#include "model/plan.hpp"
#include "model/run.hpp"

namespace perfgate::measure {

/// One step of the work, for the progress display. `done` and `total` count batches.
struct Progress {
    std::string_view suite, case_id, phase;
    std::size_t done = 0, total = 0;
};

struct MeasureOptions {
    bool verify_only = false;
    double case_limit_s = 120;  ///< a case that takes longer is an error
    std::uint64_t verify_seed = 0;
    /// Processes that each take a batch of every case.
    std::size_t processes = 1;
    const JournalContent* resumed = nullptr;        ///< results of an earlier execution
    Programs* programs = nullptr;                   ///< null: the plan has no groups
    std::function<void(const Progress&)> progress;  ///< one call at a time, from any thread
    /// Cases, by suite and id, of which a baseline has what recording costs: it is measured only
    /// where a time looks slower, in further rounds or those that look_slower() names.
    std::set<std::pair<std::string, std::string>> known_overheads = {};
};

/// A case in progress: where its result goes and how it is measured.
struct Item {
    model::CaseIndex at;
    const model::PlannedCase* planned = nullptr;
    const std::string* suite = nullptr;
    model::CaseResult* result = nullptr;
    CaseFacts facts;
    std::optional<std::size_t> chain;  ///< the device that is to measure it, or has begun to
    bool begun = false;                ///< it has a result
    bool counted = false;              ///< its counters were asked for
    std::size_t passes = 0;            ///< processes that took, or should have taken, batches
    std::size_t wanted = 0;            ///< processes that fill_up() was last asked for
    std::size_t announced = 0;         ///< processes that the total of the progress has
    /// A gate or a relation is about a time that contains the host's (model/host_time.hpp).
    bool host_time = false;
    bool looks_slower = false;
    bool bare_time = false;  ///< a relation is about what only bare runs give
    bool gated = true;       ///< a gate or a relation is about it
};

}  // namespace perfgate::measure
