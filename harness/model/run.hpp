// SPDX-License-Identifier: Apache-2.0
// The Run: the document of one execution. Complete in itself: comparing and reporting need nothing
// else but a baseline.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/case.hpp"
#include "model/environment.hpp"
#include "model/measured_as.hpp"
#include "model/memory_operation.hpp"
#include "model/metric.hpp"
#include "model/relation.hpp"

namespace perfgate::model {

/// One metric that the gate judges in a case.
struct GateRule {
    std::string metric;
    Tolerance tolerance;
    /// A fraction, for timing metrics on a board of the same key that the baseline does not have:
    /// it is added to the tolerance, or, with three boards or more, limits what is learned of them.
    double cross_board = 0;

    bool operator==(const GateRule&) const = default;
};

/// By name, the fingerprint of a shared library's file.
using Libraries = std::map<std::string, std::string>;

/// One kernel of a case, in launch order. Launch facts come from kernel records, `metrics` from
/// counters, in the catalogue's units. Kernels of a CUDA graph have no metrics, because it is
/// counted as a whole. A program's case has each kernel once, in the order of the first launches,
/// with `launches`.
struct Kernel {
    std::string name;  ///< demangled
    std::array<std::int64_t, 3> grid{}, block{};
    std::int64_t registers = 0;        ///< per thread
    std::int64_t static_smem = 0;      ///< bytes per block
    std::int64_t dynamic_smem = 0;     ///< bytes per block
    std::int64_t local_bytes = 0;      ///< local memory per thread, bytes
    double theoretical_occupancy = 0;  ///< % of the SM's warps
    double duration_ns = 0;  ///< of the recorded launch, which is not warm: a hint, not a sample
    std::map<std::string, double> metrics;
    std::array<std::int64_t, 3> cluster{};  ///< blocks; 0: no cluster
    /// Share of the L1 requested as shared memory, %; absent: not requested.
    std::optional<std::int64_t> carveout{};
    bool cooperative = false;
    /// Fingerprint of its machine code and of the functions it calls. Empty: unknown.
    std::string code{};
    /// Fingerprint of its arguments; of pointers, only the alignment counts. Empty: unknown.
    std::string arguments{};
    /// For a program's case: launches of this kernel with this configuration, mean over the
    /// instances; `duration_ns` is then the median of a launch. 0: a plugin's case.
    double launches = 0;
    double time_ns = 0;  ///< with `launches`: of all of them together, the mean over the instances
    /// `arguments` word by word: 8 hexadecimal digits each, or "--------" for a word that differed
    /// between processes of one run, which says nothing (an address). Empty: not known.
    std::string argument_words{};
    /// Where its source begins: relative to the folder in which the run worked if it lies in it,
    /// else absolute. Unknown without -lineinfo. Not compared.
    SourcePlace source{};
    /// Its blocks over those that all SMs hold at once. Not compared.
    std::optional<double> waves{};
    /// Size of its machine code with that of the functions it calls, in `code`. Not compared.
    std::optional<std::int64_t> code_bytes{};
    /// Stack per thread, with the functions it calls. Not compared.
    std::optional<std::int64_t> stack_bytes{};

    bool operator==(const Kernel&) const = default;
};

/// Masks the argument words that another process of the same run had otherwise.
void mask_arguments(const Kernel& other, Kernel& kernel);

/// Whether both were launched with the same arguments but for words that one of them masks. Those
/// of neither may be unknown.
bool same_arguments(const Kernel& left, const Kernel& right);

/// The outcome of measuring one case. Whether a `measured` case is good is the gate's business.
enum class CaseStatus {
    measured,   ///< verified and measured (perhaps with metrics missing: see not_collected)
    incorrect,  ///< verification failed: there are no numbers
    error,      ///< crash, CUDA error, time limit, out of memory
    invalid,    ///< verified, but the environment let too few batches count
    skipped,    ///< capability, tag, not built
};

struct Verification {
    bool passed = false;
    std::uint64_t seed = 0;
    std::string detail;  ///< what was checked, or what was wrong

    bool operator==(const Verification&) const = default;
};

/// A metric that should have been collected and was not.
struct NotCollected {
    std::string metric;
    std::string reason;  ///< with the remedy

    bool operator==(const NotCollected&) const = default;
};

/// Work that the workload states: arithmetic operations and the least bytes that must move.
struct Work {
    double flops = 0;
    double bytes = 0;
    std::string arithmetic =
        {};  ///< type of the flops: "f32", "tf32", "f16", "bf16", "fp8"; empty: not stated

