// SPDX-License-Identifier: Apache-2.0
// How suites are measured and judged, as far as the user chooses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "measure/item.hpp"
#include "model/subject.hpp"
#include "model/verdict.hpp"
#include "suite/profile.hpp"

namespace perfgate::runner {

struct BackendChoice {
    std::string backend{suite::usual_backend};  ///< "auto", "cuda" or "host"
    std::string devices;               ///< empty: the first one; "all", or a comma-separated list
    std::vector<std::string> plugins;  ///< besides the bundled ones, whose names give way to theirs
    bool bundled = true;               ///< the plugins that come with perfgate
    bool of_suites = true;             ///< the plugins that suites name
    bool workers = true;               ///< cases are measured by them, not only by programs
    bool no_cupti = false;
    /// Python files of the suites, by what runs them: workers run in the interpreters. The first
    /// one's workers also have the plugins.
    struct Interpreter {
        std::string file;  ///< absolute path
        std::vector<std::string> scripts;
    };
    std::vector<Interpreter> interpreters;
    std::size_t expected = 1;         ///< processes of an interpreter that are needed at first
    model::Variables variables = {};  ///< of the interpreters' processes
};

/// Shows the progress of a measurement.
class ProgressObserver {
  public:
    virtual ~ProgressObserver() = default;
    /// A measurement begins; the previous one is over.
    virtual void begin() = 0;
    /// One call at a time, from any thread.
    virtual void show(const measure::Progress& step) = 0;
    virtual void end() = 0;
    /// A line of its own.
    virtual void say(const std::string& /*line*/) {}
};

struct MeasuringChoice {
    BackendChoice backend;
    std::vector<std::string> filters, tags;
    std::string out = "perfgate-out";
    bool verify_only = false;
    double case_limit_s = 120;
    std::optional<std::uint64_t> verify_seed;    ///< absent: a fresh one
    std::shared_ptr<ProgressObserver> progress;  ///< null: no display
    std::optional<std::size_t> processes;        ///< absent: settling_processes to usual_processes
    double lock_wait_s = 600;
    std::string resume;            ///< the output folder of an earlier execution; empty: none
    std::string verb = "another";  ///< whose journal it is; a run resumes a run
    bool ceilings = true;          ///< measured after the cases
    bool changed_only = false;
    std::string build;  ///< a command line that makes a revision's checkout ready; empty: none
    std::string if_not_started = {};  ///< see kinds::Machine
    std::string builds;  ///< folder of the builds that baselines were measured with; empty: none
    /// See measure::MeasureOptions.
    std::set<std::pair<std::string, std::string>> known_overheads = {};
};

/// Unless a number is chosen; a baseline has `baseline_processes`.
using suite::settling_processes;
using suite::usual_processes;
inline constexpr std::size_t baseline_processes = 20;
/// The pairs of `ab`: fewer have no interval at 95 %.
inline constexpr std::size_t usual_pairs = 6;

struct JudgingChoice {
    std::string baselines{suite::usual_baselines};  ///< folder
    model::Policy policy;
    bool prove = false;  ///< that each gate can fail
};

}  // namespace perfgate::runner
