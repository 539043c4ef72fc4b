// SPDX-License-Identifier: Apache-2.0
// Removes from a baseline the cases that its suite no longer has. Reads and writes no files.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "baseline/acceptance.hpp"
#include "model/baseline.hpp"
#include "model/case.hpp"
#include "model/run.hpp"

namespace perfgate::baseline {

/// What is known of a suite's cases, for every target.
struct KnownCases {
    /// Cases of benchmarks, which nobody but the benchmark can tell.
    struct Reported {
        model::CaseSpec spec;  ///< what stands for them in the suite
        std::string known_at;  ///< when a run began that shows them all; empty: none does
    };

    std::set<std::string> ids;
    std::vector<Reported> reported;
};

/// Adds the cases that the benchmarks of the suite reported in this run, which must have the whole
/// suite: throws util::InputError otherwise. A benchmark that did not run there shows nothing.
void add_reported(const model::Run& run, const std::string& suite, KnownCases& cases);

struct Pruned {
    model::Baseline baseline;
    std::vector<model::LedgerEntry> entries;  ///< one for each removed case
    std::size_t unknown = 0;                  ///< kept: nobody knows whether they are gone
};

/// Removes the cases that are known to be gone. A case that was recorded after the run that shows
/// its benchmark's cases is kept.
Pruned prune(model::Baseline baseline, const KnownCases& cases, const Acceptance& acceptance);

}  // namespace perfgate::baseline
