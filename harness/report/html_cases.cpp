// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/quantity.hpp"
#include "model/roofline.hpp"
#include "model/sorted_walk.hpp"
#include "report/html_parts.hpp"
#include "report/plain_text.hpp"
#include "report/summary.hpp"

namespace perfgate::report {

namespace {

using document::JsonLayout;
using document::JsonWriter;
using document::write_field;
using document::write_unless_default;
using model::Verdict;

constexpr std::size_t longest_log = 16384;

/// How many samples of a batch are shown, evenly spaced in sorted order: quartiles for a case that
/// passed, enough to recognise two modes for the others.
constexpr std::size_t few_samples = 5;
constexpr std::size_t many_samples = 33;

constexpr std::int64_t none = -1;

void write_number(JsonWriter& json, const std::optional<double>& value) {
    // JSON has no NaN; the page reads a text as a missing number.
    if (value && std::isfinite(*value)) {
        json.value(*value);
    } else {
        json.value("");
    }
}

/// A field that is left out if nothing is in it.
class OptionalArray {
  public:
    OptionalArray(JsonWriter& json, std::string_view key) : json_(json), key_(key) {}

    /// Before each of its values.
    void begin() {
        if (open_) return;
        json_.key(key_);
        json_.begin_array(JsonLayout::compact);
        open_ = true;
    }
    void end() {
        if (open_) json_.end_array();
    }

  private:
    JsonWriter& json_;
    std::string_view key_;
    bool open_ = false;
};

struct NumberedRow : MetricRow {
    std::int64_t number = 0;  ///< of its metric
};

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
class CaseWriter {
  public:
    CaseWriter(JsonWriter& json, const model::Policy& policy, const model::Run& run)
        : json_(json), policy_(policy), metrics_(run) {}

    void write(const JoinedCase& joined, std::size_t suite) {
        const model::CaseVerdict& verdict = *joined.verdict;
        json_.begin_object(JsonLayout::compact);
        write_field(json_, "suite", static_cast<std::int64_t>(suite));
        write_field(json_, "id", html_name(verdict.id));
        write_field(json_, "workload", texts_.number(verdict.workload));
        write_field(json_, "verdict", verdict_number(verdict.verdict, verdict.doubt, policy_));
        write_place(json_, verdict.place);
        if (verdict.verdict != Verdict::pass) {
            write_field(json_, "reasons", reasons(verdict, policy_));
        }
        if (verdict.verdict != Verdict::pass && verdict.verdict != Verdict::skipped) {
            write_field(json_, "first", plain_line(first_reason(verdict), longest_line));
        }
        write_unless_default(json_, "why", html_lines(why_lines(verdict)));
        write_unless_default(json_, "notes", html_lines(verdict.notes));
        write_unless_default(json_, "log", plain_tail(verdict.log, longest_log));
        if (verdict.code != model::CodeChange::unknown) {
            write_field(json_, "code", to_text(verdict.code));
        }
        if (verdict.ceiling) {
            write_field(json_, "roof", plain_line(in_words(*verdict.ceiling), longest_html_name));
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

    const TextTable& texts() const { return texts_; }
    const MetricTable& metrics() const { return metrics_; }

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
            json_.value(html_name(result.work->arithmetic));
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
            json_.value(row.verdict != nullptr
                            ? verdict_number(row.verdict->verdict, row.verdict->doubt, policy_)
                            : none);
            json_.value(row.verdict != nullptr ? texts_.number(row.verdict->tolerance) : none);
        }
        json_.end_array();
    }

    /// For each gated time: its number, and the interval of its change in words.
    void write_intervals(const std::vector<NumberedRow>& rows) {
        OptionalArray intervals(json_, "intervals");
        for (const NumberedRow& row : rows) {
            if (row.verdict == nullptr || !row.verdict->interval) continue;
            const model::ChangeInterval& interval = *row.verdict->interval;
            intervals.begin();
            json_.value(row.number);
            json_.value(fmt::format("{:g} % interval {}", 100 * interval.level,
                                    model::interval_text(interval.low, interval.high)));
        }
        intervals.end();
    }

    /// For each metric that did not pass: its number and the gate's sentence.
    void write_sentences(const std::vector<NumberedRow>& rows) {
        OptionalArray sentences(json_, "sentences");
        const auto add = [&](const NumberedRow& row, const std::string& sentence) {
            sentences.begin();
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
        sentences.end();
    }

    /// The distributions of timings, and of other metrics that were judged by their spread.
    void write_spreads(const std::vector<NumberedRow>& rows, Verdict verdict) {
        const bool is_calm = verdict == Verdict::pass || verdict == Verdict::skipped;
        OptionalArray spreads(json_, "spreads");
        for (const NumberedRow& row : rows) {
            const bool judged_by_it =
                row.verdict != nullptr &&
                (!row.verdict->baseline_batches.empty() || !row.verdict->measured_batches.empty());
            const bool has_samples = row.series != nullptr && !row.series->batches.empty();
            if (!judged_by_it && !(has_samples && metrics_.is_timing(row.number))) continue;
            spreads.begin();
            write_spread(row, is_calm ? few_samples : many_samples);
        }
        spreads.end();
    }

    void write_spread(const NumberedRow& row, std::size_t most) {
        static const std::vector<double> nothing;
        json_.begin_array(JsonLayout::compact);
        json_.value(row.number);
        json_.value(row.series != nullptr ? texts_.number(to_text(row.series->method)) : none);
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
        OptionalArray limits(json_, "limits");
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
            limits.begin();
            const model::Tolerance& tolerance = gate->tolerance;
            const double before = *row.verdict->baseline;
            const auto allowed = [&](double fraction) {
                return std::max(fraction * std::fabs(before), tolerance.abs);
            };
            json_.value(row.number);
            write_number(json_, before - allowed(tolerance.better.value_or(tolerance.worse)));
            write_number(json_, before + allowed(tolerance.worse));
        }
        limits.end();
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
    const model::Policy& policy_;
    TextTable texts_;
    MetricTable metrics_;
};

}  // namespace

void write_html_cases(JsonWriter& json, const std::vector<JoinedSuite>& suites,
                      const model::Policy& policy, const model::Run& run) {
    CaseWriter writer(json, policy, run);
    json.key("cases");
    json.begin_array(JsonLayout::compact);
    for (std::size_t i = 0; i < suites.size(); ++i) {
        for (const JoinedCase& joined : suites[i].cases) writer.write(joined, i);
    }
    json.end_array();
    json.key("texts");
    writer.texts().write(json);
    json.key("metrics");
    writer.metrics().write(json);
}

}  // namespace perfgate::report
