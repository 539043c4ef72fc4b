// SPDX-License-Identifier: Apache-2.0
// Takes the batches of a suite's programs. A batch runs the program recorded with launch callbacks,
// for what it did on the device; in the first one the calls that wait, allocate or cannot be
// captured are on record, too, for what is counted once. Where what recording costs is asked for
// (ProgramRequest), or a gate needs the time from start to end, the program runs bare before; NVTX
// ranges are then timed without CUPTI. If counters are asked for, the first batch runs it once more
// for each pass of them.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "kinds/command/program_runs.hpp"
#include "measure/programs.hpp"

namespace perfgate::command {

/// Reads what was recorded elsewhere, by perfgate or another profiler, as the batch of the command
/// that the subject is about.
kinds::StoredResults read_stored(const model::Subject& subject, const std::filesystem::path& file);

class Measurement final : public measure::Programs {
  public:
    /// Throws util::InputError where another tool would disturb, util::Error where the injection
    /// library is missing.
    explicit Measurement(kinds::Machine machine);

    bool measure(const measure::ProgramRequest& request, std::vector<model::CaseResult>& results,
                 const std::function<void(std::string_view phase)>& observe) override;

    std::vector<model::CaseCode> machine_code(
        const measure::ProgramRequest& request, const std::vector<model::CaseResult>& results,
        const std::function<void(std::string_view phase)>& observe) override;

  private:
    kinds::Machine machine_;
};

}  // namespace perfgate::command
