// SPDX-License-Identifier: Apache-2.0
// A SQLite file that is written once, table by table, row by row, with bounded memory.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace perfgate::activity {

/// All that is written is one transaction. Throws Error with SQLite's reason.
class Database {
  public:
    /// `file` is empty or absent; `name` is what messages call it.
    Database(const std::filesystem::path& file, std::string name);

    /// Statements that need no value.
    void execute(const char* sql);
    /// Without it the file is of no use.
    void commit();

  private:
    friend class Table;
    [[noreturn]] void fail() const;

    struct Close {
        void operator()(sqlite3* handle) const;
    };
    std::string name_;
    std::unique_ptr<sqlite3, Close> handle_;
};

/// Rows for a table, through one prepared statement.
class Table {
  public:
    Table(Database& database, const std::string& name);

    /// One value for each column, in order. An empty optional is NULL.
    template <class... Values>
    void row(const Values&... values) {
        (bind(values), ...);
        step();
    }

    void bind(std::nullptr_t);
    /// SQLite's integers are signed; what does not fit is the largest.
    void bind(std::uint64_t value);
    void bind(std::int64_t value);
    void bind(double value);
    void bind(std::string_view text);
    template <std::integral Number>
    void bind(Number value) {
        bind(static_cast<std::uint64_t>(value));
    }
    template <class Value>
    void bind(const std::optional<Value>& value) {
        if (value) {
            bind(*value);
        } else {
            bind(nullptr);
        }
    }
    /// Ends a row whose values were bound one by one.
    void step();

  private:
    void check(int result) const;

    struct Finalise {
        void operator()(sqlite3_stmt* statement) const;
    };
    Database& database_;
    std::unique_ptr<sqlite3_stmt, Finalise> insert_;
    int columns_ = 0, bound_ = 0;
};

}  // namespace perfgate::activity
