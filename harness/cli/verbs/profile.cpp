// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "activity/analysis.hpp"
#include "activity/outputs.hpp"
#include "cli/options/options.hpp"
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
    std::string level = "api";
    std::vector<std::string> capture;
    ReportFiles files;
    std::uint64_t limit_mib = 2048;
    ProfileTables tables;
    bool quiet = false, verbose = false;
};

const std::vector<ReportFormat> profile_formats{
    {"json", ".json"}, {"html", ".html"}, {"sqlite", ".sqlite"}, {"suite", ".yaml"}, {"trace", ""}};

/// What --capture names.
void capture(const std::vector<std::string>& parts, activity::ProfileOptions& to) {
    for (const std::string& part : parts) {
        const std::size_t colon = part.find(':');
        const std::string kind = part.substr(0, colon);
        const std::string value = colon == std::string::npos ? "" : part.substr(colon + 1);
        const auto number = [&](double least, double most) {
            double found = 0;
            if (CLI::detail::lexical_cast(value, found) && found >= least && found <= most) {
                return found;
            }
            throw util::InputError("--capture {}: expected {}:NUMBER, from {} to {}",
                                   util::printable(part), kind, least, most);
        };
        if (part == "profiler-api") {
            to.capture.profiler_api = true;
        } else if (kind == "range" && !value.empty()) {
            to.capture.range = value;
        } else if (kind == "after-launches") {
            const double launches = number(1, static_cast<double>(model::most_launches));
            to.capture.after_launches = static_cast<std::uint64_t>(launches);
        } else if (kind == "delay") {
            to.delay_s = number(0, most_seconds);
        } else if (kind == "duration") {
            to.duration_s = number(1e-9, most_seconds);
        } else {
            throw util::InputError(
                "--capture {}: expected profiler-api, range:NAME, after-launches:N, delay:S or "
                "duration:S",
                util::printable(part));
        }
    }
}

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
    const std::string &json = options.files["json"], &html = options.files["html"],
                      &trace = options.files["trace"], &sqlite = options.files["sqlite"];
    options.request.suite = options.files["suite"];
    if (sqlite == "-" || options.request.suite == "-") {
        throw util::InputError("--report: sqlite: and suite: need a file: - is not one");
    }
    if (!html.empty() && report::profile_page().empty()) {
        throw util::InputError(report::no_html_page);
    }
    capture(options.capture, options.request.analysis);
    if (options.verbose) options.tables.rows = std::numeric_limits<std::size_t>::max();
    inject::Settings& settings = options.request.settings;
    for (const inject::Level level : inject::levels) {
        if (options.level == inject::to_text(level)) settings.level = level;
    }
    settings.limit_bytes = options.limit_mib << 20;
    if (settings.level != inject::Level::records) settings.stacks_us = inject::usual_stacks_us;
    const runner::ProfiledProgram program = recorded(options);
    if (isatty(STDOUT_FILENO) != 0) options.tables.terminal = Terminal().width;
    if (json != "-" && trace != "-" && html != "-") {
        const char* separator = "";
        for (const activity::Profile& process : program.profiles) {
            std::fputs((separator + profile_text(process, options.tables)).c_str(), stdout);
            separator = "\n";
        }
    }
    const bool any = !program.profiles.empty();
    if (any && !json.empty()) {
        util::write_file_atomically(json, activity::write_profiles(program.profiles));
    }
    if (any && !trace.empty()) {
        util::write_file_atomically(trace, activity::write_trace(program.timelines));
    }
    if (any && !html.empty()) {
        const std::string data = activity::page_data(program.timelines, program.profiles);
        util::write_file_atomically(html, report::fill_page(report::profile_page(), data));
    }
    if (any && !sqlite.empty()) {
        activity::write_database(sqlite, program.timelines, program.profiles);
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

Body add_profile(CLI::App& verb) {
    const auto options = std::make_shared<Options>();
    verb.add_option("PROGRAM", options->request.words, "The program and its arguments, after --");
    verb.add_option("--level", options->level,
                    "What is recorded: records (kernels, copies, memsets, NVTX; costs least), "
                    "callbacks (and a callback for each launch, which counts it), api (and API "
                    "calls, synchronisations, memory), samples (callbacks, and what the GPU "
                    "measures about itself over time)")
        ->check(one_of({"records", "callbacks", "api", "samples"}))
        ->capture_default_str();
    verb.add_option("--time-limit", options->request.time_limit_s,
                    "Ends the program and all of its processes after this many seconds")
        ->check(in_range(0.001, most_seconds))
        ->type_name("SECONDS");
    add_repeatable(
        verb, "--capture", options->capture,
        "Report only a part of the program (repeatable; all together restrict): profiler-api (from "
        "cudaProfilerStart to cudaProfilerStop), range:NAME (from the first to the last NVTX range "
        "of this name), after-launches:N, delay:S and duration:S (seconds after the first record)",
        "PART");
    verb.add_flag(
        "--own-thread", options->request.analysis.own_thread,
        "Count for an NVTX range only the launches of its own thread, not of all threads");
    add_report_option(verb, profile_formats, options->files)
        ->description(
            "Write a report (repeatable): the document (.json), a page with timeline and tables "
            "(.html), a database of all that was recorded (.sqlite), the draft of a suite that "
            "gates the program (a new .yaml), trace:FILE for Perfetto; json:- is standard output");
    verb.add_flag("--verbose", options->verbose, "All rows of each table, not only ten");
    verb.add_option("--out", options->request.out, "Keeps the recordings in this new folder")
        ->type_name("DIR");
    verb.add_option("--recording", options->request.recording,
                    "Reports what is stored, and runs no program: recordings in the folder of "
                    "--out, a trace of torch.profiler (JSON, also gzipped), or a SQLite export of "
                    "Nsight Systems (nsys export --type sqlite)")
        ->type_name("FILE|DIR");
    verb.add_option("--limit-mib", options->limit_mib, "Largest recording of one process")
        ->check(in_range(1, 1 << 20))
        ->type_name("MIB")
        ->capture_default_str();
    verb.add_flag("--quiet", options->quiet, "No progress on the terminal");
    verb.add_option("--cupti", options->request.settings.cupti,
                    "libcupti, for a program that does not bring one (found automatically if CUDA "
                    "is installed)")
        ->type_name("FILE");
    verb.footer(
        "The program runs as it is, with an injection library that the driver loads. Exit code: 0; "
        "2 for usage; 3 if the program failed, the recording is not complete, or nothing is left "
        "to report.");
    return [options] { return profile(*options); };
}

}  // namespace perfgate::cli
