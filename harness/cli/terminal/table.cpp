// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/table.hpp"

#include <algorithm>
#include <cstddef>

#include "model/text.hpp"
#include "report/columns.hpp"

namespace perfgate::cli {

std::string table(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], report::display_width(row[i]));
        }
    }
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += "  " + report::pad(row[i], widths[i], report::Align::left);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text;
}

}  // namespace perfgate::cli
