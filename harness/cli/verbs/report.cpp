// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"
#include "explain/explain.hpp"
#include "model/selection.hpp"
#include "report/across_devices.hpp"
#include "report/explanations.hpp"
#include "runner/code_file.hpp"
#include "runner/imported.hpp"
#include "runner/judging.hpp"
#include "runner/run_file.hpp"
#include "runner/sides.hpp"
#include "sass/text.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::cli {

namespace {

struct ReportOptions {
    std::string run;
    std::vector<std::string> base, head;
    runner::ImportChoice results;
    bool why = false;
    GateOptions gate;
    runner::OutputOptions output;
};

int show_side_by_side(const CLI::App& verb, const ReportOptions& options) {
    if (options.base.empty() || options.head.empty() || !options.run.empty()) {
        throw util::InputError("--base and --head belong together, without RUN");
    }
    runner::require_files("--base", options.base);
    runner::require_files("--head", options.head);
    for (const char* name : {"--baselines", "--config", "--set", "--out", "--why"}) {
        if (verb.count(name) == 0) continue;
        throw util::InputError(
            "{} has no meaning with --base and --head, which are shown side by side and not "
            "judged: leave it out",
            name);
    }
    for (const auto& [format, file] : options.output.files) {
        if (format == "json" || file.empty()) continue;
        throw util::InputError(
            "--report {}: has no meaning with --base and --head, which have json: only", format);
    }
    check_outputs(verb, options.output);
    const auto read = [&](const std::vector<std::string>& files) {
        return model::select_cases(runner::read_run_or_results(files, options.results),
                                   options.gate.selection);
    };
    const model::Run first = read(options.base);
    const model::Run second = read(options.head);
    const report::NamedRun left{options.base.front(), &first};
    const report::NamedRun right{options.head.front(), &second};
    const std::string& json = options.output.files.at("json");
    if (!json.empty()) util::write_file_atomically(json, write_across_json(left, right));
    runner::print_for_people(options.output, [&](const report::Options& how) {
        return write_across_console(left, right, how);
    });
    return 0;
}

/// The machine code of the run's cases that is kept beside it, compared with the base's.
std::string code_text(const model::Run& run, const std::filesystem::path& folder) {
    const model::KeptCode kept = runner::read_code(folder);
    std::string text;
    for (const model::SuiteResult& suite : run.suites) {
        for (const model::CaseResult& result : suite.cases) {
            const std::string id = model::case_id(result.spec);
            const model::CaseCode* const head = runner::code_in(kept.head, suite.name, id);
            // A file beside it may be of another run.
            if (head == nullptr || !result.code) continue;
            text += fmt::format("{}: machine code\n", util::printable(head->id));
            for (const std::string& line :
                 sass::case_text(runner::code_in(kept.base, suite.name, id), *head)) {
                text += "  " + util::printable(line, 2000) + "\n";
            }
        }
    }
    return text;
}

int show(const CLI::App& verb, ReportOptions& options) {
    if (!options.base.empty() || !options.head.empty()) return show_side_by_side(verb, options);
    if (options.run.empty()) {
        throw util::InputError("nothing to report: name a run document, or --base and --head");
    }
    apply_profile(verb, options.gate, options.output);
    check_outputs(verb, options.output);
    name_run(verb, options.gate, options.run, options.output);
    const model::Run run =
        model::select_cases(runner::read_run(options.run), options.gate.selection);
    const runner::Judge judge(judging_of(options.gate), run);
    model::VerdictDocument document = judge.verdict(run);
    // Cases that are named are explained though they did not move.
    const bool named = !options.gate.selection.filters.empty();
    if (options.why && named) explain::explain(run, explain::Which::all, document);
    if (options.why) options.output.table = report::write_explanations;
    const int reported = judge.report(document, run, options.output);
    if (options.why && named) {
        std::string code = code_text(run, std::filesystem::absolute(options.run).parent_path());
        if (!code.empty()) {
            runner::print_for_people(options.output,
                                     [&](const report::Options& /*how*/) { return code; });
        }
    }
    return reported;
}

}  // namespace

Body add_report(CLI::App& verb) {
    const auto options = std::make_shared<ReportOptions>();
    verb.add_option("RUN", options->run, "Run document (perfgate-out/run.json)")->type_name("FILE");
    verb.add_flag("--why", options->why,
                  "Explain why cases are slower or faster, in place of the table; with --filter "
                  "also cases that did not change")
        ->group(report_group);
    verb.add_option("--base", options->base,
                    "Show this run, or these results of benchmarks, and --head side by side, also "
                    "of two devices")
        ->type_name("FILE")
        ->group(report_group);
    verb.add_option("--head", options->head, "The other side, in the same form")
        ->type_name("FILE")
        ->group(report_group);
    add_format_option(verb, options->results)->group(more_group);
    add_gate_options(verb, options->gate);
    add_output_options(verb, options->output);
    verb.footer(
        "Needs only the run and its baselines. Exit code: 0 where all reports were written, also "
        "for a run that regressed; 3 where one was not.");
    return [options, &verb] { return show(verb, *options); };
}

}  // namespace perfgate::cli
