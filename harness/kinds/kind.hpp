// SPDX-License-Identifier: Apache-2.0
// A kind of case, as what runs before and while cases are measured sees it: a row of the table in
// kinds.cpp. What planning needs of a case is in model/subject.hpp.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "measure/programs.hpp"
#include "model/plan.hpp"

namespace perfgate::kinds {

/// What kinds need to know of the machine.
struct Machine {
    std::filesystem::path library;   ///< the injection library, which records programs
    std::filesystem::path perfgate;  ///< the binary, which starts itself to compile
    std::filesystem::path out;       ///< where files go: a folder below it for each kind
    /// What CUDA_VISIBLE_DEVICES is set to: the run's devices. Empty: it is left alone.
    std::string visible_devices;
    std::string compute_capability;  ///< "9.0"
    std::string cuda_driver;         ///< "13.0"; of a host none
    double case_limit_s = 120;
    std::string if_not_started;  ///< what a reason adds where a program cannot be started
    std::function<bool()> stop;  ///< whether the user has ended the run
    /// Shows what is done before the measuring, in a line.
    std::function<void(const std::string& line)> tell;
};

/// A case of a suite, placed in the suite's folder.
struct SuiteCase {
    std::string place;  ///< "suites/a.yaml:4:5"
    std::shared_ptr<const model::Subject> subject;
};

/// What checking suites found out without a device.
struct Findings {
    std::vector<std::string> done;      ///< "reduce.cu: block_reduce<256> compiles for sm_90 (…)"
    std::vector<std::string> warnings;  ///< what was not checked, and why
    std::vector<std::string> problems;  ///< with the suite's place
    bool stopped = false;               ///< the user has ended it
};

/// The results in a file that a process wrote elsewhere, or that a profiler recorded of it.
struct StoredResults {
    std::vector<model::DiscoveredCase> cases;  ///< where the kind discovers them
    std::string machine;                       ///< name of the host, as far as the file says
    std::string device;                        ///< what they were measured on, in words, likewise
    /// By column that the suite does not name: the text that all rows have there.
    std::map<std::string, std::string> constants;
    std::string content;  ///< equal for two files that are one measurement
    /// As measure::Programs::measure: the batch of that process.
    std::function<void(const measure::ProgramRequest& request,
                       std::vector<model::CaseResult>& results)>
        take;
};

/// Null: the kind has nothing to do there.
struct Kind {
    std::string_view name;
    /// Runs, in its folder, what shows the cases that a subject stands for. This run does not
    /// count.
    model::Discovered (*discover)(const Machine&, const model::Subject&) = nullptr;
    /// Reads results for the cases of a subject's group, without running anything. Throws
    /// util::InputError.
    StoredResults (*stored)(const model::Subject&, const std::filesystem::path& file) = nullptr;
    bool stores_recordings = false;  ///< `stored` reads these, and else what a program wrote
    /// Makes cases ready that will be measured; one that cannot be has a `problem`. False: the user
    /// has ended the run.
    bool (*prepare)(const Machine&, const std::vector<model::PlannedCase*>&) = nullptr;
    /// Measures the cases of groups. Throws util::InputError where another tool would disturb,
    /// util::Error where something is missing.
    std::unique_ptr<measure::Programs> (*programs)(const Machine&) = nullptr;
    /// Checks more than the reader of suites can; executes nothing of a suite.
    Findings (*check)(const Machine&, const std::vector<SuiteCase>&,
                      const std::vector<std::string>& architectures) = nullptr;
};

}  // namespace perfgate::kinds
