// SPDX-License-Identifier: Apache-2.0
#include "report/console_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/plain_text.hpp"
#include "report/summary.hpp"
#include "util/text.hpp"

namespace perfgate::report {

namespace {

using model::Verdict;

constexpr std::size_t most_texts = 10;
constexpr std::size_t usual_width = 80;  ///< where there is no terminal
constexpr std::size_t details_indent = 4;

}  // namespace

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

ConsoleText::ConsoleText(const Options& options)
    : color_(options.color),
      width_(options.width == 0 && !options.list_all ? usual_width : options.width) {}

std::string ConsoleText::painted(Style style, std::string_view text) const {
    constexpr std::string_view codes[] = {"", "1", "2", "31", "32", "33"};
    const std::string_view code = codes[static_cast<std::size_t>(style)];
    if (!color_ || code.empty()) return std::string(text);
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

void ConsoleText::paint_first(Style style, const std::string& words, std::size_t begin) {
    if (out_.compare(begin, words.size(), words) != 0) return;
    out_.replace(begin, words.size(), painted(style, words));
}

void ConsoleText::paint_last(Style style, const std::string& words, std::size_t begin) {
    const std::size_t at = out_.rfind(words);
    if (at == std::string::npos || at < begin) return;
    out_.replace(at, words.size(), painted(style, words));
}

void ConsoleText::wrapped(std::string_view text, std::size_t indent) {
    for (const std::string& piece : wrap(text, width_ > 2 * indent ? width_ - indent : 0)) {
        out_.append(indent, ' ');
        out_ += log_line(piece) + '\n';
    }
}

void ConsoleText::labelled(Style style, const std::string& label, const std::string& text) {
    const std::size_t taken = label.size() + 2;
    out_ += painted(style, label) + ": ";
    std::size_t spaces = 0;
    for (const std::string& piece : wrap(text, width_ > 2 * taken ? width_ - taken : 0)) {
        out_.append(spaces, ' ');
        out_ += log_line(piece) + '\n';
        spaces = details_indent;
    }
}

void ConsoleText::details(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) wrapped(line, details_indent);
}

void ConsoleText::counted(std::string_view label, const std::map<std::string, std::size_t>& texts) {
    std::vector<std::pair<std::string, std::size_t>> sorted(texts.begin(), texts.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& left, const auto& right) {
        return left.second > right.second;
    });
    for (std::size_t i = 0; i < std::min(sorted.size(), most_texts); ++i) {
        const auto& [text, count] = sorted[i];
        wrapped(fmt::format("{}: {} ({})", label, text, util::counted(count, "case")));
    }
    if (sorted.size() > most_texts) {
        out_ += fmt::format("{}: {} more of these\n", label, sorted.size() - most_texts);
    }
}

void ConsoleText::end_block() {
    if (!out_.ends_with("\n\n")) out_ += '\n';
}

void write_relations(const model::SuiteVerdict& suite, bool list_all, std::size_t most_rows,
                     ConsoleText& text) {
    std::vector<const model::RelationVerdict*> listed;
    std::map<std::string, std::string> first_reasons;  // of each relation that was skipped
    std::map<std::string, std::size_t> skipped;
    for (const model::RelationVerdict& relation : suite.relations) {
        if (list_all || needs_attention(relation.verdict)) {
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
        const model::RelationVerdict& relation = *listed[i];
        // Without values the sentence does not say what was expected.
        const std::string name = relation.left ? "" : relation_name(relation) + ": ";
        text.labelled(style_of(relation.verdict), std::string(relation_word(relation.verdict)),
                      log_line(name + relation.sentence));
    }
    if (listed.size() > rows) {
        text.append(fmt::format("{} more relations; --report with json, junit or csv has all\n",
                                listed.size() - rows));
    }
    text.counted("relation skipped", skipped);
}

}  // namespace perfgate::report
