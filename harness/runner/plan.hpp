// SPDX-License-Identifier: Apache-2.0
// From suite files to the Plan for an opened backend.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/kind.hpp"
#include "model/catalogue.hpp"
#include "model/plan.hpp"
#include "runner/checkout.hpp"
#include "runner/choice.hpp"
#include "runner/devices.hpp"
#include "suite/suite.hpp"

namespace perfgate::runner {

/// What the kinds of case need to know; files go to the choice's output folder.
kinds::Machine machine_of(const MeasuringChoice& choice, const OpenedBackend& backend);

/// The cases that the backend measures, of those that the choice selects; the folders of programs
/// and sources are absolute. Cases are discovered, and what has to be is prepared (Kind). If the
/// cases see several GPUs, it calls share_gpus for the backend. Throws util::InputError if suites
/// are wrong, nothing is selected, there are too few GPUs, or cases see different numbers of them:
/// a run has one device key.
model::Plan plan_for(const std::vector<std::string>& files, const MeasuringChoice& choice,
                     OpenedBackend& backend);

/// Checks the cases of suites further than reading them does (kinds::check). Needs no GPU. Throws
/// measure::Interrupted.
kinds::Findings check_cases(const std::vector<suite::Suite>& suites,
                            const std::vector<std::string>& architectures);

/// Only the cases that workers measure: to their launches work can be added. Throws
/// util::InputError if there is none.
model::Plan plan_for_workers(const std::vector<std::string>& files, const MeasuringChoice& choice,
                             OpenedBackend& backend);
model::Plan without_groups(model::Plan plan);

struct BothPlans {
    model::Plan base, head;
};

/// Throws util::InputError for a selected case of which nothing differs between such sides, and for
/// environments that no case has. Needs neither plugins nor a device; the workloads of plugins may
/// be unknown.
void require_differences(const std::vector<std::string>& files, const MeasuringChoice& choice,
                         const model::SideDifferences& sides,
                         const model::WorkloadCatalogue& known);

/// The plugins that the suites name, as this side has them. `option` names the side in messages.
/// Throws util::InputError for one that is absent.
std::vector<std::string> plugins_named_for(const Checkout& checkout, std::string_view option,
                                           const std::vector<std::string>& suites);

/// What the programs of each group of each suite report.
using DiscoveredBySuite = std::vector<std::map<std::size_t, model::Discovered>>;

/// The head's cases, and those that only the base has. A head without cases has none. What only
/// the head skips is not skipped.
DiscoveredBySuite discovered_by_any(const DiscoveredBySuite& head, const DiscoveredBySuite& base);

/// The same for both sides, whose plans have the same cases. Both are asked for cases that are
/// discovered. A case that only the head has is skipped in the base, where `base_plugins` are
/// loaded; one that only the base has is an error in the head.
BothPlans plan_for_both(const std::vector<std::string>& files, const MeasuringChoice& of_head,
                        const MeasuringChoice& of_base, OpenedBackend& backend,
                        const model::WorkloadCatalogue& base_plugins, const Checkouts& checkouts);

/// The same cases, skipping those that a side with these plugins does not have.
model::Plan offered(model::Plan plan, const model::WorkloadCatalogue& catalogue);

/// The same plan with its files in another checkout, if it has a root, and its processes with the
/// variables. Throws util::InputError for what is outside of the replaced folder, if one is named.
model::Plan in_checkout(model::Plan plan, const Checkout& checkout);

// What base and head of a comparison have in common though it should differ: a comparison of a
// thing with itself finds nothing.

/// By suite: what both sides run that is the same (Subject::same_as).
std::map<std::string, std::vector<std::string>> same_program_notes(const BothPlans& plans);

}  // namespace perfgate::runner
