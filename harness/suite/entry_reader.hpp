// SPDX-License-Identifier: Apache-2.0
// Reads one item of `workloads`: workload, variants, parameters and matrix, checked against what
// the workload declares. Also reads the overrides of an entry or of the suite.
#pragma once

#include <vector>

#include "model/catalogue.hpp"
#include "suite/entry.hpp"
#include "suite/matrix.hpp"

namespace perfgate::suite {

struct ReadEntry {
    Entry entry;
    const model::WorkloadInfo* workload = nullptr;
    std::vector<const model::VariantInfo*> variants;
    model::Params params;
    Matrix matrix;
    bool in_python = false;   ///< an interpreter launches it
    bool expandable = false;  ///< workload, variants, parameters and matrix had no problem
};

/// The most items of `include`, of `exclude` and of `overrides`.
inline constexpr std::size_t most_rules = 1000;

ReadEntry read_entry(const YamlNode& node, const model::WorkloadCatalogue& workloads,
                     Problems& problems);

/// What an entry states of a workload that declares values itself; null: nothing.
struct StatedCases {
    const YamlNode *variants = nullptr, *params = nullptr, *matrix = nullptr;
};

/// All variants and the declared values, where the entry, at `at`, states none.
ReadEntry read_declared(const model::WorkloadInfo& workload, const StatedCases& stated, Position at,
                        Problems& problems);

/// The matrix of a workload of which these variants are measured.
Matrix read_matrix(const YamlNode& node, const model::WorkloadInfo& workload,
                   const std::vector<const model::VariantInfo*>& variants, Problems& problems);

std::vector<std::string> read_tags(const YamlNode& node, Problems& problems);

std::vector<Override> read_overrides(const YamlNode& node, Problems& problems);

/// The keys of an entry that are no settings: of plugins and sources.
const std::vector<Key<Entry>>& entry_keys();

}  // namespace perfgate::suite
