// SPDX-License-Identifier: Apache-2.0
// Two runs side by side, of two devices mostly, for information: nothing is judged. Cases belong
// together by suite and id, values by metric and method.
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
/// second, and both shares of the ceiling. Cases that only one run has are listed too. Any text is
/// taken as hostile. Throws InputError where the runs share no case.
std::string write_across_console(const NamedRun& first, const NamedRun& second,
                                 const Options& options);

/// Every metric that both have; schema "perfgate.across" version 1.
std::string write_across_json(const NamedRun& first, const NamedRun& second);

}  // namespace perfgate::report
