// SPDX-License-Identifier: Apache-2.0
// A run that is being measured, as the runner's loop uses it: one device or several (Session), two
// builds back to back (runner/back_to_back.hpp), or a test's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/run.hpp"

namespace perfgate::measure {

class Measuring {
  public:
    virtual ~Measuring() = default;

    /// The run so far: every case of the plan, in its order.
    virtual const model::Run& run() const = 0;
    /// The user has ended the run; nothing more is measured.
    virtual bool interrupted() const = 0;
    /// Takes a batch of each of these cases in as many fresh processes, as batches of this round
    /// (model::Batch::round). Cases that have failed meanwhile are left out.
    virtual void measure_again(const std::vector<model::CaseIndex>& cases, std::int64_t round,
                               std::size_t processes) = 0;
};

}  // namespace perfgate::measure
