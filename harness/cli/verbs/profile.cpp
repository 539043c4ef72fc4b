// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "activity/analysis.hpp"
#include "activity/outputs.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/texts.hpp"
#include "cli/verbs/verb.hpp"
#include "report/html.hpp"
#include "runner/record.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::cli {
namespace {

struct Options {
    runner::ProfileRequest request;
    std::string level = "api", json, trace, sqlite, html;
    std::uint64_t limit_mib = 2048;
    ProfileTables tables;
    bool quiet = false;
};

runner::ProfiledProgram recorded(const Options& options) {
    if (options.quiet) return runner::profile_program(options.request);
    RecordingProgress progress;
    runner::ProfileRequest request = options.request;
    request.progress = [&](double elapsed_s, std::uint64_t bytes) {
        progress.show(elapsed_s, bytes);
    };
    return runner::profile_program(request);
}

int profile(Options& options) {
    if (options.sqlite == "-") throw util::InputError("--sqlite needs a file: - is not one");
    if (!options.html.empty() && report::profile_page().empty()) {
        throw util::InputError(report::no_html_page);
    }
    inject::Settings& settings = options.request.settings;
    for (const inject::Level level : inject::levels) {
        if (options.level == inject::to_text(level)) settings.level = level;
    }
    settings.limit_bytes = options.limit_mib << 20;
    const runner::ProfiledProgram program = recorded(options);
    if (options.json != "-" && options.trace != "-" && options.html != "-") {
        const char* separator = "";
        for (const activity::Profile& process : program.profiles) {
            std::fputs((separator + profile_text(process, options.tables)).c_str(), stdout);
            separator = "\n";
        }
    }
    const bool any = !program.profiles.empty();
    if (any && !options.json.empty()) {
        util::write_file_atomically(options.json, activity::write_profiles(program.profiles));
    }
    if (any && !options.trace.empty()) {
        util::write_file_atomically(options.trace, activity::write_trace(program.timelines));
    }
    if (any && !options.html.empty()) {
        const std::string data = activity::page_data(program.timelines, program.profiles);
        util::write_file_atomically(options.html, report::fill_page(report::profile_page(), data));
    }
    if (any && !options.sqlite.empty()) {
        activity::write_database(options.sqlite, program.timelines, program.profiles);
    }
    const std::string& suite = options.request.suite;
    if (!suite.empty() && program.exit_code == 0) {
        util::write_file_atomically(suite, runner::suite_draft(options.request, program));
        std::fprintf(stderr, "perfgate: wrote %s; next: perfgate baseline refresh %s\n",
                     suite.c_str(), util::shell_word(suite).c_str());
    } else if (!suite.empty()) {
        std::fprintf(stderr, "perfgate: %s was not written: the recording is not complete\n",
                     suite.c_str());
    }
    for (const std::string& note : program.notes) {
        std::fprintf(stderr, "perfgate: note: %s\n", note.c_str());
    }
    for (const std::string& problem : program.problems) {
        std::fprintf(stderr, "perfgate: %s\n", problem.c_str());
    }
    return program.exit_code;
}

}  // namespace

void add_profile(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "profile", "Records a program's GPU activity and reports where the GPU time goes");
    const auto options = std::make_shared<Options>();
    verb->add_option("PROGRAM", options->request.words, "The program and its arguments, after --");
    verb->add_option("--level", options->level,
                     "What is recorded: records (kernels, copies, memsets, NVTX; costs least), "
                     "callbacks (and a callback for each launch, which counts it), api (and API "
                     "calls, synchronisations, memory)")
        ->check(CLI::IsMember({"records", "callbacks", "api"}))
        ->capture_default_str();
    verb->add_option("--time-limit", options->request.time_limit_s,
                     "Ends the program and all of its processes after this many seconds")
        ->check(CLI::PositiveNumber)
        ->type_name("SECONDS");
    verb->add_option("--delay", options->request.analysis.delay_s,
                     "Skips this many seconds after the first record")
        ->check(CLI::NonNegativeNumber)
        ->type_name("SECONDS");
    verb->add_option("--duration", options->request.analysis.duration_s,
                     "Reports this many seconds from there")
        ->check(CLI::PositiveNumber)
        ->type_name("SECONDS");
    verb->add_option("--range", options->request.analysis.capture.range,
                     "Reports the time from the first to the last NVTX range with this name")
        ->type_name("NAME");
    verb->add_flag("--profiler-api", options->request.analysis.capture.profiler_api,
                   "Reports what lies between the program's calls of cudaProfilerStart and "
                   "cudaProfilerStop");
    verb->add_option("--after-launches", options->request.analysis.capture.after_launches,
                     "Leaves out the first N kernel launches of each process, and all before them")
        ->check(CLI::Range(std::uint64_t{1}, model::most_launches))
        ->type_name("N");
    verb->add_flag(
        "--own-thread", options->request.analysis.own_thread,
        "Count for an NVTX range only the launches of its own thread, not of all threads");
    verb->add_option("--rows", options->tables.rows, "Rows of each table")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    verb->add_option("--json", options->json,
                     "Document perfgate.profile (- is standard output, without the tables)")
        ->type_name("FILE");
    verb->add_option("--trace", options->trace, "Trace Event Format, for Perfetto")
        ->type_name("FILE");
    verb->add_option("--html", options->html,
                     "Page with timeline and tables, in one file that opens from disk")
        ->type_name("FILE");
    verb->add_option("--sqlite", options->sqlite,
                     "SQLite database of all that was recorded (docs/profile-database.md)")
        ->type_name("FILE");
    verb->add_option(
            "--suite-out", options->request.suite,
            "Write a draft of a suite that gates the program's NVTX ranges and longest-running "
            "kernels to this new file")
        ->type_name("FILE");
    verb->add_option("--out", options->request.out, "Keeps the recordings in this new folder")
        ->type_name("DIR");
    verb->add_option("--recording", options->request.recording,
                     "Reports the recordings in this folder; runs no program")
        ->type_name("DIR");
    verb->add_option("--limit-mib", options->limit_mib, "Largest recording of one process")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20))
        ->capture_default_str();
    verb->add_flag("--quiet", options->quiet, "No progress on the terminal");
    verb->add_option("--cupti", options->request.settings.cupti,
                     "libcupti, for a program that does not bring one (found automatically if CUDA "
                     "is installed)")
        ->type_name("FILE");
    verb->footer(
        "The program runs as it is, with an injection library that the driver loads. Exit code: 0; "
        "2 for usage; 3 if the\nprogram failed, the recording is not complete, or nothing is left "
        "to report.");
    verb->callback(
        [&invocation, options] { invocation.body = [options] { return profile(*options); }; });
}

}  // namespace perfgate::cli
