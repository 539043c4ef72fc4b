// SPDX-License-Identifier: Apache-2.0
// Reading tables of comma-separated values, for the formats that are one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/benchmark/formats/layout.hpp"
#include "kinds/benchmark/formats/results.hpp"
#include "kinds/benchmark/formats/table.hpp"

namespace perfgate::benchmark {

/// What is special about the CSV of a tool.
struct CsvForm {
    const KnownRows* known = nullptr;  ///< of a tool
    bool thousands = false;            ///< "1,234" is a number
    bool units_row = false;            ///< the line below the header has units
    std::string_view comment = "#";    ///< what lines begin with that are no rows
    bool until_empty_line = false;     ///< an empty line ends the table
};

struct CsvHeader {
    std::vector<std::string> fields;
    char delimiter = ',';
    std::size_t line = 0;   ///< the first is 1
    std::string_view rest;  ///< the text below it
};

/// The first line with all of the columns, or else the line with the most fields; no fields if the
/// text has no line.
CsvHeader find_csv_header(std::string_view text, const std::vector<std::string>& columns);

/// The record below the header; no fields if there is none.
std::vector<std::string> first_csv_record(const CsvHeader& header);

/// Throws util::InputError, which begins with the line.
Results read_rows_of_csv(std::string_view text, const Layout& reading, const CsvForm& form);

}  // namespace perfgate::benchmark