    bool operator==(const Work&) const = default;
};

/// State of the board around the batches that one process took of a case. Facts that do not change
/// during a run are only in the environment.
struct Reading {
    std::int64_t process = 0;  ///< as in Batch
    std::string device;        ///< as in Batch
    BoardState state;

    bool operator==(const Reading&) const = default;
};

/// A variable that is set for a program.
struct SetVariable {
    std::string name;
    /// As the suite sets it. Absent: the command line set it, and its value is not recorded.
    std::optional<std::string> value = std::nullopt;

    bool operator==(const SetVariable&) const = default;
};

/// A case that was measured against its base on the run's board, back to back: the nth process of
/// one round and the nth of the other are a pair.
struct Settled {
    std::string base;  ///< what was measured as the base, in words
    std::string
        problem;  ///< why no base could be measured, with the remedy; then nothing else is set
    std::map<std::string, MetricSeries> before, after;  ///< by time: the base's and the case's own

    bool operator==(const Settled&) const = default;
};

/// How the machine code of a slower case differs from its base's, and where its time goes, as its
/// run has seen it. All text is untrusted.
struct CodeFinding {
    /// Fingerprint of the kernel it is compared with, of a new one's any of the base; empty: not at
    /// hand.
    std::string base;
    std::string change;  ///< "LDG.E.128 4 → 0, LDG.E 0 → 16 at blend.cu:57", or why it is not known
    std::string time;   ///< "91 % of the added samples are at …"; empty: nothing was sampled
    SourcePlace place;  ///< the line to look at; line 0: none is shown

    bool operator==(const CodeFinding&) const = default;
};

struct CaseResult {
    CaseSpec spec;
    SourcePlace place;
    std::vector<std::string> tags;
    std::vector<GateRule> gates;

    CaseStatus status = CaseStatus::skipped;
    std::string reason;  ///< why it is not `measured`: one line, with a remedy if there is one
    std::string log;     ///< last lines of the worker's stderr, for `error`
    std::optional<Verification> verification;
    std::optional<Work> work;
    double wall_s = 0;  ///< what the case cost, all phases

    std::vector<Kernel> kernels;
    std::map<std::string, MetricSeries> metrics;
    std::vector<NotCollected> not_collected;
    std::vector<std::string> not_applicable;  ///< requested metrics that do not apply
    std::vector<Reading> readings;            ///< in the order in which they were taken
    /// Fingerprint of the files that contain the variant's host code. Empty: unknown.
    std::string host_code;
    /// Libraries that this code links, or had loaded by the recorded launch, without driver, C
    /// library and CUDA toolkit. Absent: unknown, as in older documents.
    std::optional<Libraries> libraries;
    /// Copies and memsets of the recorded launch, by start time. Absent: unknown, as above.
    std::optional<std::vector<MemoryOperation>> memory_operations;
    /// Skipped because its code and inputs equal the baseline's (--changed-only).
    bool unchanged = false;
    /// The program's command line; empty: a plugin's or a source's case. A program's or a source's
    /// case without `verification` was not verified, because its suite has no `check`.
    std::vector<std::string> command = {};
    /// The variables that are set for it, beside the inherited ones. Older documents have none.
    std::vector<SetVariable> env = {};
    /// The source, as the suite names it, whose kernel is measured; empty: not a source's case.
    std::string source = {};
    /// The unit that the counts of a program's case refer to, as named in reports ("step",
    /// "launch", "run"). Empty: a plugin's case, or an older document.
    std::string instance = {};
    /// `span`, `idle_share` and what else includes the host's time of a program are invalid if the
    /// 95 % interval of the recording overhead lies above this fraction. Absent: no bound.
    std::optional<double> max_overhead = std::nullopt;
    /// Skipped by the suite (`skip` in an override), not because it cannot run here.
    bool skipped_by_suite = false;
    MeasuredAs measured_as = {};  ///< as its suite states it
    /// Its id before it was renamed, as its suite states it; empty: this one.
    std::string was = {};
    /// What a reader of the values should know: "the benchmark library is a debug build".
    std::vector<std::string> notes = {};
    /// Its baseline does not know the board, and its values alone could not decide.
    std::optional<Settled> settled = std::nullopt;
    /// Of a slower case whose machine code is not its base's.
    std::optional<CodeFinding> code = std::nullopt;

