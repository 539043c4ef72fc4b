// SPDX-License-Identifier: Apache-2.0
#include "suite/matrix.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "model/command_words.hpp"

namespace perfgate::suite {

namespace {

bool has_all(const model::Params& params, const model::Params& wanted) {
    return std::ranges::all_of(wanted, [&](const auto& want) {
        const auto found = params.find(want.first);
        return found != params.end() && found->second == want.second;
    });
}

/// Whether `added` would change a value of `original`.
bool overwrites(const model::Params& added, const model::Params& original) {
    return std::ranges::any_of(added, [&](const auto& value) {
        const auto found = original.find(value.first);
        return found != original.end() && found->second != value.second;
    });
}

std::vector<model::Params> product(const std::vector<Axis>& axes) {
    std::vector<model::Params> combinations(1);
    for (const Axis& axis : axes) {
        std::vector<model::Params> longer;
        longer.reserve(combinations.size() * axis.items.size());
        for (const model::Params& combination : combinations) {
            for (const model::Params& item : axis.items) {
                model::Params& extended = longer.emplace_back(combination);
                extended.insert(item.begin(), item.end());
            }
        }
        combinations = std::move(longer);
    }
    return combinations;
}

}  // namespace

std::size_t product_size(const Matrix& matrix, std::size_t limit) {
    std::size_t size = 1;
    for (const Axis& axis : matrix.axes) {
        const std::size_t items = axis.items.size();
        if (items != 0 && size > limit / items) return limit + 1;
        size *= items;
    }
    return size;
}

std::vector<Combination> expand(const Matrix& matrix, std::string_view variant, model::Cache cache,
                                std::vector<bool>& used_excludes) {
    const auto holds = [&](const MatrixRule& rule) {
        return (!rule.variant || *rule.variant == variant) && (!rule.cache || *rule.cache == cache);
    };
    std::vector<model::Params> originals;
    // With includes only, there is nothing that they could be added to.
    if (!matrix.axes.empty() || matrix.include.empty()) originals = product(matrix.axes);

    for (std::size_t i = 0; i < matrix.exclude.size(); ++i) {
        const MatrixRule& exclude = matrix.exclude[i];
        if (!holds(exclude)) continue;
        const std::size_t removed = std::erase_if(originals, [&](const model::Params& original) {
            return has_all(original, exclude.params);
        });
        if (removed > 0) used_excludes[i] = true;
    }

    std::vector<Combination> combinations;
    combinations.reserve(originals.size());
    for (const model::Params& original : originals) combinations.push_back({original, nullptr});
    for (const MatrixRule& include : matrix.include) {
        if (!holds(include)) continue;
        bool added = false;
        for (std::size_t i = 0; i < originals.size(); ++i) {
            if (overwrites(include.params, originals[i])) continue;
            for (const auto& [name, value] : include.params) {
                combinations[i].params.insert_or_assign(name, value);
            }
            added = true;
        }
        if (!added) combinations.push_back({include.params, &include});
    }
    return combinations;
}

namespace {

void add_parameter(const YamlNode& key, const YamlNode& first_value,
                   std::vector<model::ParamInfo>& params, Problems& problems) {
    const std::string& name = key.text;
    const auto known = std::ranges::any_of(
        params, [&](const model::ParamInfo& info) { return info.name == name; });
    if (known) return;
    if (!model::is_identifier(name)) {
        problems.add(key.at, "{} is not the name of a parameter; expected letters, digits and '_'",
                     in_quotes(name));
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
