// SPDX-License-Identifier: Apache-2.0
// The table on the terminal: a sentence, then the cases that need attention, a line each, grouped
// by what users feel and the reason; the others counted. With --verbose every case with all that is
// known about it. Cases without a baseline are listed with what was measured, so that the first run
// shows numbers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "report/columns.hpp"
#include "report/commands.hpp"
#include "report/console_text.hpp"
#include "report/formats.hpp"
#include "report/joined.hpp"
#include "report/plain_text.hpp"
#include "report/summary.hpp"
#include "util/text.hpp"

namespace perfgate::report {

namespace {

using model::Verdict;

/// Rows on a terminal; the files have all.
constexpr std::size_t most_rows = 500;
constexpr std::size_t most_lines = 20;
constexpr std::size_t most_log_lines = 10;
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
        if (lines.size() == most_lines) {
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

/// Whether the name occurs in the text, and not within another: "sectors" is not "spill_sectors".
bool has_word(std::string_view text, std::string_view name) {
    const auto is_of_name = [&](std::size_t at) {
        return at < text.size() &&
               (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
    };
    for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
        if (!is_of_name(at - 1) && !is_of_name(at + name.size())) return true;
    }
    return false;
}

/// "also regressed: allocs 1 → 3 (+200.0 %)": what neither the rows nor the sentence of a group
/// name, with the values of the worst case; empty: nothing.
std::string unnamed_regressions(const JoinedGroup& group) {
    std::set<std::string_view> named;
    const model::CaseVerdict& worst = *group.cases.front().verdict;
    if (!worst.why.empty()) {
        for (const model::Figure& figure : worst.why.front().figures) {
            if (has_word(group.sentence, figure.metric)) named.insert(figure.metric);
        }
    }
    std::string text;
    for (const JoinedCase& joined : group.cases) {
        const model::MetricVerdict* const deciding = deciding_metric(*joined.verdict);
        for (const model::MetricVerdict& metric : joined.verdict->metrics) {
            if (metric.verdict != Verdict::regressed || &metric == deciding) continue;
            if (!named.insert(metric.metric).second) continue;
            text += (text.empty() ? "also regressed: " : ", ") +
                    values_text(find_value(joined, metric.metric).value_or(Value{}), true);
        }
    }
    return log_line(text);
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
    explicit Console(const Options& options) : options_(options), text_(options) {}

    std::string write(const model::VerdictDocument& document, const model::Run& run) {
        if (!document.summary.empty()) {
            text_.wrapped(log_line(document.summary));
            text_.append("\n");
        }
        for (const model::SuiteVerdict& suite : document.suites) {
            for (const std::string& note : suite.notes) ++suites_with_[note];
        }
        for (const JoinedSuite& suite : join(document, run)) {
            write_suite(document, suite);
            text_.end_block();
        }
        write_shared_notes();
        write_folded();
        if (options_.list_all) write_ceilings(document.environment.ceilings);
        write_summary(document);
        write_commands(document);
        return text_.take();
    }

  private:
    void write_suite(const model::VerdictDocument& document, const JoinedSuite& suite) {
        write_heading(document, *suite.verdict);
        if (options_.list_all) {
            write_every_case(suite);
        } else {
            write_groups(suite, document.policy);
        }
        write_counted(suite);
        write_relations(*suite.verdict, options_.list_all, most_rows, text_);
        write_notes(suite);
    }

    void write_every_case(const JoinedSuite& suite) {
        std::vector<JoinedCase> listed = suite.cases;
        std::stable_sort(listed.begin(), listed.end(), [](const auto& left, const auto& right) {
            return severity(left.verdict->verdict) > severity(right.verdict->verdict);
        });
        const std::size_t left_out = cut(listed);
        if (listed.empty()) return;
        const std::vector<std::string> lines = begin_table(listed);
        std::vector<std::string> shared = details_of(listed.front(), lines[1]);
        for (std::size_t row = 0; row < listed.size(); ++row) {
            write_row(lines[row + 1], listed[row].verdict->verdict);
            // Adjacent rows with the same reason (no baseline, no permission) share one line.
            std::vector<std::string> next;
            if (row + 1 < listed.size()) next = details_of(listed[row + 1], lines[row + 2]);
            if (row + 1 == listed.size() || next != shared) text_.details(shared);
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
        const std::vector<std::string> lines = begin_table(listed);
        std::size_t row = 0;
        for (const JoinedGroup& group : groups) {
            if (row == listed.size()) break;
            const std::string& log = listed[row].verdict->log;
            for (std::size_t i = 0; i < group.cases.size() && row < listed.size(); ++i, ++row) {
                write_row(lines[row + 1], listed[row].verdict->verdict);
                text_.details(cut_id(listed[row], lines[row + 1]));
            }
            // The suite's note says once that there is no baseline at all.
            const bool noted =
                group.effect == model::Effect::no_baseline && suite.verdict->baseline_file.empty();
            if (!group.sentence.empty() && !noted) text_.details({log_line(group.sentence)});
            if (const std::string others = unnamed_regressions(group); !others.empty()) {
                text_.details({others});
            }
            text_.details(log_lines(log));
        }
        end_table(left_out);
    }

    /// Leaves the most rows that a terminal gets; returns how many were left out.
    static std::size_t cut(std::vector<JoinedCase>& listed) {
        const std::size_t left_out = listed.size() - std::min(listed.size(), most_rows);
        listed.resize(listed.size() - left_out);
        return left_out;
    }

    /// Its lines; writes the first.
    std::vector<std::string> begin_table(const std::vector<JoinedCase>& listed) {
        std::vector<std::string> lines = case_table(listed, options_.list_all, text_.width());
        text_.append('\n' + text_.painted(Style::bold, lines.front()) + '\n');
        return lines;
    }

    void end_table(std::size_t left_out) {
        text_.append("\n");
        if (left_out > 0) {
            text_.append(
                fmt::format("{} more rows; --report with json, junit or csv has all\n", left_out));
        }
    }

    void write_ceilings(const model::Ceilings& ceilings) {
        const std::string measured = model::in_words(ceilings);
        if (!measured.empty()) text_.append("ceilings: " + measured + '\n');
        if (!ceilings.problem.empty()) {
            text_.append(fmt::format("ceilings{}: {}\n",
                                     measured.empty() ? "" : " that are missing",
                                     log_line(ceilings.problem)));
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
        const std::size_t begin = text_.size();
        text_.wrapped(text);
        text_.paint_first(Style::bold, name, begin);
    }

    void write_row(const std::string& line, Verdict verdict) {
        const std::string_view word = to_text(verdict);
        text_.append(text_.painted(style_of(verdict), word) + line.substr(word.size()) + '\n');
    }

    /// An id that the table cuts, in full, for copying.
    static std::vector<std::string> cut_id(const JoinedCase& joined, const std::string& line) {
        const std::string id = log_line(joined.verdict->id);
        if (line.find(id) != std::string::npos) return {};
        return {id};
    }

    static std::vector<std::string> details_of(const JoinedCase& joined, const std::string& line) {
        std::vector<std::string> lines = cut_id(joined, line);
        if (const std::string prepared = preparation_of(joined); !prepared.empty()) {
            lines.push_back(log_line(prepared));
        }
        for (std::string& each : details(joined)) lines.push_back(std::move(each));
        for (std::string& each : log_lines(joined.verdict->log)) lines.push_back(std::move(each));
        return lines;
    }

    void write_counted(const JoinedSuite& suite) {
        if (options_.list_all) return;
        std::map<std::string, std::size_t> skipped;
        for (const JoinedCase& joined : suite.cases) {
            if (joined.verdict->verdict == Verdict::skipped) {
                ++skipped[log_line(joined.verdict->reason)];
            }
        }
        text_.counted("skipped", skipped);
        write_unshown(suite);
        write_debug_builds(suite);
    }

    /// The counts say how many; these are cases whose gate needs more processes or a larger
    /// tolerance.
    void write_unshown(const JoinedSuite& suite) {
        constexpr std::size_t most_shown = 8;
        std::string text;
        std::size_t count = 0;
        for (const JoinedCase& joined : suite.cases) {
            const model::CaseVerdict& verdict = *joined.verdict;
            if (verdict.verdict != Verdict::inconclusive ||
                verdict.doubt != model::Doubt::not_shown) {
                continue;
            }
            if (++count > most_shown) continue;
            text += (text.empty() ? "" : ", ") + log_line(verdict.id);
        }
        if (count == 0) return;
        if (count > most_shown) text += fmt::format(" and {} more", count - most_shown);
        text_.wrapped("not shown to be within the tolerance: " + text);
    }

    void write_debug_builds(const JoinedSuite& suite) {
        const auto is_debug = [](const JoinedCase& joined) {
            return joined.result != nullptr &&
                   std::any_of(joined.result->metrics.begin(), joined.result->metrics.end(),
                               [](const auto& metric) { return metric.second.method.debug_build; });
        };
        const auto count = static_cast<std::size_t>(
            std::count_if(suite.cases.begin(), suite.cases.end(), is_debug));
        if (count == 0) return;
        text_.wrapped(fmt::format(
            "warning: the benchmark library of {} is a debug build, which adds to their times",
            util::counted(count, "case")));
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
            text_.counted("not applicable", not_applicable);
            for (std::size_t i = 0; i < of_suite.size() && i < most_rows; ++i) {
                text_.append("note: " + log_line(of_suite[i]) + '\n');
            }
            text_.counted("note", of_cases);
            return;
        }
        // Everybody needs the suite's notes about its gate; the notes of cases are details.
        std::size_t shown = 0;
        for (const std::string& note : of_suite) {
            if (suites_with_[note] > 1) continue;
            if (++shown <= most_lines) text_.wrapped("note: " + log_line(note));
        }
        folded_notes_ += of_cases.size() + shown - std::min(shown, most_lines);
        const std::string name = log_line(suite.verdict->name);
        if (!of_cases.empty() || shown > most_lines) with_notes_.push_back(name);
        if (!not_applicable.empty()) with_inapplicable_.push_back(name);
    }

    /// Writes notes that several suites share once.
    void write_shared_notes() {
        if (options_.list_all) return;
        std::size_t shown = 0;
        for (const auto& [note, suites] : suites_with_) {
            if (suites < 2 || ++shown > most_lines) continue;
            text_.wrapped(
                fmt::format("note of {}: {}", util::counted(suites, "suite"), log_line(note)));
        }
        if (shown > 0) text_.end_block();
    }

    /// What --verbose shows more of, and of which suites.
    void write_folded() {
        std::string text;
        if (!with_notes_.empty()) {
            text = fmt::format("{} on cases of {}", util::counted(folded_notes_, "note"),
                               fmt::join(with_notes_, ", "));
        }
        if (!with_inapplicable_.empty()) {
            text += fmt::format("{}metrics that do not apply to cases of {}",
                                text.empty() ? "" : "; ", fmt::join(with_inapplicable_, ", "));
        }
        if (text.empty()) return;
        const std::size_t begin = text_.size();
        text += " (--verbose shows them)";
        text_.wrapped(text);
        text_.paint_first(Style::dim, text, begin);
        text_.end_block();
    }

    void write_summary(const model::VerdictDocument& document) {
        std::string last;
        for (const model::SuiteVerdict& suite : document.suites) {
            last = log_line(suite.name) + ": " + counts_text(suite);
            const std::string relations = relations_text(suite);
            if (!relations.empty()) last += "; " + relations;
            if (document.suites.size() > 1) text_.wrapped(last);
        }
        if (document.suites.size() != 1) {
            last = fmt::format("{}: {}", util::counted(document.suites.size(), "suite"),
                               counts_text(document));
        }
        if (document.verify_only) last.append("; ").append(verify_only_text);
        if (document.interrupted) last += "; interrupted";
        const std::string exit = fmt::format("exit {}", document.exit_code);
        const std::size_t begin = text_.size();
        text_.wrapped(last + "; " + exit);
        text_.paint_last(document.exit_code == 0 ? Style::green : Style::red, exit, begin);
        if (document.interrupted) text_.paint_last(Style::yellow, "interrupted", begin);
        if (document.verify_only) {
            text_.paint_last(Style::yellow, std::string(verify_only_text), begin);
        }
    }

    /// Folded as a shell reads it, so that each can be copied.
    void write_commands(const model::VerdictDocument& document) {
        const std::vector<Command> commands = next_commands(document, options_);
        if (commands.empty()) return;
        const std::size_t width = options_.width == 0 ? usual_command_width : options_.width;
        text_.append("\n");
        for (const Command& command : commands) {
            text_.append(
                fmt::format("{}:\n  {}\n", command.purpose, folded_command(command.line, width)));
        }
    }

    const Options& options_;
    ConsoleText text_;
    std::map<std::string, std::size_t> suites_with_;           ///< a note
    std::vector<std::string> with_notes_, with_inapplicable_;  ///< names of suites
    std::size_t folded_notes_ = 0;
};

}  // namespace

std::string write_console(const model::VerdictDocument& document, const model::Run& run,
                          const Options& options) {
    return Console(options).write(document, run);
}

}  // namespace perfgate::report
