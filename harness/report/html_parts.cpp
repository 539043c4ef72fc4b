// SPDX-License-Identifier: Apache-2.0
#include "report/html_parts.hpp"

#include <fmt/format.h>

#include "report/plain_text.hpp"
#include "report/summary.hpp"

namespace perfgate::report {

namespace {

using document::JsonLayout;
using document::JsonWriter;
using document::write_field;
using model::Verdict;

std::string_view outcome_text(model::Outcome outcome) {
    switch (outcome) {
        case model::Outcome::pass:
            return "pass";
        case model::Outcome::skipped:
            return "skipped";
        case model::Outcome::failure:
            return "failure";
        case model::Outcome::error:
            return "error";
    }
    return "";
}

/// Of the entry behind those of the verdicts.
constexpr std::int64_t not_shown_number = static_cast<std::int64_t>(model::worst_verdict) + 1;

void write_verdict(JsonWriter& json, std::string_view name, Verdict verdict,
                   model::Outcome outcome) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "name", name);
    write_field(json, "severity", static_cast<std::int64_t>(severity(verdict)));
    write_field(json, "outcome", outcome_text(outcome));
    json.end_object();
}

}  // namespace

std::string html_name(std::string_view text) {
    return plain_line(text, longest_html_name);
}

std::vector<std::string> html_lines(const std::vector<std::string>& lines) {
    std::vector<std::string> plain;
    plain.reserve(lines.size());
    for (const std::string& line : lines) plain.push_back(plain_line(line, longest_line));
    return plain;
}

void write_place(JsonWriter& json, const model::SourcePlace& place) {
    if (place.file.empty()) return;
    std::string text = html_name(place.file);
    if (place.line > 0) text += fmt::format(":{}", place.line);
    write_field(json, "place", text);
}

std::int64_t TextTable::number(std::string_view text) {
    if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
    const auto number = static_cast<std::int64_t>(texts_.size());
    numbers_.emplace(text, number);
    texts_.push_back(html_name(text));
    return number;
}

std::int64_t MetricTable::number(std::string_view name, std::string_view unit) {
    if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
    const auto number = static_cast<std::int64_t>(entries_.size());
    Entry& entry = entries_.emplace_back();
    entry.name = name;
    entry.unit = unit;
    if (const auto found = run_.metric_definitions.find(entry.name);
        found != run_.metric_definitions.end()) {
        entry.definition = &found->second;
    }
    numbers_.emplace(name, number);
    return number;
}

bool MetricTable::is_timing(std::int64_t number) const {
    const auto* definition = entries_[static_cast<std::size_t>(number)].definition;
    return definition != nullptr && definition->metric_class == model::MetricClass::timing;
}

void MetricTable::write(JsonWriter& json) const {
    json.begin_array(JsonLayout::compact);
    for (const Entry& entry : entries_) {
        json.begin_object(JsonLayout::compact);
        write_field(json, "name", html_name(entry.name));
        write_field(json, "unit", html_name(entry.unit));
        if (entry.definition != nullptr) {
            write_field(json, "description",
                        plain_line(entry.definition->description, longest_line));
            write_field(json, "better", to_text(entry.definition->direction));
            write_field(json, "class", to_text(entry.definition->metric_class));
        }
        json.end_object();
    }
    json.end_array();
}

void write_verdict_table(JsonWriter& json, const model::Policy& policy) {
    json.begin_array(JsonLayout::compact);
    for (int i = 0; i <= static_cast<int>(model::worst_verdict); ++i) {
        const auto verdict = static_cast<Verdict>(i);
        write_verdict(json, to_text(verdict), verdict, outcome_of(verdict, policy));
    }
    model::MetricVerdict not_shown;
    not_shown.verdict = Verdict::inconclusive;
    not_shown.doubt = model::Doubt::not_shown;
    write_verdict(json, to_text(not_shown.doubt), not_shown.verdict, outcome_of(not_shown, policy));
    json.end_array();
}

std::int64_t verdict_number(Verdict verdict, model::Doubt doubt, const model::Policy& policy) {
    const bool not_shown =
        doubt == model::Doubt::not_shown || (model::is_not_shown(doubt) && policy.not_shown_fails);
    if (verdict == Verdict::inconclusive && not_shown) return not_shown_number;
    return static_cast<std::int64_t>(verdict);
}

}  // namespace perfgate::report
