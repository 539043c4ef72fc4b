// SPDX-License-Identifier: Apache-2.0
// The table on the terminal: a sentence, then the cases that need attention, a line each, grouped
// by what users feel and the reason; the others counted. With --verbose every case with all that is
// known about it. Cases without a baseline are listed with what was measured, so that the first run
// shows numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/quantity.hpp"
#include "model/text.hpp"
#include "report/columns.hpp"
#include "report/commands.hpp"
#include "report/console_table.hpp"
#include "report/formats.hpp"
#include "report/joined.hpp"
#include "report/plain_text.hpp"
#include "report/summary.hpp"

namespace perfgate::report {

namespace {

using model::Verdict;

// The most rows on a terminal; the files have all.
constexpr std::size_t most_rows = 500;
constexpr std::size_t most_sentences = 20;
constexpr std::size_t most_log_lines = 10;
constexpr std::size_t most_groups = 10;

constexpr std::size_t usual_width = 80;  ///< where there is no terminal

enum class Style { plain, bold, dim, red, green, yellow };

class Paint {
  public:
    explicit Paint(bool color) : color_(color) {}

    std::string operator()(Style style, std::string_view text) const {
        constexpr std::string_view codes[] = {"", "1", "2", "31", "32", "33"};
        const std::string_view code = codes[static_cast<std::size_t>(style)];
        if (!color_ || code.empty()) return std::string(text);
        return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
    }

  private:
    bool color_;
};

Style style_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::pass:
        case Verdict::improved:
            return Style::green;
        case Verdict::acknowledged:
        case Verdict::warned:
        case Verdict::no_baseline:
        case Verdict::inconclusive:
            return Style::yellow;
        case Verdict::skipped:
            return Style::dim;
        case Verdict::regressed:
        case Verdict::incorrect:
        case Verdict::missing:
        case Verdict::error:
        case Verdict::invalid:
        case Verdict::not_collected:
            break;
    }
    return Style::red;
}

/// The sentences and lines below a row.
std::vector<std::string> details(const JoinedCase& joined) {
    const model::CaseVerdict& verdict = *joined.verdict;
    std::vector<std::string> lines;
    std::size_t left_out = 0;
    bool explained = false;
    for (const model::MetricVerdict& metric : verdict.metrics) {
        // Values without a baseline are in the row; one reason for the case is enough.
        if (metric.verdict == Verdict::pass || metric.verdict == Verdict::no_baseline) continue;
        explained = explained || metric.verdict == verdict.verdict;
        if (lines.size() == most_sentences) {
            ++left_out;
        } else {
            lines.push_back(log_line(sentence_of(metric)));
        }
    }
    if (left_out > 0) lines.push_back(fmt::format("and {} more metrics", left_out));
    const std::string reason = log_line(verdict.reason);
    if (!explained && !reason.empty() && verdict.verdict != Verdict::pass) {
        lines.insert(lines.begin(), reason);
    }
    for (const std::string& why : why_lines(verdict)) lines.push_back(log_line(why));
    if (const std::string source = changed_source(joined); !source.empty()) {
        lines.push_back(log_line(source));
    }
    return lines;
}

/// The end of the worker's stderr, one entry per line.
std::vector<std::string> log_lines(const std::string& log) {
    std::vector<std::string> lines;
    std::string_view rest = log;
    while (!rest.empty() && rest.back() == '\n') rest.remove_suffix(1);
    while (!rest.empty() && lines.size() < most_log_lines) {
        const std::size_t newline = rest.rfind('\n');
        const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
        lines.push_back("| " + log_line(plain_text(rest.substr(begin))));
        rest = rest.substr(0, begin == 0 ? 0 : newline);
    }
    std::reverse(lines.begin(), lines.end());
    return lines;
}

class Console {
  public:
    explicit Console(const Options& options)
        : options_(options),
          paint_(options.color),
          width_(options.width == 0 && !options.list_all ? usual_width : options.width) {}

    std::string write(const model::VerdictDocument& document, const model::Run& run) {
        if (!document.summary.empty()) {
            write_wrapped(log_line(document.summary), 0);
            out_ += '\n';
        }
        for (const JoinedSuite& suite : join(document, run)) {
            write_suite(document, suite);
            if (!out_.ends_with("\n\n")) out_ += '\n';
        }
        if (options_.list_all) write_ceilings(document.environment.ceilings);
        write_summary(document);
        write_commands(document);
        return std::move(out_);
    }

