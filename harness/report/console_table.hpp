// SPDX-License-Identifier: Apache-2.0
// The columns of the console's table: a row for each case, fitted to the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/columns.hpp"
#include "report/joined.hpp"

namespace perfgate::report {

struct Column {
    std::string title;
    Align align = Align::right;
    std::vector<std::string> cells;
    std::size_t width = 0;

    void add(std::string text) {
        width = std::max(width, display_width(text));
        cells.push_back(std::move(text));
    }
};

inline constexpr std::string_view column_gap = "  ";
inline constexpr std::size_t id_column = 1;

/// One cell for each case in every column; columns without content are left out. `list_all`: of the
/// times, with their intervals, else of the metrics that decide the verdicts.
std::vector<Column> make_columns(const std::vector<JoinedCase>& listed, bool list_all);

/// Fits the table to the terminal: first leaves out columns whose content is also in the sentences
/// or files, then cuts ids. `width` 0: not limited.
void fit(std::vector<Column>& columns, std::size_t width);

}  // namespace perfgate::report
