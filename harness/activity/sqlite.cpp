// SPDX-License-Identifier: Apache-2.0
#include "activity/sqlite.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <limits>

#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::activity {

void Database::Close::operator()(sqlite3* handle) const {
    sqlite3_close_v2(handle);
}

void Table::Finalise::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}

Database::Database(const std::filesystem::path& file, std::string name) : name_(std::move(name)) {
    sqlite3* handle = nullptr;
    // An absolute path is never read as a URI or as ":memory:".
    const int result = sqlite3_open_v2(std::filesystem::absolute(file).c_str(), &handle,
                                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    handle_.reset(handle);
    if (result != SQLITE_OK) fail();
    // A file that is not finished is removed, so it needs neither journal nor synchronisation.
    execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN");
}

void Database::execute(const char* sql) {
    if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

void Database::commit() {
    execute("COMMIT");
}

void Database::fail() const {
    throw util::Error(fmt::format(
        "cannot write {}: SQLite: {}", util::printable(name_),
        handle_ ? util::printable(sqlite3_errmsg(handle_.get())) : "there is no memory"));
}

Table::Table(Database& database, const std::string& name) : database_(database) {
    const auto prepared = [&](const std::string& sql) {
        sqlite3_stmt* statement = nullptr;
        check(sqlite3_prepare_v2(database_.handle_.get(), sql.c_str(), -1, &statement, nullptr));
        return std::unique_ptr<sqlite3_stmt, Finalise>(statement);
    };
    columns_ = sqlite3_column_count(prepared("SELECT * FROM " + name).get());
    std::string places = "?";
    for (int i = 1; i < columns_; ++i) places += ",?";
    insert_ = prepared(fmt::format("INSERT INTO {} VALUES ({})", name, places));
}

void Table::check(int result) const {
    if (result != SQLITE_OK) database_.fail();
}

void Table::bind(std::nullptr_t) {
    check(sqlite3_bind_null(insert_.get(), ++bound_));
}

void Table::bind(std::int64_t value) {
    check(sqlite3_bind_int64(insert_.get(), ++bound_, value));
}

void Table::bind(std::uint64_t value) {
    constexpr auto largest = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    bind(static_cast<std::int64_t>(std::min(value, largest)));
}

void Table::bind(double value) {
    check(sqlite3_bind_double(insert_.get(), ++bound_, value));
}

void Table::bind(std::string_view text) {
    // The text lives until the row is written.
    check(sqlite3_bind_text64(insert_.get(), ++bound_, text.data(), text.size(), SQLITE_STATIC,
                              SQLITE_UTF8));
}

void Table::step() {
    if (bound_ != columns_) {
        throw util::Error(fmt::format("a row of {} values for {} columns", bound_, columns_));
    }
    bound_ = 0;
    if (sqlite3_step(insert_.get()) != SQLITE_DONE) database_.fail();
    check(sqlite3_reset(insert_.get()));
}

}  // namespace perfgate::activity
