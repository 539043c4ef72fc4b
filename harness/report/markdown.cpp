// SPDX-License-Identifier: Apache-2.0
// Markdown for the summary of a GitHub job, or a comment: a sentence; a line for each case that
// needs attention, the worst of all suites first; the commands to go on with; then, folded, all
// that is known about these cases, and the suites with their notes. GitHub drops a summary over 1
// MiB as a whole: what does not fit is left out from the end and counted.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
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
#include "util/text.hpp"

namespace perfgate::report {

namespace {

using model::Verdict;

/// GitHub accepts 1024 KiB per step, and another program of the step may add some.
constexpr std::size_t longest_report = std::size_t{900} * 1024;
/// Suites and notes; the rest is for cases.
constexpr std::size_t longest_suites = longest_report / 4;
constexpr std::size_t room_for_counts = 1024;  ///< the lines that count what was left out

constexpr std::size_t longest_name = 300;
constexpr std::size_t longest_sentence = 1000;
constexpr std::size_t most_sentences = 20;

constexpr std::string_view table_head =
    "\n| verdict | change | case | first reason |\n|---|--:|---|---|\n";

std::string in_place(const model::SourcePlace& place) {
    return place.file.empty() ? "" : " in " + markdown_code(place_text(place), longest_name);
}

/// Values, cause and place, in a line.
std::string reason_cell(const JoinedCase& joined) {
    return markdown_text(short_reason(joined, false), longest_sentence);
}

/// Of several suites it also says where the case is from.
std::string case_row(const JoinedCase& joined, bool several) {
    const model::CaseVerdict& verdict = *joined.verdict;
    return fmt::format(
        "| **{}** | {} | {}{} | {} |\n", to_text(verdict.verdict),
        is_compared(joined) ? moved_text(find_deciding(joined).value_or(Value{})) : "",
        markdown_code(verdict.id, longest_name), several ? in_place(verdict.place) : "",
        reason_cell(joined));
}

/// All that is known about a case: place, sentences, explanation.
std::string case_details(const JoinedCase& joined, const model::Policy& policy) {
    const model::CaseVerdict& verdict = *joined.verdict;
    std::string text =
        fmt::format("\n{}{}\n\n", markdown_code(verdict.id, longest_name), in_place(verdict.place));
    std::vector<std::string> lines = reasons(verdict, policy);
    const std::size_t sentences = lines.size();
    for (std::string& why : why_lines(verdict)) lines.push_back(std::move(why));
    if (std::string source = changed_source(joined); !source.empty()) {
        lines.push_back(std::move(source));
    }
    for (const std::string& note : verdict.notes) {
        // Sentences about metrics say, too, that the machine code changed.
        const auto says = [&](const std::string& line) { return line.find(note) != line.npos; };
        const auto end = lines.begin() + static_cast<std::ptrdiff_t>(sentences);
        if (std::none_of(lines.begin(), end, says)) lines.push_back("note: " + note);
    }
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

/// "gemm: 140 pass, 1 regressed; 8 relations hold; baseline `...`".
std::string suite_line(const model::SuiteVerdict& suite) {
    std::string text =
        fmt::format("{}: {}", markdown_text(suite.name, longest_name), counts_text(suite));
    const std::string relations = relations_text(suite);
    if (!relations.empty()) text += "; " + relations;
    if (!suite.baseline_file.empty()) {
        text += "; baseline " + markdown_code(suite.baseline_file, longest_name);
    }
    return text;
}

std::string folded(std::string_view title, const std::string& text) {
    return fmt::format("\n<details><summary>{}</summary>\n{}\n</details>\n", title, text);
}

/// "note: driver changed since the baseline: ... (gemm, transpose)".
std::string note_line(const RunNote& note) {
    std::string text = "note: " + markdown_text(note.text, longest_sentence);
    if (note.suites.empty()) return text;
    const std::string suites = fmt::format("{}", fmt::join(note.suites, ", "));
    return fmt::format("{} ({})", text, markdown_text(suites, longest_name));
}

/// The suites, their notes and why cases were skipped, folded; lines that do not fit are counted.
std::string suites_text(const model::VerdictDocument& document) {
    std::vector<std::string> lines;
    std::map<std::string_view, std::size_t> skipped;
    for (const model::SuiteVerdict& suite : document.suites) {
        lines.push_back(suite_line(suite));
        for (const model::CaseVerdict& verdict : suite.cases) {
            if (verdict.verdict == Verdict::skipped) ++skipped[verdict.reason];
        }
    }
    const std::vector<RunNote> notes = notes_of(document);
    std::ranges::transform(notes, std::back_inserter(lines), note_line);
    for (const auto& [reason, count] : skipped) {
        lines.push_back(fmt::format("skipped: {} ({})", markdown_text(reason, longest_sentence),
                                    util::counted(count, "case")));
    }
    std::string text = "\n";
    std::size_t shown = 0;
    for (; shown < lines.size(); ++shown) {
        if (text.size() + lines[shown].size() > longest_suites) break;
        text += "- " + lines[shown] + '\n';
    }
    if (shown < lines.size()) text += fmt::format("- and {} more\n", lines.size() - shown);
    std::string title = util::counted(document.suites.size(), "suite");
    if (const std::size_t more = lines.size() - document.suites.size(); more > 0) {
        title += ", " + util::counted(more, "note");
    }
    return folded(title, text);
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
    add("revision ", revision_text(run.git_revision));
    add("compared with ", baselines_text(document, run.git_revision));
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

/// A line of the table: a case or a relation.
struct Entry {
    model::Effect effect = model::Effect::none;
    JoinedCase joined;                                 ///< of a case
    const model::RelationVerdict* relation = nullptr;  ///< null: a case
};

/// Worst first.
std::vector<Entry> entries_of(const std::vector<JoinedSuite>& suites, const model::Policy& policy) {
    std::vector<Entry> entries;
    for (const JoinedSuite& suite : suites) {
        for (const JoinedGroup& group : groups_of(suite, policy)) {
            for (const JoinedCase& joined : group.cases) {
                entries.push_back({group.effect, joined, nullptr});
            }
        }
        for (const model::RelationVerdict& relation : suite.verdict->relations) {
            if (!needs_attention(relation.verdict)) continue;
            // A broken relation is felt like a slower case.
            const bool broken = relation.verdict == Verdict::regressed;
            entries.push_back(
                {broken ? model::Effect::slower : model::Effect::unmeasured, {}, &relation});
        }
    }
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& left, const Entry& right) {
        return left.effect < right.effect;
    });
    return entries;
}

/// The texts of entries, in their order, as long as they fit.
struct Fitted {
    std::string text;
    std::size_t left_out = 0;

