// SPDX-License-Identifier: Apache-2.0
// Where baselines are kept: <folder>/<device-key>/<suite>.json, one file per device key and suite,
// and beside it <suite>.ledger.jsonl.
#pragma once

#include <compare>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baseline/lock.hpp"
#include "gate/baseline_set.hpp"
#include "model/baseline.hpp"
#include "model/ledger.hpp"
#include "model/run.hpp"

namespace perfgate::baseline {

/// More than a suite of 10,000 cases with 30 metrics takes.
inline constexpr std::size_t baseline_limit_bytes = std::size_t{256} << 20;

/// Throws InputError where the key or the name is no plain slug: nothing that a document says may
/// lead out of the folder.
std::filesystem::path baseline_path(const std::filesystem::path& folder,
                                    std::string_view device_key, std::string_view suite);

/// A baseline file wherever it is. Throws InputError naming file and fault.
gate::StoredBaseline read_baseline(const std::filesystem::path& file);

/// The stored baseline, or nothing where there is none. Throws InputError for one that is there and
/// cannot be used, or that is not what its path says (another device key, another suite).
std::optional<gate::StoredBaseline> load_baseline(const std::filesystem::path& folder,
                                                  std::string_view device_key,
                                                  std::string_view suite);

/// The stored baselines of the run's suites for its device. Throws as load_baseline does.
gate::BaselineSet load_baselines(const std::filesystem::path& folder, const model::Run& run);

/// The device keys for which the folder has a baseline of the suite, sorted.
std::vector<std::string> devices_with_baseline(const std::filesystem::path& folder,
                                               std::string_view suite);

struct BaselinePlace {
    std::string device_key, suite;

    // clang-tidy takes the 0 that its result is compared with for a pointer.
    auto operator<=>(const BaselinePlace&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// Where the folder has a baseline or a ledger, sorted. Throws InputError where there is no such
/// folder. Files of these kinds that cannot be either are named in `faults`, where it is given.
std::vector<BaselinePlace> stored_places(const std::filesystem::path& folder,
                                         std::vector<std::string>* faults = nullptr);

/// Writes to its place in the folder, atomically. A file that has this content already is not
/// touched. Returns the path.
std::filesystem::path save_baseline(const std::filesystem::path& folder,
                                    const model::Baseline& baseline);

/// More than a million entries take.
inline constexpr std::size_t ledger_limit_bytes = std::size_t{256} << 20;

std::filesystem::path ledger_path(const std::filesystem::path& folder, std::string_view device_key,
                                  std::string_view suite);

/// A ledger, or nothing where there is none. Throws InputError for one that is there and cannot be
/// used, or that is not what its path says.
std::optional<model::Ledger> load_ledger(const std::filesystem::path& folder,
                                         std::string_view device_key, std::string_view suite);

/// Adds to the ledger of this device key and suite, atomically. Without entries nothing is touched.
/// A folder without .gitattributes gets one that makes git merge ledgers by keeping both sides.
void append_to_ledger(const std::filesystem::path& folder, const std::string& device_key,
                      const std::string& suite, const std::vector<model::LedgerEntry>& entries);

/// Stores what was accepted, and in the ledger why: the ledger first, so that an acceptance which
/// is cut short in between is found by `verify` and can be made again. A baseline without cases is
/// removed; its ledger stays, and says so. Returns the baseline's path.
std::filesystem::path store_accepted(const BaselineLock& lock, const model::Baseline& baseline,
                                     const std::vector<model::LedgerEntry>& entries);

}  // namespace perfgate::baseline
