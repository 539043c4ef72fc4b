// SPDX-License-Identifier: Apache-2.0
// What the verbs that measure share: the backend, its devices and plugins, and how it measures.
#pragma once

#include "runner/choice.hpp"
#include "suite/profile.hpp"

namespace CLI {
class App;
}

namespace perfgate::cli {

void add_backend_options(CLI::App& app, runner::BackendChoice& choice);
/// All options for measuring suites, except filters, tags and the output folder, which other verbs
/// share. Progress goes to standard error. `choice` must not move until parsing ends.
void add_measuring_options(CLI::App& app, runner::MeasuringChoice& choice);

/// Uses the profile for options that are not given.
void apply_measuring_profile(const CLI::App& verb, const suite::Profile& profile,
                             runner::MeasuringChoice& choice);

}  // namespace perfgate::cli
