// SPDX-License-Identifier: Apache-2.0
// The history's file: SQLite, one file, which several processes may write at once. It is untrusted
// input: a file with other tables, views or triggers than perfgate's is refused, and what is read
// is checked. All throw InputError for a file that is not a store, Error where writing fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "history/night.hpp"
#include "sqlite/database.hpp"

namespace perfgate::history {

/// Whether the file begins like one of SQLite's.
bool is_store(const std::filesystem::path& file);

class Store {
  public:
    /// `read` neither creates nor changes it.
    enum class Access { read, write };
    Store(const std::filesystem::path& file, Access access);
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    struct Change {
        std::size_t added = 0, removed = 0;
        std::size_t future = 0;  ///< that were left out, of the stores
        bool operator==(const Change&) const = default;
    };
    /// What one command adds: all of it or nothing, also if the process is killed. A run that is
    /// there already is not added again. `keep_days`: removes runs that began so many days before
    /// the newest of their device. A run that began after `latest`, a UTC time, would make all
    /// others old: throws InputError for one of `runs`, and leaves out those of `stores`.
    Change add(std::span<const StoredRun> runs, std::span<const std::filesystem::path> stores,
               std::optional<std::int64_t> keep_days, const std::string& latest);

    /// By the numbers that nights have.
    std::map<std::int64_t, Origin> origins() const;
    /// Calls `use` with each case of a suite, or with one; empty: with all. A case has all of its
    /// series, by device. Nights are in the order of their revisions, those of one revision in the
    /// order of their runs.
    void each_case(const std::string& suite, const std::string& id,
                   const std::function<void(const std::vector<Series>&)>& use) const;

  private:
    sqlite::Failure failure() const;
    /// Refuses a file that has not exactly a history's tables.
    void check_schema(const char* database, const std::filesystem::path& file) const;
    std::size_t add_run(const StoredRun& run) const;

    std::string name_;
    std::string added_;  ///< the history that is being added to this one
    bool writes_ = false;
    sqlite::Database database_;
};

}  // namespace perfgate::history
