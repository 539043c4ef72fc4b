// SPDX-License-Identifier: Apache-2.0
// The metrics that cases collect, by the layers of their settings.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "suite/settings.hpp"

namespace perfgate::suite {

class CollectedMetrics {
  public:
    /// Accounts for resolving settings with this many metrics.
    using Spend = std::function<void(std::size_t metrics, Position at)>;

    CollectedMetrics(Problems& problems, Spend spend)
        : problems_(problems), spend_(std::move(spend)) {}

    /// `at`: of a case with these settings.
    const std::set<std::string>& of(std::vector<const Settings*> layers, Position at) {
        const auto [found, added] = by_layers_.try_emplace(std::move(layers));
        if (added) {
            const ResolvedSettings settings = resolve(found->first, problems_);
            spend_(settings.metrics.size(), at);
            found->second.insert(settings.metrics.begin(), settings.metrics.end());
        }
        return found->second;
    }

  private:
    Problems& problems_;
    Spend spend_;
    std::map<std::vector<const Settings*>, std::set<std::string>> by_layers_;
};

}  // namespace perfgate::suite
