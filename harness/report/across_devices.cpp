// SPDX-License-Identifier: Apache-2.0
#include "report/across_devices.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "document/shared.hpp"
#include "model/quantity.hpp"
#include "model/roofline.hpp"
#include "report/columns.hpp"
#include "report/plain_text.hpp"
#include "report/summary.hpp"
#include "util/error.hpp"

namespace perfgate::report {

namespace {

using document::JsonLayout;
using document::JsonWriter;
using document::write_field;
using model::CaseResult;
using model::CaseStatus;
using model::MetricSeries;

/// A case of one run or of both; at least one pointer is not null.
struct Pair {
    std::string id;
    const CaseResult* first = nullptr;
    const CaseResult* second = nullptr;
};

struct SuitePairs {
    std::string name;
    std::vector<Pair> pairs;  ///< in the first run's order; those of only the second run last
};

/// Suites by name, cases by id.
std::vector<SuitePairs> pair_up(const model::Run& first, const model::Run& second) {
    std::vector<SuitePairs> suites;
    std::unordered_map<std::string, std::size_t> suite_at;
    std::vector<std::unordered_map<std::string, std::size_t>> case_at;
    const auto add = [&](const model::Run& run, const CaseResult* Pair::*side) {
        for (const model::SuiteResult& suite : run.suites) {
            const auto [known, added] = suite_at.emplace(suite.name, suites.size());
            if (added) {
                suites.push_back({suite.name, {}});
                case_at.emplace_back();
            }
            SuitePairs& pairs = suites[known->second];
            for (const CaseResult& result : suite.cases) {
                std::string id = model::case_id(result.spec);
                const auto [place, fresh] = case_at[known->second].emplace(id, pairs.pairs.size());
                if (fresh) pairs.pairs.push_back({std::move(id), nullptr, nullptr});
                pairs.pairs[place->second].*side = &result;
            }
        }
    };
    add(first, &Pair::first);
    add(second, &Pair::second);
    return suites;
}

void require_common_case(const std::vector<SuitePairs>& suites) {
    for (const SuitePairs& suite : suites) {
        for (const Pair& pair : suite.pairs) {
            if (pair.first != nullptr && pair.second != nullptr) return;
        }
    }
    throw util::InputError(
        "the two runs have no case in common: measure the same suites on both devices");
}

const MetricSeries* find_series(const CaseResult* result, std::string_view metric) {
    if (result == nullptr || result->status != CaseStatus::measured) return nullptr;
    const auto found = result->metrics.find(std::string(metric));
    return found == result->metrics.end() ? nullptr : &found->second;
}

/// From the first to the second; nothing if their methods differ.
std::optional<double> change_between(const MetricSeries& first, const MetricSeries& second) {
    if (!comparable(first, second)) return std::nullopt;
    return model::change_fraction(first.value, second.value);
}

// --- console

/// The first time metric that either has; of a benchmark, which has another, the first gated one.
std::string_view time_of(const Pair& pair) {
    for (const std::string_view metric : model::time_metrics) {
        if (find_series(pair.first, metric) != nullptr ||
            find_series(pair.second, metric) != nullptr) {
            return metric;
        }
    }
    for (const CaseResult* result : {pair.first, pair.second}) {
        if (result != nullptr && !result->gates.empty()) return result->gates.front().metric;
    }
    return "";
}

std::string time_cell(const CaseResult* result, std::string_view metric) {
    if (result == nullptr) return "-";
    const MetricSeries* series = find_series(result, metric);
    if (series == nullptr) {
        return result->status == CaseStatus::measured ? "-" : std::string(to_text(result->status));
    }
    return model::quantity_text(series->value, series->unit);
}

std::string ceiling_cell(const CaseResult* result, const model::Run& run) {
    if (result == nullptr) return "";
    const auto share = model::ceiling_share(*result, run.environment.ceilings);
    if (!share) return "";
    return fmt::format("{:.0f} % of {}", share->share * 100, log_line(share->ceiling));
}

std::string describe(char letter, const NamedRun& named) {
    const model::Environment& environment = named.run->environment;
    std::string text = fmt::format("{}: {}", letter, log_line(environment.device.name));
    if (!environment.driver.empty()) text += ", driver " + log_line(environment.driver);
    text += fmt::format(" ({})\n", log_line(named.file));
    const std::string ceilings = model::in_words(environment.ceilings);
    if (!ceilings.empty()) text += "   ceilings: " + ceilings + '\n';
    return text;
}

// --- JSON

void write_side(JsonWriter& json, std::string_view key, const NamedRun& named) {
    const model::Run& run = *named.run;
    json.key(key);
    json.begin_object(JsonLayout::lines);
    write_field(json, "file", named.file);
    write_field(json, "started_at", run.started_at);
    write_field(json, "tool_version", run.tool_version);
    write_field(json, "git_revision", run.git_revision);
    write_field(json, "device", run.environment.device);
    write_field(json, "driver", run.environment.driver);
    write_field(json, "ceilings", run.environment.ceilings);
    json.end_object();
}

void write_case_side(JsonWriter& json, std::string_view key, const CaseResult* result,
                     const model::Run& run) {
    if (result == nullptr) return;
    json.key(key);
    json.begin_object(JsonLayout::compact);
    write_field(json, "status", to_text(result->status));
    document::write_unless_default(json, "reason", result->reason);
    if (const auto share = model::ceiling_share(*result, run.environment.ceilings)) {
        write_field(json, "bound", to_text(share->bound));
        write_field(json, "ceiling", share->ceiling);
        write_field(json, "ceiling_share", share->share);
    }
    json.end_object();
}

void write_metric(JsonWriter& json, const std::string& name, const MetricSeries& first,
                  const MetricSeries& second) {
    json.key(name);
    json.begin_object(JsonLayout::compact);
    write_field(json, "unit", first.unit);
    write_field(json, "first", first.value);
    write_field(json, "second", second.value);
    if (const auto change = change_between(first, second)) write_field(json, "change", *change);
    write_field(json, "method", to_text(first.method));
    if (second.unit != first.unit) write_field(json, "second_unit", second.unit);
    if (second.method != first.method) {
        write_field(json, "second_method", to_text(second.method));
    }
    json.end_object();
}

void write_pair(JsonWriter& json, const Pair& pair, const model::Run& first,
                const model::Run& second) {
    json.begin_object(JsonLayout::lines);
    write_field(json, "id", pair.id);
    write_case_side(json, "first", pair.first, first);
    write_case_side(json, "second", pair.second, second);
    json.key("metrics");
    json.begin_object(JsonLayout::lines);
    if (pair.first != nullptr) {
        for (const auto& [name, series] : pair.first->metrics) {
            if (find_series(pair.first, name) == nullptr) continue;
            const MetricSeries* other = find_series(pair.second, name);
            if (other != nullptr) write_metric(json, name, series, *other);
        }
    }
    json.end_object();
    json.end_object();
}

}  // namespace

std::string write_across_console(const NamedRun& first, const NamedRun& second,
                                 const Options& options) {
    const std::vector<SuitePairs> suites = pair_up(*first.run, *second.run);
    require_common_case(suites);
    std::string text = describe('A', first) + describe('B', second);
    std::size_t incomparable = 0;
    for (const SuitePairs& suite : suites) {
        std::vector<std::vector<std::string>> rows{
            {log_line(suite.name), "time", "A", "B", "B to A", "ceiling A", "ceiling B"}};
        for (const Pair& pair : suite.pairs) {
            const std::string_view metric = time_of(pair);
            const MetricSeries* before = find_series(pair.first, metric);
            const MetricSeries* after = find_series(pair.second, metric);
            std::string change;
            if (before != nullptr && after != nullptr) {
                const std::optional<double> fraction = change_between(*before, *after);
                if (fraction) change = model::change_text(*fraction);
                if (!comparable(*before, *after)) ++incomparable;
            }
            rows.push_back({log_line(pair.id), std::string(metric), time_cell(pair.first, metric),
                            time_cell(pair.second, metric), change,
                            ceiling_cell(pair.first, *first.run),
                            ceiling_cell(pair.second, *second.run)});
        }
        text += '\n' + table(rows, {.indent = 0,
                                    .align = {Align::left, Align::right, Align::right, Align::right,
                                              Align::right, Align::right, Align::right},
                                    .width = options.width,
                                    .leave_out_empty = true});
    }
    if (incomparable > 0) {
        text += fmt::format("\nnote: {} {} measured by different methods and not compared\n",
                            incomparable, incomparable == 1 ? "time was" : "times were");
    }
    return text + "\nfor information: nothing is judged across devices\n";
}

std::string write_across_json(const NamedRun& first, const NamedRun& second) {
    const std::vector<SuitePairs> suites = pair_up(*first.run, *second.run);
    require_common_case(suites);
    JsonWriter json;
    json.begin_object(JsonLayout::lines);
    write_field(json, "schema", "perfgate.across");
    write_field(json, "version", std::int64_t{1});
    write_side(json, "first", first);
    write_side(json, "second", second);
    json.key("suites");
    json.begin_array(JsonLayout::lines);
    for (const SuitePairs& suite : suites) {
        json.begin_object(JsonLayout::lines);
        write_field(json, "name", suite.name);
        json.key("cases");
        json.begin_array(JsonLayout::lines);
        for (const Pair& pair : suite.pairs) write_pair(json, pair, *first.run, *second.run);
        json.end_array();
        json.end_object();
    }
    json.end_array();
    json.end_object();
    return json.finish();
}

}  // namespace perfgate::report
