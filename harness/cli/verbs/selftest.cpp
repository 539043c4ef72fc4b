// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/terminal/texts.hpp"
#include "cli/verbs/verb.hpp"
#include "runner/execution.hpp"
#include "runner/reports.hpp"
#include "runner/self_test.hpp"
#include "util/file.hpp"

namespace perfgate::cli {

namespace {

struct SelfTestOptions {
    runner::SelfTestRequest request;
    GateOptions gate;
    std::vector<double> sizes_percent{0, 0.5, 1, 2, 5, 10};
    double tolerance_percent = 0.5;
    std::string json;
};

constexpr double percent = 0.01;

int self_test(const CLI::App& verb, SelfTestOptions& options) {
    runner::SelfTestRequest& request = options.request;
    runner::OutputOptions output;
    apply_measuring_profile(verb, apply_profile(verb, options.gate, output), request.measuring);
    output.out = request.measuring.out;
    output.files["json"] = options.json;
    clear_outputs(verb, output);
    request.measuring.filters = options.gate.selection.filters;
    request.measuring.tags = options.gate.selection.tags;
    request.policy = options.gate.policy;
    for (const double size : options.sizes_percent) request.sizes.push_back(percent * size);
    request.tolerance = percent * options.tolerance_percent;
    // As many times more as a baseline has than a run.
    request.processes_of_base = request.measuring.processes.value_or(runner::usual_processes) *
                                (runner::baseline_processes / runner::usual_processes);
    request.seed = request.measuring.verify_seed.value_or(runner::fresh_seed());
    const runner::SelfTestOutcome outcome = runner::self_test(request);
    if (!options.json.empty()) {
        util::write_file_atomically(options.json, runner::write_json(outcome, request));
    }
    if (options.json != "-") util::write_file_atomically("-", self_test_text(outcome, request));
    return outcome.exit_code;
}

}  // namespace

Body add_selftest(CLI::App& verb) {
    const auto options = std::make_shared<SelfTestOptions>();
    runner::SelfTestRequest& request = options->request;
    request.measuring.out = "perfgate-selftest";
    verb.add_option("SUITE", request.suites, "Suite files")->required()->type_name("FILE");
    add_measuring_options(verb, request.measuring);
    add_config_options(verb, options->gate.config);
    add_selection_options(verb, options->gate.selection);
    verb.add_option("--sizes", options->sizes_percent,
                    "Slowdowns in percent of a launch's time; 0 tests for false alarms")
        ->delimiter(',')
        ->check(in_range(0, 1000))
        ->type_name("LIST")
        ->capture_default_str();
    verb.add_option("--tolerance", options->tolerance_percent,
                    "Tolerance of every time, in percent")
        ->check(in_range(0, 100))
        ->capture_default_str();
    verb.add_option("--out", request.measuring.out, "Folder of the runs: base, trial-1, …")
        ->type_name("DIR")
        ->capture_default_str();
    add_json_option(verb, options->json);
    verb.footer(
        "Every case gets every size once, in an order that the gate does not know (--seed repeats "
        "it), as extra work on the device after each launch; only times are measured. Stored "
        "baselines are neither used nor changed. Exit codes: 0 no false alarm, and at least nine "
        "in ten of the slowdowns that the gate claims to detect were found; 1 a false alarm, or "
        "significantly fewer were found; 2 usage or invalid input; 3 fewer were found, which may "
        "be chance, no slowdown was as large as the claim, or something could not be measured; "
        "130 interrupted.");
    return [options, &verb] { return self_test(verb, *options); };
}

}  // namespace perfgate::cli
