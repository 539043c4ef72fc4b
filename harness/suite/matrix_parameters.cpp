// SPDX-License-Identifier: Apache-2.0
#include "suite/matrix_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "model/command_words.hpp"

namespace perfgate::suite {

namespace {

void add_parameter(const YamlNode& key, const YamlNode& first_value,
                   std::vector<model::ParamInfo>& params, Problems& problems) {
    const std::string& name = key.text;
    const auto known = std::any_of(params.begin(), params.end(),
                                   [&](const model::ParamInfo& info) { return info.name == name; });
    if (known) return;
    if (!model::is_identifier(name)) {
        problems.add(key.at, fmt::format("{} is not the name of a parameter; expected letters, "
                                         "digits and '_'",
                                         in_quotes(name)));
    }
    model::ParamInfo& info = params.emplace_back();
    info.name = name;
    info.minimum = std::numeric_limits<std::int64_t>::min();
    info.maximum = std::numeric_limits<std::int64_t>::max();
    info.type = boolean_of(first_value)   ? model::ParamType::boolean
                : integer_of(first_value) ? model::ParamType::integer
                : number_of(first_value)  ? model::ParamType::real
                                          : model::ParamType::text;
}

}  // namespace

std::vector<model::ParamInfo> parameters_of(
    const YamlNode& matrix, const std::function<bool(const YamlNode& key, bool rule)>& leaves_out,
    Problems& problems) {
    std::vector<model::ParamInfo> params;
    if (matrix.kind != YamlNode::Kind::map) return params;  // reported where it is read
    const auto add = [&](const YamlNode& key, const YamlNode& value, bool rule) {
        if (!leaves_out(key, rule)) add_parameter(key, value, params, problems);
    };
    for (const YamlNode::Entry& entry : matrix.entries) {
        const bool rules = entry.key->text == "include" || entry.key->text == "exclude";
        const auto& items = entry.value->items;
        if (!rules && !items.empty() && items.front()->kind != YamlNode::Kind::map) {
            add(*entry.key, *items.front(), false);
            continue;
        }
        for (const YamlNode* item : items) {
            for (const YamlNode::Entry& param : item->entries) {
                add(*param.key, *param.value, rules);
            }
        }
    }
    return params;
}

}  // namespace perfgate::suite