  private:
    bool is_listed(Verdict verdict) const {
        return options_.list_all || (verdict != Verdict::pass && verdict != Verdict::skipped);
    }

    void write_suite(const model::VerdictDocument& document, const JoinedSuite& suite) {
        write_heading(document, *suite.verdict);
        if (options_.list_all) {
            write_every_case(suite);
        } else {
            write_groups(suite, document.policy);
        }
        write_counted(suite);
        write_relations(*suite.verdict);
        write_notes(suite);
    }

    void write_every_case(const JoinedSuite& suite) {
        std::vector<JoinedCase> listed = suite.cases;
        std::stable_sort(listed.begin(), listed.end(), [](const auto& left, const auto& right) {
            return severity(left.verdict->verdict) > severity(right.verdict->verdict);
        });
        const std::size_t left_out = cut(listed);
        if (listed.empty()) return;
        const std::vector<Column> columns = begin_table(listed);
        std::vector<std::string> shared = details_of(listed.front(), columns, 0);
        for (std::size_t row = 0; row < listed.size(); ++row) {
            write_row(columns, row, listed[row].verdict->verdict);
            // Adjacent rows with the same reason (no baseline, no permission) share one line.
            std::vector<std::string> next;
            if (row + 1 < listed.size()) next = details_of(listed[row + 1], columns, row + 1);
            if (row + 1 == listed.size() || next != shared) write_details(shared);
            shared = std::move(next);
        }
        end_table(left_out);
    }

    void write_groups(const JoinedSuite& suite, const model::Policy& policy) {
        const std::vector<JoinedGroup> groups = groups_of(suite, policy);
        std::vector<JoinedCase> listed;
        for (const JoinedGroup& group : groups) {
            listed.insert(listed.end(), group.cases.begin(), group.cases.end());
        }
        const std::size_t left_out = cut(listed);
        if (listed.empty()) return;
        const std::vector<Column> columns = begin_table(listed);
        std::size_t row = 0;
        for (const JoinedGroup& group : groups) {
            if (row == listed.size()) break;
            const std::string& log = listed[row].verdict->log;
            for (std::size_t i = 0; i < group.cases.size() && row < listed.size(); ++i, ++row) {
                write_row(columns, row, listed[row].verdict->verdict);
                write_details(cut_id(columns, row));
            }
            // The suite's note says once that there is no baseline at all.
            const bool noted =
                group.effect == model::Effect::no_baseline && suite.verdict->baseline_file.empty();
            if (!group.sentence.empty() && !noted) write_details({log_line(group.sentence)});
            write_details(log_lines(log));
        }
        end_table(left_out);
    }

    /// Leaves the most rows that a terminal gets; returns how many were left out.
    static std::size_t cut(std::vector<JoinedCase>& listed) {
        const std::size_t left_out = listed.size() - std::min(listed.size(), most_rows);
        listed.resize(listed.size() - left_out);
        return left_out;
    }

    std::vector<Column> begin_table(const std::vector<JoinedCase>& listed) {
        std::vector<Column> columns = make_columns(listed, options_.list_all);
        fit(columns, width_);
        std::string title;
        for (const Column& column : columns) append_cell(title, column, column.title);
        title.erase(title.find_last_not_of(' ') + 1);
        out_ += '\n' + paint_(Style::bold, title) + '\n';
        return columns;
    }

    void end_table(std::size_t left_out) {
        out_ += '\n';
        if (left_out > 0) {
            out_ += fmt::format("{} more rows; --json, --junit and --csv have all\n", left_out);
        }
    }

    /// Relations that are broken or could not be judged, worst first; with list_all also those that
    /// hold. Skipped ones are grouped by reason, like cases.
    void write_relations(const model::SuiteVerdict& suite) {
        std::vector<const model::RelationVerdict*> listed;
        std::map<std::string, std::string> first_reasons;  // of each relation that was skipped
        std::map<std::string, std::size_t> skipped;
        for (const model::RelationVerdict& relation : suite.relations) {
            if (is_listed(relation.verdict)) {
                listed.push_back(&relation);
            } else if (relation.verdict == Verdict::skipped) {
                const auto reason =
                    first_reasons.try_emplace(relation.relation, relation.sentence).first;
                ++skipped[log_line(relation.relation + ": " + reason->second)];
            }
        }
        std::stable_sort(listed.begin(), listed.end(), [](const auto* left, const auto* right) {
            return severity(left->verdict) > severity(right->verdict);
        });
        const std::size_t rows = std::min(listed.size(), most_rows);
        for (std::size_t i = 0; i < rows; ++i) {
            write_relation(*listed[i]);
        }
        if (listed.size() > rows) {
            out_ += fmt::format("{} more relations; --json, --junit and --csv have all\n",
                                listed.size() - rows);
        }
        write_grouped("relation skipped", skipped);
    }

