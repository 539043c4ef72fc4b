// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"
#include "model/run.hpp"
#include "report/html.hpp"
#include "runner/installation.hpp"
#include "runner/judging.hpp"
#include "runner/run_file.hpp"
#include "util/error.hpp"

namespace perfgate::cli {

namespace {

int show_recorded_run(const CLI::App& verb, runner::OutputOptions output) {
    const std::filesystem::path demo = runner::recorded_demo();
    if (!std::filesystem::is_directory(demo)) {
        throw util::Error("the recorded run is not installed: {} is absent; install perfgate again",
                          demo.string());
    }
    std::string page = output.files["html"];
    if (page.empty() && report::has_html_page()) {
        output.folder_files["html"] = "report.html";
        page = output.out + "/report.html";
    }
    check_outputs(verb, output);
    output.code_folder = demo;
    const model::Run run = runner::read_run(demo / "head.run.json");
    runner::JudgingChoice choice;
    choice.baselines = (demo / "baselines").string();
    const int failed = runner::write_reports(runner::Judge(choice, run).verdict(run), run, output);
    if (failed != 0) return failed;
    fmt::print("\nThis run was recorded, not measured on this machine. {}\n",
               report::has_html_page()
                   ? fmt::format("Its page is {}.", page)
                   : fmt::format("Its reports are in {}; this build has no HTML page, because npm "
                                 "was missing when it was built.",
                                 output.out));
    return 0;
}

}  // namespace

Body add_demo(CLI::App& verb) {
    const auto output = std::make_shared<runner::OutputOptions>();
    output->out = "perfgate-demo";
    add_output_options(verb, *output);
    verb.footer(
        "Writes report.html into --out. Exit code: 0 if the reports were written. `run` would exit "
        "with 1.");
    return [output, &verb] { return show_recorded_run(verb, *output); };
}

}  // namespace perfgate::cli
