// SPDX-License-Identifier: Apache-2.0
#include "suite/entry_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "util/text.hpp"

namespace perfgate::suite {

namespace {

constexpr std::size_t most_tags = 32;
constexpr std::size_t longest_text_value = 64;
constexpr std::size_t longest_glob = 256;
constexpr std::size_t longest_reason = 300;

std::optional<model::ParamValue> read_value(const YamlNode& node, const model::ParamInfo& info,
                                            Problems& problems) {
    switch (info.type) {
        case model::ParamType::boolean:
            if (const auto value = boolean_of(node)) return *value;
            add_wrong_type(node, info.name, "true or false", problems);
            return std::nullopt;
        case model::ParamType::integer: {
            const std::optional<std::int64_t> value = integer_of(node);
            if (value && *value >= info.minimum && *value <= info.maximum) return *value;
            add_wrong_type(node, info.name,
                           fmt::format("an integer from {} to {}", info.minimum, info.maximum),
                           problems);
            return std::nullopt;
        }
        case model::ParamType::real: {
            const std::optional<double> value = number_of(node);
            if (value && std::isfinite(*value)) return *value;
            add_wrong_type(node, info.name, "a finite number", problems);
            return std::nullopt;
        }
        case model::ParamType::text:
            break;
    }
    if (info.choices.empty()) {
        return read_text(node, info.name, "text", longest_text_value, problems);
    }
    const std::optional<std::size_t> choice = read_choice(node, info.name, info.choices, problems);
    if (!choice) return std::nullopt;
    return info.choices[*choice];
}

class EntryReader {
  public:
    EntryReader(const model::WorkloadInfo& workload, Problems& problems,
                std::vector<const model::VariantInfo*> variants = {})
        : workload_(workload), problems_(problems), variants_(std::move(variants)) {}

    std::vector<const model::VariantInfo*> variants(const YamlNode& node) {
        std::vector<const model::VariantInfo*> variants;
        for (const YamlNode* item : read_list(node, "variants", "variants", problems_)) {
            const model::VariantInfo* variant = read_variant(*item);
            if (variant == nullptr) continue;
            if (std::ranges::find(variants, variant) == variants.end()) {
                variants.push_back(variant);
            } else {
                problems_.add(item->at, "{} is in 'variants' twice; expected it once",
                              in_quotes(item->text));
            }
        }
        variants_ = variants;
        return variants;
    }

    model::Params params(const YamlNode& node) {
        model::Params params;
        if (node.kind != YamlNode::Kind::map) {
            add_wrong_type(node, "params", "a map from parameter to value", problems_);
            return params;
        }
        for (const YamlNode::Entry& entry : node.entries) take_param(entry, params);
        for (const auto& [name, value] : params) set_in_params_.insert(name);
        return params;
    }

    /// Whether `params` or `matrix` that were read set the parameter.
    bool states(const std::string& param) const {
        return set_in_params_.contains(param) || set_by_axes_.contains(param);
    }

    Matrix matrix(const YamlNode& node) {
        Matrix matrix;
        if (node.kind != YamlNode::Kind::map || node.entries.empty()) {
            add_wrong_type(node, "matrix", "a map with axes, 'include', 'exclude'", problems_);
            return matrix;
        }
        for (const YamlNode::Entry& entry : node.entries) {
            const std::string& key = entry.key->text;
            if (key == "include") {
                matrix.include = rules(*entry.value, key);
            } else if (key == "exclude") {
                matrix.exclude = rules(*entry.value, key);
            } else if (key == "variant" || key == "cache") {
                problems_.add(entry.key->at,
                              "{} is not an axis; expected '{}' in the workload entry",
                              in_quotes(key), key == "cache" ? "cache" : "variants");
            } else {
                matrix.axes.push_back(axis(entry));
            }
        }
        return matrix;
    }

  private:
    const model::VariantInfo* read_variant(const YamlNode& node) {
        const std::optional<std::string> name = text_of(node);
        if (!name) {
            add_wrong_type(node, "variants", "the name of a variant", problems_);
            return nullptr;
        }
        const model::VariantInfo* variant = model::find_variant(workload_, *name);
        if (variant == nullptr) {
            problems_.add_unknown(node.at, "variant", *name, names_of(workload_.variants));
        }
        return variant;
    }

