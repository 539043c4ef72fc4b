// SPDX-License-Identifier: Apache-2.0
// What an entry of a suite says about a workload whose plugin is not there.
#pragma once

#include "model/catalogue.hpp"
#include "suite/yaml_reader.hpp"

namespace perfgate::suite {

/// A workload that has the variants and parameters that the entry names, with the types of the
/// values that it gives them: enough to list the entry's cases with the ids that they have with the
/// plugin. What a variant runs on is not known.
model::WorkloadInfo inferred_workload(const YamlNode& entry);

/// Adds what `workload` has to the one of its name.
void add_inferred(const model::WorkloadInfo& workload, model::WorkloadCatalogue& workloads);

}  // namespace perfgate::suite
