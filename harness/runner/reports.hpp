// SPDX-License-Identifier: Apache-2.0
// Where `run`, `compare` and `report` put what they say: files in each format, and the table.
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

namespace perfgate::runner {

/// The format that the terminal gets.
inline constexpr std::string_view table_format = "console";

struct OutputOptions {
    std::string out;  ///< folder for verdict.json and junit.xml; empty: they are not written
    std::map<std::string, std::string> files;  ///< report format to file; "-" is standard output
    std::string junit_profile = "github";
    std::string report_url;  ///< where people find the whole report
    std::string color = "auto";
    bool verbose = false;  ///< a row for every case
    /// What the command line names and no output may overwrite.
    std::vector<std::string> inputs;
    /// Run documents that the verb stores besides the reports.
    std::vector<std::filesystem::path> runs;
};

/// The run documents that a verb stores in its output folder; of `selftest`, those that are there.
std::vector<std::filesystem::path> stored_runs(std::string_view verb,
                                               const std::filesystem::path& out);

/// Removes what an earlier call left where this one writes: its results must not pass for this
/// one's, should this one end early. Left alone are inputs, baselines, and what is no plain file.
void clear_outputs(const OutputOptions& options);

/// Clears the outputs. Throws InputError, before anything is measured or judged, if two reports
/// want standard output, one would overwrite an input or a baseline, or a file cannot be written
/// where it should go.
void check_outputs(const OutputOptions& options);

/// Prints what `write` makes for the terminal (or the file) that it goes to: standard output, or
/// standard error where a report takes that.
void print_for_people(const OutputOptions& options,
                      const std::function<std::string(const report::Options&)>& write);

/// Writes every report and prints the table, on standard error where a report takes standard
/// output. A report that cannot be written does not keep back the others: it is named on standard
/// error and makes the result 3, otherwise 0.
int write_reports(const model::VerdictDocument& document, const model::Run& run,
                  const OutputOptions& options);

}  // namespace perfgate::runner
