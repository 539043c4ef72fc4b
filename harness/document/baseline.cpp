// SPDX-License-Identifier: Apache-2.0
#include "document/baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "document/archive.hpp"
#include "document/shared.hpp"
#include "model/date.hpp"
#include "util/error.hpp"
#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::document {

using model::Batch;
using model::MetricSeries;

namespace {

// 1: single values have batches, too; 2: each kernel is written out
constexpr Schema baseline_schema{"perfgate.baseline", 1, 3};

/// A series that has one value per process.
struct ShortSeries {
    MetricSeries series;  ///< without its batches
    std::string device;
    std::uint64_t seed = 0;
    std::vector<std::int64_t> runs;        ///< processes of each run; empty: there is one run
    std::optional<std::int64_t> repeated;  ///< so many processes have the series' value
    std::vector<double> processes;         ///< else: their values
    std::vector<double> clocks;            ///< empty: not known
    std::vector<double> slowest_tenths;    ///< empty: not known, as the next
    std::vector<double> p99s;
    std::vector<double> waited;  ///< as model::Batch::other_work, empty likewise, as the next
    std::vector<double> others_busy;

    std::size_t count() const {
        return repeated ? static_cast<std::size_t>(*repeated) : processes.size();
    }
};

void require_sum(JsonValue runs, const std::vector<std::int64_t>& counts, std::size_t processes) {
    std::size_t left = processes;
    for (const std::int64_t count : counts) {
        if (count < 1 || static_cast<std::size_t>(count) > left) {
            runs.fail("expected counts that add up to the number of processes");
        }
        left -= static_cast<std::size_t>(count);
    }
    if (left != 0) runs.fail("expected counts that add up to the number of processes");
}

template <class Archive>
void describe(Archive& archive, Described<Archive, ShortSeries>& of) {
    const auto is_bounded = [](JsonValue value, const std::optional<std::int64_t>& /*count*/) {
        value.repetition(2);
    };
    const auto are_several = [](JsonValue value, const std::vector<double>& values) {
        if (values.size() < 2) value.fail("expected values of several processes");
    };
    const auto one_per_process = [&](JsonValue value, const std::vector<double>& values) {
        if (!values.empty() && values.size() != of.count()) {
            value.fail("expected as many values as processes");
        }
    };
    PERFGATE_GROUPS(also(describe_value(archive, of.series)),
                    named(optional, "detail", series.detail), required(device, seed),
                    optional(runs), with(optional, repeated, is_bounded));
    if (!of.repeated) archive.required("processes", of.processes, are_several);
    PERFGATE_GROUPS(named(optional, "sm_clock_mhz", clocks, one_per_process),
                    named(optional, "slowest_tenth", slowest_tenths, one_per_process),
                    named(optional, "p99", p99s, one_per_process),
                    with(optional, waited, one_per_process, is_share),
                    with(optional, others_busy, one_per_process, is_share));
    archive.check([&](JsonValue value) {
        if (!of.runs.empty()) require_sum(value.at("runs"), of.runs, of.count());
        if (of.slowest_tenths.size() != of.p99s.size()) {
            value.fail("expected 'slowest_tenth' and 'p99' together");
        }
        if (of.waited.size() != of.others_busy.size()) {
            value.fail("expected 'waited' and 'others_busy' together");
        }
    });
}

/// Whether the short form says all there is: one value per process, in order, nothing excluded.
bool is_short(const MetricSeries& series) {
    if (series.batches.size() < 2) return false;
    const Batch& first = series.batches.front();
    std::int64_t process = 0;
    std::int64_t run = 0;
    for (const Batch& batch : series.batches) {
        const bool next_run = process > 0 && batch.run == run + 1;
        const Batch expected{process,    first.device, first.seed,         {},
                             0,          {},           batch.sm_clock_mhz, next_run ? run + 1 : run,
                             batch.tail, {},           batch.other_work};
        Batch found = batch;
        found.samples.clear();
        if (batch.samples.size() != 1 || !(found == expected) ||
            batch.sm_clock_mhz.has_value() != first.sm_clock_mhz.has_value() ||
            batch.tail.has_value() != first.tail.has_value() ||
            batch.other_work.has_value() != first.other_work.has_value()) {
            return false;
        }
        run = expected.run;
        ++process;
    }
    return true;
}

ShortSeries shortened(const MetricSeries& series) {
    ShortSeries result;
    result.series = {series.unit, series.value, series.method, {}, series.detail};
    result.device = series.batches.front().device;
    result.seed = series.batches.front().seed;
    for (const Batch& batch : series.batches) {
        if (result.runs.size() <= static_cast<std::size_t>(batch.run)) result.runs.push_back(0);
        ++result.runs.back();
        result.processes.push_back(batch.samples.front());
        if (batch.sm_clock_mhz) result.clocks.push_back(*batch.sm_clock_mhz);
        if (batch.other_work) {
            result.waited.push_back(batch.other_work->waited);
            result.others_busy.push_back(batch.other_work->busy);
        }
        if (!batch.tail) continue;
        result.slowest_tenths.push_back(batch.tail->slowest_tenth);
        result.p99s.push_back(batch.tail->p99);
    }
    if (result.runs.size() == 1) result.runs.clear();
    const bool repeated =
        std::ranges::all_of(result.processes, [&](double value) { return value == series.value; });
    if (repeated) result.repeated = static_cast<std::int64_t>(result.processes.size());
    return result;
}

MetricSeries restored(ShortSeries stored) {
    MetricSeries series = std::move(stored.series);
    Batch batch;
    batch.device = std::move(stored.device);
    batch.seed = stored.seed;
    std::int64_t in_run = 0;
    series.batches.reserve(stored.count());
    for (std::size_t i = 0; i < stored.count(); ++i) {
        batch.process = static_cast<std::int64_t>(i);
        batch.samples = {stored.repeated ? series.value : stored.processes[i]};
        if (!stored.clocks.empty()) batch.sm_clock_mhz = stored.clocks[i];
        if (!stored.p99s.empty()) batch.tail = {stored.slowest_tenths[i], stored.p99s[i]};
        if (!stored.waited.empty()) {
            batch.other_work = {stored.waited[i], stored.others_busy[i]};
        }
        if (!stored.runs.empty() && in_run == stored.runs.at(static_cast<std::size_t>(batch.run))) {
            ++batch.run;
            in_run = 0;
        }
        ++in_run;
        series.batches.push_back(batch);
    }
    return series;
}

/// A series as baselines write it: short where that is enough.
void write_stored(JsonWriter& json, const MetricSeries& series) {
    if (is_short(series)) {
        write(json, shortened(series));
    } else {
        write(json, series);
    }
}

void read_stored(JsonValue value, MetricSeries& series) {
    if (value.kind() != JsonKind::object || value.find("batches")) {
        return read(value, series);
    }
    ShortSeries stored;
    read(value, stored);
    series = restored(std::move(stored));
}

constexpr Form<MetricSeries> as_stored{write_stored, read_stored};

}  // namespace

