// SPDX-License-Identifier: Apache-2.0
// Reads a suite's `expect` and finds the cases of each relation's instances.
//
// The first reference on the left side is the leading one: a relation has one instance for each
// case that it matches. Every other reference resolves to the case of its workload and variant that
// has the same value for every parameter that both cases have (except those that the reference
// fixes in brackets) and the same cache (unless it fixes that). A leading case without such a case
// has no instance; a reference that matches several is an error.
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

/// A relation that the suite states without writing it.
struct StatedRelation {
    std::string left;        ///< "train/step.syncs"
    std::string comparison;  ///< "<= 0"
    std::string reason;
    Position at;  ///< of what states it
};

/// What the reader needs from the rest of the suite.
struct RelationScope {
    const std::vector<SuiteCase>& cases;
    const model::WorkloadCatalogue& workloads;
    /// False if problems elsewhere leave cases unknown: then only the syntax is checked.
    bool complete = true;
    /// The metrics that a case (by its index) collects; null if problems leave that unknown.
    std::function<const std::set<std::string>*(std::size_t)> collected;
    /// Accounts for the cost of matching.
    std::function<void(std::size_t steps, Position at)> spend;
};

/// `prefix` is put before each left side: "train_step/" if the entry of a command has `expect`.
std::vector<SuiteRelation> read_relations(const YamlNode& node, const SourceText& source,
                                          std::string_view file, const RelationScope& scope,
                                          Problems& problems, std::string_view prefix = {});

std::vector<SuiteRelation> read_relations(const std::vector<StatedRelation>& stated,
                                          std::string_view file, const RelationScope& scope,
                                          Problems& problems);

}  // namespace perfgate::suite
