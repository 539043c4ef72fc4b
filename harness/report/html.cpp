// SPDX-License-Identifier: Apache-2.0
// Repeated texts (tolerances, methods, kernel names, tags) are written once, in `texts`, and the
// values of a case are one flat list, so that browsers can open a page of 10,000 cases.
#include "report/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "document/json_writer.hpp"
#include "model/error.hpp"
#include "model/quantity.hpp"
#include "model/roofline.hpp"
#include "model/sorted_walk.hpp"
#include "report/formats.hpp"
#include "report/html_environment.hpp"
#include "report/html_page.hpp"
#include "report/joined.hpp"
#include "report/plain_text.hpp"
#include "report/summary.hpp"

namespace perfgate::report {

namespace {

using document::JsonLayout;
using document::JsonWriter;
using document::write_field;
using document::write_unless_default;
using model::Verdict;

constexpr std::size_t longest_name = 1000;
constexpr std::size_t longest_log = 16384;

/// How many samples of a batch are shown, evenly spaced in sorted order: quartiles for a case that
/// passed, enough to recognise two modes for the others.
constexpr std::size_t few_samples = 5;
constexpr std::size_t many_samples = 33;

/// The reasons that the overview lists.
constexpr std::size_t most_groups = 10;

constexpr std::int64_t none = -1;

void write_number(JsonWriter& json, const std::optional<double>& value) {
    // JSON has no NaN; the page reads a text as a missing number.
    if (value && std::isfinite(*value)) {
        json.value(*value);
    } else {
        json.value("");
    }
}

std::string name_text(std::string_view text) {
    return plain_line(text, longest_name);
}

std::vector<std::string> plain_lines(const std::vector<std::string>& lines) {
    std::vector<std::string> plain;
    plain.reserve(lines.size());
    for (const std::string& line : lines) plain.push_back(plain_line(line, longest_line));
    return plain;
}

/// Allows looking up a view without copying the text.
struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>()(text);
    }
};
using Numbers = std::unordered_map<std::string, std::int64_t, TextHash, std::equal_to<>>;

/// Texts by number, in order of first use.
class Texts {
  public:
    std::int64_t number(std::string_view text) {
        if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
        const auto number = static_cast<std::int64_t>(texts_.size());
        numbers_.emplace(text, number);
        texts_.push_back(name_text(text));
        return number;
    }

    const std::vector<std::string>& all() const { return texts_; }

  private:
    Numbers numbers_;
    std::vector<std::string> texts_;
};

/// Metrics by number. If a hand-written document has two units for one name, the first is used.
class Metrics {
  public:
    explicit Metrics(const model::Run& run) : run_(run) {}

