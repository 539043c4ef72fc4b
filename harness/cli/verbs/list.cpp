// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/options/gate.hpp"
#include "cli/terminal/texts.hpp"
#include "cli/verbs/verb.hpp"
#include "document/plan.hpp"
#include "runner/devices.hpp"
#include "suite/plan.hpp"
#include "util/file.hpp"

namespace perfgate::cli {
namespace {

struct ListOptions {
    std::vector<std::string> suites;
    std::vector<std::string> plugins;
    model::Selection selection;
    std::string backend = "any";
    std::string device_key;
    std::string json;
};

int list_cases(const ListOptions& options) {
    suite::PlanOptions plan_options;
    if (options.backend == "cuda") plan_options.target = model::Target::cuda;
    if (options.backend == "host") plan_options.target = model::Target::host;
    plan_options.device_key = options.device_key;
    plan_options.filters = options.selection.filters;
    plan_options.tags = options.selection.tags;

    const std::vector<suite::Suite> suites =
        suite::load_suites(options.suites, runner::load_workload_catalogue(options.plugins));
    const model::Plan plan = suite::plan_suites(suites, plan_options);
    if (!options.json.empty()) {
        util::write_file_atomically(options.json, document::write_plan(plan));
    }
    if (options.json != "-") util::write_file_atomically("-", plan_text(plan, suites));
    return 0;
}

}  // namespace

void add_list(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "list", "Lists the cases of suites with target, gates and tags; needs no GPU");
    const auto options = std::make_shared<ListOptions>();
    verb->add_option("SUITE", options->suites, "Suite files")->required()->type_name("FILE");
    add_selection_options(*verb, options->selection);
    verb->add_option("--backend", options->backend, "Only cases that this backend measures")
        ->check(CLI::IsMember({"any", "cuda", "host"}))
        ->capture_default_str();
    verb->add_option("--device-key", options->device_key,
                     "Show the settings for this device key, the name of its baselines' folder "
                     "(default: without device overrides)")
        ->type_name("KEY");
    verb->add_option("--plugin", options->plugins,
                     "A plugin with workloads, in addition to the bundled ones (repeatable)")
        ->type_name("FILE")
        ->type_size(1)
        ->allow_extra_args(false);
    verb->add_option("--json", options->json, "Also write JSON to FILE (- is standard output)")
        ->type_name("FILE");
    verb->callback(
        [&invocation, options] { invocation.body = [options] { return list_cases(*options); }; });
}

}  // namespace perfgate::cli
