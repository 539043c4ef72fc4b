// SPDX-License-Identifier: Apache-2.0
// The documents that the tests of the reports share.
#pragma once

#include <string>

#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::report {

struct Documents {
    model::Run run;
    model::VerdictDocument verdict;
};

/// Two suites on an H100: every verdict once, several failed metrics, notes, a log.
Documents every_verdict();

/// A first run on a host: values, and no baseline.
Documents first_run();

/// Those, but in the first suite only the case that regressed. The source of its changed kernel is
/// at `source`; its other kernel did not change.
Documents regressed_by_kernel(const model::SourcePlace& source);

/// `text` in every field that comes from outside.
Documents hostile(const std::string& text);

/// One suite of measured cases, `metrics` values each, four of them gated; every tenth case
/// regressed.
Documents many_cases(int cases, int metrics);

}  // namespace perfgate::report