    void write_relation(const model::RelationVerdict& relation) {
        // Without values the sentence does not say what was expected.
        const std::string name = relation.left ? "" : relation_name(relation) + ": ";
        const std::string word(relation_word(relation.verdict));
        constexpr std::size_t indent = 4;
        const std::size_t taken = word.size() + 2;
        const std::size_t width = width_ > 2 * taken ? width_ - taken : 0;
        out_ += paint_(style_of(relation.verdict), word) + ": ";
        std::size_t spaces = 0;
        for (const std::string& piece : wrap(log_line(name + relation.sentence), width)) {
            out_.append(spaces, ' ');
            out_ += log_line(piece) + '\n';
            spaces = indent;
        }
    }

    void write_ceilings(const model::Ceilings& ceilings) {
        const std::string measured = model::in_words(ceilings);
        if (!measured.empty()) out_ += "ceilings: " + measured + '\n';
        if (!ceilings.problem.empty()) {
            out_ += fmt::format("ceilings{}: {}\n", measured.empty() ? "" : " that are missing",
                                log_line(ceilings.problem));
        }
    }

    void write_heading(const model::VerdictDocument& document, const model::SuiteVerdict& suite) {
        const model::Environment& environment = document.environment;
        const std::string name = log_line(suite.name);
        std::string text = name;
        const std::string& device = environment.device.name;
        if (!device.empty()) text += " on " + log_line(device);
        if (document.backend == "host") text += ", host backend";
        if (!environment.driver.empty()) text += ", driver " + log_line(environment.driver);
        if (!environment.cupti.empty()) text += ", CUPTI " + log_line(environment.cupti);
        if (!suite.baseline_file.empty()) text += ", baseline " + log_line(suite.baseline_file);
        const std::size_t begin = out_.size();
        write_wrapped(text, 0);
        if (out_.compare(begin, name.size(), name) == 0) {
            out_.replace(begin, name.size(), paint_(Style::bold, name));
        }
    }

    static void append_cell(std::string& line, const Column& column, std::string_view text) {
        if (!line.empty()) line += column_gap;
        line += pad(text, column.width, column.align);
    }

