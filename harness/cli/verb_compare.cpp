// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/gate_options.hpp"
#include "cli/output_options.hpp"
#include "cli/run_file.hpp"
#include "cli/verb.hpp"
#include "gate/selection.hpp"

namespace perfgate::cli {

void add_compare(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "compare", "Judges a stored run against the baselines as run does; needs no GPU");
    struct Options {
        std::string run;
        GateOptions gate;
        OutputOptions output;
    };
    const auto options = std::make_shared<Options>();
    verb->add_option("RUN", options->run, "Run document (perfgate-out/run.json)")->required();
    add_gate_options(*verb, options->gate);
    add_output_options(*verb, options->output);
    verb->footer("Exit code: the verdict's, as of run.");
    verb->callback([&invocation, options, verb] {
        invocation.body = [options, verb] {
            apply_profile(*verb, options->gate, options->output);
            check_outputs(options->output);
            const model::Run run =
                gate::select_cases(read_run(options->run), options->gate.selection);
            return judge_and_report(run, options->gate, options->output);
        };
    });
}

}  // namespace perfgate::cli
