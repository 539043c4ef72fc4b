// SPDX-License-Identifier: Apache-2.0
// Reads a suite's `expect`, and finds for each relation the cases that belong together.
//
// The first case that the left side names leads: a relation holds once for each case that it stands
// for. To a leading case belongs, for each further reference, the case of that workload and variant
// with the same value of every parameter that both cases have (but for those that this reference
// fixes in brackets) and with the same cache (unless it fixes that). A leading case for which the
// suite lacks one of them has no instance; a reference that fits several is an error.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "model/relation.hpp"
#include "suite/entry.hpp"
#include "suite/placed_text.hpp"

namespace perfgate::suite {

/// The most relations of a suite.
inline constexpr std::size_t most_relations = 1000;

/// What the reader needs to know of the rest of the suite.
struct RelationScope {
    const std::vector<SuiteCase>& cases;
    const model::WorkloadCatalogue& workloads;
    /// False where problems elsewhere leave cases unknown: then only the syntax is checked.
    bool complete = true;
    /// The metrics that a case (by its index) collects; null where problems leave that unknown.
    std::function<const std::set<std::string>*(std::size_t)> collected;
    /// Accounts for the cost of matching.
    std::function<void(std::size_t steps, Position at)> spend;
};

/// `prefix` is put before each left side: "train_step/" where the entry of a command has `expect`.
std::vector<SuiteRelation> read_relations(const YamlNode& node, const SourceText& source,
                                          std::string_view file, const RelationScope& scope,
                                          Problems& problems, std::string_view prefix = {});

}  // namespace perfgate::suite