    const model::ParamInfo* find_param(const YamlNode& key) {
        const auto found = std::ranges::find(workload_.params, key.text, &model::ParamInfo::name);
        if (found != workload_.params.end()) return &*found;
        problems_.add_unknown(key.at, "parameter", key.text, names_of(workload_.params));
        return nullptr;
    }

    void take_param(const YamlNode::Entry& entry, model::Params& params) {
        const model::ParamInfo* info = find_param(*entry.key);
        if (info == nullptr) return;
        if (const auto value = read_value(*entry.value, *info, problems_)) {
            params.emplace(info->name, *value);
        }
    }

    Axis axis(const YamlNode::Entry& entry) {
        const std::string& name = entry.key->text;
        Axis axis{name, {}};
        const auto items = read_list(*entry.value, name, "values or of maps", problems_);
        const bool maps = !items.empty() && items.front()->kind == YamlNode::Kind::map;
        const model::ParamInfo* info = nullptr;
        if (!maps) {
            info = find_param(*entry.key);
            if (info == nullptr) return axis;
        }
        std::set<std::string> set_here;
        std::set<model::Params> seen;
        for (const YamlNode* item : items) {
            model::Params params;
            if (!maps) {
                if (const auto value = read_value(*item, *info, problems_)) {
                    params.emplace(info->name, *value);
                }
            } else if (item->kind != YamlNode::Kind::map || item->entries.empty()) {
                add_wrong_type(*item, name, "a map from parameter to value, as the first item is",
                               problems_);
            } else {
                for (const YamlNode::Entry& param : item->entries) take_param(param, params);
            }
            for (const auto& [param, value] : params) {
                if (set_here.insert(param).second) claim(param, entry.key->at);
            }
            if (!params.empty() && !seen.insert(params).second) {
                problems_.add(item->at, "an item that the axis {} has already; expected each once",
                              in_quotes(name));
            }
            axis.items.push_back(std::move(params));
        }
        return axis;
    }

    /// A parameter has one source.
    void claim(const std::string& param, Position at) {
        const bool first = set_by_axes_.insert(param).second;
        if (first && !set_in_params_.contains(param)) return;
        problems_.add(at, "parameter {} is set {} too; expected one place", in_quotes(param),
                      first ? "in 'params'" : "by another axis");
    }

    std::vector<MatrixRule> rules(const YamlNode& node, const std::string& what) {
        std::vector<MatrixRule> rules;
        const auto items = read_list(node, what, "maps from parameter to value", problems_);
        if (items.size() > most_rules) {
            problems_.add(node.at, "{} items in {}; expected at most {}", items.size(),
                          in_quotes(what), most_rules);
            return rules;
        }
        for (const YamlNode* item : items) {
            if (item->kind != YamlNode::Kind::map || item->entries.empty()) {
                add_wrong_type(*item, what, "a map from parameter to value", problems_);
            } else {
                rules.push_back(rule(*item));
            }
        }
        return rules;
    }

    MatrixRule rule(const YamlNode& node) {
        MatrixRule rule{{}, node.at, {}, {}};
        for (const YamlNode::Entry& entry : node.entries) {
            if (entry.key->text == "variant") {
                const model::VariantInfo* variant = read_variant(*entry.value);
                if (variant == nullptr) continue;
                if (std::ranges::find(variants_, variant) == variants_.end()) {
                    problems_.add(entry.value->at, "{} is not in 'variants'; expected one that is",
                                  in_quotes(variant->name));
                }
                rule.variant = variant->name;
            } else if (entry.key->text == "cache") {
                rule.cache = cache_state().read({*entry.value, "cache", problems_});
            } else {
                take_param(entry, rule.params);
            }
        }
        return rule;
    }

