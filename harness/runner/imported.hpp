// SPDX-License-Identifier: Apache-2.0
// Runs made of results that benchmarks wrote elsewhere, so that they can be compared without being
// measured.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/run.hpp"
#include "model/verdict.hpp"
#include "runner/reports.hpp"

namespace perfgate::runner {

struct ImportChoice {
    std::string format;                   ///< empty: as each file shows
    std::string suite = "benchmarks";     ///< its name
    std::string name = "bench";           ///< the first part of the case ids
    std::string device_key = "imported";  ///< where the baselines are
    double tolerance = 0.05;              ///< of the main time of each case, a fraction
    /// A suite whose entry says how results are read and gated, in place of the above but the
    /// device key; `entry` empty: it has one benchmark.
    std::string suite_file = {}, entry = {};
};

/// By column that the suite of results does not name: the texts that the files have there, each in
/// all of its rows.
using Constants = std::map<std::string, std::set<std::string>>;

/// A run in which each file is a process. A case that a file lacks, or reports as failed, is an
/// error. Throws util::InputError for a file that cannot be read, and for two of the same content.
/// `constants`, unless null, gets those of the files.
model::Run import_results(const std::vector<std::string>& files, const ImportChoice& choice,
                          Constants* constants = nullptr);

struct DatedRun {
    model::Run run;
    std::string fingerprint;  ///< the same of the same results, also if the file has grown since
};

/// Results that say when they were measured, each as a run: a file of Google Benchmark or
/// pytest-benchmark, or all entries of the data.js in which github-action-benchmark keeps its
/// history. `text` is the file's. Throws util::InputError for anything else.
std::vector<DatedRun> dated_results(const std::string& text, const std::string& file);

/// What kind of document of perfgate it is: "perfgate.run"; empty: none.
std::string schema_of(const std::string& file);
std::string schema_of_text(const std::string& text, const std::string& file);

/// A run document, or a run of results.
model::Run read_run_or_results(const std::vector<std::string>& files, const ImportChoice& choice,
                               Constants* constants = nullptr);

/// A note for each constant column that base and head have with another text.
std::vector<std::string> differences(const Constants& base, const Constants& head);

/// Judges the head by the base, which takes the place of the baseline, and writes the reports.
/// `notes` are of each suite. Returns the exit code. Throws util::InputError if they have no case
/// in common.
int judge_against(const model::Run& base, const std::string& base_name, const model::Run& head,
                  const model::Policy& policy, const OutputOptions& reports,
                  const std::vector<std::string>& notes = {});

}  // namespace perfgate::runner