    template <class Text>
    Fitted(const std::vector<Entry>& entries, std::size_t& room, Text text_of) {
        for (const Entry& entry : entries) {
            const std::string next = left_out == 0 ? text_of(entry) : std::string();
            if (next.size() > room || left_out > 0) {
                ++left_out;
                continue;
            }
            room -= next.size();
            text += next;
        }
    }

    std::string with_count(std::string_view what) const {
        if (left_out == 0) return text;
        return fmt::format("{}\n{} more{}: the other reports have them\n", text, left_out, what);
    }
};

}  // namespace

std::string write_markdown(const model::VerdictDocument& document, const model::Run& run,
                           const Options& options) {
    const std::vector<JoinedSuite> suites = join(document, run);
    std::vector<Entry> entries = entries_of(suites, document.policy);
    const std::string head = title(document);
    const std::string whole_report = link_to_whole(options);
    const std::string end = commands_text(document, options) + environment_text(document, run);
    const std::string of_suites = suites_text(document);
    const std::size_t used = head.size() + table_head.size() + room_for_counts +
                             whole_report.size() + end.size() + of_suites.size();
    std::size_t room = longest_report - std::min(used, longest_report);
    const bool several = suites.size() > 1;
    const Fitted rows(entries, room, [&](const Entry& entry) {
        return entry.relation == nullptr ? case_row(entry.joined, several)
                                         : relation_row(*entry.relation);
    });
    // Every row is more important than any details.
    const std::size_t listed = entries.size();
    std::erase_if(entries, [](const Entry& entry) {
        return entry.relation != nullptr || entry.joined.verdict->verdict == Verdict::no_baseline;
    });
    const Fitted details(entries, room, [&](const Entry& entry) {
        return case_details(entry.joined, document.policy);
    });
    std::string out = head;
    if (listed > 0) out.append(table_head).append(rows.with_count(" that need attention"));
    if (rows.left_out > 0) out += whole_report;
    out += end;
    if (!entries.empty()) out += folded("Details", details.with_count(""));
    return out + of_suites;
}

}  // namespace perfgate::report