    const model::WorkloadInfo& workload_;
    Problems& problems_;
    std::vector<const model::VariantInfo*> variants_;
    std::set<std::string> set_in_params_, set_by_axes_;
};

/// "gemm, softmax, or "
std::string listed(const model::WorkloadCatalogue& workloads) {
    constexpr std::size_t most_listed = 16;
    std::string text;
    for (std::size_t i = 0; i < std::min(workloads.size(), most_listed); ++i) {
        text += util::printable(workloads[i].name, 60) + ", ";
    }
    return text + (workloads.size() > most_listed ? "…, or " : "or ");
}

const model::WorkloadInfo* read_workload(const YamlNode& node,
                                         const model::WorkloadCatalogue& workloads,
                                         Problems& problems) {
    const std::optional<std::string> name = text_of(node);
    if (!name) {
        add_wrong_type(node, "workload", "the name of a workload", problems);
        return nullptr;
    }
    const model::WorkloadInfo* workload = model::find_workload(workloads, *name);
    if (workload == nullptr) {
        problems.add(
            node.at,
            "unknown workload {}; expected {}one of a plugin that --plugin or 'plugins' names{}",
            in_quotes(*name), workloads.empty() ? "" : listed(workloads),
            util::did_you_mean(*name, names_of(workloads)));
    }
    return workload;
}

/// What the keys of a plugin's entry are read into.
struct PluginEntry {
    ReadEntry& read;
    const model::WorkloadCatalogue& workloads;
    std::optional<EntryReader> reader;  ///< once the workload is known
};

const std::vector<Key<PluginEntry>>& plugin_keys() {
    static const std::vector<Key<PluginEntry>> keys{
        Key<PluginEntry>(
            "workload", "The workload's name, as its plugin declares it.", defined("name"),
            [](const KeyValue& value, PluginEntry& to) {
                to.read.workload = read_workload(value.node, to.workloads, value.problems);
                if (to.read.workload == nullptr) return;
                to.reader.emplace(*to.read.workload, value.problems);
            })
            .needed(),
        Key<PluginEntry>(
            "variants",
            "A list of its variants. Each is measured with every combination of parameters.",
            R"("type": "array", "minItems": 1, "uniqueItems": true,
               "items": {"$ref": "#/definitions/name"})",
            [](const KeyValue& value, PluginEntry& to) {
                if (to.reader) to.read.variants = to.reader->variants(value.node);
            })
            .needed(),
        {"params", "A map of the parameters that all cases of the entry share.", defined("params"),
         [](const KeyValue& value, PluginEntry& to) {
             if (to.reader) to.read.params = to.reader->params(value.node);
         }},
        {"matrix", "The parameters that vary: see [Matrix](#matrix).", defined("matrix"),
         [](const KeyValue& value, PluginEntry& to) {
             if (to.reader) to.read.matrix = to.reader->matrix(value.node);
         }},
    };
    return keys;
}

const std::vector<Key<Override>>& override_keys() {
    static const std::vector<Key<Override>> keys{
        {"match", "Glob on the case id: `*` is any text, `?` any character.",
         text("a glob on the case id", longest_glob), &Override::match},
        {"device", "Glob on the device key, such as `nvidia-h100-*`.",
         text("a glob on the device key", longest_glob).schema,
         [](const KeyValue& value, Override& to) {
             const auto glob = text("a glob on the device key", longest_glob).read(value);
             to.device = glob.value_or("*");
         }},
        {"skip",
         "The cases are not measured, for this reason. A case that a baseline has and that is not "
         "measured for another reason fails the run.",
         text("why the cases are not measured", longest_reason), &Override::skip},
        {"was",
         "What the cases were named before: `old` for another first part of the id, `old/name`, or "
         "a whole id. Baselines and `review` follow it: a case without a baseline takes that of "
         "its former name.",
         text("the former name of the cases", longest_glob), &Override::was},
    };
    return keys;
}

/// The cache is part of a case's identity, and the seed of its inputs: overrides of these would
/// compare different things on different devices.
std::vector<KeyText> settings_of_overrides() {
    std::vector<KeyText> keys = tables::settings();
    std::erase_if(keys, [](const KeyText& key) { return !key.in_overrides; });
    return keys;
}

}  // namespace

Matrix read_matrix(const YamlNode& node, const model::WorkloadInfo& workload,
                   const std::vector<const model::VariantInfo*>& variants, Problems& problems) {
    return EntryReader(workload, problems, variants).matrix(node);
}

