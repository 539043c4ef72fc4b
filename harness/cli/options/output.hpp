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

/// runner::clear_outputs, with the inputs that the command line names and the run documents that
/// the verb stores.
void clear_outputs(const CLI::App& verb, runner::OutputOptions options);

/// The same where the command line was refused, or its profile cannot be read: for the outputs that
/// it names, or the verb's default folder. A verb alone, as people type it to see how it is used,
/// clears nothing.
void clear_outputs(const CLI::App& verb);

/// runner::check_outputs, likewise.
void check_outputs(const CLI::App& verb, runner::OutputOptions options);

}  // namespace perfgate::cli
