// SPDX-License-Identifier: Apache-2.0
#include "traces/export_file.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::traces {

namespace {

/// Steps of SQLite's virtual machine: a row takes some fifty.
constexpr int steps_per_tick = 1'000'000;
constexpr std::uint64_t most_ticks = 5000;
/// The longest text in the file. An export keeps what the program printed in one.
constexpr int longest_row = 64 << 20;

int tick(void* ticks) {
    return ++*static_cast<std::uint64_t*>(ticks) > most_ticks ? 1 : 0;
}

/// The file as a URI, which alone can say that nobody changes it: no locks, no journal.
std::string uri_of(const std::filesystem::path& file) {
    std::string uri = "file:";
    const std::filesystem::path path = std::filesystem::absolute(file);
    for (const char c : path.native()) {
        if (c == '?' || c == '#' || c == '%') {
            uri += fmt::format("%{:02X}", static_cast<unsigned>(c));
        } else {
            uri += c;
        }
    }
    return uri + "?mode=ro&immutable=1";
}

}  // namespace

bool Row::has(int column) const {
    return sqlite3_column_type(statement_, column) != SQLITE_NULL;
}

std::int64_t Row::integer(int column) const {
    return sqlite3_column_int64(statement_, column);
}

std::string_view Row::text(int column) const {
    const auto* const text = sqlite3_column_text(statement_, column);
    if (text == nullptr) return {};
    return {reinterpret_cast<const char*>(text),
            static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

void ExportFile::Close::operator()(sqlite3* handle) const {
    sqlite3_close_v2(handle);
}

void ExportFile::Finalise::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}

ExportFile::ExportFile(const std::filesystem::path& file) : name_(util::printable(file.native())) {
    sqlite3* handle = nullptr;
    const int result =
        sqlite3_open_v2(uri_of(file).c_str(), &handle,
                        SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
    handle_.reset(handle);
    if (result != SQLITE_OK) fail();
    constexpr std::pair<int, int> settings[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                                {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                                                {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                                {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                                                {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0}};
    for (const auto& [setting, value] : settings) {
        if (sqlite3_db_config(handle, setting, value, nullptr) != SQLITE_OK) fail();
    }
    constexpr std::pair<int, int> limits[] = {{SQLITE_LIMIT_LENGTH, longest_row},
                                              {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
                                              {SQLITE_LIMIT_COLUMN, 256},
                                              {SQLITE_LIMIT_ATTACHED, 0},
                                              {SQLITE_LIMIT_WORKER_THREADS, 0}};
    for (const auto& [limit, value] : limits) sqlite3_limit(handle, limit, value);
    sqlite3_progress_handler(handle, steps_per_tick, tick, &ticks_);
    // A damaged page is found before its content is used.
    step(prepared("PRAGMA cell_size_check=ON"));
    step(prepared("PRAGMA mmap_size=0"));
}

void ExportFile::fail() const {
    if (handle_ && sqlite3_errcode(handle_.get()) == SQLITE_INTERRUPT) {
        throw util::InputError(fmt::format("{}: it takes too long to read: record less", name_));
    }
    throw util::InputError(
        fmt::format("{}: cannot be read: SQLite: {}", name_,
                    handle_ ? util::printable(sqlite3_errmsg(handle_.get())) : "no memory"));
}

ExportFile::Statement ExportFile::prepared(const std::string& sql) const {
    sqlite3_stmt* statement = nullptr;
    const int result = sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &statement, nullptr);
    Statement owned(statement);
    if (result != SQLITE_OK) fail();
    return owned;
}

bool ExportFile::step(const Statement& statement) const {
    const int result = sqlite3_step(statement.get());
    if (result == SQLITE_ROW) return true;
    if (result != SQLITE_DONE) fail();
    return false;
}

bool ExportFile::has_table(std::string_view table) const {
    return step(prepared(fmt::format(
        "SELECT 1 FROM sqlite_master WHERE type='table' AND name='{}' AND sql LIKE 'CREATE TABLE%'",
        table)));
}

bool ExportFile::has_column(std::string_view table, std::string_view column) const {
    const Statement columns = prepared(fmt::format("PRAGMA table_info(\"{}\")", table));
    while (step(columns)) {
        if (Row(columns.get()).text(1) == column) return true;
    }
    return false;
}

void ExportFile::rows(std::string_view table, const std::vector<Column>& columns,
                      const std::function<void(const Row&)>& visit) const {
    if (!has_table(table)) return;
    std::string list;
    for (const Column& column : columns) {
        if (!list.empty()) list += ',';
        if (has_column(table, column.name)) {
            list += fmt::format("\"{}\"", column.name);
        } else if (column.required) {
            throw util::InputError(
                fmt::format("{}: table {} has no column {}: export it again, with a newer nsys",
                            name_, table, column.name));
        } else {
            list += "NULL";
        }
    }
    const Statement all = prepared(fmt::format("SELECT {} FROM \"{}\"", list, table));
    while (step(all)) {
        int place = 0;
        for (const Column& column : columns) {
            if (column.required && sqlite3_column_type(all.get(), place) != SQLITE_INTEGER) {
                throw util::InputError(fmt::format("{}: table {}: a value of {} is no integer",
                                                   name_, table, column.name));
            }
            ++place;
        }
        visit(Row(all.get()));
    }
}

}  // namespace perfgate::traces