    bool operator==(const CaseResult&) const = default;
};

/// Makes the case an error: what was measured of it before is of no use.
void set_error(CaseResult& result, std::string reason, std::string log = {});

/// Whether the revision of a run tells which code it measured: its files were those of a commit.
inline bool names_a_commit(std::string_view git_revision) {
    return !git_revision.empty() && !git_revision.ends_with("-dirty");
}

/// Whether a missing verification only means that the suite states no check: plugins always verify.
inline bool may_lack_verification(const CaseResult& result) {
    return !result.command.empty() || !result.source.empty();
}

struct SuiteResult {
    std::string name;
    std::string file;
    std::string description;
    bool partial = false;  ///< --filter, --tag or a shard left cases out
    std::vector<CaseResult> cases;
    std::vector<Relation> relations = {};  ///< what must hold between the cases

    bool operator==(const SuiteResult&) const = default;
};

/// A whole suite that is divided among the shards of a run.
struct ShardedSuite {
    std::string name;
    bool partial = false;            ///< --filter, --tag left cases out before it was divided
    std::vector<std::string> cases;  ///< ids, in the suite's order
    /// Fingerprint of the gates of all cases and of the relations. Empty in older documents.
    std::string gates = {};

    bool operator==(const ShardedSuite&) const = default;
};

/// Which part of a divided run this is.
struct Shard {
    std::int64_t index = 1, count = 1;  ///< the first is 1
    std::vector<ShardedSuite> whole;    ///< the divided suites: equal in all shards

    bool operator==(const Shard&) const = default;
};

/// What --filter and --tag select: cases whose id matches one of `filters` and that have one of
/// `tags`. An empty list selects all.
struct Selection {
    std::vector<std::string> filters;  ///< globs
    std::vector<std::string> tags;

    bool operator==(const Selection&) const = default;
};

struct Run {
    std::string tool_version;
    std::string git_revision;  ///< of the folder the suites are in; empty: none
    std::string started_at;    ///< UTC, "2026-11-21T10:00:00Z"
    /// Address of the pull or merge request whose pipeline measured it, as its CI says. Untrusted.
    std::string pull_request{};
    double wall_s = 0;
    /// Seconds by phase (measure/case_measurement.hpp), "start" of processes, "programs",
    /// "between"; "settling" of cases on this board, "machine code" of slower ones.
    std::map<std::string, double> phase_s;
    bool interrupted = false;
    bool verify_only = false;  ///< results were checked; nothing was measured, nothing is judged
    std::string backend;       ///< "cuda" or "host"
    Environment environment;
    std::map<std::string, MetricDefinition> metric_definitions;  ///< of every metric in the run
    std::vector<SuiteResult> suites;
    std::optional<Shard> shard = std::nullopt;  ///< absent: the run was not divided
    /// How its cases were selected; each selection applies to the result of the one before. Empty:
    /// all.
    std::vector<Selection> selections = {};
    /// With which a command repeats it, as typed: {"--plugin", "mine.so", "--config", "ci.yaml"}.
    std::vector<std::string> options = {};

    bool operator==(const Run&) const = default;
};

std::string_view to_text(CaseStatus status);

// Which board a case was measured on. A run may have several boards of one device key: from
// --devices, or from merged shards.

/// The board that its batches name; empty if it has no batches.
std::string board_of(const CaseResult& result);

/// The same, but the run's board for a case without batches.
std::string board_of(const Run& run, const CaseResult& result);

// The position of a case in a Run, its Plan and its VerdictDocument: all have the same cases in the
// same order.
struct CaseIndex {
    std::size_t suite = 0;  ///< of Run::suites
    std::size_t index = 0;  ///< of SuiteResult::cases

    // clang-tidy takes the 0 that its result is compared with for a pointer.
    auto operator<=>(const CaseIndex&) const = default;
};

/// Of a Run, its Plan or its VerdictDocument. Throws std::out_of_range if it has no such case.
template <class Document>
auto& case_at(Document& document, const CaseIndex& at) {
    return document.suites.at(at.suite).cases.at(at.index);
}

/// Those of all its suites, in their order.
template <class Document>
std::vector<CaseIndex> all_cases(const Document& document) {
    std::vector<CaseIndex> all;
    for (std::size_t s = 0; s < document.suites.size(); ++s) {
        for (std::size_t c = 0; c < document.suites[s].cases.size(); ++c) all.push_back({s, c});
    }
    return all;
}

}  // namespace perfgate::model
