// SPDX-License-Identifier: Apache-2.0
// Options for reading results that benchmarks wrote.
#pragma once

#include "runner/imported.hpp"

namespace CLI {
class App;
}

namespace perfgate::cli {

/// --format, --tolerance.
void add_result_options(CLI::App& app, runner::ImportChoice& choice);

}  // namespace perfgate::cli
