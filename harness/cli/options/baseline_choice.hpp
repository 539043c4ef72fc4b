// SPDX-License-Identifier: Apache-2.0
// Which stored baseline a verb means: a suite's name and, if several devices have one, a device.
#pragma once

#include "runner/baselines.hpp"

namespace CLI {
class App;
}

namespace perfgate::cli {

/// SUITE, --baselines and --device-key.
void add_baseline_choice_options(CLI::App& app, runner::BaselineChoice& choice);

}  // namespace perfgate::cli
