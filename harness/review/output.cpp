// SPDX-License-Identifier: Apache-2.0
#include "review/review.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "document/archive.hpp"
#include "report/columns.hpp"
#include "report/plain_text.hpp"
#include "report/workflow_command.hpp"

namespace perfgate::review {

namespace {

constexpr std::size_t longest_cell = 200;
constexpr std::size_t most_ids = 5;  ///< of cases, in an annotation

std::string cell(std::string_view text) {
    return report::log_line(text, longest_cell);
}

std::string change_text(const Finding& finding) {
    if (finding.before.empty()) return cell(finding.after);
    return cell(finding.before) + " → " + cell(finding.after);
}

std::string annotation(const Finding& finding, std::string_view kind, std::size_t without) {
    std::string message = change_text(finding);
    if (!finding.cases.empty()) {
        const std::size_t shown_ids = std::min(finding.cases.size(), most_ids);
        for (std::size_t i = 0; i < shown_ids; ++i) message += '\n' + cell(finding.cases[i]);
        if (finding.cases.size() > shown_ids) {
            message += fmt::format("\nand {} more cases", finding.cases.size() - shown_ids);
        }
    }
    if (without > 0) message += fmt::format("\n{} more findings: see the log", without);
    return report::workflow_command(
        kind, finding.place, fmt::format("{}: {}", to_text(finding.kind), cell(finding.subject)),
        message);
}

std::string place_text(const model::SourcePlace& place) {
    return place.line > 0 ? fmt::format("{}:{}", cell(place.file), place.line) : cell(place.file);
}

std::string notes_text(const Review& review) {
    std::string text;
    for (const std::string& note : review.not_reviewed) {
        text += "note: not reviewed: " + cell(note) + '\n';
    }
    return text;
}

std::string cases_text(const Finding& finding) {
    if (finding.cases.empty()) return "";
    std::string text = cell(finding.cases.front());
    if (finding.cases.size() > 1) text += fmt::format(" and {} more", finding.cases.size() - 1);
    return text;
}

}  // namespace

std::string write_text(const Review& review, const std::string& base) {
    const std::vector<Finding>& findings = review.findings;
    std::string text;
    for (const std::string& why : review.not_compared) {
        text += fmt::format("not compared with {}: {}\n", cell(base), cell(why));
    }
    if (findings.empty()) {
        if (!text.empty()) return text + notes_text(review);
        text = fmt::format("no change weakens the gate compared with {}\n", cell(base));
    } else {
        text += fmt::format("{} {} the gate compared with {}:\n\n", findings.size(),
                            findings.size() == 1 ? "change weakens" : "changes weaken", cell(base));
        std::vector<std::vector<std::string>> rows{{"what", "of", "change", "where", "case"}};
        for (const Finding& finding : findings) {
            rows.push_back({std::string(to_text(finding.kind)), cell(finding.subject),
                            change_text(finding), place_text(finding.place), cases_text(finding)});
        }
        text += report::table(rows);
    }
    return text + notes_text(review);
}

PERFGATE_FIELDS(Finding, required(kind), named(required, "file", place.file),
                named(optional, "line", place.line), required(subject, before, after),
                optional(cases))

namespace {

struct ReviewDocument {
    std::string base;
    const Review& review;
};
PERFGATE_FIELDS(ReviewDocument, required(base),
                named(required, "findings", review.findings, document::lines),
                named(required, "not_reviewed", review.not_reviewed),
                named(optional, "not_compared", review.not_compared))

}  // namespace

std::string write_json(const Review& review, const std::string& base) {
    constexpr document::Schema schema{"perfgate.review", 1, 1};
    return document::write_document(schema, ReviewDocument{base, review});
}

std::string write_annotations(const Review& review, bool advisory) {
    // Of many, those that let a known regression pass are shown.
    std::vector<Finding> findings = review.findings;
    std::ranges::stable_partition(
        findings, [](const Finding& finding) { return finding.kind == Loosening::acknowledged; });
    std::string text;
    for (const std::string& why : review.not_compared) {
        text += report::workflow_command("error", {}, "not compared", cell(why));
    }
    const std::size_t count = std::min(findings.size(), report::most_annotations);
    for (std::size_t i = 0; i < count; ++i) {
        text += annotation(findings[i], advisory ? "warning" : "error",
                           i + 1 == count ? findings.size() - count : 0);
    }
    return text;
}

}  // namespace perfgate::review
