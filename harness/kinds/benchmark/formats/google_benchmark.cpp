// SPDX-License-Identifier: Apache-2.0
// `--benchmark_out_format=json`. Repetitions are samples; aggregates are read only where they are
// all there is (--benchmark_report_aggregates_only), and then the median. A name
// "copy/n:8/64/threads:2" is the case copy[arg0=64,n=8,threads=2]. What a name says of measuring
// ("repeats:3") is a note, and part of the case only where others of the file have none.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "document/json_reader.hpp"
#include "kinds/benchmark/formats/formats.hpp"
#include "kinds/benchmark/formats/json_text.hpp"
#include "model/benchmark_settings.hpp"
#include "model/date.hpp"
#include "model/quantity.hpp"
#include "util/text.hpp"

namespace perfgate::benchmark {

namespace {

using document::JsonDocument;
using document::JsonValue;

constexpr std::int64_t known_schema = 1;
const model::Method by_iterations{"google-benchmark", ""};
const model::Method by_median{"google-benchmark", "median"};

/// ns of a time unit.
double factor_of(JsonValue unit) {
    static constexpr std::array<std::pair<std::string_view, double>, 4> units{
        {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
    const std::string_view name = unit.text();
    for (const auto& [known, factor] : units) {
        if (name == known) return factor;
    }
    unit.fail("unknown time unit '{}'; expected ns, us, ms or s", util::printable(name, 40));
}

std::vector<std::string_view> parts_of(std::string_view name) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0;;) {
        const std::size_t end = name.find('/', begin);
        parts.push_back(name.substr(begin, end - begin));
        if (end == std::string_view::npos) return parts;
        begin = end + 1;
    }
}

bool is_argument(std::string_view part) {
    return std::holds_alternative<std::int64_t>(axis_value(part));
}

/// Where "name:value" is split; nothing: the part is no such pair. A C++ name has "::".
std::optional<std::size_t> colon_of(std::string_view part) {
    const std::size_t colon = part.find(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == part.size() ||
        part[colon + 1] == ':' || part.find_first_of("<>(), ") != std::string_view::npos) {
        return std::nullopt;
    }
    return is_axis_name(part.substr(0, colon)) ? std::optional(colon) : std::nullopt;
}

/// The parts after the first that are arguments become parameters. A name that has other words
/// between them is left whole.
struct NameParts {
    std::string name;
    std::vector<std::pair<std::string, model::ParamValue>> params, settings;
};

NameParts parts_of_name(std::string_view name) {
    const std::vector<std::string_view> parts = parts_of(name);
    std::size_t words = 1;
    while (words < parts.size() && !is_argument(parts[words]) && !colon_of(parts[words]) &&
           !parts[words].ends_with("_time")) {
        ++words;
    }
    std::size_t length = words - 1;
    for (std::size_t i = 0; i < words; ++i) length += parts[i].size();
    NameParts found{std::string(name.substr(0, length)), {}, {}};
    int unnamed = 0;
    for (std::size_t i = words; i < parts.size(); ++i) {
        const std::string_view part = parts[i];
        std::string axis;
        model::ParamValue value = true;
        if (const auto colon = colon_of(part)) {
            axis = part.substr(0, *colon);
            value = axis_value(part.substr(*colon + 1));
        } else if (is_argument(part)) {
            axis = fmt::format("arg{}", unnamed++);
            value = axis_value(part);
        } else if (part == "real_time" || part == "process_time" || part == "manual_time") {
            axis = part;
        } else {
            return {std::string(name), {}, {}};
        }
        (model::is_benchmark_setting(axis) ? found.settings : found.params)
            .emplace_back(std::move(axis), std::move(value));
    }
    return found;
}

/// With the settings as parameters where the case would be another's without them.
ResultBuilder builder_for(const NameParts& parts, bool with_settings) {
    ResultBuilder builder(parts.name);
    for (const auto& [axis, value] : parts.params) builder.add_axis(axis, value);
    if (with_settings) {
        for (const auto& [axis, value] : parts.settings) builder.add_axis(axis, value);
    } else if (!parts.settings.empty()) {
        std::vector<std::string> texts;
        for (const auto& [axis, value] : parts.settings) {
            texts.push_back(axis + ' ' + model::to_text(value));
        }
        builder.note(fmt::format("measured with {}", fmt::join(texts, ", ")));
    }
    return builder;
}

void add_values(JsonValue entry, const model::Method& method, const Layout& reading,
                ResultBuilder& builder) {
    const double factor = factor_of(entry.at("time_unit"));
    for (const char* time : {"real_time", "cpu_time"}) {
        builder.add(time, method, factor * number_of(entry.at(time)));
    }
    for (const char* rate : {"items_per_second", "bytes_per_second"}) {
        if (const auto value = entry.find(rate)) builder.add(rate, method, number_of(*value));
    }
    for (const Value& value : reading.values) {
        // A counter may have the name of a key of the tool, which comes first.
        auto found = entry.find(again(value.from));
        if (!found) found = entry.find(value.from);
        if (!found) continue;
        builder.add(value.definition.name, method, value.factor * number_of(*found),
                    value.definition.metric_class == model::MetricClass::timing);
    }
}

std::string_view text_or(JsonValue entry, std::string_view key, std::string_view otherwise) {
    const auto found = entry.find(key);
    return found ? found->text() : otherwise;
}

class Reading {
  public:
    Reading(const Layout& reading, JsonValue entries) : reading_(reading) {
        std::set<std::string> names;
        entries.elements([&](JsonValue entry) {
            if (!names.insert(name_of(entry)).second) return;
            ++with_id_[builder_for(parts_of_name(name_of(entry)), false).id()];
        });
        entries.elements([&](JsonValue entry) { add(entry); });
    }

