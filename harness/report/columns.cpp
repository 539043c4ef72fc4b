// SPDX-License-Identifier: Apache-2.0
#include "report/columns.hpp"

#include <algorithm>
#include <iterator>

#include "util/text.hpp"

namespace perfgate::report {

namespace {

struct Range {
    char32_t first, last;
};

// Blocks rather than single characters, after Unicode's East Asian Width (W, F) and general
// category (Mn, Me, Cf). Sorted.
constexpr Range wide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},
    {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x16FE0, 0x18DFF}, {0x1AFF0, 0x1B2FF},
    {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD},
};
constexpr Range zero_width[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A},   {0x064B, 0x065F},
    {0x093C, 0x093C}, {0x094D, 0x094D}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E},   {0x1AB0, 0x1AFF},
    {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x2064},   {0x20D0, 0x20FF},
    {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF},
};

template <std::size_t count>
bool contains(const Range (&ranges)[count], char32_t c) {
    const Range* after =
        std::upper_bound(std::begin(ranges), std::end(ranges), c,
                         [](char32_t value, const Range& range) { return value < range.first; });
    return after != std::begin(ranges) && c <= std::prev(after)->last;
}

std::size_t width_of(const util::Utf8Step& step) {
    const char32_t c = step.code_point;
    if (!step.valid || c < 0x300) return 1;
    if (contains(zero_width, c)) return 0;
    return contains(wide, c) ? 2 : 1;
}

}  // namespace

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    for (std::size_t position = 0; position < text.size();) {
        const util::Utf8Step step = util::utf8_step(text, position);
        width += width_of(step);
        position += step.length;
    }
    return width;
}

std::string cut_middle(std::string_view text, std::size_t width) {
    if (display_width(text) <= width) return std::string(text);
    if (width == 0) return {};
    std::vector<std::size_t> starts;  // of the characters
    std::vector<std::size_t> widths;
    for (std::size_t position = 0; position < text.size();) {
        const util::Utf8Step step = util::utf8_step(text, position);
        starts.push_back(position);
        widths.push_back(width_of(step));
        position += step.length;
    }
    // The text is wider than head, ellipsis and tail together: both loops end inside it.
    const std::size_t tail_columns = (width - 1) / 2;
    const std::size_t head_columns = width - 1 - tail_columns;
    std::size_t head = 0;
    for (std::size_t used = 0; used + widths[head] <= head_columns; ++head) used += widths[head];
    std::size_t tail = starts.size();
    for (std::size_t used = 0; used + widths[tail - 1] <= tail_columns; --tail) {
        used += widths[tail - 1];
    }
    std::string cut(text.substr(0, starts[head]));
    cut += "\u2026";
    if (tail < starts.size()) cut += text.substr(starts[tail]);
    return cut;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
    if (width == 0) return {std::string(text)};
    std::vector<std::string> lines;
    std::string line;
    std::size_t line_width = 0;
    std::size_t position = 0;
    while (position < text.size()) {
        const std::size_t space = std::min(text.find(' ', position), text.size());
        const std::string_view word = text.substr(position, space - position);
        const std::size_t word_width = display_width(word);
        if (line_width > 0 && line_width + 1 + word_width > width) {
            lines.push_back(std::move(line));
            line.clear();
            line_width = 0;
        }
        if (line_width > 0) {
            line += ' ';
            ++line_width;
        }
        line += word;
        line_width += word_width;
        position = space + 1;
    }
    if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
    return lines;
}

std::string pad(std::string_view text, std::size_t width, Align align) {
    const std::size_t used = display_width(text);
    const std::string spaces(width > used ? width - used : 0, ' ');
    return align == Align::left ? std::string(text) + spaces : spaces + std::string(text);
}

std::vector<std::string> table_lines(const std::vector<std::vector<std::string>>& rows,
                                     const TableLayout& layout) {
    constexpr std::string_view gap = "  ";
    constexpr std::size_t narrowest = 24;
    if (rows.empty()) return {};
    std::vector<std::size_t> widths(rows.front().size());
    std::vector<bool> shown(widths.size(), !layout.leave_out_empty);
    for (std::size_t r = 0; r < rows.size(); ++r) {
        for (std::size_t c = 0; c < widths.size(); ++c) {
            widths[c] = std::max(widths[c], display_width(rows[r][c]));
            if (c == 0 || (r > 0 && !rows[r][c].empty())) shown[c] = true;
        }
    }
    const auto excess = [&] {
        std::size_t total = layout.indent;
        for (std::size_t c = 0; c < widths.size(); ++c) {
            if (shown[c]) total += widths[c] + (c == 0 ? 0 : gap.size());
        }
        return layout.width > 0 && total > layout.width ? total - layout.width : 0;
    };
    for (const std::size_t column : layout.drop) {
        if (excess() > 0) shown[column] = false;
    }
    if (const std::size_t over = excess(); over > 0) {
        std::size_t& width = widths[layout.cut];
        width = std::max(width > over ? width - over : 0, std::min(width, narrowest));
    }
    std::vector<std::string> lines;
    for (const std::vector<std::string>& row : rows) {
        std::string& line = lines.emplace_back(layout.indent, ' ');
        for (std::size_t c = 0; c < widths.size(); ++c) {
            if (!shown[c]) continue;
            if (c > 0) line += gap;
            line += pad(cut_middle(row[c], widths[c]), widths[c],
                        c < layout.align.size() ? layout.align[c] : Align::left);
        }
        line.erase(line.find_last_not_of(' ') + 1);
    }
    return lines;
}

std::string table(const std::vector<std::vector<std::string>>& rows, const TableLayout& layout) {
    std::string text;
    for (const std::string& line : table_lines(rows, layout)) text += line + '\n';
    return text;
}

}  // namespace perfgate::report
