// SPDX-License-Identifier: Apache-2.0
// Markdown for the summary of a GitHub job, or a comment: a sentence; a section per suite, the
// worst first, with a line for each case that needs attention; the commands to go on with; then,
// folded, all that is known about these cases. GitHub drops a summary over 1 MiB as a whole: what
// does not fit is left out from the end and counted.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/roofline.hpp"
#include "report/commands.hpp"
#include "report/formats.hpp"
#include "report/joined.hpp"
#include "report/markdown_text.hpp"
#include "report/plain_text.hpp"
#include "report/summary.hpp"

namespace perfgate::report {

namespace {

using model::Verdict;

/// GitHub accepts 1024 KiB per step, and another program of the step may add some.
constexpr std::size_t longest_report = std::size_t{900} * 1024;
/// Headings and notes of all suites; the rest is for cases.
constexpr std::size_t longest_headings = longest_report / 4;
constexpr std::size_t room_for_counts = 1024;  ///< the lines that count what was left out

constexpr std::size_t longest_name = 300;
constexpr std::size_t longest_sentence = 1000;
constexpr std::size_t most_sentences = 20;
constexpr std::size_t most_notes = 10;

constexpr std::string_view table_head =
    "\n| verdict | change | case | first reason |\n|---|--:|---|---|\n";

std::string in_place(const model::SourcePlace& place) {
    return place.file.empty() ? "" : " in " + markdown_code(place_text(place), longest_name);
}

/// Values, cause and place, in a line.
std::string reason_cell(const JoinedCase& joined) {
    return markdown_text(short_reason(joined, false), longest_sentence);
}

std::string case_row(const JoinedCase& joined) {
    const model::CaseVerdict& verdict = *joined.verdict;
    return fmt::format(
        "| **{}** | {} | {} | {} |\n", to_text(verdict.verdict),
        is_compared(joined) ? moved_text(find_deciding(joined).value_or(Value{})) : "",
        markdown_code(verdict.id, longest_name), reason_cell(joined));
}

/// All that is known about a case: place, sentences, explanation.
std::string case_details(const JoinedCase& joined, const model::Policy& policy) {
    const model::CaseVerdict& verdict = *joined.verdict;
    std::string text =
        fmt::format("\n{}{}\n\n", markdown_code(verdict.id, longest_name), in_place(verdict.place));
    std::vector<std::string> lines = reasons(verdict, policy);
    for (std::string& why : why_lines(verdict)) lines.push_back(std::move(why));
    if (std::string source = changed_source(joined); !source.empty()) {
        lines.push_back(std::move(source));
    }
    for (const std::string& note : verdict.notes) lines.push_back("note: " + note);
    for (std::size_t i = 0; i < lines.size() && i < most_sentences; ++i) {
        text += "- " + markdown_text(lines[i], longest_sentence) + '\n';
    }
    if (lines.size() > most_sentences) {
        text += fmt::format("- and {} more\n", lines.size() - most_sentences);
    }
    return text;
}

std::string relation_row(const model::RelationVerdict& relation) {
    return fmt::format("| **{}** | | {}{} | {} |\n", relation_word(relation.verdict),
                       markdown_code(relation_name(relation), longest_name),
                       in_place(relation.place),
                       markdown_text(relation.sentence, longest_sentence));
}

std::string suite_heading(const JoinedSuite& suite) {
    const model::SuiteVerdict& verdict = *suite.verdict;
    std::string text = fmt::format("\n### {}\n\n{}", markdown_text(verdict.name, longest_name),
                                   counts_text(verdict));
    const std::string relations = relations_text(verdict);
    if (!relations.empty()) text += "; " + relations;
    if (!verdict.baseline_file.empty()) {
        text += "; baseline " + markdown_code(verdict.baseline_file, longest_name);
    }
    return text + '\n';
}

std::string folded(std::string_view title, const std::string& text) {
    return fmt::format("\n<details><summary>{}</summary>\n{}\n</details>\n", title, text);
}

/// The notes of a suite and why cases were skipped, folded; empty if there are none.
std::string suite_notes(const JoinedSuite& suite) {
    std::map<std::string_view, std::size_t> skipped;
    for (const JoinedCase& joined : suite.cases) {
        if (joined.verdict->verdict == Verdict::skipped) ++skipped[joined.verdict->reason];
    }
    std::vector<std::string> lines;
    for (const std::string& note : suite.verdict->notes) {
        lines.push_back("note: " + markdown_text(note, longest_sentence));
    }
    for (const auto& [reason, count] : skipped) {
        lines.push_back(fmt::format("skipped: {} ({} {})", markdown_text(reason, longest_sentence),
                                    count, count == 1 ? "case" : "cases"));
    }
    if (lines.empty()) return {};
    std::string text = "\n";
    for (std::size_t i = 0; i < lines.size() && i < most_notes; ++i) text += "- " + lines[i] + '\n';
    if (lines.size() > most_notes) {
        text += fmt::format("- and {} more notes\n", lines.size() - most_notes);
    }
    return folded(fmt::format("{} note{}", lines.size(), lines.size() == 1 ? "" : "s"), text);
}

std::string title(const model::VerdictDocument& document) {
    std::string text = "## perfgate: " + counts_text(document);
    if (document.verify_only) text.append(", ").append(verify_only_text);
    if (document.interrupted) text += ", interrupted";
    if (!document.summary.empty()) {
        text += fmt::format("\n\n**{}**", markdown_text(document.summary, longest_sentence));
    }
    return text + '\n';
}

std::string environment_text(const model::VerdictDocument& document, const model::Run& run) {
    const model::Environment& environment = document.environment;
    std::string text = fmt::format("\nexit {}", document.exit_code);
    const auto add = [&text](std::string_view what, const std::string& value) {
        if (!value.empty()) text += fmt::format("; {}{}", what, markdown_text(value, longest_name));
    };
    add("", environment.device.name);
    add("driver ", environment.driver);
    add("CUPTI ", environment.cupti);
    add("perfgate ", document.tool_version);
    add("revision ", run.git_revision);
    add("ceilings: ", model::in_words(environment.ceilings));
    return text + '\n';
}

/// A block that no line in it can close: none of a command begins with '`'.
std::string commands_text(const model::VerdictDocument& document, const Options& options) {
    const std::vector<Command> commands = next_commands(document, options);
    if (commands.empty()) return {};
    std::string text = "\n```sh\n";
    for (const Command& command : commands) {
        text += fmt::format("# {}\n{}\n", command.purpose,
                            folded_command(command.line, usual_command_width));
    }
    return text + "```\n";
}

/// An address in angle brackets ends at the next '>', which addresses cannot contain.
std::string link_to_whole(const Options& options) {
    if (options.report_url.empty()) return {};
    constexpr std::pair<char, std::string_view> in_address[] = {{'&', "&amp;"}};
    const std::string address = replaced(options.report_url, in_address);
    return fmt::format("\n[The whole report](<{}>)\n", address);
}

/// A line of a table: a case or a relation.
struct Entry {
    std::size_t suite = 0;
    model::Effect effect = model::Effect::none;
    const JoinedCase* joined = nullptr;
    const model::RelationVerdict* relation = nullptr;
};

struct Section {
    std::string heading;  ///< empty: no room for it
    std::string rows;
    std::string details;
    std::size_t left_out = 0;
    std::size_t without_details = 0;
};

std::vector<std::vector<JoinedGroup>> all_groups(const std::vector<JoinedSuite>& suites,
                                                 const model::Policy& policy) {
    std::vector<std::vector<JoinedGroup>> groups;
    groups.reserve(suites.size());
    for (const JoinedSuite& suite : suites) groups.push_back(groups_of(suite, policy));
    return groups;
}

/// Points into the arguments.
std::vector<Entry> entries_of(const std::vector<JoinedSuite>& suites,
                              const std::vector<std::vector<JoinedGroup>>& groups) {
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < suites.size(); ++i) {
        for (const JoinedGroup& group : groups[i]) {
            for (const JoinedCase& joined : group.cases) {
                entries.push_back({i, group.effect, &joined, nullptr});
            }
        }
        for (const model::RelationVerdict& relation : suites[i].verdict->relations) {
            if (!needs_attention(relation.verdict)) continue;
            // A broken relation is felt like a slower case.
            const bool broken = relation.verdict == Verdict::regressed;
            entries.push_back({i, broken ? model::Effect::slower : model::Effect::unmeasured,
                               nullptr, &relation});
        }
    }
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& left, const Entry& right) {
        return left.effect < right.effect;
    });
    return entries;
}

