// SPDX-License-Identifier: Apache-2.0
#include "cli/options/baseline_choice.hpp"

#include <CLI/CLI.hpp>

#include "cli/options/gate.hpp"

namespace perfgate::cli {

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
