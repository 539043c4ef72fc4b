// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/options/gate.hpp"
#include "cli/options/measuring.hpp"
#include "cli/options/output.hpp"
#include "cli/verbs/verb.hpp"
#include "runner/ab.hpp"

namespace perfgate::cli {

namespace {

struct AbOptions {
    runner::AbRequest request;
    GateOptions gate;
};

int compare(const CLI::App& verb, AbOptions& options) {
    runner::AbRequest& request = options.request;
    const suite::Profile profile = apply_profile(verb, options.gate, request.reports);
    apply_measuring_profile(verb, profile, request.measuring);
    leave_out_profile(options.gate.profile, request.suites);
    check_outputs(verb, request.reports);
    note_unproved(profile, "ab");
    note_without_canary(profile, "ab");
    request.measuring.filters = options.gate.selection.filters;
    request.measuring.tags = options.gate.selection.tags;
    request.measuring.out = request.reports.out;
    request.policy = policy_of(options.gate);
    name_run(verb, options.gate, request.reports.out + "/run.json", request.reports);
    return runner::compare_builds(request);
}

void add_variable_option(CLI::App& verb, const char* name, std::vector<std::string>& words,
                         const char* help) {
    verb.add_option(name, words, help)->type_name("NAME=VALUE")->allow_extra_args(false);
}

}  // namespace

void add_ab(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "ab",
        "Measures two builds of the plugins, two git revisions or checkouts of programs or "
        "sources, or two environments of programs back to back and compares them");
    const auto options = std::make_shared<AbOptions>();
    runner::AbRequest& request = options->request;
    request.reports.out = "perfgate-out";
    verb->add_option("SUITE", request.suites, "Suite files")->required()->type_name("FILE");
    CLI::Option* base =
        verb->add_option("--base", request.base,
                         "The build to compare with: a plugin, or a folder of plugins")
            ->check(CLI::ExistingPath)
            ->type_name("PATH");
    CLI::Option* head =
        verb->add_option("--head", request.head,
                         "The build that is judged: a plugin, or a folder of plugins")
            ->check(CLI::ExistingPath)
            ->type_name("PATH");
    CLI::Option* base_root =
        verb->add_option(
                "--base-root", request.base_root,
                "A checkout to compare with: the suite's programs run in it and its sources "
                "are read from it, in place of the suite's folder")
            ->check(CLI::ExistingDirectory)
            ->type_name("DIR");
    CLI::Option* head_root =
        verb->add_option("--head-root", request.head_root, "The checkout that is judged, likewise")
            ->check(CLI::ExistingDirectory)
            ->type_name("DIR");
    CLI::Option* base_rev =
        verb->add_option("--base-rev", request.base_rev,
                         "A git revision to compare with, checked out into a temporary folder: the "
                         "suite's programs run in it and its sources are read from it")
            ->type_name("REF")
            ->excludes(base_root)
            ->excludes(head_root);
    verb->add_option(
            "--head-rev", request.head_rev,
            "The git revision that is judged, likewise; default: the working tree as it is")
        ->type_name("REF")
        ->needs(base_rev);
    add_variable_option(*verb, "--base-env", request.base_env,
                        "A variable of the environment that the base's programs and benchmarks "
                        "run in, in place of the suite's and the inherited one (repeatable)");
    add_variable_option(*verb, "--head-env", request.head_env,
                        "The same for the head's programs and benchmarks (repeatable)");
    base->needs(head);
    head->needs(base);
    base_root->needs(head_root);
    head_root->needs(base_root);
    add_measuring_options(*verb, request.measuring);
    add_profile_option(*verb, options->gate.profile);
    add_selection_options(*verb, options->gate.selection);
    add_policy_options(*verb, options->gate);
    add_output_options(*verb, request.reports);
    verb->footer(
        "One process of each build in turn (A B B A ...) on one device; pairs of processes are "
        "compared, no stored\nbaseline takes part. The bundled plugins are not loaded. Writes what "
        "run writes, of the head; the base's\njournal.jsonl and run.json are in base/. Exit codes "
        "are those of run.");
    verb->callback([&invocation, options, verb] {
        invocation.body = [options, verb] { return compare(*verb, *options); };
    });
}

}  // namespace perfgate::cli
