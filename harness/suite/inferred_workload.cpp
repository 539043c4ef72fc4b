// SPDX-License-Identifier: Apache-2.0
#include "suite/inferred_workload.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "suite/fields.hpp"

namespace perfgate::suite {

namespace {

using Values = std::map<std::string, std::vector<const YamlNode*>>;

const YamlNode* value_of(const YamlNode& map, std::string_view key) {
    const auto found = std::ranges::find_if(
        map.entries, [&](const YamlNode::Entry& entry) { return entry.key->text == key; });
    return found == map.entries.end() ? nullptr : found->value;
}

void add_values(const YamlNode& params, Values& values) {
    for (const YamlNode::Entry& entry : params.entries) {
        values[entry.key->text].push_back(entry.value);
    }
}

/// An axis has the values of the parameter that it is named after, or maps of parameters; the rules
/// may also name a variant and a cache.
void add_values_of_matrix(const YamlNode& matrix, Values& values) {
    for (const YamlNode::Entry& axis : matrix.entries) {
        for (const YamlNode* item : axis.value->items) {
            if (item->kind == YamlNode::Kind::map) {
                add_values(*item, values);
            } else {
                values[axis.key->text].push_back(item);
            }
        }
    }
    values.erase("variant");
    values.erase("cache");
}

model::ParamType type_of(const std::vector<const YamlNode*>& values) {
    const auto all = [&](auto read) {
        return std::ranges::all_of(values,
                                   [&](const YamlNode* value) { return read(*value).has_value(); });
    };
    if (all(boolean_of)) return model::ParamType::boolean;
    if (all(integer_of)) return model::ParamType::integer;
    return all(number_of) ? model::ParamType::real : model::ParamType::text;
}

}  // namespace

model::WorkloadInfo inferred_workload(const YamlNode& entry) {
    model::WorkloadInfo workload;
    if (const YamlNode* name = value_of(entry, "workload")) workload.name = name->text;
    if (const YamlNode* variants = value_of(entry, "variants")) {
        for (const YamlNode* item : variants->items) {
            model::VariantInfo& variant = workload.variants.emplace_back();
            variant.name = item->text;
        }
    }
    Values values;
    if (const YamlNode* params = value_of(entry, "params")) add_values(*params, values);
    if (const YamlNode* matrix = value_of(entry, "matrix")) add_values_of_matrix(*matrix, values);
    for (const auto& [name, of_name] : values) {
        model::ParamInfo& param = workload.params.emplace_back();
        param.name = name;
        param.type = type_of(of_name);
        param.minimum = std::numeric_limits<std::int64_t>::min();
        param.maximum = std::numeric_limits<std::int64_t>::max();
        param.default_value = std::string();  // A combination need not set it.
    }
    return workload;
}

void add_inferred(const model::WorkloadInfo& workload, model::WorkloadCatalogue& workloads) {
    const auto found = std::ranges::find_if(
        workloads, [&](const auto& each) { return each.name == workload.name; });
    if (found == workloads.end()) {
        workloads.push_back(workload);
        return;
    }
    const auto add_missing = [](const auto& from, auto& to) {
        for (const auto& each : from) {
            const bool known =
                std::ranges::any_of(to, [&](const auto& one) { return one.name == each.name; });
            if (!known) to.push_back(each);
        }
    };
    add_missing(workload.variants, found->variants);
    add_missing(workload.params, found->params);
}

}  // namespace perfgate::suite
