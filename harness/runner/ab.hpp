// SPDX-License-Identifier: Apache-2.0
// `perfgate ab`: two builds of the plugins, two checkouts or git revisions of programs and sources,
// or two environments of programs, measured back to back; the head is judged against the base.
#pragma once

#include <string>
#include <vector>

#include "model/verdict.hpp"
#include "runner/choice.hpp"
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

}  // namespace perfgate::runner
