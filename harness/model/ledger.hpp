// SPDX-License-Identifier: Apache-2.0
// The ledger of a baseline: who accepted which change, when and why. Stored beside the baseline as
// baselines/<device-key>/<suite>.ledger.jsonl.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate::model {

enum class LedgerAction {
    accept,       ///< a case's new values are expected
    acknowledge,  ///< a case's regression is accepted until a day; the expectation stays
    refresh,      ///< a whole run becomes the expectation
    prune,        ///< a case that no suite has was removed
    improved,     ///< no acceptance: a run saw that metrics improved, or no longer
};

std::string_view to_text(LedgerAction action);

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
