// SPDX-License-Identifier: Apache-2.0
// A SQLite file from outside, read table by table. Nothing of its schema is trusted: only plain
// tables are read, by our own statements, within limits of size and work.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sqlite/database.hpp"

namespace perfgate::traces {

/// A column that a table may lack: then its values are NULL.
struct Column {
    const char* name;
    bool required = false;
};

/// The row that is being read; columns by their place in the request.
using Row = sqlite::Statement;

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
    std::string name_;
    sqlite::Database database_;
};

}  // namespace perfgate::traces
