// SPDX-License-Identifier: Apache-2.0
// NVIDIA nvbench, `--json` and `--jsonbin`, version 1 of its JSON. A state of a benchmark is a
// result, its axis values are the parameters. `--jsonbin` puts the samples into files beside the
// JSON; without it, the median is the one value, or the mean where an older nvbench writes no
// median. A rate is that of nvbench, which divides by the mean.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "document/json_reader.hpp"
#include "kinds/benchmark/formats/formats.hpp"
#include "kinds/benchmark/formats/json_text.hpp"
#include "util/text.hpp"

namespace perfgate::benchmark {

namespace {

using document::JsonDocument;
using document::JsonValue;

constexpr std::int64_t known_major = 1;
const model::Method by_samples{"nvbench", ""};
const model::Method by_nvbench_median{"nvbench", "median"};
const model::Method by_nvbench_mean{"nvbench", "mean"};

/// What nvbench says of a state that it did not measure because something failed.
constexpr std::array<std::string_view, 2> failures{"Unexpected error",
                                                   "Skipped because a previous state requested"};

/// "Elements{io}" is Elements, as in nvbench's own column titles; other characters that a case id
/// cannot have become '_'.
std::string axis_name(std::string_view text) {
    const std::size_t brace = text.find('{');
    if (brace != 0 && brace != std::string_view::npos && text.ends_with('}')) {
        text = text.substr(0, brace);
    }
    std::string name(text);
    for (char& c : name) {
        if (!is_axis_name({&c, 1})) c = '_';
    }
    return name;
}

/// Numbers are text in nvbench's JSON. NaN for what is none.
double number_in(std::string_view text) {
    return util::parsed<double>(text).value_or(std::numeric_limits<double>::quiet_NaN());
}

/// The named values of a summary's `data`.
std::optional<std::string_view> data_of(JsonValue summary, std::string_view name) {
    const auto data = summary.find("data");
    if (!data) return std::nullopt;
    std::optional<std::string_view> found;
    data->elements([&](JsonValue each) {
        if (each.at("name").text() == name) found = each.at("value").text();
    });
    return found;
}

/// The summaries of a state by their tags.
class Summaries {
  public:
    explicit Summaries(JsonValue state) {
        const auto list = state.find("summaries");
        if (!list) return;
        list->elements([&](JsonValue summary) {
            const std::string_view tag = summary.at("tag").text();
            if (!by_tag_.emplace(tag, summary).second) {
                summary.fail("the summary {} appears twice", util::printable(tag, 80));
            }
        });
    }

    [[nodiscard]] std::optional<JsonValue> find(std::string_view tag) const {
        const auto found = by_tag_.find(tag);
        return found == by_tag_.end() ? std::nullopt : std::optional(found->second);
    }

    [[nodiscard]] std::optional<double> value(std::string_view tag) const {
        const auto summary = find(tag);
        if (!summary) return std::nullopt;
        const auto text = data_of(*summary, "value");
        return text ? std::optional(number_in(*text)) : std::nullopt;
    }

