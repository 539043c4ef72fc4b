// SPDX-License-Identifier: Apache-2.0
// The parts of the console report: its text as it grows (colours, wrapped lines, lines with
// counts), and the table of cases (console_table.cpp).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/verdict.hpp"
#include "report/columns.hpp"
#include "report/formats.hpp"
#include "report/joined.hpp"

namespace perfgate::report {

enum class Style { plain, bold, dim, red, green, yellow };

Style style_of(model::Verdict verdict);

class ConsoleText {
  public:
    explicit ConsoleText(const Options& options);

    std::string painted(Style style, std::string_view text) const;
    /// Colours `words` at `begin`, or their last occurrence after it, unless they are on two lines.
    void paint_first(Style style, const std::string& words, std::size_t begin);
    void paint_last(Style style, const std::string& words, std::size_t begin);

    /// As it is; the caller has made it safe with log_line().
    void append(std::string_view text) { out_ += text; }
    /// One line after another at spaces, where the terminal ends. What begins a line may be a
    /// command for a CI's runner only there, so each is made safe.
    void wrapped(std::string_view text, std::size_t indent = 0);
    /// The same, lines after the first indented; `label` before the first, coloured.
    void labelled(Style style, const std::string& label, const std::string& text);
    void details(const std::vector<std::string>& lines);
    /// Texts with the number of cases that have them, most frequent first.
    void counted(std::string_view label, const std::map<std::string, std::size_t>& texts);
    /// An empty line after a block, if there is none.
    void end_block();

    std::size_t width() const { return width_; }  ///< 0: not limited
    std::size_t size() const { return out_.size(); }
    std::string take() { return std::move(out_); }

  private:
    bool color_;
    std::size_t width_;
    std::string out_;
};

/// The suite's relations that are broken or could not be judged, worst first; with `list_all` also
/// those that hold. Skipped ones are grouped by reason, like cases. At most `most_rows`.
void write_relations(const model::SuiteVerdict& suite, bool list_all, std::size_t most_rows,
                     ConsoleText& text);

/// The table of these cases in lines, the first with titles, fitted to `width` columns (0: not
/// limited). `list_all`: of the times, with their intervals and what the gate detects, else of the
/// metrics that decide the verdicts.
std::vector<std::string> case_table(const std::vector<JoinedCase>& listed, bool list_all,
                                    std::size_t width);

}  // namespace perfgate::report