/// The suites by number, those with the worst verdicts first.
std::vector<std::size_t> order_of(std::size_t suites, const std::vector<Entry>& entries) {
    std::vector<std::size_t> order;
    std::vector<bool> taken(suites, false);
    const auto take = [&](std::size_t suite) {
        if (!taken[suite]) order.push_back(suite);
        taken[suite] = true;
    };
    for (const Entry& entry : entries) take(entry.suite);
    for (std::size_t i = 0; i < suites; ++i) take(i);
    return order;
}

/// Adds texts to a report as long as they fit.
class Room {
  public:
    explicit Room(std::size_t used) : used_(used) {}

    bool take(std::size_t size, std::size_t limit) {
        if (full_ || used_ + size > limit) {
            full_ = true;
            return false;
        }
        used_ += size;
        return true;
    }
    bool full() const { return full_; }
    void reopen() { full_ = false; }

  private:
    std::size_t used_;
    bool full_ = false;
};

std::string section_text(const Section& section) {
    std::string text = section.heading;
    if (!section.rows.empty()) text.append(table_head).append(section.rows);
    if (section.left_out > 0) {
        text += fmt::format("\n{} more that need attention: the other reports have them\n",
                            section.left_out);
    }
    return text;
}

std::string details_text(const Section& section, const JoinedSuite& suite) {
    if (section.heading.empty()) return {};
    std::string text = suite_notes(suite);
    std::string details = section.details;
    if (section.without_details > 0) {
        details += fmt::format("\n{} more: the other reports have them\n", section.without_details);
    }
    const std::string title = "Details of " + markdown_text(suite.verdict->name, longest_name);
    return (details.empty() ? "" : folded(title, details)) + text;
}

}  // namespace

