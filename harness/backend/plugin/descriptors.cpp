// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin/descriptors.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <regex>

#include "model/error.hpp"
#include "model/text.hpp"

namespace perfgate::backend {
namespace {

model::ParamValue default_of(model::ParamType type, const std::string& text,
                             const std::string& where) {
    const auto refuse = [&] {
        throw model::InputError(fmt::format("{}: the default '{}' is no {}", where,
                                            model::printable(text, 60), model::to_text(type)));
    };
    const char* end = text.data() + text.size();
    switch (type) {
        case model::ParamType::boolean:
            if (text != "true" && text != "false") refuse();
            return text == "true";
        case model::ParamType::integer: {
            std::int64_t value = 0;
            const auto [stop, error] = std::from_chars(text.data(), end, value);
            if (error != std::errc{} || stop != end) refuse();
            return value;
        }
        case model::ParamType::real: {
            double value = 0;
            const auto [stop, error] = std::from_chars(text.data(), end, value);
            if (error != std::errc{} || stop != end) refuse();
            return value;
        }
        case model::ParamType::text:
            return text;
    }
    return text;
}

}  // namespace

std::string text_or_empty(const char* text) {
    return text ? model::valid_utf8(text) : "";
}

bool is_name(const std::string& name) {
    static const std::regex pattern("[a-z][a-z0-9_]{0,63}");
    return std::regex_match(name, pattern);
}

model::ParamInfo describe(const pg_param& param, const std::string& where) {
    model::ParamInfo info;
    info.name = text_or_empty(param.name);
    if (!is_name(info.name)) {
        throw model::InputError(
            fmt::format("{}: '{}' is not a valid parameter name ([a-z][a-z0-9_]*)", where,
                        model::printable(info.name, 60)));
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
            throw model::InputError(fmt::format("{}: parameter '{}' has the unknown type {}", where,
                                                info.name, static_cast<int>(param.type)));
    }
    info.minimum = param.minimum;
    info.maximum = param.maximum;
    for (const char* const* choice = param.choices; choice && *choice; ++choice) {
        info.choices.push_back(text_or_empty(*choice));
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
        throw model::InputError(
            fmt::format("{}: '{}' is not a valid variant name ([a-z][a-z0-9_]*)", where,
                        model::printable(info.name, 60)));
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
    switch (arithmetic) {
        case PG_F32:
            return "f32";
        case PG_TF32:
            return "tf32";
        case PG_F16:
            return "f16";
        case PG_BF16:
            return "bf16";
        case PG_FP8:
            return "fp8";
        case PG_ARITHMETIC_UNSTATED:
            break;
    }
    return "";
}

}  // namespace perfgate::backend
