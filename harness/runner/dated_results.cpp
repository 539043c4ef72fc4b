// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document/json_reader.hpp"
#include "kinds/benchmark/formats/formats.hpp"
#include "kinds/benchmark/formats/json_text.hpp"
#include "metrics/catalogue.hpp"
#include "model/benchmark_settings.hpp"
#include "model/date.hpp"
#include "runner/imported.hpp"
#include "suite/settings.hpp"
#include "util/error.hpp"
#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

using document::JsonValue;

constexpr std::string_view action_name = "github-action-benchmark";
/// How data.js begins: a script, of which only the value is read.
constexpr std::string_view action_variable = "window.BENCHMARK_DATA";
constexpr std::size_t longest_unit = 40;

model::MetricDefinition definition_of(const std::string& metric, bool higher) {
    if (const auto known = metrics::find_metric(metric)) return known->definition;
    model::MetricDefinition definition;
    definition.name = metric;
    definition.unit = metric;
    definition.direction = higher ? model::Direction::higher : model::Direction::lower;
    definition.metric_class = model::MetricClass::timing;
    return definition;
}

/// A run of one process.
model::Run run_of(const benchmark::Results& results, const std::string& suite,
                  const std::string& file, std::string_view format, bool higher) {
    model::Run run;
    run.backend = "imported";
    run.started_at = results.measured_at;
    run.git_revision = results.revision;
    run.environment.device.key = ImportChoice().device_key;
    run.environment.device.name =
        results.device.empty() ? run.environment.device.key : results.device;
    run.environment.device.board =
        results.machine.empty() ? "imported" : util::fingerprint_of(results.machine);
    model::SuiteResult made;
    made.name = suite;
    made.file = file;
    for (const benchmark::Result& result : results.results) {
        if (result.metrics.empty() || !result.problem.empty() || !result.skipped.empty()) continue;
        model::CaseResult& each = made.cases.emplace_back();
        each.spec = {ImportChoice().name, result.name, result.params, model::Cache::cold};
        each.command = {std::string(format)};
        each.instance = model::benchmark_instance;
        each.status = model::CaseStatus::measured;
        for (const auto& [metric, samples] : result.metrics) {
            const auto [known, added] = run.metric_definitions.try_emplace(metric);
            if (added) known->second = definition_of(metric, higher);
            model::MetricSeries& series = each.metrics[metric];
            series.method = samples.method;
            series.unit = known->second.unit;
            series.batches.push_back({0, run.environment.device.board, 0, samples.values});
            each.gates.push_back({metric, model::Tolerance{ImportChoice().tolerance, {}, 0},
                                  suite::default_cross_board});
        }
    }
    run.suites.push_back(std::move(made));
    return run;
}

/// What `window.BENCHMARK_DATA = …` is; nothing: the text is no such script.
std::optional<std::string_view> value_of_script(std::string_view text) {
    const auto trim = [&] {
        text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    };
    trim();
    if (!text.starts_with(action_variable)) return std::nullopt;
    text.remove_prefix(action_variable.size());
    trim();
    if (!text.starts_with('=')) return std::nullopt;
    text.remove_prefix(1);
    const std::size_t end = text.find_last_not_of(" \t\r\n;");
    return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

/// A step of a JSON pointer.
std::string pointer_step(std::string_view key) {
    std::string step;
    for (const char c : key) {
        step += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    }
    return step;
}

std::string utc_of_ms(JsonValue value) {
    constexpr std::int64_t last_ms = 253'402'300'799'000;  // of the year 9999
    const std::int64_t time_ms = value.integer();
    if (time_ms < 0 || time_ms > last_ms) value.fail("expected milliseconds since 1970");
    return model::utc_text(std::chrono::sys_seconds(std::chrono::seconds(time_ms / 1000)));
}

/// The values of units that are no times: each is a metric of its own.
benchmark::Layout units_of(JsonValue benches) {
    benchmark::Layout layout;
    layout.format = action_name;
    std::set<std::string> units;
    benches.elements([&](JsonValue bench) { units.emplace(bench.at("unit").text()); });
    for (const std::string& unit : units) {
        if (benchmark::is_action_time(unit)) continue;
        benchmark::Value value = benchmark::value_of(
            util::printable(unit.empty() ? "value" : unit, longest_unit), "/value");
        value.where = {{"/unit", unit}};
        layout.values.push_back(std::move(value));
    }
    return layout;
}

std::vector<DatedRun> runs_of_script(std::string_view script, const std::string& file) {
    const std::string source = util::printable(file);
    const document::JsonDocument document = benchmark::parse_json(script, source);
    std::vector<DatedRun> runs;
    document.root().at("entries").members([&](std::string_view name, JsonValue entries) {
        if (name == "*") entries.fail("a name that is '*' cannot be read");
        std::size_t number = 0;
        entries.elements([&](JsonValue entry) {
            const std::string rows =
                fmt::format("/entries/{}/{}/benches/*", pointer_step(name), number++);
            // As the action decides it.
            const std::string_view tool = entry.at("tool").text();
            const bool higher = tool == "customBiggerIsBetter" || tool == "pytest" ||
                                tool == "benchmarkjs" || tool == "benchmarkluau";
            benchmark::Results results =
                benchmark::read_action_benches(document, rows, units_of(entry.at("benches")));
            benchmark::check(results, source);
            results.measured_at = utc_of_ms(entry.at("date"));
            results.revision = entry.at("commit").at("id").text();
            util::Sha256 sum;
            const std::string date = fmt::to_string(entry.at("date").integer());
            for (const std::string_view part :
                 {action_name, name, std::string_view(results.revision), std::string_view(date)}) {
                sum.add_number(part.size());
                sum.add(part);
            }
            runs.push_back(
                {run_of(results, std::string(name), file, action_name, higher), sum.fingerprint()});
        });
    });
    return runs;
}

}  // namespace

std::vector<DatedRun> dated_results(const std::string& text, const std::string& file) {
    if (const auto script = value_of_script(text)) return runs_of_script(*script, file);
    const std::string source = util::printable(file);
    const benchmark::Format* format = benchmark::recognised(text, source);
    if (format != nullptr && !format->is_generic()) {
        benchmark::Layout reading;
        reading.format = format->name;
        const benchmark::Results results = benchmark::read_results(
            text, source, reading, std::filesystem::absolute(file).parent_path());
        if (!results.measured_at.empty()) {
            return {{run_of(results, ImportChoice().suite, file, format->name, false),
                     util::fingerprint_of(text)}};
        }
    }
    throw util::InputError(
        "{}: expected a run, a history, a data.js of github-action-benchmark, or results of Google "
        "Benchmark or pytest-benchmark with their date",
        source);
}

}  // namespace perfgate::runner
