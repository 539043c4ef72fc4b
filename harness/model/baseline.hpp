// SPDX-License-Identifier: Apache-2.0
// The Baseline: what is expected of each case of one suite on one device key, and how that was
// obtained. Stored as baselines/<device-key>/<suite>.json.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/environment.hpp"
#include "model/measured_as.hpp"
#include "model/metric.hpp"
#include "model/run.hpp"
#include "util/text.hpp"

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
    std::vector<Kernel> kernels{};
    std::string host_code{};
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

// The ledger of a baseline: who accepted which change, when and why. Stored beside the baseline as
// baselines/<device-key>/<suite>.ledger.jsonl.

enum class LedgerAction {
    accept,       ///< a case's new values are expected
    acknowledge,  ///< a case's regression is accepted until a day; the expectation stays
    refresh,      ///< a whole run becomes the expectation
    prune,        ///< a case that no suite has was removed
    improved,     ///< no acceptance: a run saw that metrics improved, or no longer
};

inline std::string_view to_text(LedgerAction action) {
    return util::word_of<LedgerAction::improved>(
        action, {"accept", "acknowledge", "refresh", "prune", "improved"});
}

/// A gated metric of an accepted case, in the metric's unit.
struct LedgerChange {
    std::string unit;
    std::optional<double> before;  ///< absent: nothing was expected
    double after = 0;
    std::optional<double> anchor;  ///< after this entry; absent: `after` is the anchor

    bool operator==(const LedgerChange&) const = default;
};

struct LedgerEntry {
    std::string id;  ///< of the case; empty for a refresh, which covers many
    std::string at;  ///< UTC
    LedgerAction action = LedgerAction::accept;
    std::string by;  ///< empty: unknown
    std::string reason;
    std::string recorded_at;   ///< when the accepted run began, as in Provenance
    std::string git_revision;  ///< of the accepted run
    std::string until;         ///< of an acknowledgement: its last day
    bool anchor_reset = false;
    std::int64_t cases = 0;                            ///< of a refresh: number of accepted cases
    std::map<std::string, LedgerChange> changes = {};  ///< by metric; of `improved`, all that are
    /// By id: digest_of_case() of each case that this entry wrote. Empty in entries of version 1.
    std::map<std::string, std::string> digests = {};
    std::vector<std::string> removed = {};  ///< by a refresh: cases that the suite no longer has
    std::vector<std::string> added_boards = {};  ///< by a refresh: those whose times it added

    bool operator==(const LedgerEntry&) const = default;
};

struct Ledger {
    std::string suite;
    std::string device_key;
    std::vector<LedgerEntry> entries;

    bool operator==(const Ledger&) const = default;
};

}  // namespace perfgate::model
