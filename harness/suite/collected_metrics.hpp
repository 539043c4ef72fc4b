// SPDX-License-Identifier: Apache-2.0
// The metrics that the cases of a suite collect where no device override applies.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "suite/suite.hpp"

namespace perfgate::suite {

class CollectedMetrics {
  public:
    /// Accounts for resolving settings with this many metrics.
    using Spend = std::function<void(std::size_t metrics, Position at)>;

    CollectedMetrics(const Suite& suite, Problems& problems, Spend spend)
        : suite_(suite), problems_(problems), spend_(std::move(spend)) {}

    const std::set<std::string>& of(const SuiteCase& suite_case) {
        auto layers = layers_of(suite_, suite_case, [](const std::string&) { return false; });
        const auto [found, added] = by_layers_.try_emplace(std::move(layers));
        if (added) {
            const ResolvedSettings settings = resolve(found->first, problems_);
            spend_(settings.metrics.size(), suite_case.at);
            found->second.insert(settings.metrics.begin(), settings.metrics.end());
        }
        return found->second;
    }

  private:
    const Suite& suite_;
    Problems& problems_;
    Spend spend_;
    std::map<std::vector<const Settings*>, std::set<std::string>> by_layers_;
};

}  // namespace perfgate::suite
