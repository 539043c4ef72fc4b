// SPDX-License-Identifier: Apache-2.0
// Markdown for the summary of a GitHub job, or a comment: a section per suite, the worst first, a
// table of the cases that need attention with their reasons; the others are counted. GitHub drops a
// summary over 1 MiB as a whole: what does not fit is left out from the end and counted.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/quantity.hpp"
#include "model/roofline.hpp"
#include "report/formats.hpp"
#include "report/joined.hpp"
#include "report/markdown_text.hpp"
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
    "\n| verdict | case | baseline | measured | change |\n|---|---|--:|--:|--:|\n";

bool is_listed(Verdict verdict) {
    return verdict != Verdict::pass && verdict != Verdict::skipped;
}

std::string quantity_cell(const std::optional<double>& value, std::string_view unit) {
    return value ? markdown_text(model::quantity_text(*value, unit), longest_name) : "";
}

void append_lines(std::string& cell, const std::vector<std::string>& lines) {
    for (std::size_t i = 0; i < lines.size() && i < most_sentences; ++i) {
        cell += "<br>" + markdown_text(lines[i], longest_sentence);
    }
    if (lines.size() > most_sentences) {
        cell += fmt::format("<br>and {} more", lines.size() - most_sentences);
    }
}

std::string place_text(const model::SourcePlace& place) {
    if (place.file.empty()) return {};
    const std::string line = place.line > 0 ? fmt::format(":{}", place.line) : "";
    return " in " + markdown_code(place.file + line, longest_name);
}

std::string case_row(const JoinedCase& joined, const model::Policy& policy) {
    const model::CaseVerdict& verdict = *joined.verdict;
    std::string cell = markdown_code(verdict.id, longest_name);
    // The verdict already says that there is no baseline.
    if (verdict.verdict != Verdict::no_baseline) {
        if (is_bad(outcome_of(verdict, policy))) cell += place_text(verdict.place);
        append_lines(cell, reasons(verdict, policy));
        append_lines(cell, why_lines(verdict));
    }
    const Value time = find_time(joined).value_or(Value{});
    return fmt::format("| **{}** | {} | {} | {} | {} |\n", to_text(verdict.verdict), cell,
                       quantity_cell(time.baseline, time.unit),
                       quantity_cell(time.measured, time.unit),
                       time.change ? model::change_text(*time.change) : "");
}

std::string relation_row(const model::RelationVerdict& relation) {
    return fmt::format(
        "| **{}** | {}{}<br>{} | {} | {} | |\n", relation_word(relation.verdict),
        markdown_code(relation_name(relation), longest_name), place_text(relation.place),
        markdown_text(relation.sentence, longest_sentence),
        quantity_cell(relation.right, relation.unit), quantity_cell(relation.left, relation.unit));
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
    text += '\n';
    std::map<std::string_view, std::size_t> skipped;
    for (const JoinedCase& joined : suite.cases) {
        if (joined.verdict->verdict == Verdict::skipped) ++skipped[joined.verdict->reason];
    }
    std::vector<std::string> lines;
    for (const std::string& note : verdict.notes) {
        lines.push_back("note: " + markdown_text(note, longest_sentence));
    }
    for (const auto& [reason, count] : skipped) {
        lines.push_back(fmt::format("skipped: {} ({} {})", markdown_text(reason, longest_sentence),
                                    count, count == 1 ? "case" : "cases"));
    }
    if (!lines.empty()) text += '\n';
    for (std::size_t i = 0; i < lines.size() && i < most_notes; ++i) text += "- " + lines[i] + '\n';
    if (lines.size() > most_notes) {
        text += fmt::format("- and {} more notes\n", lines.size() - most_notes);
    }
    return text;
}

std::string title(const model::VerdictDocument& document, const model::Run& run) {
    const model::Environment& environment = document.environment;
    std::string text = "## perfgate: " + counts_text(document);
    if (document.verify_only) text.append(", ").append(verify_only_text);
    if (document.interrupted) text += ", interrupted";
    text += fmt::format("\n\nexit {}", document.exit_code);
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

/// An address in angle brackets ends at the next '>', which addresses cannot contain.
std::string link_to_whole(const Options& options) {
    if (options.report_url.empty()) return {};
    std::string address;
    for (const char c : options.report_url) {
        if (c == '&') {
            address += "&amp;";
        } else {
            address += c;
        }
    }
    return fmt::format("\n[The whole report](<{}>)\n", address);
}

/// What needs attention: a case or a relation.
struct Entry {
    std::size_t suite = 0;
    Verdict verdict = Verdict::pass;
    const JoinedCase* joined = nullptr;
    const model::RelationVerdict* relation = nullptr;
};

struct Section {
    std::string heading;  ///< empty: no room for it
    std::string rows;
    std::size_t left_out = 0;
};

std::vector<Entry> entries_of(const std::vector<JoinedSuite>& suites, const model::Policy& policy) {
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < suites.size(); ++i) {
        for (const JoinedCase& joined : suites[i].cases) {
            if (is_only_counted(*joined.verdict, policy)) continue;
            entries.push_back({i, joined.verdict->verdict, &joined, nullptr});
        }
        for (const model::RelationVerdict& relation : suites[i].verdict->relations) {
            if (!is_listed(relation.verdict)) continue;
            entries.push_back({i, relation.verdict, nullptr, &relation});
        }
    }
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& left, const Entry& right) {
        return severity(left.verdict) > severity(right.verdict);
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

}  // namespace

std::string write_markdown(const model::VerdictDocument& document, const model::Run& run,
                           const Options& options) {
    const std::vector<JoinedSuite> suites = join(document, run);
    const std::vector<Entry> entries = entries_of(suites, document.policy);
    const std::vector<std::size_t> order = order_of(suites.size(), entries);
    std::vector<Section> sections(suites.size());

    std::string out = title(document, run);
    const std::string whole_report = link_to_whole(options);
    std::size_t used = out.size() + room_for_counts + whole_report.size();
    std::size_t suites_left_out = 0;
    for (const std::size_t suite : order) {
        std::string heading = suite_heading(suites[suite]);
        // It needs room for a table and a line that counts.
        const std::size_t cost = heading.size() + table_head.size() + longest_name;
        if (suites_left_out > 0 || used + cost > longest_headings) {
            ++suites_left_out;
            continue;
        }
        used += cost;
        sections[suite].heading = std::move(heading);
    }
    std::size_t rows_left_out = 0;  // of suites without a heading
    bool full = false;
    for (const Entry& entry : entries) {
        Section& section = sections[entry.suite];
        if (section.heading.empty()) {
            ++rows_left_out;
            continue;
        }
        std::string row;
        if (!full) {
            row = entry.joined != nullptr ? case_row(*entry.joined, document.policy)
                                          : relation_row(*entry.relation);
            full = used + row.size() > longest_report;
        }
        if (full) {
            ++section.left_out;
            continue;
        }
        used += row.size();
        section.rows += row;
    }

    for (const std::size_t suite : order) {
        const Section& section = sections[suite];
        out += section.heading;
        if (!section.rows.empty()) out.append(table_head).append(section.rows);
        if (section.left_out > 0) {
            out += fmt::format("\n{} more that need attention: the other reports have them\n",
                               section.left_out);
        }
    }
    if (suites_left_out > 0) {
        out += fmt::format(
            "\n{} more suites, in which {} need attention: the other reports have them\n",
            suites_left_out, rows_left_out);
    }
    if (full || suites_left_out > 0) out += whole_report;
    return out;
}

}  // namespace perfgate::report