template <>
inline constexpr JsonLayout layout_of<model::BaselineCase> = JsonLayout::lines;

PERFGATE_FIELDS(model::Provenance,
                optional(board, driver, cuda_toolkit, cupti, tool_version, git_revision,
                         recorded_at, accepted_by, reason),
                with(optional, wall_s, not_negative))

template <class Archive>
void describe(Archive& archive, Described<Archive, model::Acknowledgement>& of) {
    const auto is_day = [](JsonValue value, const std::string& until) {
        if (!model::is_date(until)) value.fail("expected a day, as 2026-12-31");
    };
    PERFGATE_GROUPS(with(required, until, is_day), optional(by, reason),
                    with(required, known, as_stored));
}

PERFGATE_FIELDS(model::BaselineCase, always(provenance), optional(tags, measured_as, anchors),
                with(optional, acknowledged, lines),
                also(describe_metrics(archive, of.metrics, as_stored)),
                with(optional, kernels, run_lengths),
                optional(host_code, libraries, memory_operations))

PERFGATE_FIELDS(model::Baseline, required(suite, device), with(required, cases, lines))

std::string digest_of_case(std::string_view id, const model::BaselineCase& expected) {
    JsonWriter json(JsonLayout::compact);
    json.begin_object(JsonLayout::compact);
    write_field(json, id, expected);
    json.end_object();
    const std::string object = json.finish();
    // Without its braces.
    return util::fingerprint_of(std::string_view(object).substr(1, object.size() - 2));
}

std::string write_baseline(const model::Baseline& baseline) {
    return write_document(baseline_schema, baseline);
}

bool is_as_written(std::string_view text, const model::Baseline& baseline) {
    constexpr Schema before{baseline_schema.name, 1, 2};
    return text == write_document(baseline_schema, baseline) ||
           text == write_document(before, baseline);
}

model::Baseline parse_baseline(std::string json, std::string_view source, bool* older) {
    JsonDocument document(std::move(json), source);
    model::Baseline baseline;
    read_document(document, baseline_schema, baseline);
    if (older != nullptr) *older = document.version() < baseline_schema.version;
    return baseline;
}

using model::Ledger;
using model::LedgerEntry;

namespace {

constexpr Schema ledger_schema{"perfgate.ledger", 1, 2};  // 1: entries have no digests

}  // namespace

PERFGATE_FIELDS(model::LedgerChange, required(unit), optional(before), required(after),
                optional(anchor))

template <class Archive>
void describe(Archive& archive, Described<Archive, LedgerEntry>& of) {
    const auto is_time = [](JsonValue value, const std::string& at) {
        if (model::date_of(at).empty()) {
            value.fail("expected a time of UTC, as 2026-11-21T10:00:00Z");
        }
    };
    PERFGATE_GROUPS(named(optional, "case", id), with(required, at, is_time), required(action),
                    optional(by, reason, recorded_at, git_revision, until, anchor_reset, cases,
                             changes, digests, removed, added_boards));
    archive.check([&](JsonValue value) {
        if (of.id.empty() == (of.action == model::LedgerAction::refresh)) return;
        value.fail("expected a case, but for a refresh, which is of many");
    });
}

/// The first line.
PERFGATE_FIELDS(Ledger, required(suite), named(required, "device", device_key))

std::string write_ledger(Ledger ledger) {
    std::ranges::stable_sort(ledger.entries, [](const LedgerEntry& left, const LedgerEntry& right) {
        return std::tie(left.id, left.at) < std::tie(right.id, right.at);
    });
    std::string text = write_document(ledger_schema, ledger, JsonLayout::compact) + '\n';
    for (const LedgerEntry& entry : ledger.entries) text += write_line(entry) + '\n';
    return text;
}

Ledger parse_ledger(std::string_view text, std::string_view source) {
    Ledger ledger;
    std::size_t number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        JsonDocument document(std::string(line), fmt::format("{}:{}", source, ++number));
        if (number > 1 && !document.root().find("schema")) {
            read(document.root(), ledger.entries.emplace_back());
            continue;
        }
        Ledger head;
        read_document(document, ledger_schema, head);
        if (number == 1) {
            ledger = std::move(head);
        } else if (head.suite != ledger.suite || head.device_key != ledger.device_key) {
            document.root().fail("expected the suite and device of the first line");
        }
    }
    if (number == 0) {
        throw util::InputError("{}: expected a ledger, found an empty file",
                               util::printable(source));
    }
    return ledger;
}

}  // namespace perfgate::document
