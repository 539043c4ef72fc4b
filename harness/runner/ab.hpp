// SPDX-License-Identifier: Apache-2.0
// `perfgate ab`: two builds of the plugins, two checkouts or git revisions of programs and sources,
// or two environments of programs, measured back to back; the head is judged against the base.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "model/run.hpp"
#include "model/verdict.hpp"
#include "runner/back_to_back.hpp"
#include "runner/checkout.hpp"
#include "runner/choice.hpp"
#include "runner/execution.hpp"
#include "runner/reports.hpp"
#include "runner/sides.hpp"

namespace perfgate::runner {

struct AbRequest {
    std::vector<std::string> suites;  ///< files
    Side base, head;                  ///< a head without a place: where the suites are
    MeasuringChoice measuring;
    model::Policy policy;
    OutputOptions reports;
};

/// Returns the exit code. The suites are the head's; a case that the base does not offer is skipped
/// there. The base's journal and run are in the folder `base` of the output folder. Throws as
/// run_suites does, and InputError if no base is named or a folder has no plugin.
int compare_builds(const AbRequest& request);

/// Throws util::InputError if the request's sides do not differ in what its suites measure. Reads
/// the suites, and neither checks out nor opens anything.
void check_sides(const AbRequest& request);

struct BothRuns {
    model::Run base, head;
    std::map<std::string, std::vector<std::string>> notes;  ///< by suite
};

/// Measures both sides; the Execution is the head's. Returns the cases whose machine code is kept.
using SidesMeasure = std::function<std::vector<model::CaseIndex>(BackToBack&, Execution&)>;

/// The sides of a request in these checkouts, opened on one device and measured as `measure` does.
/// Throws as compare_builds does.
BothRuns measure_sides(const AbRequest& request, const Checkouts& checkouts,
                       const SidesMeasure& measure);

struct Compared {
    model::VerdictDocument verdict;
    int exit_code = 0;
};

/// What compare_builds does with sides that are checked out: measures, judges, stores, reports.
Compared compare_checkouts(const AbRequest& request, const Checkouts& checkouts);

}  // namespace perfgate::runner