    std::int64_t number(std::string_view name, std::string_view unit) {
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

    bool is_timing(std::int64_t number) const {
        const auto* definition = entries_[static_cast<std::size_t>(number)].definition;
        return definition != nullptr && definition->metric_class == model::MetricClass::timing;
    }

    void write(JsonWriter& json) const {
        json.begin_array(JsonLayout::compact);
        for (const Entry& entry : entries_) {
            json.begin_object(JsonLayout::compact);
            write_field(json, "name", name_text(entry.name));
            write_field(json, "unit", name_text(entry.unit));
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

  private:
    struct Entry {
        std::string name, unit;
        const model::MetricDefinition* definition = nullptr;  ///< null: the run has none
    };
    const model::Run& run_;
    Numbers numbers_;
    std::vector<Entry> entries_;
};

struct NumberedRow : MetricRow {
    std::int64_t number = 0;  ///< of its metric
};

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

/// The number of an entry that the page has after those of the verdicts: inconclusive, because it
/// is not shown. The policy has an outcome of its own for it.
constexpr std::int64_t not_shown_number = static_cast<std::int64_t>(model::worst_verdict) + 1;

template <class T>
std::int64_t number_of_verdict(const T& verdict, const model::Policy& policy) {
    const bool not_shown = verdict.doubt == model::Doubt::not_shown ||
                           (verdict.doubt == model::Doubt::unclear && policy.not_shown_fails);
    if (verdict.verdict == Verdict::inconclusive && not_shown) return not_shown_number;
    return static_cast<std::int64_t>(verdict.verdict);
}

void write_verdict(JsonWriter& json, std::string_view name, Verdict verdict,
                   model::Outcome outcome) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "name", name);
    write_field(json, "severity", static_cast<std::int64_t>(severity(verdict)));
    write_field(json, "outcome", outcome_text(outcome));
    json.end_object();
}

void write_verdicts(JsonWriter& json, const model::Policy& policy) {
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

void write_place(JsonWriter& json, const model::SourcePlace& place) {
    if (place.file.empty()) return;
    std::string text = name_text(place.file);
    if (place.line > 0) text += fmt::format(":{}", place.line);
    write_field(json, "place", text);
}

void write_suite(JsonWriter& json, const model::SuiteVerdict& suite) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "name", name_text(suite.name));
    write_field(json, "file", name_text(suite.file));
    write_field(json, "counts", counts_text(suite));
    write_unless_default(json, "baseline", name_text(suite.baseline_file));
    write_unless_default(json, "relations_in_words", relations_text(suite));
    write_unless_default(json, "notes", plain_lines(suite.notes));
    if (!suite.relations.empty()) {
        json.key("relations");
        json.begin_array(JsonLayout::compact);
        for (const model::RelationVerdict& relation : suite.relations) {
            json.begin_object(JsonLayout::compact);
            write_field(json, "verdict", static_cast<std::int64_t>(relation.verdict));
            write_field(json, "word", relation_word(relation.verdict));
            write_field(json, "name", name_text(relation_name(relation)));
            write_place(json, relation.place);
            write_field(json, "sentence", plain_line(relation.sentence, longest_line));
            json.end_object();
        }
        json.end_array();
    }
    json.end_object();
}

/// Up to `most` of the samples, smallest to largest, evenly spaced in that order.
std::vector<double> shown_samples(const model::Batch& batch, std::size_t most) {
    std::vector<double> sorted;
    sorted.reserve(batch.samples.size());
    std::copy_if(batch.samples.begin(), batch.samples.end(), std::back_inserter(sorted),
                 [](double sample) { return std::isfinite(sample); });
    std::sort(sorted.begin(), sorted.end());
    if (sorted.size() <= most) return sorted;
    std::vector<double> shown;
    shown.reserve(most);
    for (std::size_t i = 0; i < most; ++i) {
        shown.push_back(sorted[(i * (sorted.size() - 1) + (most - 1) / 2) / (most - 1)]);
    }
    return shown;
}

/// Writes cases one by one and collects what they share.
class Cases {
  public:
    Cases(JsonWriter& json, const model::VerdictDocument& document, const model::Run& run)
        : json_(json), document_(document), metrics_(run) {}

    void write(const JoinedCase& joined, std::size_t suite) {
        const model::CaseVerdict& verdict = *joined.verdict;
        json_.begin_object(JsonLayout::compact);
        write_field(json_, "suite", static_cast<std::int64_t>(suite));
        write_field(json_, "id", name_text(verdict.id));
        write_field(json_, "workload", texts_.number(verdict.workload));
        write_field(json_, "verdict", number_of_verdict(verdict, document_.policy));
        write_place(json_, verdict.place);
        if (verdict.verdict != Verdict::pass) {
            write_field(json_, "reasons", reasons(verdict, document_.policy));
        }
        if (verdict.verdict != Verdict::pass && verdict.verdict != Verdict::skipped) {
            write_field(json_, "first", plain_line(first_reason(verdict), longest_line));
        }
        write_unless_default(json_, "why", plain_lines(why_lines(verdict)));
        write_unless_default(json_, "notes", plain_lines(verdict.notes));
        write_unless_default(json_, "log", plain_tail(verdict.log, longest_log));
        if (verdict.code != model::CodeChange::unknown) {
            write_field(json_, "code", to_text(verdict.code));
        }
        if (verdict.ceiling) {
            write_field(json_, "roof", plain_line(in_words(*verdict.ceiling), longest_name));
        }
        write_field(json_, "wall_s", verdict.wall_s);
        if (joined.result != nullptr) write_result(*joined.result);
        if (const std::optional<Value> shown = find_deciding(joined)) {
            write_field(json_, "shown", metrics_.number(shown->metric, shown->unit));
        }
        const std::vector<NumberedRow> rows = numbered_rows(joined);
        write_values(rows, verdict.baseline_values);
        write_intervals(rows);
        write_sentences(rows);
        write_spreads(rows, verdict.verdict);
        if (joined.result != nullptr) write_limits(rows, joined.result->gates);
        json_.end_object();
    }

