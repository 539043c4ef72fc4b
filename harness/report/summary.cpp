// SPDX-License-Identifier: Apache-2.0
#include "report/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "report/plain_text.hpp"
#include "util/text.hpp"

namespace perfgate::report {

namespace {

using model::Verdict;

// Passes first, then failures, worst first, then what needs no action.
constexpr Verdict order[] = {
    Verdict::pass,        Verdict::incorrect, Verdict::regressed,     Verdict::missing,
    Verdict::error,       Verdict::invalid,   Verdict::not_collected, Verdict::inconclusive,
    Verdict::no_baseline, Verdict::warned,    Verdict::acknowledged,  Verdict::improved,
    Verdict::skipped,
};

/// After a number of cases.
std::string_view words_of(model::Doubt doubt) {
    return util::word_of<model::Doubt::other_work>(
        doubt, {"", "not shown", "where nothing changed", "explained by the clock", "unaccepted",
                "unclear", "where the baseline disagrees", "with differing choices",
                "hidden by the clock", "where nothing launched changed", "too good",
                "with slow processes", "with a slow tail", "beside others' work"});
}

/// " (3 not shown, 1 where nothing changed)".
std::string doubts_text(const std::map<model::Doubt, std::int64_t>& doubts) {
    std::string text;
    for (const auto& [doubt, count] : doubts) {
        if (doubt == model::Doubt::none) continue;
        text += fmt::format("{}{} {}", text.empty() ? " (" : ", ", count, words_of(doubt));
    }
    return text.empty() ? text : text + ")";
}

std::string counts_text(const std::map<Verdict, std::int64_t>& counts,
                        const std::map<model::Doubt, std::int64_t>& doubts) {
    std::string text;
    for (const Verdict verdict : order) {
        const auto found = counts.find(verdict);
        if (found == counts.end() || found->second == 0) continue;
        if (!text.empty()) text += ", ";
        text += fmt::format("{} {}", found->second, to_text(verdict));
        if (verdict == Verdict::inconclusive) text += doubts_text(doubts);
    }
    return text.empty() ? "no cases" : text;
}

}  // namespace

std::string counts_text(const model::SuiteVerdict& suite) {
    std::map<Verdict, std::int64_t> counts;
    for (const model::CaseVerdict& c : suite.cases) ++counts[c.verdict];
    return counts_text(counts, model::count_doubts(suite));
}

std::string counts_text(const model::VerdictDocument& document) {
    return counts_text(model::count_verdicts(document), model::count_doubts(document));
}

std::string relations_text(const model::SuiteVerdict& suite) {
    std::map<Verdict, std::int64_t> counts;
    for (const model::RelationVerdict& relation : suite.relations) ++counts[relation.verdict];
    std::string text;
    for (const Verdict verdict : order) {
        const std::int64_t count = counts[verdict];
        if (count == 0) continue;
        const std::string_view word =
            verdict == Verdict::pass && count > 1 ? "hold" : relation_word(verdict);
        text += fmt::format("{}{}{} {}", text.empty() ? "" : ", ", count,
                            !text.empty() ? ""
                            : count == 1  ? " relation"
                                          : " relations",
                            word);
    }
    return text;
}

std::string_view relation_word(Verdict verdict) {
    if (verdict == Verdict::pass) return "holds";
    return verdict == Verdict::regressed ? "broken" : to_text(verdict);
}

std::string place_text(const model::SourcePlace& place) {
    if (place.file.empty() || place.line <= 0) return place.file;
    return fmt::format("{}:{}", place.file, place.line);
}

std::string relation_name(const model::RelationVerdict& relation) {
    const std::size_t parameters = relation.leading.find_first_of("[@");
    if (parameters == std::string::npos) return relation.relation;
    return relation.relation + ' ' + relation.leading.substr(parameters);
}

std::string sentence_of(const model::MetricVerdict& metric) {
    if (!metric.sentence.empty()) return metric.sentence;
    return fmt::format("{}: {}", metric.metric, to_text(metric.verdict));
}

bool needs_attention(Verdict verdict) {
    return verdict != Verdict::pass && verdict != Verdict::skipped;
}

bool is_bad(model::Outcome outcome) {
    return outcome == model::Outcome::failure || outcome == model::Outcome::error;
}

bool is_only_counted(const model::CaseVerdict& verdict, const model::Policy& policy) {
    return verdict.verdict == Verdict::pass || verdict.verdict == Verdict::skipped ||
           (verdict.verdict == Verdict::inconclusive && verdict.doubt == model::Doubt::not_shown &&
            !is_bad(outcome_of(verdict, policy)));
}

std::vector<std::string> reasons(const model::CaseVerdict& verdict, const model::Policy& policy) {
    std::vector<const model::MetricVerdict*> failed;
    for (const model::MetricVerdict& metric : verdict.metrics) {
        if (is_bad(outcome_of(metric, policy))) failed.push_back(&metric);
    }
    std::stable_sort(failed.begin(), failed.end(), [](const auto* left, const auto* right) {
        return severity(left->verdict) > severity(right->verdict);
    });
    // A case whose verdict is worse than those of its metrics has its own reason, which comes
    // first.
    const bool own_reason =
        failed.empty() || severity(failed.front()->verdict) < severity(verdict.verdict);
    const std::string reason = plain_line(verdict.reason, longest_line);
    std::vector<std::string> lines;
    if (own_reason && !reason.empty()) lines.push_back(reason);
    for (const model::MetricVerdict* metric : failed) {
        std::string sentence = plain_line(sentence_of(*metric), longest_line);
        if (!own_reason || sentence != reason) lines.push_back(std::move(sentence));
    }
    if (lines.empty()) lines.emplace_back(to_text(verdict.verdict));
    return lines;
}

std::vector<RunNote> notes_of(const model::VerdictDocument& document) {
    std::vector<RunNote> notes;
    std::map<std::string_view, std::size_t> known;
    for (const model::SuiteVerdict& suite : document.suites) {
        for (const std::string& text : suite.notes) {
            const auto [at, is_new] = known.emplace(text, notes.size());
            if (is_new) notes.push_back({text, {}});
            notes[at->second].suites.push_back(suite.name);
        }
    }
    for (RunNote& note : notes) {
        if (note.suites.size() == document.suites.size()) note.suites.clear();
    }
    return notes;
}

std::string revision_text(std::string_view revision) {
    constexpr std::string_view dirty = "-dirty";
    std::string text(revision);
    if (text.ends_with(dirty)) {
        text.replace(text.size() - dirty.size(), dirty.size(), " with uncommitted changes");
    }
    return text;
}

std::string baseline_text(const model::CaseVerdict& verdict) {
    if (verdict.baseline_revision.empty()) return {};
    return fmt::format("{} of {:.10}", revision_text(verdict.baseline_revision),
                       verdict.baseline_recorded_at);
}

std::string baselines_text(const model::VerdictDocument& document, std::string_view revision) {
    std::map<std::string_view, std::string> texts;  // by time
    for (const model::SuiteVerdict& suite : document.suites) {
        for (const model::CaseVerdict& each : suite.cases) {
            std::string text = baseline_text(each);
            if (is_only_counted(each, document.policy) || text.empty()) continue;
            const bool same = each.baseline_revision == revision;
            const bool other_code = same && !each.changed_kernels.empty();
            if (same) {
                text = fmt::format(
                    "{}the same commit{}, of {:.10}", other_code ? "other machine code of " : "",
                    model::names_a_commit(revision) ? "" : " with uncommitted changes",
                    each.baseline_recorded_at);
            }
            std::string& known = texts[each.baseline_recorded_at];
            if (known.empty() || other_code) known = std::move(text);
        }
    }
    if (texts.empty()) return {};
    const std::string& first = texts.begin()->second;
    const std::string& last = texts.rbegin()->second;
    return first == last ? first : first + " to " + last;
}

std::vector<std::string> why_lines(const model::CaseVerdict& verdict) {
    std::vector<std::string> lines;
    lines.reserve(verdict.why.size());
    for (const model::Cause& cause : verdict.why) {
        // The roofline position is not a cause.
        lines.push_back((cause.rule == "roofline" ? "" : "why: ") + cause.sentence);
    }
    return lines;
}

}  // namespace perfgate::report
