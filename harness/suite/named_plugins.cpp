// SPDX-License-Identifier: Apache-2.0
#include "suite/named_plugins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "suite/fields.hpp"
#include "suite/placed_text.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

namespace fs = std::filesystem;

NeedsOfSuite needs_of(const std::string& suite_file) {
    try {
        return needs_of_text(util::read_file(suite_file, most_yaml_bytes, "suite"), suite_file);
    } catch (const util::InputError&) {
        return {};  // said with its place where the suite is read
    }
}

NeedsOfSuite needs_of_text(const std::string& yaml, const std::string& suite_file) {
    NeedsOfSuite needs;
    const auto named = [&](const YamlNode& node) {
        return NamedInSuite{node.text, fmt::format("{}:{}:{}", util::printable(suite_file),
                                                   node.at.line, node.at.column)};
    };
    try {
        Problems problems(suite_file);
        const YamlDocument document = read_yaml(yaml, problems);
        for (const YamlNode::Entry& key : document.root->entries) {
            for (const YamlNode* item : key.value->items) {
                if (key.key->text == "plugins" && !item->text.empty()) {
                    needs.plugins.push_back(named(*item));
                }
                if (key.key->text != "workloads") continue;
                if (auto script = python_file(*item, suite_file)) {
                    needs.scripts.push_back(*std::move(script));
                }
                for (const YamlNode::Entry& field : item->entries) {
                    const std::string& kind = field.key->text;
                    needs.workers = needs.workers || kind == "source" || kind == "python";
                    if (kind != "workload") continue;
                    needs.workers = true;
                    needs.workloads.push_back(named(*field.value));
                }
            }
        }
    } catch (const util::InputError&) {
        // Said with its place where the suite is read.
    }
    return needs;
}

std::vector<PythonFile> python_files(const std::vector<std::string>& suite_files) {
    std::vector<PythonFile> files;
    for (const std::string& suite_file : suite_files) {
        for (PythonFile& found : needs_of(suite_file).scripts) {
            const bool known = std::ranges::any_of(files, [&](const auto& one) {
                return one.file == found.file && one.interpreter == found.interpreter;
            });
            if (!known) files.push_back(std::move(found));
        }
    }
    return files;
}

std::string file_of_plugin(const std::string& named, const std::string& suite_file) {
    return (fs::absolute(suite_file).parent_path() / named).lexically_normal().native();
}

std::vector<std::string> borrowed_workloads(const std::vector<std::string>& suite_files,
                                            const model::WorkloadCatalogue& workloads) {
    std::vector<NeedsOfSuite> needs;
    std::vector<std::set<std::string>> own(suite_files.size());
    std::set<std::string> all;
    for (std::size_t i = 0; i < suite_files.size(); ++i) {
        const std::string& file = suite_files[i];
        needs.push_back(needs_of(file));
        for (const NamedInSuite& plugin : needs[i].plugins) {
            const fs::path found = file_of_plugin(plugin.name, file);
            own[i].insert(found.native());
            own[i].insert((found.parent_path() / ("lib" + found.filename().native())).native());
        }
        for (const PythonFile& python : needs[i].scripts) own[i].insert(python.file);
        all.insert(own[i].begin(), own[i].end());
    }
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < suite_files.size(); ++i) {
        for (const NamedInSuite& named : needs[i].workloads) {
            const model::WorkloadInfo* found = model::find_workload(workloads, named.name);
            if (found == nullptr || found->bundled) continue;
            const std::string file = fs::path(found->plugin).lexically_normal().native();
            if (own[i].contains(file) || !all.contains(file)) continue;
            lines.push_back(
                fmt::format("{}: the workload {} is one of {}, which another suite names; name it "
                            "here too, or measure the suites in separate runs",
                            named.place, in_quotes(named.name), util::printable(file)));
        }
    }
    return lines;
}

namespace {

using Values = std::map<std::string, std::vector<const YamlNode*>>;

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
    if (const YamlNode* name = entry.find("workload")) workload.name = name->text;
    if (const YamlNode* variants = entry.find("variants")) {
        for (const YamlNode* item : variants->items) {
            model::VariantInfo& variant = workload.variants.emplace_back();
            variant.name = item->text;
        }
    }
    Values values;
    if (const YamlNode* params = entry.find("params")) add_values(*params, values);
    if (const YamlNode* matrix = entry.find("matrix")) add_values_of_matrix(*matrix, values);
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
