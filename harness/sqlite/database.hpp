// SPDX-License-Identifier: Apache-2.0
// A SQLite file and statements about it. Only this room knows SQLite. Every file counts as
// untrusted: triggers and views do not run, its schema calls no function with side effects, damaged
// pages are found before they are used, and values have a limit.
#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace perfgate::sqlite {

enum class Access {
    write,   ///< it is created if it is absent
    read,    ///< other processes may write meanwhile
    frozen,  ///< nobody writes: there are no locks, and nothing beside the file is read or made
};

struct Limits {
    int value_bytes = 1 << 20;  ///< the longest text or blob
    std::uint64_t steps = 0;    ///< of SQLite's virtual machine, some fifty for a row; 0: any
};

enum class Problem {
    malformed,  ///< no database, damaged, or with another schema than the statements need
    too_long,   ///< it took more steps than the limit
    other,
};

/// What is thrown for a failure: it knows what the file is for, and its name. `reason` is
/// printable.
using Failure = std::function<std::exception_ptr(Problem, const std::string& reason)>;

class Database {
  public:
    Database(const std::filesystem::path& file, Access access, Failure failure, Limits limits = {});

    /// Statements that need no value.
    void execute(const std::string& sql) const;
    /// Ends a transaction that is open, for what throws meanwhile.
    void roll_back() const noexcept;

  private:
    friend class Statement;
    void check(int result) const;

    struct Close {
        void operator()(sqlite3* handle) const;
    };
    Failure failure_;
    std::unique_ptr<std::uint64_t> ticks_;  ///< that are left; SQLite keeps its address
    std::unique_ptr<sqlite3, Close> handle_;
};

/// Values are bound in their order, and columns counted from 0. Texts and bytes that are bound have
/// to live until the next step().
class Statement {
  public:
    Statement(const Database& database, const std::string& sql);

    template <class... Values>
    Statement& with(const Values&... values) {
        restart();
        (bind(values), ...);
        return *this;
    }
    void bind(std::int64_t value);
    void bind(double value);
    void bind(std::string_view text);
    void bind(std::span<const double> values);  ///< as bytes
    /// Nothing is NULL.
    template <class Value>
    void bind(const std::optional<Value>& value) {
        value ? bind(*value) : static_cast<void>(++bound_);
    }

    /// Whether there is a row. Without one it can be bound again.
    bool step();
    /// Of its rows, which need not be read.
    [[nodiscard]] int columns() const;
    [[nodiscard]] int bound() const { return bound_; }

    [[nodiscard]] bool has(int column) const;  ///< it is not NULL
    [[nodiscard]] bool is_integer(int column) const;
    /// 0 where it is NULL.
    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] double real(int column) const;
    /// Of a blob its bytes. Valid until the next row; empty where it is NULL.
    [[nodiscard]] std::string_view text(int column) const;

  private:
    void restart();

    struct Finalise {
        void operator()(sqlite3_stmt* statement) const;
    };
    const Database& database_;
    std::unique_ptr<sqlite3_stmt, Finalise> statement_;
    int bound_ = 0;
};

}  // namespace perfgate::sqlite