    const Texts& texts() const { return texts_; }
    const Metrics& metrics() const { return metrics_; }

  private:
    void write_result(const model::CaseResult& result) {
        write_numbers("tags", result.tags);
        write_numbers("not_applicable", result.not_applicable);
        if (result.verification) {
            write_unless_default(json_, "verified",
                                 plain_line(result.verification->detail, longest_line));
        }
        if (result.work) {
            json_.key("work");
            json_.begin_array(JsonLayout::compact);
            write_number(json_, result.work->flops);
            write_number(json_, result.work->bytes);
            json_.value(name_text(result.work->arithmetic));
            json_.end_array();
        }
        if (!result.kernels.empty()) {
            json_.key("kernels");
            json_.begin_array(JsonLayout::compact);
            for (const model::Kernel& kernel : result.kernels) write_kernel(kernel);
            json_.end_array();
        }
    }

    void write_numbers(std::string_view key, const std::vector<std::string>& texts) {
        if (texts.empty()) return;
        json_.key(key);
        json_.begin_array(JsonLayout::compact);
        for (const std::string& text : texts) json_.value(texts_.number(text));
        json_.end_array();
    }

    void write_kernel(const model::Kernel& kernel) {
        const auto extent = [](const auto& sizes) {
            return fmt::format("{} × {} × {}", sizes[0], sizes[1], sizes[2]);
        };
        json_.begin_array(JsonLayout::compact);
        json_.value(texts_.number(kernel.name));
        json_.value(extent(kernel.grid));
        json_.value(extent(kernel.block));
        json_.value(kernel.registers);
        json_.value(kernel.static_smem + kernel.dynamic_smem);
        json_.value(kernel.local_bytes);
        write_number(json_, kernel.theoretical_occupancy);
        if (kernel.launches > 0) {
            write_number(json_, kernel.launches);
            write_number(json_, kernel.time_ns);
        }
        json_.end_array();
    }

    std::vector<NumberedRow> numbered_rows(const JoinedCase& joined) {
        const std::vector<MetricRow> rows = metric_rows(joined);
        std::vector<NumberedRow> numbered;
        numbered.reserve(rows.size());
        for (const MetricRow& row : rows) {
            numbered.push_back({row, metrics_.number(row.metric, row.unit)});
        }
        return numbered;
    }

    /// For each metric: its number, both values, verdict and tolerance.
    void write_values(const std::vector<NumberedRow>& rows,
                      const std::map<std::string, double>& baseline_values) {
        if (rows.empty()) return;
        json_.key("values");
        json_.begin_array(JsonLayout::compact);
        auto known = baseline_values.begin();  // sorted by name, like the rows
        for (const NumberedRow& row : rows) {
            std::optional<double> before;
            const std::optional<double> after = row.measured();
            if (row.verdict != nullptr) {
                before = row.verdict->baseline;
            } else if (model::advance_to(row.metric, known, baseline_values.end())) {
                before = known->second;
            }
            json_.value(row.number);
            write_number(json_, before);
            write_number(json_, after);
            json_.value(row.verdict != nullptr ? number_of_verdict(*row.verdict, document_.policy)
                                               : none);
            json_.value(row.verdict != nullptr ? texts_.number(row.verdict->tolerance) : none);
        }
        json_.end_array();
    }