    void write_row(const std::vector<Column>& columns, std::size_t row, Verdict verdict) {
        std::string line =
            paint_(style_of(verdict), pad(columns[0].cells[row], columns[0].width, Align::left));
        for (std::size_t i = id_column; i < columns.size(); ++i) {
            const std::string& text = columns[i].cells[row];
            append_cell(line, columns[i],
                        i == id_column ? cut_middle(text, columns[i].width) : text);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out_ += line + '\n';
    }

    /// An id that the table cuts, in full, for copying.
    static std::vector<std::string> cut_id(const std::vector<Column>& columns, std::size_t row) {
        const Column& id = columns[id_column];
        if (display_width(id.cells[row]) <= id.width) return {};
        return {id.cells[row]};
    }

    static std::vector<std::string> details_of(const JoinedCase& joined,
                                               const std::vector<Column>& columns,
                                               std::size_t row) {
        std::vector<std::string> lines = cut_id(columns, row);
        for (std::string& line : details(joined)) lines.push_back(std::move(line));
        for (std::string& line : log_lines(joined.verdict->log)) lines.push_back(std::move(line));
        return lines;
    }

    void write_details(const std::vector<std::string>& lines) {
        constexpr std::size_t indent = 4;
        for (const std::string& line : lines) write_wrapped(line, indent);
    }

    void write_wrapped(std::string_view line, std::size_t indent) {
        for (const std::string& piece : wrap(line, width_ > 2 * indent ? width_ - indent : 0)) {
            out_.append(indent, ' ');
            out_ += log_line(piece) + '\n';  // what begins a line may be a command only there
        }
    }

    /// Texts with the number of cases that have them, most frequent first.
    void write_grouped(std::string_view label, const std::map<std::string, std::size_t>& groups) {
        std::vector<std::pair<std::string, std::size_t>> sorted(groups.begin(), groups.end());
        std::stable_sort(sorted.begin(), sorted.end(), [](const auto& left, const auto& right) {
            return left.second > right.second;
        });
        for (std::size_t i = 0; i < std::min(sorted.size(), most_groups); ++i) {
            const auto& [text, count] = sorted[i];
            write_wrapped(fmt::format("{}: {} ({})", label, text, model::counted(count, "case")),
                          0);
        }
        if (sorted.size() > most_groups) {
            out_ += fmt::format("{}: {} more of these\n", label, sorted.size() - most_groups);
        }
    }

    void write_counted(const JoinedSuite& suite) {
        if (options_.list_all) return;
        std::map<std::string, std::size_t> skipped;
        for (const JoinedCase& joined : suite.cases) {
            if (joined.verdict->verdict == Verdict::skipped) {
                ++skipped[log_line(joined.verdict->reason)];
            }
        }
        write_grouped("skipped", skipped);
    }

    /// Notes, and metrics that do not apply; folded to their number without --verbose.
    void write_notes(const JoinedSuite& suite) {
        const std::vector<std::string>& of_suite = suite.verdict->notes;
        std::map<std::string, std::size_t> of_cases, not_applicable;
        for (const JoinedCase& joined : suite.cases) {
            for (const std::string& note : joined.verdict->notes) ++of_cases[log_line(note)];
            if (joined.result == nullptr || joined.result->not_applicable.empty()) continue;
            ++not_applicable[log_line(
                fmt::format("{}", fmt::join(joined.result->not_applicable, ", ")))];
        }
        if (options_.list_all) {
            write_grouped("not applicable", not_applicable);
            for (std::size_t i = 0; i < of_suite.size() && i < most_rows; ++i) {
                out_ += "note: " + log_line(of_suite[i]) + '\n';
            }
            write_grouped("note", of_cases);
            return;
        }
        // What a note of the suite says of the gate is for everybody; those of cases are details.
        const std::size_t shown = std::min(of_suite.size(), most_sentences);
        for (std::size_t i = 0; i < shown; ++i) write_wrapped("note: " + log_line(of_suite[i]), 0);
        const std::size_t folded = of_suite.size() - shown + of_cases.size();
        if (folded + not_applicable.size() == 0) return;
        std::string text;
        if (folded > 0) text = model::counted(folded, "note");
        if (!not_applicable.empty()) {
            text += text.empty() ? "some metrics" : "; some metrics";
            text += " do not apply to these cases";
        }
        out_ += paint_(Style::dim, text + " (--verbose shows them)") + '\n';
    }

    void write_summary(const model::VerdictDocument& document) {
        std::string last;
        for (const model::SuiteVerdict& suite : document.suites) {
            last = log_line(suite.name) + ": " + counts_text(suite);
            const std::string relations = relations_text(suite);
            if (!relations.empty()) last += "; " + relations;
            if (document.suites.size() > 1) write_wrapped(last, 0);
        }
        if (document.suites.size() != 1) {
            last = fmt::format("{}: {}", model::counted(document.suites.size(), "suite"),
                               counts_text(document));
        }
        if (document.verify_only) last.append("; ").append(verify_only_text);
        if (document.interrupted) last += "; interrupted";
        const std::string exit = fmt::format("exit {}", document.exit_code);
        const std::size_t begin = out_.size();
        write_wrapped(last + "; " + exit, 0);
        const auto paint_last = [&](Style style, const std::string& words) {
            const std::size_t at = out_.rfind(words);
            if (at == std::string::npos || at < begin) return;  // on two lines
            out_.replace(at, words.size(), paint_(style, words));
        };
        paint_last(document.exit_code == 0 ? Style::green : Style::red, exit);
        if (document.interrupted) paint_last(Style::yellow, "interrupted");
        if (document.verify_only) paint_last(Style::yellow, std::string(verify_only_text));
    }

    /// Not wrapped, so that each can be copied as one line.
    void write_commands(const model::VerdictDocument& document) {
        const std::vector<Command> commands = next_commands(document, options_);
        if (commands.empty()) return;
        out_ += '\n';
        for (const Command& command : commands) {
            out_ += fmt::format("{}:\n  {}\n", command.purpose, log_line(command.line));
        }
    }

    const Options& options_;
    Paint paint_;
    std::size_t width_;  ///< 0: not limited
    std::string out_;
};

}  // namespace

std::string write_console(const model::VerdictDocument& document, const model::Run& run,
                          const Options& options) {
    return Console(options).write(document, run);
}

}  // namespace perfgate::report