    std::vector<Result> take() {
        for (const auto& [name, entry] : medians_) {
            if (!iterations_.insert(name).second) continue;
            add_values(entry, by_median, reading_, builder(name));
        }
        std::vector<Result> results;
        for (ResultBuilder& each : builders_) {
            results.push_back(each.take());
            complete(results.back());
        }
        return results;
    }

  private:
    static std::string name_of(JsonValue entry) {
        return std::string(text_or(entry, "run_name", entry.at("name").text()));
    }

    void add(JsonValue entry) {
        const std::string name = name_of(entry);
        const std::string_view type = text_or(entry, "run_type", "iteration");
        if (type != "iteration" && type != "aggregate") {
            entry.at("run_type").fail("unknown run type '{}'", util::printable(type, 40));
        }
        const bool aggregate = type == "aggregate";
        const std::string_view aggregate_name = text_or(entry, "aggregate_name", "");
        // Of ->Complexity(): fitted to the times of all arguments, so it is no result of a case.
        if (aggregate && (aggregate_name == "BigO" || aggregate_name == "RMS")) return;
        if (aggregate && aggregate_name != "median") {
            builder(name);
            return;
        }
        ResultBuilder& result = builder(name);
        const auto failed = entry.find("error_occurred");
        if (failed && failed->boolean()) {
            result.fail("the benchmark reports an error: {}",
                        util::printable(text_or(entry, "error_message", ""), 300));
            return;
        }
        // 1.8 and later.
        if (entry.find("skipped") && entry.at("skipped").boolean()) {
            result.skip(fmt::format("the benchmark skips it: {}",
                                    util::printable(text_or(entry, "skip_message", ""), 300)));
            return;
        }
        if (aggregate) {
            medians_.emplace_back(name, entry);
            return;
        }
        if (!repetition(name, entry)) {
            entry.fail("the result {} appears twice", result.words());
        }
        iterations_.insert(name);
        add_values(entry, by_iterations, reading_, result);
        // 1.5 writes 0 where --benchmark_repetitions sets them.
        const auto stated = entry.find("repetitions");
        if (stated && stated->integer() != 0) result.state_count("real_time", stated->integer());
    }

