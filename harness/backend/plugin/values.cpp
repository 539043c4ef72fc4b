// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "model/error.hpp"
#include "model/text.hpp"

namespace perfgate::backend {
namespace {

[[noreturn]] void refuse(const model::WorkloadInfo& workload, const std::string& name,
                         const std::string& why) {
    throw model::InputError(
        fmt::format("workload '{}', parameter '{}': {}", workload.name, name, why));
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
    std::sort(infos.begin(), infos.end(),
              [](const auto* left, const auto* right) { return left->name < right->name; });

    for (const auto& given : params) {
        const bool known = std::any_of(infos.begin(), infos.end(),
                                       [&](const auto* info) { return info->name == given.first; });
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
                if (!info->choices.empty() && std::find(info->choices.begin(), info->choices.end(),
                                                        *text) == info->choices.end()) {
                    refuse(workload, info->name,
                           fmt::format("'{}' is not one of {}", model::printable(*text, 60),
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
