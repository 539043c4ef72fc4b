// SPDX-License-Identifier: Apache-2.0
#include "inject/settings.hpp"

#include <cstdlib>
#include <string_view>

#include "util/text.hpp"

namespace perfgate::inject {
namespace {

constexpr const char* folder_variable = "PERFGATE_RECORD_FOLDER";
constexpr const char* level_variable = "PERFGATE_RECORD_LEVEL";
constexpr const char* limit_variable = "PERFGATE_RECORD_LIMIT_BYTES";
constexpr const char* flush_variable = "PERFGATE_RECORD_FLUSH_MS";
constexpr const char* code_variable = "PERFGATE_RECORD_CODE";
constexpr const char* waits_variable = "PERFGATE_RECORD_WAITS";
constexpr const char* stacks_variable = "PERFGATE_RECORD_STACKS_US";
constexpr const char* counters_variable = "PERFGATE_RECORD_COUNTERS";
constexpr const char* functions_variable = "PERFGATE_RECORD_FUNCTIONS";
constexpr const char* cupti_variable = "PERFGATE_RECORD_CUPTI";

std::string_view variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view{} : value;
}

template <class Number>
void read_number(const char* name, Number& out) {
    const auto value = util::parsed<Number>(variable(name));
    if (value && *value != 0) out = *value;
}

}  // namespace

const char* to_text(Level level) {
    return util::word_of<Level::code>(
               level, {"ranges", "records", "callbacks", "api", "samples", "counters", "code"})
        .data();
}

Settings settings_from_environment() {
    Settings settings;
    settings.folder = variable(folder_variable);
    for (const Level level : levels) {
        if (variable(level_variable) == to_text(level)) settings.level = level;
    }
    read_number(limit_variable, settings.limit_bytes);
    read_number(flush_variable, settings.flush_ms);
    settings.code = variable(code_variable) != "0";
    settings.waits = variable(waits_variable) == "1";
    read_number(stacks_variable, settings.stacks_us);
    settings.counters = variable(counters_variable);
    settings.functions = variable(functions_variable);
    settings.cupti = variable(cupti_variable);
    return settings;
}

std::vector<std::pair<std::string, std::string>> environment_for(const Settings& settings,
                                                                 const std::string& library) {
    std::vector<std::pair<std::string, std::string>> variables = {
        {folder_variable, settings.folder},
        {level_variable, to_text(settings.level)},
        {limit_variable, std::to_string(settings.limit_bytes)},
        {flush_variable, std::to_string(settings.flush_ms)},
        {code_variable, settings.code ? "1" : "0"},
    };
    if (settings.stacks_us != 0) {
        variables.emplace_back(stacks_variable, std::to_string(settings.stacks_us));
    }
    if (settings.waits) variables.emplace_back(waits_variable, "1");
    if (settings.level == Level::counters) {
        variables.emplace_back(counters_variable, settings.counters);
    }
    if (settings.level == Level::code) {
        variables.emplace_back(functions_variable, settings.functions);
    }
    if (!settings.cupti.empty()) variables.emplace_back(cupti_variable, settings.cupti);
    for (const char* name : injection_variables) {
        const bool drivers = std::string_view(name) == driver_variable;
        if (drivers && settings.level == Level::ranges) continue;
        variables.emplace_back(name, library);
    }
    return variables;
}

}  // namespace perfgate::inject