ReadEntry read_declared(const model::WorkloadInfo& workload, const StatedCases& stated, Position at,
                        Problems& problems) {
    const std::size_t before = problems.count();
    EntryReader reader(workload, problems);
    ReadEntry read;
    read.workload = &workload;
    if (stated.variants != nullptr) {
        read.variants = reader.variants(*stated.variants);
    } else {
        for (const model::VariantInfo& variant : workload.variants) {
            read.variants.push_back(&variant);
        }
    }
    if (stated.params != nullptr) read.params = reader.params(*stated.params);
    if (stated.matrix != nullptr) read.matrix = reader.matrix(*stated.matrix);
    for (const model::ParamInfo& info : workload.params) {
        if (reader.states(info.name)) continue;
        if (info.values.empty()) {
            problems.add(at, "the values of {} are no literals in {}; expected them in 'matrix'",
                         in_quotes(info.name), in_quotes(workload.name));
        }
        Axis axis{info.name, {}};
        for (const model::ParamValue& value : info.values) {
            axis.items.push_back({{info.name, value}});
        }
        read.matrix.axes.push_back(std::move(axis));
    }
    read.expandable = problems.count() == before;
    return read;
}

std::vector<std::string> read_tags(const YamlNode& node, Problems& problems) {
    std::vector<std::string> tags;
    const auto items = read_list(node, "tags", "tags", problems);
    if (items.size() > most_tags) {
        problems.add(node.at, "{} tags; expected at most {}", items.size(), most_tags);
        return tags;
    }
    for (const YamlNode* item : items) {
        const std::optional<std::string> tag = read_slug(*item, "tags", problems);
        if (!tag) continue;
        if (std::ranges::find(tags, *tag) == tags.end()) {
            tags.push_back(*tag);
        } else {
            problems.add(item->at, "{} is in 'tags' twice; expected it once", in_quotes(*tag));
        }
    }
    return tags;
}

const std::vector<Key<Entry>>& entry_keys() {
    static const std::vector<Key<Entry>> keys{
        {"tags", "A list of words for `--tag`; written like a suite's name.", defined("tags"),
         read_tags, &Entry::tags},
        {"overrides",
         "A list of [overrides](../suites/README.md#overrides) for cases of this entry.",
         defined("overrides"), read_overrides, &Entry::overrides},
    };
    return keys;
}

std::vector<KeyText> tables::plugin() {
    return joined({texts_of(plugin_keys()), texts_of(entry_keys())});
}

std::vector<KeyText> tables::overriding() {
    return joined({texts_of(override_keys()), settings_of_overrides()});
}

ReadEntry read_entry(const YamlNode& node, const model::WorkloadCatalogue& workloads,
                     Problems& problems) {
    ReadEntry read;
    const std::size_t before = problems.count();
    static const std::vector<std::string> names =
        key_names(joined({tables::plugin(), tables::settings()}));
    const Fields fields(node, "a workload entry", names, problems);
    read.entry.at = node.at;
    PluginEntry entry{read, workloads, {}};
    read_keys(fields, plugin_keys(), entry, problems);
    read.expandable = read.workload != nullptr && problems.count() == before;
    read_keys(fields, entry_keys(), read.entry, problems);
    read.entry.settings = read_settings(fields, problems);
    return read;
}

std::vector<Override> read_overrides(const YamlNode& node, Problems& problems) {
    std::vector<Override> overrides;
    const auto items = read_list(node, "overrides", "overrides", problems);
    if (items.size() > most_rules) {
        problems.add(node.at, "{} overrides; expected at most {}", items.size(), most_rules);
        return overrides;
    }
    static const std::vector<std::string> names = key_names(tables::overriding());
    for (const YamlNode* item : items) {
        const Fields fields(*item, "an override", names, problems);
        const YamlNode* match = fields.find("match");
        if (item->kind == YamlNode::Kind::map && match == nullptr &&
            fields.find("device") == nullptr) {
            problems.add(item->at,
                         "an override without 'match' and 'device'; expected one of them");
        }
        Override& over = overrides.emplace_back();
        over.at = match != nullptr ? match->at : item->at;
        read_keys(fields, override_keys(), over, problems);
        over.settings = read_settings(fields, problems);
    }
    return overrides;
}

}  // namespace perfgate::suite
