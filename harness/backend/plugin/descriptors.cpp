// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin/descriptors.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <regex>
#include <variant>

#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::backend {

namespace {

model::ParamValue default_of(model::ParamType type, const std::string& text,
                             const std::string& where) {
    const auto refuse = [&] {
        throw util::InputError("{}: the default '{}' is no {}", where, util::printable(text, 60),
                               model::to_text(type));
    };
    const auto number = [&](const auto& value) {
        if (!value) refuse();
        return value.value();
    };
    switch (type) {
        case model::ParamType::boolean:
            if (text != "true" && text != "false") refuse();
            return text == "true";
        case model::ParamType::integer:
            return number(util::parsed<std::int64_t>(text));
        case model::ParamType::real:
            return number(util::parsed<double>(text));
        case model::ParamType::text:
            return text;
    }
    return text;
}

}  // namespace

std::string text_or_empty(const char* text) {
    return text ? util::valid_utf8(text) : "";
}

bool is_name(const std::string& name) {
    static const std::regex pattern("[a-z][a-z0-9_]{0,63}");
    return std::regex_match(name, pattern);
}

model::ParamInfo describe(const pg_param& param, const std::string& where) {
    model::ParamInfo info;
    info.name = text_or_empty(param.name);
    if (!is_name(info.name)) {
        throw util::InputError("{}: '{}' is not a valid parameter name ([a-z][a-z0-9_]*)", where,
                               util::printable(info.name, 60));
    }
    info.help = text_or_empty(param.help);
    switch (param.type) {
        case PG_BOOL:
            info.type = model::ParamType::boolean;
            break;
        case PG_INT:
            info.type = model::ParamType::integer;
            break;
        case PG_REAL:
            info.type = model::ParamType::real;
            break;
        case PG_TEXT:
            info.type = model::ParamType::text;
            break;
        default:
            throw util::InputError("{}: parameter '{}' has the unknown type {}", where, info.name,
                                   static_cast<int>(param.type));
    }
    info.minimum = param.minimum;
    info.maximum = param.maximum;
    for (const char* const* choice = param.choices; choice && *choice; ++choice) {
        info.choices.push_back(text_or_empty(*choice));
    }
    for (const char* const* value = param.values; value && *value; ++value) {
        info.values.push_back(default_of(info.type, text_or_empty(*value),
                                         where + ", parameter '" + info.name + "'"));
    }
    if (param.default_value) {
        info.default_value = default_of(info.type, text_or_empty(param.default_value),
                                        where + ", parameter '" + info.name + "'");
    }
    return info;
}

model::VariantInfo describe(const pg_variant& variant, const std::string& where) {
    model::VariantInfo info;
    info.name = text_or_empty(variant.name);
    if (!is_name(info.name)) {
        throw util::InputError("{}: '{}' is not a valid variant name ([a-z][a-z0-9_]*)", where,
                               util::printable(info.name, 60));
    }
    info.help = text_or_empty(variant.help);
    info.target = variant.target == PG_HOST ? model::Target::host : model::Target::cuda;
    info.submission = variant.submission == PG_ASYNC   ? model::Submission::async
                      : variant.submission == PG_GRAPH ? model::Submission::graph
                                                       : model::Submission::synchronous;
    info.min_compute_capability = variant.min_compute_capability;
    return info;
}

bool is_complete(const pg_variant& variant) {
    return variant.create && variant.destroy && variant.fill && variant.launch && variant.verify &&
           (!variant.needs_reset || variant.reset);
}

std::string_view name_of(pg_arithmetic arithmetic) {
    const std::string_view name =
        util::word_of<PG_FP8>(arithmetic, {"", "f32", "tf32", "f16", "bf16", "fp8"});
    return name == util::no_word ? "" : name;
}

namespace {

[[noreturn]] void refuse(const model::WorkloadInfo& workload, const std::string& name,
                         const std::string& why) {
    throw util::InputError("workload '{}', parameter '{}': {}", workload.name, name, why);
}

pg_param_type abi_type(model::ParamType type) {
    switch (type) {
        case model::ParamType::boolean:
            return PG_BOOL;
        case model::ParamType::integer:
            return PG_INT;
        case model::ParamType::real:
            return PG_REAL;
        case model::ParamType::text:
            return PG_TEXT;
    }
    return PG_TEXT;
}

}  // namespace

PluginValues::PluginValues(const model::WorkloadInfo& workload, const model::Params& params) {
    std::vector<const model::ParamInfo*> infos;
    for (const model::ParamInfo& info : workload.params) infos.push_back(&info);
    std::ranges::sort(infos,
                      [](const auto* left, const auto* right) { return left->name < right->name; });

    for (const auto& given : params) {
        const bool known =
            std::ranges::any_of(infos, [&](const auto* info) { return info->name == given.first; });
        if (!known) refuse(workload, given.first, "the workload has no such parameter");
    }

    const auto keep = [this](const std::string& text) {
        texts_.push_back(std::make_unique<std::string>(text));
        return texts_.back()->c_str();
    };
    for (const model::ParamInfo* info : infos) {
        const auto given = params.find(info->name);
        if (given == params.end() && !info->default_value) {
            refuse(workload, info->name, "has no default; set it in the suite");
        }
        const model::ParamValue& value =
            given != params.end() ? given->second : *info->default_value;

        pg_value entry{};
        entry.name = keep(info->name);
        entry.type = abi_type(info->type);
        const std::string wrong_type = "the value " + model::to_text(value) + " is no " +
                                       std::string(model::to_text(info->type));
        switch (info->type) {
            case model::ParamType::boolean:
                if (!std::holds_alternative<bool>(value)) refuse(workload, info->name, wrong_type);
                entry.integer = std::get<bool>(value) ? 1 : 0;
                break;
            case model::ParamType::integer:
                if (!std::holds_alternative<std::int64_t>(value)) {
                    refuse(workload, info->name, wrong_type);
                }
                entry.integer = std::get<std::int64_t>(value);
                if (entry.integer < info->minimum || entry.integer > info->maximum) {
                    refuse(workload, info->name,
                           fmt::format("{} is outside {} to {}", entry.integer, info->minimum,
                                       info->maximum));
                }
                break;
            case model::ParamType::real:
                if (const auto* integer = std::get_if<std::int64_t>(&value)) {
                    entry.real = static_cast<double>(*integer);
                } else if (const auto* real = std::get_if<double>(&value)) {
                    entry.real = *real;
                } else {
                    refuse(workload, info->name, wrong_type);
                }
                break;
            case model::ParamType::text: {
                const auto* text = std::get_if<std::string>(&value);
                if (!text) refuse(workload, info->name, wrong_type);
                if (!info->choices.empty() &&
                    std::ranges::find(info->choices, *text) == info->choices.end()) {
                    refuse(workload, info->name,
                           fmt::format("'{}' is not one of {}", util::printable(*text, 60),
                                       fmt::join(info->choices, ", ")));
                }
                entry.text = keep(*text);
                break;
            }
        }
        values_.push_back(entry);
    }
    c_ = {sizeof(pg_values), values_.size(), values_.data()};
}

}  // namespace perfgate::backend
