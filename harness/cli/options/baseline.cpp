// SPDX-License-Identifier: Apache-2.0
#include "cli/options/baseline.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/options/gate.hpp"
#include "runner/clock.hpp"
#include "runner/git.hpp"
#include "suite/amount.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::cli {

void add_author_option(CLI::App& app, AcceptanceOptions& options) {
    app.add_option("--author", options.author,
                   "Who accepts, kept in the ledger (default: git's user.name)")
        ->type_name("NAME");
}

void add_acceptance_options(CLI::App& app, AcceptanceOptions& options) {
    add_author_option(app, options);
    app.add_option("--creep", options.creep,
                   "Limit for the sum of accepted changes of a gated metric since its anchor "
                   "(default: the profile's, else 10%)")
        ->type_name("PERCENT");
    app.add_flag("--reset-anchor", options.reset_anchor,
                 "Accept changes beyond that limit; later ones add up from the new values");
}

baseline::Acceptance acceptance_of(const AcceptanceOptions& options,
                                   const suite::Profile& profile) {
    baseline::Acceptance acceptance;
    acceptance.accepted_by = options.author.empty() ? runner::git_user_name() : options.author;
    acceptance.reason = options.reason;
    acceptance.at = runner::utc_now();
    acceptance.reset_anchors = options.reset_anchor;
    acceptance.creep_bound = profile.creep.value_or(model::usual_creep_bound);
    acceptance.acknowledgement_days = profile.policy.acknowledgement_days;
    if (options.creep.empty()) return acceptance;
    const std::optional<double> bound = suite::fraction_of(options.creep);
    if (!bound) {
        throw util::InputError(fmt::format("--creep '{}': expected a share, as 10%",
                                           util::printable(options.creep, 100)));
    }
    acceptance.creep_bound = *bound;
    return acceptance;
}

void add_baseline_choice_options(CLI::App& app, runner::BaselineChoice& choice) {
    app.add_option("SUITE", choice.suite, "The suite's file, or its name (gemm)")
        ->required()
        ->type_name("FILE|NAME");
    add_baselines_option(app, choice.baselines);
    app.add_option("--device-key", choice.device_key,
                   "Device key (nvidia-h100-80gb-hbm3); may be left out if only one has a baseline")
        ->type_name("KEY");
}

}  // namespace perfgate::cli
