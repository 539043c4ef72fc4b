// SPDX-License-Identifier: Apache-2.0
#include "traces/export_file.hpp"

#include <fmt/format.h>

#include <exception>

#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::traces {

namespace {

constexpr sqlite::Limits limits{
    // An export keeps what the program printed in one value.
    .value_bytes = 64 << 20,
    .steps = 5'000'000'000,
};

sqlite::Failure refusal_of(const std::string& name) {
    return [name](sqlite::Problem problem, const std::string& reason) {
        return std::make_exception_ptr(
            util::InputError(problem == sqlite::Problem::too_long
                                 ? fmt::format("{}: it takes too long to read: record less", name)
                                 : fmt::format("{}: cannot be read: SQLite: {}", name, reason)));
    };
}

}  // namespace

ExportFile::ExportFile(const std::filesystem::path& file)
    : name_(util::printable(file.native())),
      database_(file, sqlite::Access::frozen, refusal_of(name_), limits) {}

bool ExportFile::has_table(std::string_view table) const {
    return sqlite::Statement(database_,
                             fmt::format("SELECT 1 FROM sqlite_master WHERE type='table' AND "
                                         "name='{}' AND sql LIKE 'CREATE TABLE%'",
                                         table))
        .step();
}

bool ExportFile::has_column(std::string_view table, std::string_view column) const {
    sqlite::Statement columns(database_, fmt::format("PRAGMA table_info(\"{}\")", table));
    while (columns.step()) {
        if (columns.text(1) == column) return true;
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
                "{}: table {} has no column {}: export it again, with a newer nsys", name_, table,
                column.name);
        } else {
            list += "NULL";
        }
    }
    sqlite::Statement all(database_, fmt::format("SELECT {} FROM \"{}\"", list, table));
    while (all.step()) {
        int place = 0;
        for (const Column& column : columns) {
            if (column.required && !all.is_integer(place)) {
                throw util::InputError("{}: table {}: a value of {} is no integer", name_, table,
                                       column.name);
            }
            ++place;
        }
        visit(all);
    }
}

}  // namespace perfgate::traces
