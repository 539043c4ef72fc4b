// SPDX-License-Identifier: Apache-2.0
// The Baseline: what is expected of each case of one suite on one device key, and how that was
// obtained. Stored as baselines/<device-key>/<suite>.json.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/environment.hpp"
#include "model/metric.hpp"
#include "model/run.hpp"

namespace perfgate::model {

/// How a case's numbers came to be accepted.
struct Provenance {
    std::string board;  ///< hashed UUID of the board
    std::string driver, cuda_toolkit, cupti;
    std::string tool_version;
    std::string git_revision;
    std::string recorded_at;  ///< UTC
    std::string accepted_by;  ///< empty: not told
    std::string reason;
    /// What measuring the case cost; 0: not told. Suites are divided into shards by it.
    double wall_s = 0;

    bool operator==(const Provenance&) const = default;
};

/// A regression that is known, and let pass for a while: the expectation stays what it was.
struct Acknowledgement {
    std::string until;  ///< the last day on which it holds, "2026-12-31"; of UTC
    std::string by;     ///< empty: not told
    std::string reason;
    MetricSeries known;  ///< what was measured then: what is worse than this is not acknowledged

    bool operator==(const Acknowledgement&) const = default;
};

struct BaselineCase {
    Provenance provenance;
    std::map<std::string, MetricSeries> metrics;
    /// What it launched, as model::CaseResult has it, but for times and metrics. Empty where it
    /// launches nothing on a GPU, or nothing is known of it.
    std::vector<Kernel> kernels{};  // NOLINT(readability-redundant-member-init): not all name it
    std::string host_code{};        // NOLINT(readability-redundant-member-init)
    /// By metric: the value that accepted changes add up against. A metric without one has not
    /// moved since it was anchored: its value is its anchor.
    std::map<std::string, double> anchors = {};
    std::map<std::string, Acknowledgement> acknowledged = {};  ///< by metric
    /// The suite's tags of the case: whether a run with --tag should have it. Absent: not known.
    std::optional<std::vector<std::string>> tags = std::nullopt;

    bool operator==(const BaselineCase&) const = default;
};

struct Baseline {
    std::string suite;
    Device device;  ///< `board` empty: it belongs to each case's provenance
    std::map<std::string, BaselineCase> cases;  ///< by case id

    bool operator==(const Baseline&) const = default;
};

/// JSON, schema "perfgate.baseline" version 2 (1 is read): sorted, one line per metric, the same
/// bytes for the same content. A metric whose batches hold one value each, as a refresh makes them,
/// is written as the list of these values, or as a count where all are equal:
///
///   "gpu_time": {"unit":"ns","value":8512,"method":"activity/cold","device":"b888","seed":1,
///                "runs":[5,5],"processes":[8511.2,8520.5,…],"sm_clock_mhz":[1980,1980,…]}
///   "registers": {"unit":"registers","value":64,"method":"kernel-record","device":"b888",
///                 "seed":1,"repeated":10}
///
/// `runs` is how many of the processes each run had; absent: one run. `tags`, `kernels` and
/// `host_code` of a case are absent in files from before them.
///
/// Where accepted changes or acknowledgements made some, a case has these beside its metrics:
///
///   "anchors": {"gpu_time":8200}
///   "acknowledged": {
///     "gpu_time": {"until":"2026-12-31","by":"Ada","reason":"…","known":{…}}
///   }
std::string write_baseline(const Baseline& baseline);
Baseline parse_baseline(std::string json, std::string_view source);

}  // namespace perfgate::model
