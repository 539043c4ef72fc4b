// SPDX-License-Identifier: Apache-2.0
// The Baseline: what is expected of each case of one suite on one device key, and how that was
// obtained. Stored as baselines/<device-key>/<suite>.json.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/environment.hpp"
#include "model/measured_as.hpp"
#include "model/metric.hpp"
#include "model/run.hpp"

namespace perfgate::model {

/// How much worse accepted changes may make a metric in all, since its anchor.
inline constexpr double usual_creep_bound = 0.1;

/// How a case's numbers came to be accepted.
struct Provenance {
    std::string board;  ///< hashed UUID of the board
    std::string driver, cuda_toolkit, cupti;
    std::string tool_version;
    std::string git_revision;
    std::string recorded_at;  ///< UTC
    std::string accepted_by;  ///< empty: unknown
    std::string reason;
    /// What it cost to measure the case; 0: unknown. Suites are divided into shards by this cost.
    double wall_s = 0;

    bool operator==(const Provenance&) const = default;
};

/// A known regression that is accepted until a date. The expected value does not change.
struct Acknowledgement {
    std::string until;  ///< the last day on which it applies, "2026-12-31", UTC
    std::string by;     ///< empty: unknown
    std::string reason;
    MetricSeries known;  ///< the value measured then; anything worse is not acknowledged

    bool operator==(const Acknowledgement&) const = default;
};

struct BaselineCase {
    Provenance provenance;
    std::map<std::string, MetricSeries> metrics;
    /// What it launched, as in model::CaseResult, without times and metrics. Empty if it launches
    /// nothing on a GPU or if that is unknown.
    std::vector<Kernel> kernels{};  // NOLINT(readability-redundant-member-init): not all name it
    std::string host_code{};        // NOLINT(readability-redundant-member-init)
    std::optional<Libraries> libraries = std::nullopt;
    std::optional<std::vector<MemoryOperation>> memory_operations = std::nullopt;
    /// By metric: the value that accepted changes are accumulated against. A metric without an
    /// entry has not changed since it was anchored: its value is its anchor.
    std::map<std::string, double> anchors = {};
    std::map<std::string, Acknowledgement> acknowledged = {};  ///< by metric
    /// The case's tags in the suite, which decide whether a run with --tag should contain it.
    /// Absent: unknown.
    std::optional<std::vector<std::string>> tags = std::nullopt;
    MeasuredAs measured_as = {};  ///< as the suite of the accepted run states it

    bool operator==(const BaselineCase&) const = default;
};

struct Baseline {
    std::string suite;
    Device device;  ///< `board` empty: it belongs to each case's provenance
    std::map<std::string, BaselineCase> cases;  ///< by case id

    bool operator==(const Baseline&) const = default;
};

}  // namespace perfgate::model
