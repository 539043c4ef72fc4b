// SPDX-License-Identifier: Apache-2.0
// Carries out a Plan with worker processes and makes the Run. Loads no plugin, creates no context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "measure/device_chain.hpp"
#include "measure/journal.hpp"
#include "measure/workers.hpp"
#include "model/plan.hpp"
#include "model/run.hpp"

namespace perfgate::measure {

/// A case that is worth more batches.
struct Suspicion {
    std::size_t suite = 0, index = 0;  ///< places in Run::suites and SuiteResult::cases
};

struct MeasureOptions {
    bool verify_only = false;
    double case_limit_s = 120;  ///< a case that takes longer is an error
    std::uint64_t verify_seed = 0;
    /// Processes that each take a batch of every case.
    std::size_t processes = 1;
    /// Asked of each case once it has those, from any thread: whether as many again are worth their
    /// time. None: they are not.
    std::function<bool(const model::CaseResult&)> noisy;
    /// Asked after the usual run, and after each round, which cases to measure again in as many
    /// fresh processes as `round_size` says of a case's next round, from 1. None: it is enough.
    std::function<std::vector<Suspicion>(const model::Run&)> again;
    std::function<std::size_t(std::int64_t)> round_size;
    /// Asked of one recorded launch of each case, before anything is measured: whether its code and
    /// inputs are those that are known already, so that it need not be measured. `seed` is that of
    /// the inputs. None: everything is measured.
    std::function<bool(const model::Run&, const std::string& suite,
                       const model::CaseResult& recorded, std::uint64_t seed)>
        unchanged;
    const JournalContent* resumed = nullptr;        ///< what an earlier execution has measured
    std::function<void(const Progress&)> progress;  ///< one call at a time, from any thread
};

/// A device to measure on: every one of a run has the same key.
struct MeasuredDevice {
    std::string board;  ///< model::Device::board
    Workers* workers = nullptr;
};

/// Every case has a result in the Run, in the plan's order. All batches of a case are of one
/// device; with several, the cases with most work go first to whichever is free. `capabilities` are
/// those of the first. Throws model::InputError where a case's parameters are not supported (all of
/// them named), before anything is measured.
model::Run measure(const model::Plan& plan, const Capabilities& capabilities,
                   const std::vector<MeasuredDevice>& devices, const MeasureOptions& options,
                   Journal& journal);

}  // namespace perfgate::measure