    /// For each gated time: its number, and the interval of its change in words.
    void write_intervals(const std::vector<NumberedRow>& rows) {
        bool open = false;
        for (const NumberedRow& row : rows) {
            if (row.verdict == nullptr || !row.verdict->interval) continue;
            const model::ChangeInterval& interval = *row.verdict->interval;
            if (!open) {
                json_.key("intervals");
                json_.begin_array(JsonLayout::compact);
                open = true;
            }
            json_.value(row.number);
            json_.value(fmt::format("{:g} % interval {}", 100 * interval.level,
                                    model::interval_text(interval.low, interval.high)));
        }
        if (open) json_.end_array();
    }

    /// For each metric that did not pass: its number and the gate's sentence.
    void write_sentences(const std::vector<NumberedRow>& rows) {
        bool open = false;
        const auto add = [&](const NumberedRow& row, const std::string& sentence) {
            if (!open) {
                json_.key("sentences");
                json_.begin_array(JsonLayout::compact);
                open = true;
            }
            json_.value(row.number);
            json_.value(plain_line(sentence, longest_line));
        };
        for (const NumberedRow& row : rows) {
            if (row.verdict != nullptr) {
                if (row.verdict->verdict != Verdict::pass) add(row, sentence_of(*row.verdict));
            } else if (row.not_collected != nullptr) {
                add(row,
                    fmt::format("{} was not collected: {}", row.metric, row.not_collected->reason));
            }
        }
        if (open) json_.end_array();
    }

    /// The distributions of timings, and of other metrics that were judged by their spread.
    void write_spreads(const std::vector<NumberedRow>& rows, Verdict verdict) {
        const bool is_calm = verdict == Verdict::pass || verdict == Verdict::skipped;
        bool open = false;
        for (const NumberedRow& row : rows) {
            const bool judged_by_it =
                row.verdict != nullptr &&
                (!row.verdict->baseline_batches.empty() || !row.verdict->measured_batches.empty());
            const bool has_samples = row.series != nullptr && !row.series->batches.empty();
            if (!judged_by_it && !(has_samples && metrics_.is_timing(row.number))) continue;
            if (!open) {
                json_.key("spreads");
                json_.begin_array(JsonLayout::compact);
                open = true;
            }
            write_spread(row, is_calm ? few_samples : many_samples);
        }
        if (open) json_.end_array();
    }

    void write_spread(const NumberedRow& row, std::size_t most) {
        static const std::vector<double> nothing;
        json_.begin_array(JsonLayout::compact);
        json_.value(row.number);
        json_.value(row.series != nullptr ? texts_.number(row.series->method) : none);
        write_sides(row.verdict != nullptr ? row.verdict->baseline_batches : nothing);
        write_sides(row.verdict != nullptr ? row.verdict->measured_batches : nothing);
        json_.begin_array(JsonLayout::compact);
        if (row.series != nullptr) {
            for (const model::Batch& batch : row.series->batches) write_batch(batch, most);
        }
        json_.end_array();
        json_.end_array();
    }

    /// For each gated time: its number, and the values between which its tolerance lies.
    void write_limits(const std::vector<NumberedRow>& rows,
                      const std::vector<model::GateRule>& gates) {
        bool open = false;
        for (const NumberedRow& row : rows) {
            if (row.verdict == nullptr || !row.verdict->baseline || row.unit != "ns") continue;
            const auto gate = std::find_if(gates.begin(), gates.end(), [&](const auto& rule) {
                return rule.metric == row.metric;
            });
            // On another board more is allowed than the rule says.
            if (gate == gates.end() ||
                row.verdict->tolerance.find("another board") != std::string::npos) {
                continue;
            }
            if (!open) {
                json_.key("limits");
                json_.begin_array(JsonLayout::compact);
                open = true;
            }
            const model::Tolerance& tolerance = gate->tolerance;
            const double before = *row.verdict->baseline;
            const auto allowed = [&](double fraction) {
                return std::max(fraction * std::fabs(before), tolerance.abs);
            };
            json_.value(row.number);
            write_number(json_, before - allowed(tolerance.better.value_or(tolerance.worse)));
            write_number(json_, before + allowed(tolerance.worse));
        }
        if (open) json_.end_array();
    }

