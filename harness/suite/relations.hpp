// SPDX-License-Identifier: Apache-2.0
// Reads a suite's `expect`; relation_matcher.hpp finds the cases of each relation's instances.
//
// A relation with a benchmark whose cases are not known stays open: read first for its syntax,
// metrics and units, and again when the benchmark has reported. If that fails, what stands for the
// benchmark's cases is in the instances, so that the relation cannot be judged.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "suite/entry.hpp"
#include "suite/placed_text.hpp"
#include "suite/relation_matcher.hpp"

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

struct ReadRelations {
    std::vector<SuiteRelation> relations;
    std::vector<OpenRelation> open;
    std::vector<UnreadRelation> unread;  ///< those with a problem
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
