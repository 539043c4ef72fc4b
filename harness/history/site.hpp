// SPDX-License-Identifier: Apache-2.0
// The data of a site that shows a history (site_data.hpp), made case by case, so that memory does
// not grow with the nights; and its badge. Pure and deterministic: "lately" counts from the newest
// run, not from today.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "history/changes.hpp"
#include "history/night.hpp"
#include "history/record.hpp"
#include "history/site_data.hpp"
#include "model/baseline.hpp"

namespace perfgate::history {

inline constexpr std::int64_t lately_days = 30;

class Site {
  public:
    /// Keeps a reference. `ledgers`: absent if none were read.
    Site(const std::map<std::int64_t, Origin>& origins,
         std::optional<std::vector<model::Ledger>> ledgers);

    struct File {
        std::string name;  ///< without ".js"
        std::string json;
    };
    /// The file of a case, from all of its series, those of a device together. Each case is added
    /// once.
    File add(const std::vector<Series>& of_case);

    struct Badge {
        std::string svg, json;  ///< JSON as shields.io takes it from an address
    };
    struct Front {
        std::string index;  ///< JSON, on one line
        Badge badge;
    };
    /// After all cases.
    Front finish();

  private:
    std::int64_t text(const std::string& text);
    std::int64_t metric_of(const Series& series);
    std::int64_t run_of(std::int64_t number) const;

    const std::map<std::int64_t, Origin>& origins_;
    std::optional<std::vector<model::Ledger>> ledgers_;
    page::Index index_;
    Changes changes_;
    Record record_;
    std::unordered_map<std::string, std::int64_t> texts_, metrics_;
    std::unordered_map<std::int64_t, std::int64_t> runs_;  ///< by the store's number
    struct Added {
        std::int64_t of_case = 0, metric = 0;
    };
    std::vector<Added> series_;  ///< in the order in which `changes_` has them
};

}  // namespace perfgate::history
