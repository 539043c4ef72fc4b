// SPDX-License-Identifier: Apache-2.0
// Cases that a baseline has under another name.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "gate/baseline_set.hpp"
#include "model/run.hpp"

namespace perfgate::gate {

/// By id now, the id in the baseline.
using Renamed = std::map<std::string, std::string>;

/// Gives what the map has by a former id the one that it has now.
template <typename Map>
void rename(const Renamed& renamed, Map& map) {
    for (const auto& [now, was] : renamed) {
        auto node = map.extract(was);
        if (node.empty()) continue;
        node.key() = now;
        map.insert(std::move(node));
    }
}

/// The id that a benchmark's case has now, whose id in a baseline may be of a former version.
std::string without_former_params(const std::string& id, const model::BaselineCase& expected);

/// Gives the baselines' cases the names that the run's cases have now: of those whose suite states
/// what they were (CaseResult::was), and of benchmarks' cases whose ids had parameters that they no
/// longer have (model/benchmark_settings.hpp). A case that the baseline has by its name keeps its
/// own. StoredBaseline::renamed has the former ids. Throws util::InputError if two cases of the run
/// are said to have been one.
void follow_renames(const model::Run& run, BaselineSet& baselines);

}  // namespace perfgate::gate
