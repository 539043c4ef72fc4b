// SPDX-License-Identifier: Apache-2.0
// What the verbs of `baseline` share: which stored baseline is meant (a suite's name and, if
// several devices have one, a device); who accepts, why, and how far accepted changes may add up.
#pragma once

#include <string>

#include "baseline/acceptance.hpp"
#include "runner/baselines.hpp"
#include "suite/profile.hpp"

namespace CLI {
class App;
}

namespace perfgate::cli {

/// SUITE, --baselines and --device-key.
void add_baseline_choice_options(CLI::App& app, runner::BaselineChoice& choice);

struct AcceptanceOptions {
    std::string reason, author;
    std::string creep;  ///< "10%"; empty: the profile's or the usual bound
    bool reset_anchor = false;
};

/// Only --author.
void add_author_option(CLI::App& app, AcceptanceOptions& options);

/// --author, --creep and --reset-anchor; a verb has its own --reason.
void add_acceptance_options(CLI::App& app, AcceptanceOptions& options);

/// With the current time, and git's user name if no author is given. Throws InputError for an
/// invalid bound.
baseline::Acceptance acceptance_of(const AcceptanceOptions& options, const suite::Profile& profile);

}  // namespace perfgate::cli
