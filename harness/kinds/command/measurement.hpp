// SPDX-License-Identifier: Apache-2.0
// Takes the batches of a suite's programs. A batch runs the program recorded with launch callbacks,
// for what it did on the device. The first three batches, or all if a gate needs it, run it bare
// before, for what recording costs and the time from start to end; NVTX ranges are then timed
// without CUPTI. The first batch runs it once more with API calls on record, for what is counted
// once, and, if counters are asked for, once for each pass of them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/command/program_runs.hpp"
#include "measure/programs.hpp"

namespace perfgate::command {

class Measurement final : public measure::Programs {
  public:
    /// Throws util::InputError where another tool would disturb, util::Error where the injection
    /// library is missing.
    explicit Measurement(kinds::Machine machine);

    bool measure(const measure::ProgramRequest& request, std::vector<model::CaseResult>& results,
                 const std::function<void(std::string_view phase)>& observe) override;

  private:
    kinds::Machine machine_;
};

}  // namespace perfgate::command
