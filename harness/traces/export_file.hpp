// SPDX-License-Identifier: Apache-2.0
// A SQLite file from outside, read table by table. Nothing of its schema is trusted: only plain
// tables are read, by our own statements, within limits of size and work.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace perfgate::traces {

/// A column that a table may lack: then its values are NULL.
struct Column {
    const char* name;
    bool required = false;
};

/// The row that is being read; columns by their place in the request.
class Row {
  public:
    explicit Row(sqlite3_stmt* statement) : statement_(statement) {}

    [[nodiscard]] bool has(int column) const;
    /// 0 where it is NULL.
    [[nodiscard]] std::int64_t integer(int column) const;
    /// Valid until the next row; empty where it is NULL.
    [[nodiscard]] std::string_view text(int column) const;

  private:
    sqlite3_stmt* statement_;
};

class ExportFile {
  public:
    /// Opens it read-only and as it is: beside it nothing is read or written. Throws
    /// util::InputError, as all that follows, with the file's name and SQLite's reason.
    explicit ExportFile(const std::filesystem::path& file);

    /// Whether it has such a table: no view and no virtual one.
    [[nodiscard]] bool has_table(std::string_view table) const;
    [[nodiscard]] bool has_column(std::string_view table, std::string_view column) const;

    /// Calls `visit` for each row; of a table that is absent for none. `table` is a name of ours.
    /// A required column must be there and have an integer in each row.
    void rows(std::string_view table, const std::vector<Column>& columns,
              const std::function<void(const Row&)>& visit) const;

    [[nodiscard]] const std::string& name() const { return name_; }

  private:
    struct Close {
        void operator()(sqlite3* handle) const;
    };
    struct Finalise {
        void operator()(sqlite3_stmt* statement) const;
    };
    using Statement = std::unique_ptr<sqlite3_stmt, Finalise>;

    [[nodiscard]] Statement prepared(const std::string& sql) const;
    bool step(const Statement& statement) const;
    [[noreturn]] void fail() const;

    std::string name_;
    std::unique_ptr<sqlite3, Close> handle_;
    mutable std::uint64_t ticks_ = 0;
};

}  // namespace perfgate::traces
