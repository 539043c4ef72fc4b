// SPDX-License-Identifier: Apache-2.0
// From suite files to the Plan for an opened backend.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/catalogue.hpp"
#include "model/plan.hpp"
#include "runner/choice.hpp"
#include "runner/devices.hpp"
#include "suite/command_reader.hpp"

namespace perfgate::runner {

enum class Programs { included, left_out };

/// The cases that the backend measures, of those that the choice selects; the folders of programs
/// are absolute. Benchmarks are run once, to learn their cases. If the programs use several GPUs,
/// it calls share_gpus for the backend. Sources are compiled. Throws util::InputError if suites
/// are wrong, nothing is selected, there are too few GPUs, or cases use different numbers of them:
/// a run has one device key.
model::Plan plan_for(const std::vector<std::string>& files, const MeasuringChoice& choice,
                     OpenedBackend& backend, Programs programs = Programs::included);

/// Throws util::InputError if a suite has an entry of such a kind: "FILE:4:5: a plugin's workload,
/// and …".
void refuse_entries(const std::vector<std::string>& files,
                    const std::vector<suite::EntryKind>& kinds, std::string_view why);

/// Where the programs of one side of a comparison run and its sources are, and what the programs
/// find in their environment.
struct Checkout {
    std::string root;  ///< a folder that takes the place of another; empty: there is none
    /// That other folder, which the suites are in, at any depth; empty: each suite's own.
    std::string replaced = {};
    model::Variables variables = {};  ///< in addition to the suites' and in place of them
};

struct Checkouts {
    Checkout base, head;
};

struct BothPlans {
    model::Plan base, head;
};

/// The same for both sides, whose plans have the same cases. The benchmarks of both are asked for
/// their cases; what only the head reports is skipped in the base, what only the base
/// reports is an error in the head. Throws util::InputError if there
/// are programs, benchmarks or sources and neither checkouts nor variables, or if there
/// are variables and no programs.
BothPlans plan_for_both(const std::vector<std::string>& files, const MeasuringChoice& choice,
                        OpenedBackend& backend, const Checkouts& checkouts);

/// The same cases, skipping those that a build with this catalogue does not offer.
model::Plan offered(model::Plan plan, const model::WorkloadCatalogue& catalogue);

bool has_programs(const model::Plan& plan);
bool has_sources(const model::Plan& plan);
/// Whether some of them are recorded: of benchmarks, only the labels of `measure` are.
bool records_programs(const model::Plan& plan);

/// The same plan with its programs and sources in another checkout, if it has a root, and the
/// programs with its variables. Throws util::InputError for
/// what is outside of the replaced folder, if one is named.
model::Plan in_checkout(model::Plan plan, const Checkout& checkout);

/// The cases to which work can be added. Throws util::InputError if there is none.
model::Plan without_programs(model::Plan plan);

}  // namespace perfgate::runner
