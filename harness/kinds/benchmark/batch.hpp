// SPDX-License-Identifier: Apache-2.0
// Takes the batches of a suite's benchmarks, which measure themselves: a batch runs one process and
// reads what it wrote.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "kinds/kind.hpp"
#include "measure/programs.hpp"

namespace perfgate::benchmark {

/// Runs the benchmark once to learn its cases.
model::Discovered find_results(const kinds::Machine& machine, const model::Subject& subject);

/// Reads what the benchmark wrote into a file elsewhere.
kinds::StoredResults read_stored(const model::Subject& subject, const std::filesystem::path& file);

class Measurement final : public measure::Programs {
  public:
    /// Throws util::InputError where another tool would disturb.
    explicit Measurement(kinds::Machine machine);

    bool measure(const measure::ProgramRequest& request, std::vector<model::CaseResult>& results,
                 const std::function<void(std::string_view phase)>& observe) override;

  private:
    void take(const measure::ProgramRequest& request, std::vector<model::CaseResult>& results,
              const std::function<void(std::string_view phase)>& observe) const;

    kinds::Machine machine_;
};

}  // namespace perfgate::benchmark
