// SPDX-License-Identifier: Apache-2.0
#include "sqlite/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

#include "util/text.hpp"

namespace perfgate::sqlite {

namespace {

constexpr int steps_per_tick = 1'000'000;
constexpr int wait_for_writers_ms = 60'000;

/// `left`: ticks. SQLite interrupts the statement where it returns other than 0.
int tick(void* left) {
    auto& ticks = *static_cast<std::uint64_t*>(left);
    if (ticks == 0) return 1;
    --ticks;
    return 0;
}

/// The file as a URI, which alone can say that nobody changes it.
std::string frozen_address(const std::filesystem::path& file) {
    std::string uri = "file:";
    for (const char c : file.native()) {
        if (c == '?' || c == '#' || c == '%') {
            uri += fmt::format("%{:02X}", static_cast<unsigned>(c));
        } else {
            uri += c;
        }
    }
    return uri + "?mode=ro&immutable=1";
}

int flags_of(Access access) {
    switch (access) {
        case Access::write:
            return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
        case Access::read:
            return SQLITE_OPEN_READONLY;
        case Access::frozen:
            break;
    }
    return SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
}

Problem problem_of(int result) {
    // SQLITE_ERROR: a schema that SQLite cannot read, or that lacks what a statement names.
    if (result == SQLITE_NOTADB || result == SQLITE_CORRUPT || result == SQLITE_ERROR) {
        return Problem::malformed;
    }
    return result == SQLITE_INTERRUPT ? Problem::too_long : Problem::other;
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const {
    sqlite3_close_v2(handle);
}

Database::Database(const std::filesystem::path& file, Access access, Failure failure, Limits limits)
    : failure_(std::move(failure)) {
    // An absolute path is never read as ":memory:", nor as a URI unless it says so.
    const std::filesystem::path path = std::filesystem::absolute(file);
    const std::string address = access == Access::frozen ? frozen_address(path) : path.string();
    sqlite3* handle = nullptr;
    const int result = sqlite3_open_v2(address.c_str(), &handle, flags_of(access), nullptr);
    handle_.reset(handle);
    check(result);
    constexpr std::pair<int, int> settings[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                                {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                                                {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                                {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                                                {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0}};
    for (const auto& [setting, value] : settings) {
        check(sqlite3_db_config(handle, setting, value, nullptr));
    }
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, limits.value_bytes);
    sqlite3_busy_timeout(handle, wait_for_writers_ms);
    if (limits.steps > 0) {
        ticks_ = std::make_unique<std::uint64_t>(limits.steps / steps_per_tick);
        sqlite3_progress_handler(handle, steps_per_tick, tick, ticks_.get());
    }
    execute("PRAGMA cell_size_check=ON; PRAGMA mmap_size=0");
}

void Database::check(int result) const {
    if (result == SQLITE_OK) return;
    std::rethrow_exception(
        failure_(problem_of(result),
                 handle_ ? util::printable(sqlite3_errmsg(handle_.get())) : "there is no memory"));
}

void Database::execute(const std::string& sql) const {
    check(sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr));
}

void Database::roll_back() const noexcept {
    if (sqlite3_get_autocommit(handle_.get()) != 0) return;
    sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Statement::Finalise::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}

Statement::Statement(const Database& database, const std::string& sql) : database_(database) {
    sqlite3_stmt* statement = nullptr;
    const int result =
        sqlite3_prepare_v2(database.handle_.get(), sql.c_str(), -1, &statement, nullptr);
    statement_.reset(statement);
    database.check(result);
}

void Statement::restart() {
    sqlite3_reset(statement_.get());
    sqlite3_clear_bindings(statement_.get());
    bound_ = 0;
}

void Statement::bind(std::int64_t value) {
    database_.check(sqlite3_bind_int64(statement_.get(), ++bound_, value));
}

void Statement::bind(double value) {
    database_.check(sqlite3_bind_double(statement_.get(), ++bound_, value));
}

void Statement::bind(std::string_view text) {
    database_.check(sqlite3_bind_text64(statement_.get(), ++bound_, text.data(), text.size(),
                                        SQLITE_STATIC, SQLITE_UTF8));
}

void Statement::bind(std::span<const double> values) {
    database_.check(sqlite3_bind_blob64(statement_.get(), ++bound_, values.data(),
                                        values.size_bytes(), SQLITE_STATIC));
}

bool Statement::step() {
    const int result = sqlite3_step(statement_.get());
    if (result == SQLITE_ROW) return true;
    if (result != SQLITE_DONE) database_.check(result);
    restart();
    return false;
}

int Statement::columns() const {
    return sqlite3_column_count(statement_.get());
}

bool Statement::has(int column) const {
    return sqlite3_column_type(statement_.get(), column) != SQLITE_NULL;
}

bool Statement::is_integer(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER;
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const {
    return sqlite3_column_double(statement_.get(), column);
}

std::string_view Statement::text(int column) const {
    const auto* const text = sqlite3_column_text(statement_.get(), column);
    if (text == nullptr) return {};
    return {reinterpret_cast<const char*>(text),
            static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

}  // namespace perfgate::sqlite
