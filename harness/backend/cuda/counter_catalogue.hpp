// SPDX-License-Identifier: Apache-2.0
//
// What chips can count, for validating suites and listing metrics on a machine without a GPU.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/host_evaluator.hpp"
#include "measure/backend.hpp"

namespace perfgate::backend::cuda {

class HostCounterCatalogue : public measure::CounterCatalogue {
  public:
    std::vector<std::string> chips() override;
    bool exists(const std::string& chip, const std::string& counter) override;
    std::size_t passes(const std::string& chip, const std::vector<std::string>& counters) override;
    Description describe(const std::string& chip, const std::string& counter) override;

  private:
    /// Throws model::InputError naming the chips for one that CUPTI does not know.
    HostEvaluator& evaluator(const std::string& chip);
    std::map<std::string, std::unique_ptr<HostEvaluator>> evaluators_;
};

}  // namespace perfgate::backend::cuda
