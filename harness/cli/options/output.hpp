// SPDX-License-Identifier: Apache-2.0
// Where the verbs that judge put what they say: files in each format, and the table.
#pragma once

#include "runner/reports.hpp"

namespace CLI {
class App;
}

namespace perfgate::cli {

/// One option per report format, and how they look. The help of --out depends on the verb's
/// default, which is what `options.out` holds now.
void add_output_options(CLI::App& app, runner::OutputOptions& options);

}  // namespace perfgate::cli
