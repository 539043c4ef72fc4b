// SPDX-License-Identifier: Apache-2.0
// When runs first saw improvements that nobody has accepted since, as the ledger has it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/baseline.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::baseline {

/// By case and metric: the start of the run that first saw it.
using FirstSeen = std::map<std::string, std::map<std::string, std::string>>;

/// An acceptance of a case ends what was seen before, and so does a run that no longer sees it.
FirstSeen first_seen(const model::Ledger& ledger);

/// The entries by which a ledger notes what a run newly shows improved, or no longer. A metric that
/// is not decided stays as it is known.
std::vector<model::LedgerEntry> improvement_entries(const model::SuiteVerdict& verdict,
                                                    const FirstSeen& known, const model::Run& run);

}  // namespace perfgate::baseline