  private:
    std::map<std::string_view, JsonValue> by_tag_;
};

/// Where the summaries of a kind of measurement are.
struct Kind {
    std::string_view samples, count, median, mean, items, bytes;
};
constexpr std::array kinds{
    Kind{"nv/json/bin:nv/cold/sample_times", "nv/cold/sample_size", "nv/cold/time/gpu/median",
         "nv/cold/time/gpu/mean", "nv/cold/bw/item_rate", "nv/cold/bw/global/bytes_per_second"},
    Kind{"nv/json/bin:nv/cpu_only/sample_times", "nv/cpu_only/sample_size",
         "nv/cpu_only/time/cpu/median", "nv/cpu_only/time/cpu/mean", "nv/cpu_only/bw/item_rate",
         "nv/cpu_only/bw/global/bytes_per_second"},
};

/// The file that a summary names. Nothing: nvbench could not write it.
std::optional<SampleFile> sample_file(JsonValue summary) {
    const auto name = data_of(summary, "filename");
    const auto size = data_of(summary, "size");
    if (!name || !size) return std::nullopt;
    const double count = number_in(*size);
    if (!(count >= 1 && count <= static_cast<double>(most_samples)) || count != std::floor(count)) {
        summary.fail("{} samples; expected from 1 to {}", util::printable(*size, 40), most_samples);
    }
    return SampleFile{std::string(*name), static_cast<std::size_t>(count), ns_of_s};
}

/// Whether there is one, or a reason why not.
bool add_time(const Summaries& summaries, const Kind& kind, ResultBuilder& builder) {
    if (const auto samples = summaries.find(kind.samples)) {
        if (auto file = sample_file(*samples)) {
            file->mean = summaries.value(kind.mean);
            builder.add_file("real_time", by_samples, *file);
            if (const auto count = summaries.value(kind.count)) {
                const bool possible = *count >= 0 && *count <= static_cast<double>(most_samples);
                builder.state_count("real_time", possible ? std::llround(*count) : -1);
            }
        } else {
            builder.fail("nvbench could not write the file of its samples");
        }
    } else if (const auto median = summaries.value(kind.median)) {
        builder.add("real_time", by_nvbench_median, ns_of_s * *median);
    } else if (const auto mean = summaries.value(kind.mean)) {
        builder.add("real_time", by_nvbench_mean, ns_of_s * *mean);
    } else {
        return false;
    }
    return true;
}

void add_values(const Summaries& summaries, const Layout& reading, ResultBuilder& builder) {
    for (const Kind& kind : kinds) {
        if (!add_time(summaries, kind, builder)) continue;
        if (const auto rate = summaries.value(kind.items)) {
            builder.add("items_per_second", by_nvbench_mean, *rate);
        }
        if (const auto rate = summaries.value(kind.bytes)) {
            builder.add("bytes_per_second", by_nvbench_mean, *rate);
        }
        break;
    }
    for (const Value& value : reading.values) {
        const auto found = summaries.value(value.from);
        if (!found) continue;
        builder.add(value.definition.name, by_samples, value.factor * *found,
                    value.definition.metric_class == model::MetricClass::timing);
    }
}

void note_skipped(JsonValue state, ResultBuilder& builder) {
    const auto stated = state.find("skip_reason");
    const std::string reason = util::printable(stated ? stated->text() : "", 300);
    for (const std::string_view failure : failures) {
        if (reason.starts_with(failure)) {
            builder.fail("the benchmark reports an error: {}", reason);
            return;
        }
    }
    builder.skip(fmt::format("the benchmark skips it: {}", reason));
}

/// `devices`: of the benchmark, of which a state has one. For a benchmark of the CPU there is none,
/// and what the state has is no number of a device.
Result result_of(std::string_view name, std::size_t devices, JsonValue state,
                 const Layout& reading) {
    ResultBuilder builder(name);
    // A second GPU that becomes visible renames nothing.
    if (devices > 1 && state.at("device").integer() != 0) {
        builder.add_axis("device", state.at("device").integer());
    }
    if (const auto values = state.find("axis_values")) {
        values->elements([&](JsonValue axis) {
            builder.add_axis(axis_name(axis.at("name").text()),
                             axis_value(axis.at("value").text()));
        });
    }
    if (state.at("is_skipped").boolean()) {
        note_skipped(state, builder);
        return builder.take();
    }
    add_values(Summaries(state), reading, builder);
    Result result = builder.take();
    if (result.problem.empty() && !result.metrics.contains("real_time")) {
        result.problem = "nvbench took no sample of it";
    }
    return result;
}

/// The devices that the benchmarks use, several of one model as one: "NVIDIA A100", "1 NVIDIA A100,
/// 1 NVIDIA H100". The file lists others, too.
std::string device_of(JsonValue root, const std::set<std::int64_t>& used) {
    std::map<std::string, int> counts;
    if (const auto devices = root.find("devices")) {
        devices->elements([&](JsonValue device) {
            if (used.contains(device.at("id").integer())) {
                ++counts[std::string(device.at("name").text())];
            }
        });
    }
    if (counts.size() == 1) return counts.begin()->first;
    std::string text;
    for (const auto& [name, count] : counts) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name);
    }
    return text;
}

}  // namespace

Results read_nvbench(std::string_view text, std::string_view source, const Layout& reading) {
    const JsonDocument document = parse_json(text, source);
    const JsonValue root = document.root();
    const JsonValue version = root.at("meta").at("version").at("json");
    if (version.at("major").integer() != known_major) {
        version.fail("version {} of the format; expected {}", version.at("major").integer(),
                     known_major);
    }
    Results results;
    std::set<std::int64_t> used;
    const auto benchmarks = root.find("benchmarks");
    if (!benchmarks) return results;
    benchmarks->elements([&](JsonValue benchmark) {
        const std::string_view name = benchmark.at("name").text();
        const auto devices = benchmark.find("devices");
        const std::size_t count = devices ? devices->size() : 0;
        if (devices) devices->elements([&](JsonValue id) { used.insert(id.integer()); });
        const auto states = benchmark.find("states");
        if (!states) return;
        states->elements([&](JsonValue state) {
            if (results.results.size() > most_results) return;
            results.results.push_back(result_of(name, count, state, reading));
        });
    });
    results.device = device_of(root, used);
    return results;
}

}  // namespace perfgate::benchmark
