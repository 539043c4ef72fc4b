// SPDX-License-Identifier: Apache-2.0
// `--benchmark-json`. The data of all rounds are samples, in seconds; a file that was saved without
// them (--benchmark-autosave) has the median.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "document/json_reader.hpp"
#include "kinds/benchmark/formats/formats.hpp"
#include "kinds/benchmark/formats/json_text.hpp"
#include "model/date.hpp"
#include "util/text.hpp"

namespace perfgate::benchmark {

namespace {

using document::JsonDocument;
using document::JsonKind;
using document::JsonValue;

/// Of the tool, which is also that of its files.
constexpr std::array<std::string_view, 3> known_versions{"3.", "4.", "5."};

/// It writes what JSON lacks as "UNSERIALIZABLE[…]": then its name says more.
bool is_plain(JsonValue value) {
    if (value.kind() == JsonKind::text) return !value.text().starts_with("UNSERIALIZABLE[");
    return value.kind() != JsonKind::array && value.kind() != JsonKind::object &&
           value.kind() != JsonKind::null;
}

/// "test_sum[100]" with the parameters by name where all of them are plain values, else as it is.
ResultBuilder builder_for(JsonValue entry) {
    const std::string_view full = entry.at("fullname").text();
    const auto params = entry.find("params");
    if (!params) return ResultBuilder(full);
    bool plain = params->size() > 0;
    params->members([&](std::string_view name, JsonValue value) {
        plain = plain && is_axis_name(name) && is_plain(value);
    });
    const std::size_t bracket = full.find('[');
    if (!plain || bracket == std::string_view::npos) return ResultBuilder(full);
    ResultBuilder builder(full.substr(0, bracket));
    params->members(
        [&](std::string_view name, JsonValue value) { builder.add_axis(name, axis_value(value)); });
    return builder;
}

Result result_of(JsonValue entry) {
    ResultBuilder builder = builder_for(entry);
    const JsonValue stats = entry.at("stats");
    const auto data = stats.find("data");
    if (data && data->size() > 0) {
        data->elements([&](JsonValue time) {
            builder.add("real_time", {"pytest-benchmark", ""}, ns_of_s * number_of(time));
        });
        if (const auto rounds = stats.find("rounds")) {
            builder.state_count("real_time", rounds->integer());
        }
    } else {
        builder.add("real_time", {"pytest-benchmark", "median"},
                    ns_of_s * number_of(stats.at("median")));
    }
    return builder.take();
}

/// "AMD EPYC 7763, 4 CPUs", as far as it is known: "brand" is of older versions of the tool.
std::string processor_of(JsonValue machine) {
    const auto cpu = machine.find("cpu");
    if (!cpu || cpu->kind() != JsonKind::object) return {};
    std::string device;
    for (const char* key : {"brand", "brand_raw"}) {
        const auto name = cpu->find(key);
        if (name && name->kind() == JsonKind::text) device = name->text();
    }
    const auto count = cpu->find("count");
    if (!count || count->kind() != JsonKind::integer) return device;
    return fmt::format("{}, {} CPUs", device, count->integer());
}

}  // namespace

Results read_pytest_benchmark(std::string_view text, std::string_view source,
                              const Layout& /*reading*/) {
    const JsonDocument document = parse_json(text, source);
    const JsonValue version = document.root().at("version");
    const bool known = std::ranges::any_of(
        known_versions, [&](std::string_view each) { return version.text().starts_with(each); });
    if (!known) {
        version.fail("version {} of the format; expected 3, 4 or 5",
                     util::printable(version.text(), 40));
    }
    Results results;
    const JsonValue machine = document.root().at("machine_info");
    if (const auto node = machine.find("node")) results.machine = node->text();
    results.device = processor_of(machine);
    const auto member = [](JsonValue object, std::string_view key, JsonKind kind) {
        const auto found = object.kind() == JsonKind::object ? object.find(key) : std::nullopt;
        return found && found->kind() == kind ? found : std::nullopt;
    };
    if (const auto at = member(document.root(), "datetime", JsonKind::text)) {
        results.measured_at = model::utc_of(at->text()).value_or("");
    }
    if (const auto commit = member(document.root(), "commit_info", JsonKind::object)) {
        if (const auto id = member(*commit, "id", JsonKind::text)) results.revision = id->text();
        const auto dirty = member(*commit, "dirty", JsonKind::boolean);
        if (dirty && dirty->boolean() && !results.revision.empty()) results.revision += "-dirty";
    }
    document.root().at("benchmarks").elements([&](JsonValue entry) {
        results.results.push_back(result_of(entry));
    });
    return results;
}

}  // namespace perfgate::benchmark
