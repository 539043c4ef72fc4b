// SPDX-License-Identifier: Apache-2.0
// The outputs of `run`, `compare` and `report`: files in each format, and the table.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.hpp"
#include "model/verdict.hpp"
#include "report/reporter.hpp"
#include "suite/profile.hpp"

namespace perfgate::runner {

/// The format for the terminal.
inline constexpr std::string_view table_format = "console";

struct OutputOptions {
    std::string out;  ///< folder for verdict.json and junit.xml; empty: they are not written
    /// Further reports in that folder: report format to name.
    std::map<std::string, std::string> folder_files = {};
    std::map<std::string, std::string> files;  ///< report format to file; "-" is standard output
    std::string junit_profile{suite::usual_junit_profile};
    std::string report_url;  ///< address of the whole report
    std::string color = "auto";
    bool verbose = false;  ///< a row for every case
    report::CommandWords commands;
    /// Where the run's machine code is; empty: beside `commands.run_file`.
    std::filesystem::path code_folder;
    /// What is printed for people; null: the table.
    std::string (*table)(const model::VerdictDocument&, const report::Options&) = nullptr;
    /// Files named on the command line, which no output may overwrite.
    std::vector<std::string> inputs;
    /// Run documents that the verb stores in addition to the reports, relative to `out`.
    std::vector<std::filesystem::path> runs;
};

/// The run documents that a verb stores in its output folder, relative to it; for `selftest`, those
/// that exist.
std::vector<std::filesystem::path> stored_runs(std::string_view verb,
                                               const std::filesystem::path& out);

/// Removes what an earlier call left where this one writes: its results must not be mistaken for
/// this one's if this one ends early. Leaves inputs and baselines, and of the files that the user
/// names anything that is not a regular file.
void clear_outputs(const OutputOptions& options);

/// Clears the outputs. Throws InputError, before anything is measured or judged, if two reports
/// want standard output, one would overwrite an input or a baseline, or a file cannot be written at
/// its destination.
void check_outputs(const OutputOptions& options);

/// Prints the output of `write` to standard output, or to standard error if a report uses standard
/// output; formatted for a terminal or a file.
void print_for_people(const OutputOptions& options,
                      const std::function<std::string(const report::Options&)>& write);

/// Writes every report and prints the table, on standard error if a report uses standard output. A
/// report that cannot be written does not prevent the others: it is named on standard error and the
/// result is 3, otherwise 0.
int write_reports(const model::VerdictDocument& document, const model::Run& run,
                  const OutputOptions& options);

}  // namespace perfgate::runner
