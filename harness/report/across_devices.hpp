// SPDX-License-Identifier: Apache-2.0
// Two runs side by side, usually of two devices, for information: nothing is judged. Cases are
// matched by suite and id, values by metric and method.
#pragma once

#include <string>

#include "model/run.hpp"
#include "report/reporter.hpp"

namespace perfgate::report {

struct NamedRun {
    std::string file;
    const model::Run* run = nullptr;  ///< never null
};

/// A table per suite: the time of each case on both devices, the change from the first to the
/// second, and both shares of the ceiling. Cases that only one run has are listed too. All text is
/// untrusted. Throws InputError if the runs have no case in common.
std::string write_across_console(const NamedRun& first, const NamedRun& second,
                                 const Options& options);

/// Every metric that both have; schema "perfgate.across" version 1.
std::string write_across_json(const NamedRun& first, const NamedRun& second);

}  // namespace perfgate::report
