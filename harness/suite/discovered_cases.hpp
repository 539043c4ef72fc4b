// SPDX-License-Identifier: Apache-2.0
// Cases that are not in a suite's file: what one case stands for, once it is discovered.
#pragma once

#include <cstddef>
#include <map>

#include "model/subject.hpp"
#include "suite/suite.hpp"

namespace perfgate::suite {

/// The case in place of one that stands for it. A parameter that the suite sets keeps its value.
model::CaseSpec spec_of(const model::DiscoveredCase& found, const model::CaseSpec& in_place_of);

/// Replaces the case that stands for those of its group by these, and resolves the suite's open
/// relations. Of a problem the case keeps the reason and fails; one whose group is not in
/// `by_group` stays. Relations with either cannot be judged. Throws util::InputError for an
/// override that matches no case, for a listed variant with the name of a discovered one, for a
/// relation with a case that was not discovered, and if there are too many cases.
void set_discovered_cases(const std::map<std::size_t, model::Discovered>& by_group, Suite& suite);

}  // namespace perfgate::suite
