// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/options/gate.hpp"
#include "cli/options/output.hpp"
#include "cli/verbs/verb.hpp"
#include "document/verdict.hpp"
#include "explain/explain.hpp"
#include "model/selection.hpp"
#include "report/explanations.hpp"
#include "runner/judging.hpp"
#include "runner/run_file.hpp"
#include "suite/profile.hpp"
#include "util/file.hpp"

namespace perfgate::cli {

void add_explain(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "explain", "Explains why cases of a stored run are slower or faster than their baseline");
    struct Options {
        std::string run, glob, json;
        GateOptions gate;
    };
    const auto options = std::make_shared<Options>();
    verb->add_option("RUN", options->run, "Run document (perfgate-out/run.json)")->required();
    verb->add_option("CASE", options->glob,
                     "Only cases whose id matches (* any text, ? any character), also those that "
                     "did not move");
    add_baselines_option(*verb, options->gate.baselines);
    add_profile_option(*verb, options->gate.profile);
    verb->add_option("--json", options->json,
                     "Verdict document of these cases, with 'why' (- is standard output)")
        ->type_name("FILE");
    verb->footer(
        "Needs only the run and its baselines. Exit code: 0, also for cases that "
        "regressed.");
    verb->callback([&invocation, options, verb] {
        invocation.body = [options, verb] {
            model::Selection selection;
            if (!options->glob.empty()) selection.filters.push_back(options->glob);
            const model::Run run = model::select_cases(runner::read_run(options->run), selection);
            if (!options->gate.profile.empty()) {
                const suite::Profile profile = suite::load_profile(options->gate.profile);
                take_unless_given(*verb, "--baselines", profile.baselines, options->gate.baselines);
                options->gate.policy = profile.policy;
            }
            runner::OutputOptions output;
            output.files["json"] = options->json;
            check_outputs(*verb, output);
            model::VerdictDocument document =
                runner::Judge(judging_of(options->gate), run).verdict(run);
            if (!options->glob.empty()) explain::explain(run, explain::Which::all, document);
            if (!options->json.empty()) {
                util::write_file_atomically(options->json, document::write_verdict(document));
            }
            runner::print_for_people(output, [&](const report::Options& how) {
                return report::write_explanations(document, how);
            });
            return 0;
        };
    });
}

}  // namespace perfgate::cli
