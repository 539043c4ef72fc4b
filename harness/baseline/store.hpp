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

#include "baseline/file_changes.hpp"
#include "gate/baseline_set.hpp"
#include "model/baseline.hpp"
#include "model/run.hpp"

namespace perfgate::baseline {

/// More than a suite of 10,000 cases with 30 metrics takes.
inline constexpr std::size_t baseline_limit_bytes = std::size_t{256} << 20;

/// Throws InputError unless key and name are plain slugs: a document must not name a path outside
/// the folder.
std::filesystem::path baseline_path(const std::filesystem::path& folder,
                                    std::string_view device_key, std::string_view suite);

/// Reads a baseline file in any place. Throws InputError naming the file and the fault.
gate::StoredBaseline read_baseline(const std::filesystem::path& file);

/// The stored baseline, or nothing if there is none. Throws InputError if it cannot be used, or if
/// it contradicts its path (another device key, another suite).
std::optional<gate::StoredBaseline> load_baseline(const std::filesystem::path& folder,
                                                  std::string_view device_key,
                                                  std::string_view suite);

/// The stored baselines of these suites for the device. Throws as load_baseline does, and for a
/// baseline of another device with the same key.
gate::BaselineSet load_baselines(const std::filesystem::path& folder, const model::Device& device,
                                 const std::vector<std::string>& suites);

/// Those of the run's suites, for its device.
gate::BaselineSet load_baselines(const std::filesystem::path& folder, const model::Run& run);

/// The suites for which the folder has a baseline of the device, sorted by name.
std::vector<std::string> suites_with_baseline(const std::filesystem::path& folder,
                                              std::string_view device_key);

/// The device keys for which the folder has a baseline of the suite, sorted.
std::vector<std::string> devices_with_baseline(const std::filesystem::path& folder,
                                               std::string_view suite);

/// The keys of other numbers of GPUs of the same model ("-x4") that have a baseline of the suite,
/// if this one has none.
std::vector<std::string> other_gpus_with_baseline(const std::filesystem::path& folder,
                                                  std::string_view device_key,
                                                  std::string_view suite);

struct BaselinePlace {
    std::string device_key, suite;

    auto operator<=>(const BaselinePlace&) const = default;
};

/// Where the folder has a baseline or a ledger, sorted. Throws InputError if there is no such
/// folder. Files with these endings that cannot be either are added to `faults`, if given.
std::vector<BaselinePlace> stored_places(const std::filesystem::path& folder,
                                         std::vector<std::string>* faults = nullptr);

/// Writes to its place in the folder, atomically. A file that already has this content is not
/// touched. Returns the path.
std::filesystem::path save_baseline(const std::filesystem::path& folder,
                                    const model::Baseline& baseline);

/// More than a million entries take.
inline constexpr std::size_t ledger_limit_bytes = std::size_t{256} << 20;

std::filesystem::path ledger_path(const std::filesystem::path& folder, std::string_view device_key,
                                  std::string_view suite);

/// A ledger, or nothing if there is none. Throws InputError if it cannot be used, or if it
/// contradicts its path.
std::optional<model::Ledger> load_ledger(const std::filesystem::path& folder,
                                         std::string_view device_key, std::string_view suite);

/// Adds to the ledger of this device key and suite, atomically. Without entries nothing is written.
/// A folder without .gitattributes gets one, by which git changes no byte of them, and merges
/// ledgers by keeping both sides.
void append_to_ledger(const std::filesystem::path& folder, const std::string& device_key,
                      const std::string& suite, const std::vector<model::LedgerEntry>& entries);

struct AcceptedBaseline {
    const model::Baseline& baseline;
    std::vector<model::LedgerEntry> entries;
};

/// Stores what was accepted, and in the ledgers why: all of it or nothing (file_changes.hpp). A
/// baseline without cases is removed; its ledger stays and records that.
void store_accepted(const BaselineLock& lock, const std::vector<AcceptedBaseline>& accepted);

}  // namespace perfgate::baseline
