// SPDX-License-Identifier: Apache-2.0
// Output options of the verbs that judge: files in each format, and the table.
#pragma once

#include "runner/reports.hpp"

namespace CLI {
class App;
}

namespace perfgate::cli {

/// One option per report format, and options for their appearance. The help of --out shows the
/// verb's default, the present value of `options.out`.
void add_output_options(CLI::App& app, runner::OutputOptions& options);

/// runner::clear_outputs, with the inputs that the command line names and the run documents that
/// the verb stores.
void clear_outputs(const CLI::App& verb, runner::OutputOptions options);

/// The same for a command line that was refused, or whose profile cannot be read: for the outputs
/// that it names, or the verb's default folder. A verb without options, typed to see its usage,
/// clears nothing.
void clear_outputs(const CLI::App& verb);

/// runner::check_outputs, likewise.
void check_outputs(const CLI::App& verb, runner::OutputOptions options);

}  // namespace perfgate::cli
