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
/// All that says how suites are measured, but for filters, tags and the output folder, which other
/// verbs have too. Progress goes to standard error. `choice` stays where it is until all is parsed.
void add_measuring_options(CLI::App& app, runner::MeasuringChoice& choice);

/// Takes from the profile what the command line does not say of it.
void apply_measuring_profile(const CLI::App& verb, const suite::Profile& profile,
                             runner::MeasuringChoice& choice);

}  // namespace perfgate::cli
