// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "cli/options/importing.hpp"
#include "cli/verbs/verb.hpp"
#include "document/run.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::cli {

namespace {

struct ImportOptions {
    std::vector<std::string> files;
    runner::ImportChoice choice;
    std::string out;
};

int import_files(const ImportOptions& options) {
    for (const std::string& file : options.files) {
        std::error_code error;
        if (std::filesystem::equivalent(file, options.out, error)) {
            throw util::InputError(fmt::format("--out {} is one of the results; name another file",
                                               util::printable(options.out)));
        }
    }
    const model::Run run = runner::import_results(options.files, options.choice);
    util::write_file_atomically(options.out, document::write_run(run));
    std::size_t failed = 0;
    for (const model::CaseResult& result : run.suites.front().cases) {
        if (result.status == model::CaseStatus::measured) continue;
        if (result.status != model::CaseStatus::skipped) ++failed;
        fmt::print(stderr, "perfgate: {}: {}\n", util::printable(case_id(result.spec)),
                   result.reason);
    }
    return failed == 0 ? 0 : 3;
}

}  // namespace

void add_import(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "import",
        "Makes a run document of results that benchmarks wrote, one file per process; needs no "
        "GPU");
    const auto options = std::make_shared<ImportOptions>();
    verb->add_option("FILE", options->files, "Results, such as Google Benchmark's JSON")
        ->required()
        ->type_name("FILE");
    add_result_options(*verb, options->choice);
    verb->add_option("--suite", options->choice.suite, "Name of the suite")
        ->type_name("NAME")
        ->capture_default_str();
    verb->add_option("--name", options->choice.name, "First part of the case ids")
        ->type_name("NAME")
        ->capture_default_str();
    verb->add_option("--device-key", options->choice.device_key,
                     "Where it was measured: the name of the baselines' folder")
        ->type_name("KEY")
        ->capture_default_str();
    verb->add_option("--out", options->out, "The run document (- is standard output)")
        ->required()
        ->type_name("FILE");
    verb->footer(
        "`compare` and `report` read the run document; `compare --base FILE… --head FILE…` "
        "compares "
        "results directly.\nExit code: 0; 3 if a case failed or not every file has it; 2 if a file "
        "cannot be read.");
    verb->callback(
        [&invocation, options] { invocation.body = [options] { return import_files(*options); }; });
}

}  // namespace perfgate::cli
