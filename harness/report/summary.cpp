// SPDX-License-Identifier: Apache-2.0
#include "report/summary.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>

namespace perfgate::report {

namespace {

using model::Verdict;

// What was hoped for, then the bad news, worst first, then what needs no action.
constexpr Verdict order[] = {
    Verdict::pass,        Verdict::regressed, Verdict::incorrect,     Verdict::missing,
    Verdict::error,       Verdict::invalid,   Verdict::not_collected, Verdict::inconclusive,
    Verdict::no_baseline, Verdict::improved,  Verdict::skipped,
};

std::string counts_text(const std::map<Verdict, std::int64_t>& counts) {
    std::string text;
    for (const Verdict verdict : order) {
        const auto found = counts.find(verdict);
        if (found == counts.end() || found->second == 0) continue;
        if (!text.empty()) text += ", ";
        text += fmt::format("{} {}", found->second, to_text(verdict));
    }
    return text.empty() ? "no cases" : text;
}

}  // namespace

std::string counts_text(const model::SuiteVerdict& suite) {
    std::map<Verdict, std::int64_t> counts;
    for (const model::CaseVerdict& c : suite.cases) ++counts[c.verdict];
    return counts_text(counts);
}

std::string counts_text(const model::VerdictDocument& document) {
    return counts_text(model::count_verdicts(document));
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

std::string relation_name(const model::RelationVerdict& relation) {
    const std::size_t parameters = relation.leading.find_first_of("[@");
    if (parameters == std::string::npos) return relation.relation;
    return relation.relation + ' ' + relation.leading.substr(parameters);
}

std::string sentence_of(const model::MetricVerdict& metric) {
    if (!metric.sentence.empty()) return metric.sentence;
    return fmt::format("{}: {}", metric.metric, to_text(metric.verdict));
}

}  // namespace perfgate::report