    static void complete(Result& result) {
        if (!result.problem.empty()) return;
        if (!result.skipped.empty()) {
            if (!result.metrics.empty()) {
                result.problem =
                    "some of its repetitions have values, and of others " + result.skipped;
                result.skipped.clear();
            }
            return;
        }
        if (result.metrics.empty()) {
            result.problem = "the file has neither its repetitions nor their median";
            return;
        }
        // The repetitions that have a counter may be the fast ones.
        const std::size_t repetitions = result.metrics.at("real_time").values.size();
        for (const auto& [metric, samples] : result.metrics) {
            if (samples.values.size() == repetitions) continue;
            result.problem = fmt::format("{} of {} repetitions have {}; expected it of all",
                                         samples.values.size(), repetitions, metric);
        }
    }

    ResultBuilder& builder(const std::string& name) {
        const auto [known, added] = places_.try_emplace(name, builders_.size());
        if (added) {
            const NameParts parts = parts_of_name(name);
            const bool unique = with_id_.at(builder_for(parts, false).id()) == 1;
            builders_.push_back(builder_for(parts, !unique));
        }
        return builders_[known->second];
    }

    /// Whether it is the first of this number.
    bool repetition(const std::string& name, JsonValue entry) {
        const auto index = entry.find("repetition_index");
        return repetitions_.emplace(name, index ? index->integer() : 0).second;
    }

    const Layout& reading_;
    /// By the id without settings, how many names have it.
    std::map<std::string, std::size_t> with_id_;
    std::map<std::string, std::size_t> places_;
    std::vector<ResultBuilder> builders_;
    std::set<std::pair<std::string, std::int64_t>> repetitions_;
    std::set<std::string> iterations_;
    std::vector<std::pair<std::string, JsonValue>> medians_;
};

/// "2 CPUs with caches of 48 KiB, 32 KiB, 1 MiB and 32 MiB". Not their frequency, which varies.
std::string device_of(JsonValue context) {
    const auto cpus = context.find("num_cpus");
    if (!cpus) return {};
    std::vector<std::string> sizes;
    if (const auto caches = context.find("caches")) {
        caches->elements([&](JsonValue cache) {
            const auto bytes = static_cast<double>(cache.at("size").integer());
            sizes.push_back(model::quantity_text(bytes, "bytes"));
        });
    }
    std::string text = fmt::format("{} CPUs", cpus->integer());
    if (!sizes.empty()) text += fmt::format(" with caches of {}", fmt::join(sizes, ", "));
    return text;
}

}  // namespace

Results read_google_benchmark(std::string_view text, std::string_view source,
                              const Layout& reading) {
    const JsonDocument document = parse_json(text, source, RepeatedKeys::are_renamed);
    const JsonValue context = document.root().at("context");
    // 1.9 and later.
    if (const auto schema = context.find("json_schema_version");
        schema && schema->integer() != known_schema) {
        schema->fail("version {} of the format; expected {}", schema->integer(), known_schema);
    }
    Results results;
    const bool debug = text_or(context, "library_build_type", "") == "debug";
    if (debug) {
        results.notes.emplace_back(
            "the benchmark library is a debug build: its overhead is larger");
    }
    const auto scaling = context.find("cpu_scaling_enabled");
    if (scaling && scaling->boolean()) {
        results.notes.emplace_back(
            "the CPU changes its frequency (cpu_scaling_enabled): times vary");
    }
    results.machine = text_or(context, "host_name", "");
    results.device = device_of(context);
    results.measured_at = model::utc_of(text_or(context, "date", "")).value_or("");
    results.results = Reading(reading, document.root().at("benchmarks")).take();
    if (!debug) return results;
    for (Result& result : results.results) {
        for (auto& [metric, samples] : result.metrics) samples.method.debug_build = true;
    }
    return results;
}

}  // namespace perfgate::benchmark
