// SPDX-License-Identifier: Apache-2.0
// Measures, cuts and wraps text and sets tables, in terminal columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate::report {

/// Columns that valid UTF-8 takes: two for East Asian wide characters and emoji, none for
/// combining marks. An estimate: terminals differ on what is rare.
std::size_t display_width(std::string_view text);

/// `text` in at most `width` columns: the middle replaced by an ellipsis, because both ends of a
/// case id tell cases apart.
std::string cut_middle(std::string_view text, std::size_t width);

/// Lines of at most `width` columns, broken at spaces; a longer word gets its own line, uncut, so
/// that it can be copied. `width` 0: one line.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

enum class Align { left, right };

/// `text` padded with spaces to `width` columns.
std::string pad(std::string_view text, std::size_t width, Align align);

struct TableLayout {
    std::size_t indent = 2;
    std::vector<Align> align = {};       ///< by column; left for the rest
    std::size_t width = 0;               ///< what follows makes rows fit; 0: not limited
    std::vector<std::size_t> drop = {};  ///< columns to leave out, in this order
    std::size_t cut = 0;                 ///< the column that is then cut, to 24 columns at least
    bool leave_out_empty = false;        ///< columns that are empty below the header row
};

/// Rows of equally many cells, aligned, two spaces between columns, none at the end of a line.
std::vector<std::string> table_lines(const std::vector<std::vector<std::string>>& rows,
                                     const TableLayout& layout = {});

/// The lines, each with its end.
std::string table(const std::vector<std::vector<std::string>>& rows,
                  const TableLayout& layout = {});

}  // namespace perfgate::report
