// SPDX-License-Identifier: Apache-2.0
// The gate's own record: how often it was right, and what people did with it, per month. Pure and
// deterministic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "history/night.hpp"
#include "model/baseline.hpp"

namespace perfgate::history {

struct Month {
    std::string month;        ///< "2026-11", of UTC
    std::int64_t judged = 0;  ///< verdicts on cases in runs
    std::int64_t alarms = 0;  ///< cases that became `regressed`; as long as they stay so, one
    /// Alarms of unchanged code after which the history shows no change within three nights.
    std::int64_t false_alarms = 0;
    /// Runs that measured a case again, at the same revision, within half a day.
    std::int64_t reran = 0;
    /// Entries of ledgers; absent without any.
    std::optional<std::int64_t> acknowledged, accepted;

    bool operator==(const Month&) const = default;
};

class Record {
  public:
    /// Keeps a reference.
    explicit Record(const std::map<std::int64_t, Origin>& origins) : origins_(origins) {}

    /// Series, those of a case on a device together, and of each the nights at which it changed.
    void add(std::span<const Series> series, std::span<const std::vector<std::size_t>> changed);
    /// Whether a series of the ledger's device and suite was added.
    bool measured(const model::Ledger& ledger) const;
    /// What people accepted, of suites and devices that were added.
    void add(std::span<const model::Ledger> ledgers);

    /// The last one first.
    std::vector<Month> months() const;

  private:
    void add_case(std::span<const Series> of_case,
                  std::span<const std::vector<std::size_t>> changed);

    const std::map<std::int64_t, Origin>& origins_;
    std::map<std::string, Month> months_;
    std::set<std::int64_t> again_;                            ///< runs
    std::set<std::pair<std::string, std::string>> measured_;  ///< devices and suites
    bool has_ledger_ = false;
};

}  // namespace perfgate::history
