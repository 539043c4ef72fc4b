// SPDX-License-Identifier: Apache-2.0
// The Plan: which cases are to be measured, and how. Made from suites by the suite module, carried
// out by the measure module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/capture_range.hpp"
#include "model/case.hpp"
#include "model/catalogue.hpp"
#include "model/launch_size.hpp"
#include "model/measured_as.hpp"
#include "model/metric.hpp"
#include "model/run.hpp"
#include "model/source_kernel.hpp"

namespace perfgate::model {

/// Default of `max_overhead`.
inline constexpr double usual_max_overhead = 0.05;

/// A number that a benchmark writes, as a metric.
struct BenchmarkValue {
    /// Where it is: a counter's name, a column of CSV, or a path below a row of JSON.
    std::string from;
    double factor = 1;  ///< from the unit of the file to that of the definition
    MetricDefinition definition;

    bool operator==(const BenchmarkValue&) const = default;
};

/// How the results are read that a benchmark writes. Paths and columns are of the formats that have
/// no names of their own (csv, json).
struct BenchmarkReading {
    std::string format;                                     ///< of benchmark/formats.hpp
    std::string rows;                                       ///< path to the rows: one result each
    std::string name;                                       ///< of the result
    std::vector<std::pair<std::string, std::string>> axes;  ///< parameter, and where it is
    std::vector<BenchmarkValue> values;
    /// Why the cases are not known: the run that looked for them failed. Empty: it did not.
    std::string problem;
    std::string log;  ///< of that run

    bool operator==(const BenchmarkReading&) const = default;
};

/// What is replaced in the words of a benchmark by the file to write.
inline constexpr const char* out_word = "{out}";

/// Environment variables with their values.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// A program to be measured, with its parameters filled in. No shell is involved.
struct Command {
    std::string name;
    std::vector<std::string> words;  ///< the first is found through its PATH
    /// Run in the same folder after the program: exit status 0 means that its result is correct.
    /// Empty: the result is not checked.
    std::vector<std::string> check;
    Variables environment;  ///< beside the inherited ones
    /// Those whose value is the command line's, not the suite's.
    std::vector<std::string> overridden = {};
    std::string folder;  ///< to run in; relative: to the suite's folder
    double time_limit_s = 600;
    int exit_status = 0;                       ///< the expected exit status
    int warm_up_runs = 0;                      ///< before the first one that counts
    int gpus = 1;                              ///< that it sees
    double max_overhead = usual_max_overhead;  ///< as CaseResult has it
    /// The part of its recorded activity that its cases are about.
    CaptureRange capture{};  // NOLINT(readability-redundant-member-init)
    /// It measures itself, and perfgate reads its results. Absent: its activity is recorded.
    std::optional<BenchmarkReading> benchmark = std::nullopt;
    /// How the file ends that takes the place of `{out}`, which a benchmark writes, recorded or
    /// not. Empty: it is no benchmark.
    std::string out_extension;

    bool operator==(const Command&) const = default;
};

/// The part of a program's activity that a case measures. The patterns are globs, if not said
/// otherwise.
struct Piece {
    enum class Kind {
        program,  ///< all of it
        range,    ///< NVTX ranges: each is an instance
        kernels,  ///< by name: each launch is an instance, or with `within` those of each range
        result,   ///< of a benchmark: `pattern` is the name and axes that it reports, no glob
    };
    Kind kind = Kind::program;
    std::string pattern;      ///< of the range's or the kernel's name
    std::string within;       ///< for kernels: the ranges they are launched in; empty: anywhere
    bool own_thread = false;  ///< a range contains only launches of its own thread
    std::int64_t skip = 0;    ///< how many first instances of each process are left out
    std::int64_t counted =
        1;  ///< for kernels: launches of each process whose counters are collected
    /// For kernels: only launches of this size.
    LaunchSize size{};  // NOLINT(readability-redundant-member-init)

    bool operator==(const Piece&) const = default;
};

struct PlannedProgram {
    std::size_t command = 0;  ///< index into PlannedSuite::commands
    Piece piece;
};

struct PlannedCase {
    CaseSpec spec;
    Target target = Target::cuda;
    Submission submission = Submission::async;
    SourcePlace place;
    std::vector<std::string> tags;
    std::vector<std::string> metrics;  ///< sets expanded, in the suite's order, no duplicates
    std::vector<GateRule> gates;       ///< for this device key; every metric is in `metrics`
    std::uint64_t seed = 0;            ///< of the measured inputs
    double precision = 0.005;    ///< stop when the median is known to this fraction (95 % interval)
    double time_budget_s = 0.1;  ///< at most this much launching per kind of time
    bool deterministic = false;  ///< verified by repeats too, which must be equal bit for bit
    /// What a self-test adds to each timed launch, as a fraction of the launch including the small
    /// work that every launch gets; absent: no work is added to any case.
    std::optional<double> added_work = std::nullopt;
    std::string skip_reason;  ///< not empty: known in advance not to run (not built, capability)
    bool skipped_by_suite = false;  ///< the skip_reason is the suite's own
    /// A program's case. Without it and `source`: a plugin's.
    std::optional<PlannedProgram> program = std::nullopt;
    std::optional<SourceKernel> source = std::nullopt;  ///< a source's case
    MeasuredAs measured_as = {};                        ///< of a plugin's case nothing
};

struct PlannedSuite {
    std::string name;
    std::string file;
    std::string description;
    bool partial = false;  ///< --filter or --tag left cases out
    std::vector<PlannedCase> cases;
    /// For the cases of this target; an instance may name cases that --filter or --tag left out.
    std::vector<Relation> relations;
    std::vector<Command> commands = {};  ///< of the suite's cases; some may have none here
};

struct Plan {
    std::vector<PlannedSuite> suites;
};

}  // namespace perfgate::model
