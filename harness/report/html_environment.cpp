// SPDX-License-Identifier: Apache-2.0
#include "report/html_parts.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/quantity.hpp"
#include "model/roofline.hpp"
#include "report/plain_text.hpp"
#include "report/summary.hpp"

namespace perfgate::report {

namespace {

using document::JsonLayout;
using document::JsonWriter;
using document::write_field;

void write_fact(JsonWriter& json, std::string_view label, std::string_view value) {
    const std::string plain = plain_line(value, longest_line);
    if (plain.empty()) return;
    json.begin_array(JsonLayout::compact);
    json.value(label);
    json.value(plain);
    json.end_array();
}

void write_reading(JsonWriter& json, std::string_view label, const std::optional<double>& before,
                   const std::optional<double>& after, std::string_view unit) {
    if (!before && !after) return;
    const auto words = [&](const std::optional<double>& value) {
        return value ? fmt::format("{:.0f} {}", *value, unit) : "unknown";
    };
    write_fact(json, label, words(before) + " → " + words(after));
}

std::string list_text(const std::vector<std::string>& texts) {
    std::string list;
    for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + text;
    return list;
}

}  // namespace

void write_facts(JsonWriter& json, const model::VerdictDocument& document, const model::Run& run) {
    const model::Environment& environment = document.environment;
    const model::Device& device = environment.device;
    const model::BoardState& before = environment.before;
    const model::BoardState& after = environment.after;
    json.begin_array(JsonLayout::compact);
    write_fact(json, "device", device.name);
    write_fact(json, "device key", device.key);
    write_fact(json, "board", device.board);
    write_fact(json, "MIG profile", device.mig_profile);
    write_fact(json, "compute capability", device.compute_capability);
    write_fact(json, "chip", device.chip);
    if (device.memory_bytes > 0) {
        write_fact(json, "memory",
                   model::quantity_text(static_cast<double>(device.memory_bytes), "bytes"));
    }
    if (device.multiprocessors > 0) {
        write_fact(json, device.chip.empty() ? "logical cores" : "SMs",
                   std::to_string(device.multiprocessors));
    }
    write_fact(json, "ceilings", model::in_words(environment.ceilings));
    write_fact(json, "ceilings missing", environment.ceilings.problem);
    write_fact(json, "driver", environment.driver);
    write_fact(json, "CUDA of the driver", environment.cuda_driver);
    write_fact(json, "CUDA toolkit", environment.cuda_toolkit);
    write_fact(json, "CUPTI", environment.cupti);
    write_reading(json, "SM clock", before.sm_clock_mhz, after.sm_clock_mhz, "MHz");
    write_reading(json, "memory clock", before.memory_clock_mhz, after.memory_clock_mhz, "MHz");
    write_reading(json, "temperature", before.temperature_c, after.temperature_c, "°C");
    write_reading(json, "power", before.power_w, after.power_w, "W");
    write_reading(json, "power limit", before.power_limit_w, after.power_limit_w, "W");
    write_fact(json, "throttled before", list_text(before.throttle_reasons));
    write_fact(json, "throttled after", list_text(after.throttle_reasons));
    write_fact(json, "other processes before", list_text(before.other_processes));
    write_fact(json, "other processes after", list_text(after.other_processes));
    write_fact(json, "operating system", environment.os);
    write_fact(json, "kernel", environment.kernel);
    write_fact(json, "CPU", environment.cpu);
    if (environment.cores > 0) write_fact(json, "CPU cores", std::to_string(environment.cores));
    write_fact(json, "backend", document.backend);
    write_fact(json, "perfgate", document.tool_version);
    write_fact(json, "revision", run.git_revision);
    write_fact(json, "began", document.started_at);
    write_fact(json, "took", fmt::format("{:.1f} s", document.wall_s));
    json.end_array();
}

void write_ceilings(JsonWriter& json, const model::Ceilings& ceilings) {
    json.begin_object(JsonLayout::compact);
    if (ceilings.copy_bytes_per_s > 0 && std::isfinite(ceilings.copy_bytes_per_s)) {
        write_field(json, "copy_bytes_per_s", ceilings.copy_bytes_per_s);
    }
    json.key("matrix_flops_per_s");
    json.begin_array(JsonLayout::compact);
    for (const auto& [type, rate] : ceilings.matrix_flops_per_s) {
        if (!std::isfinite(rate) || rate <= 0) continue;
        json.begin_array(JsonLayout::compact);
        json.value(plain_line(type, longest_line));
        json.value(rate);
        json.end_array();
    }
    json.end_array();
    json.end_object();
}

}  // namespace perfgate::report
