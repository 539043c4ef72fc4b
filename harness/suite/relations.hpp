// SPDX-License-Identifier: Apache-2.0
// Reads a suite's `expect` and finds the cases of each relation's instances.
//
// The first reference on the left side is the leading one: a relation has one instance for each
// case that it matches. Every other reference resolves to the case of its workload and variant that
// has the same value for every parameter that both cases have (except those that the reference
// fixes in brackets) and the same cache (unless it fixes that). A leading case without such a case
// has no instance; a reference that matches several is an error.
//
// A relation with a benchmark whose cases are not known stays open: read first for its syntax,
// metrics and units, and again when the benchmark has reported. If that fails, what stands for the
// benchmark's cases is in the instances, so that the relation cannot be judged.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
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
    /// The settings of each benchmark, by its name. The variants and parameters in `workloads` are
    /// those that it has reported.
    std::map<std::string, const Settings*> benchmarks;
    /// The benchmarks have not run: relations with their cases stay open.
    bool benchmarks_may_run = true;
    /// False if problems elsewhere leave cases unknown: then only the syntax is checked.
    bool complete = true;
    /// The metrics that a case (by its index) collects; null if problems leave that unknown.
    std::function<const std::set<std::string>*(std::size_t)> collected;
    /// Accounts for the cost of matching.
    std::function<void(std::size_t steps, Position at)> spend;
};

struct ReadRelations {
    std::vector<SuiteRelation> relations;
    std::vector<OpenRelation> open;
};

/// `prefix` is put before each left side: "train_step/" if the entry of a command has `expect`.
ReadRelations read_relations(const YamlNode& node, const SourceText& source, std::string_view file,
                             const RelationScope& scope, Problems& problems,
                             std::string_view prefix = {});

ReadRelations read_relations(const std::vector<StatedRelation>& stated, std::string_view file,
                             const RelationScope& scope, Problems& problems);

/// Once the benchmarks have run.
std::vector<SuiteRelation> resolve_relations(const std::vector<OpenRelation>& open,
                                             std::string_view file, const RelationScope& scope,
                                             Problems& problems);

}  // namespace perfgate::suite
