// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
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
#include "util/file.hpp"
#include "util/folder.hpp"

namespace perfgate::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = std::size_t{64} << 20;

/// Copies the recording, so that `report` and `baseline accept` can be tried on it.
void copy_recording(const fs::path& demo, const fs::path& baselines, const fs::path& out) {
    const util::Folder folder(out);
    const auto copy = [](const fs::path& file, const util::Folder& to, const std::string& name) {
        to.write(name, util::read_file(file, most_bytes, "recording"));
    };
    copy(demo / "head.run.json", folder, "run.json");
    copy(demo / "code.json", folder, "code.json");
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(demo / "baselines")) {
        if (!entry.is_regular_file()) continue;
        const fs::path name = entry.path().lexically_relative(demo / "baselines");
        copy(entry.path(), folder.below(baselines / name.parent_path()), name.filename());
    }
}

int show_recorded_run(const CLI::App& verb, runner::OutputOptions output) {
    const fs::path demo = runner::recorded_demo();
    if (!fs::is_directory(demo)) {
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
    if (!output.out.empty()) {
        // Not `baselines`, which may be the user's.
        const fs::path baselines = "recorded-baselines";
        copy_recording(demo, baselines, output.out);
        choice.baselines = (fs::path(output.out) / baselines).string();
        output.commands.run_file = (fs::path(output.out) / "run.json").string();
        output.commands.gate_words = {"--baselines", choice.baselines};
        output.commands.verb.clear();  // the program cannot be run again from here
    }
    const int failed = runner::write_reports(runner::Judge(choice, run).verdict(run), run, output);
    if (failed != 0) return failed;
    fmt::print(
        "\nThis run was recorded, not measured on this machine: two builds of one "
        "commit. {}\n",
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
    output->runs = {"run.json"};
    add_output_options(verb, *output);
    verb.footer(
        "Writes report.html into --out, and the recording: run.json, code.json and its baselines. "
        "Exit code: 0 if the reports were written. `run` would exit "
        "with 1.");
    return [output, &verb] { return show_recorded_run(verb, *output); };
}

}  // namespace perfgate::cli