    void write_sides(const std::vector<double>& values) {
        json_.begin_array(JsonLayout::compact);
        for (const double value : values) write_number(json_, value);
        json_.end_array();
    }

    void write_batch(const model::Batch& batch, std::size_t most) {
        json_.begin_array(JsonLayout::compact);
        json_.value(batch.process);
        json_.value(batch.round);
        json_.value(static_cast<std::int64_t>(batch.samples.size()));
        json_.value(batch.excluded.empty() ? none : texts_.number(batch.excluded));
        write_number(json_, batch.sm_clock_mhz);
        write_sides(shown_samples(batch, most));
        json_.end_array();
    }

    JsonWriter& json_;
    const model::VerdictDocument& document_;
    Texts texts_;
    Metrics metrics_;
};

/// The reasons, worst first: effect, number of cases, sentence.
void write_groups(JsonWriter& json, const std::vector<JoinedSuite>& suites,
                  const model::Policy& policy) {
    std::vector<JoinedGroup> groups;
    for (const JoinedSuite& suite : suites) {
        for (JoinedGroup& group : groups_of(suite, policy)) groups.push_back(std::move(group));
    }
    if (groups.empty()) return;
    std::stable_sort(groups.begin(), groups.end(),
                     [](const JoinedGroup& left, const JoinedGroup& right) {
                         return left.effect < right.effect;
                     });
    json.key("groups");
    json.begin_array(JsonLayout::compact);
    for (std::size_t i = 0; i < std::min(groups.size(), most_groups); ++i) {
        json.begin_array(JsonLayout::compact);
        json.value(to_text(groups[i].effect));
        json.value(static_cast<std::int64_t>(groups[i].cases.size()));
        json.value(plain_line(groups[i].sentence, longest_name));
        json.end_array();
    }
    json.end_array();
    if (groups.size() > most_groups) {
        write_field(json, "more_groups", static_cast<std::int64_t>(groups.size() - most_groups));
    }
}

std::string json_text(const model::VerdictDocument& document, const model::Run& run) {
    const std::vector<JoinedSuite> suites = join(document, run);
    JsonWriter json(JsonLayout::compact);
    json.begin_object(JsonLayout::compact);
    write_unless_default(json, "summary", plain_line(document.summary, longest_line));
    write_field(json, "counts", counts_text(document));
    write_field(json, "exit_code", static_cast<std::int64_t>(document.exit_code));
    write_unless_default(json, "interrupted", document.interrupted);
    write_unless_default(json, "verify_only", run.verify_only);
    write_groups(json, suites, document.policy);
    json.key("facts");
    write_facts(json, document, run);
    json.key("ceilings");
    write_ceilings(json, document.environment.ceilings);
    json.key("verdicts");
    write_verdicts(json, document.policy);
    json.key("suites");
    json.begin_array(JsonLayout::compact);
    for (const JoinedSuite& suite : suites) write_suite(json, *suite.verdict);
    json.end_array();
    json.key("cases");
    json.begin_array(JsonLayout::compact);
    Cases cases(json, document, run);
    for (std::size_t i = 0; i < suites.size(); ++i) {
        for (const JoinedCase& joined : suites[i].cases) cases.write(joined, i);
    }
    json.end_array();
    json.key("texts");
    write(json, cases.texts().all());
    json.key("metrics");
    cases.metrics().write(json);
    json.end_object();
    return json.finish();
}

}  // namespace

bool has_html_page() {
    return !report_page().empty();
}

std::string html_data(const model::VerdictDocument& document, const model::Run& run) {
    std::string data;
    append_fit_for_script(data, json_text(document, run));
    return data;
}

std::string write_html(const model::VerdictDocument& document, const model::Run& run,
                       const Options& /*options*/) {
    return fill_page(report_page(), json_text(document, run));
}

}  // namespace perfgate::report