std::string write_markdown(const model::VerdictDocument& document, const model::Run& run,
                           const Options& options) {
    const std::vector<JoinedSuite> suites = join(document, run);
    const std::vector<std::vector<JoinedGroup>> groups = all_groups(suites, document.policy);
    const std::vector<Entry> entries = entries_of(suites, groups);
    const std::vector<std::size_t> order = order_of(suites.size(), entries);
    std::vector<Section> sections(suites.size());

    std::string out = title(document);
    const std::string whole_report = link_to_whole(options);
    const std::string end = commands_text(document, options) + environment_text(document, run);
    Room room(out.size() + room_for_counts + whole_report.size() + end.size());
    std::size_t suites_left_out = 0;
    for (const std::size_t suite : order) {
        std::string heading = suite_heading(suites[suite]);
        // It needs room for a table, its notes and a line that counts.
        const std::size_t cost =
            heading.size() + suite_notes(suites[suite]).size() + table_head.size() + longest_name;
        if (!room.take(cost, longest_headings)) {
            ++suites_left_out;
            continue;
        }
        sections[suite].heading = std::move(heading);
    }
    room.reopen();
    std::size_t rows_left_out = 0;  // of suites without a heading
    for (const Entry& entry : entries) {
        Section& section = sections[entry.suite];
        if (section.heading.empty()) {
            ++rows_left_out;
            continue;
        }
        if (room.full()) {
            ++section.left_out;
            continue;
        }
        const std::string row =
            entry.joined != nullptr ? case_row(*entry.joined) : relation_row(*entry.relation);
        if (room.take(row.size(), longest_report)) {
            section.rows += row;
        } else {
            ++section.left_out;
        }
    }
    const bool rows_full = room.full();
    // Details come last: every line is more important than any of them.
    for (const Entry& entry : entries) {
        Section& section = sections[entry.suite];
        if (section.heading.empty() || entry.joined == nullptr ||
            entry.joined->verdict->verdict == Verdict::no_baseline) {
            continue;
        }
        if (room.full()) {
            ++section.without_details;
            continue;
        }
        const std::string text = case_details(*entry.joined, document.policy);
        if (room.take(text.size(), longest_report)) {
            section.details += text;
        } else {
            ++section.without_details;
        }
    }

    for (const std::size_t suite : order) out += section_text(sections[suite]);
    if (suites_left_out > 0) {
        out += fmt::format(
            "\n{} more suites, in which {} need attention: the other reports have them\n",
            suites_left_out, rows_left_out);
    }
    if (rows_full || suites_left_out > 0) out += whole_report;
    out += end;
    for (const std::size_t suite : order) out += details_text(sections[suite], suites[suite]);
    return out;
}

}  // namespace perfgate::report
