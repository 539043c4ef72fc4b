// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/counter_catalogue.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/text.hpp"

namespace perfgate::backend::cuda {

std::vector<std::string> HostCounterCatalogue::chips() {
    return supported_chips();
}

bool HostCounterCatalogue::exists(const std::string& chip, const std::string& counter) {
    return evaluator(chip).metric_exists(counter);
}

std::size_t HostCounterCatalogue::passes(const std::string& chip,
                                         const std::vector<std::string>& counters) {
    return counters.empty() ? 0 : evaluator(chip).passes(counters);
}

measure::CounterCatalogue::Description HostCounterCatalogue::describe(const std::string& chip,
                                                                      const std::string& counter) {
    const auto info = evaluator(chip).describe(counter);
    if (!info) return {};
    return {.text = info->description, .unit = info->unit};
}

HostEvaluator& HostCounterCatalogue::evaluator(const std::string& chip) {
    auto& evaluator = evaluators_[chip];
    if (!evaluator) {
        const std::vector<std::string> known = supported_chips();
        if (std::find(known.begin(), known.end(), chip) == known.end()) {
            evaluators_.erase(chip);
            throw model::InputError(fmt::format("CUPTI knows no chip '{}'{}; it knows {}", chip,
                                                model::did_you_mean(chip, known),
                                                fmt::join(known, ", ")));
        }
        evaluator = std::make_unique<HostEvaluator>(chip);
    }
    return *evaluator;
}

}  // namespace perfgate::backend::cuda
