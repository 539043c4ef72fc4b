// SPDX-License-Identifier: Apache-2.0
// The parts of the HTML report's data: values that the others share (html_parts.cpp), the
// environment of a run (html_environment.cpp) and the cases (html_cases.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "document/json_writer.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"
#include "report/joined.hpp"

namespace perfgate::report {

// Values: plain texts, places, and the tables of texts, metrics and verdicts, to which cases refer
// by number, so that what many share is written once.

inline constexpr std::size_t longest_html_name = 1000;

/// A name or short text of a document in one plain line.
std::string html_name(std::string_view text);

std::vector<std::string> html_lines(const std::vector<std::string>& lines);

/// The field `place`, if it is known.
void write_place(document::JsonWriter& json, const model::SourcePlace& place);

/// Allows looking up a view without copying the text.
struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>()(text);
    }
};
using NumberedTexts = std::unordered_map<std::string, std::int64_t, TextHash, std::equal_to<>>;

/// Tolerances, methods, names of kernels, tags: in order of first use.
class TextTable {
  public:
    std::int64_t number(std::string_view text);
    void write(document::JsonWriter& json) const { document::write(json, texts_); }

  private:
    NumberedTexts numbers_;
    std::vector<std::string> texts_;
};

/// If a hand-written document has two units for one name, the first is used.
class MetricTable {
  public:
    explicit MetricTable(const model::Run& run) : run_(run) {}

    std::int64_t number(std::string_view name, std::string_view unit);
    bool is_timing(std::int64_t number) const;
    void write(document::JsonWriter& json) const;

  private:
    struct Entry {
        std::string name, unit;
        const model::MetricDefinition* definition = nullptr;  ///< null: the run has none
    };
    const model::Run& run_;
    NumberedTexts numbers_;
    std::vector<Entry> entries_;
};

/// The verdicts in their order, then one for a metric that is inconclusive because it is not shown
/// to be within its tolerance: the policy has an outcome of its own for it.
void write_verdict_table(document::JsonWriter& json, const model::Policy& policy);
std::int64_t verdict_number(model::Verdict verdict, model::Doubt doubt,
                            const model::Policy& policy);

/// Rows of a label and text: device, tools, clocks, machine, command. What is not known has no row.
void write_facts(document::JsonWriter& json, const model::VerdictDocument& document,
                 const model::Run& run);

/// The ceilings that were measured, in bytes and operations per second.
void write_ceilings(document::JsonWriter& json, const model::Ceilings& ceilings);

// Cases: repeated texts (tolerances, methods, kernel names,
// tags) are written once, and the values of a case are one flat list, so that browsers can open a
// page of 10,000 cases.

/// The fields `cases`, `texts` and `metrics`, to which the cases refer by number.
void write_html_cases(document::JsonWriter& json, const std::vector<JoinedSuite>& suites,
                      const model::Policy& policy, const model::Run& run);

}  // namespace perfgate::report
