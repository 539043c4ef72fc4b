// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/options/gate.hpp"
#include "cli/options/output.hpp"
#include "cli/verbs/verb.hpp"
#include "model/selection.hpp"
#include "runner/judging.hpp"
#include "runner/run_file.hpp"

namespace perfgate::cli {

void add_report(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand("report",
                                        "Writes the reports of a stored run again; like compare, "
                                        "but the exit code only says whether "
                                        "they were written");
    struct Options {
        std::string run;
        GateOptions gate;
        runner::OutputOptions output;
    };
    const auto options = std::make_shared<Options>();
    verb->add_option("RUN", options->run, "Run document (perfgate-out/run.json)")->required();
    add_gate_options(*verb, options->gate);
    add_output_options(*verb, options->output);
    verb->footer(
        "Exit code: 0 where all reports were written, also for a run that regressed; 3 "
        "where one was not.");
    verb->callback([&invocation, options, verb] {
        invocation.body = [options, verb] {
            apply_profile(*verb, options->gate, options->output);
            check_outputs(*verb, options->output);
            name_run(*verb, options->gate, options->run, options->output);
            const model::Run run =
                model::select_cases(runner::read_run(options->run), options->gate.selection);
            const runner::Judge judge(judging_of(options->gate), run);
            return judge.report(judge.verdict(run), run, options->output);
        };
    });
}

}  // namespace perfgate::cli
