// SPDX-License-Identifier: Apache-2.0
#include "suite/python_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "kinds/python/declared.hpp"
#include "suite/yaml_reader.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_path = 4096;
constexpr const char* usual_interpreter = "python3";

/// A path of a suite as it is found from anywhere.
std::string placed(const std::string& path, const std::string& suite_file) {
    return (fs::absolute(suite_file).parent_path() / path).lexically_normal().native();
}

/// What is read of an item itself.
struct PythonEntry {
    std::string file;
    std::string interpreter = usual_interpreter;
    std::string workload;
    const YamlNode *variants = nullptr, *params = nullptr, *matrix = nullptr;
};

const std::vector<Key<PythonEntry>>& python_keys() {
    static const std::vector<Key<PythonEntry>> keys{
        Key<PythonEntry>("python",
                         "A Python file with workloads ([python.md](python.md)), relative to the "
                         "suite's folder.",
                         text("a file", longest_path), &PythonEntry::file)
            .needed(),
        Key<PythonEntry>("interpreter",
                         "The Python that runs it: a file, relative to the suite's folder, or a "
                         "name that is found on `PATH`.",
                         text("a file or a name", longest_path), &PythonEntry::interpreter)
            .usually(usual_interpreter),
        {"select", "One workload of the file. Without it, all are measured.", slug(),
         &PythonEntry::workload},
        {"variants", "A list of its variants, with `select`. Without it, all are measured.",
         R"("type": "array", "minItems": 1, "uniqueItems": true,
               "items": {"$ref": "#/definitions/name"})",
         node_of, &PythonEntry::variants},
        {"params", "Values of parameters that all cases share, with `select`.", defined("params"),
         node_of, &PythonEntry::params},
        {"matrix", "Parameters that vary otherwise than declared, with `select`.",
         defined("matrix"), node_of, &PythonEntry::matrix},
    };
    return keys;
}

std::string interpreter_of(const PythonEntry& entry, const std::string& suite_file) {
    if (entry.interpreter.find('/') == std::string::npos) return entry.interpreter;
    return placed(entry.interpreter, suite_file);
}

}  // namespace

std::vector<KeyText> tables::python() {
    return joined({texts_of(python_keys()), texts_of(entry_keys())});
}

bool is_open(const model::WorkloadInfo& workload) {
    return workload.variants.size() == 1 && workload.variants.front().name == model::unknown_cases;
}

static std::vector<std::string> python_key_names() {
    return key_names(joined({tables::python(), tables::settings()}));
}

std::vector<ReadEntry> read_python(const YamlNode& node, const model::WorkloadCatalogue& workloads,
                                   const std::string& suite_file, Problems& problems) {
    const std::size_t before = problems.count();
    const Fields fields(node, "a Python entry", python_key_names(), problems);
    PythonEntry own;
    read_keys(fields, python_keys(), own, problems);
    Entry common;
    common.at = node.at;
    read_keys(fields, entry_keys(), common, problems);
    common.settings = read_settings(fields, problems);
    if (problems.count() != before) return {};

    const std::string file = placed(own.file, suite_file);
    std::vector<const model::WorkloadInfo*> chosen;
    std::vector<std::string> names;
    for (const model::WorkloadInfo& workload : workloads) {
        if (workload.plugin != file) continue;
        names.push_back(workload.name);
        if (own.workload.empty() || own.workload == workload.name) chosen.push_back(&workload);
    }
    if (chosen.empty()) {
        const YamlNode* at = fields.find(own.workload.empty() ? "python" : "select");
        if (own.workload.empty() || names.empty()) {
            problems.add(
                at->at, "{} declares no workload; expected a function behind @perfgate.workload(…)",
                in_quotes(own.file));
        } else {
            problems.add_unknown(at->at, "workload", own.workload, names);
        }
        return {};
    }
    if (own.workload.empty() && (own.variants || own.params || own.matrix)) {
        problems.add(node.at,
                     "'variants', 'params' and 'matrix' are one workload's; expected 'select' with "
                     "its name");
        return {};
    }
    std::vector<ReadEntry> entries;
    for (const model::WorkloadInfo* workload : chosen) {
        ReadEntry& entry = entries.emplace_back();
        if (is_open(*workload)) {
            entry.workload = workload;
            entry.variants = {&workload->variants.front()};
        } else {
            entry =
                read_declared(*workload, {own.variants, own.params, own.matrix}, node.at, problems);
        }
        entry.entry = common;
        entry.in_python = true;
    }
    if (problems.count() != before) return {};
    return entries;
}

std::optional<PythonFile> python_file(const YamlNode& node, const std::string& suite_file) {
    Problems ignored(suite_file);  // said where the suite is read
    PythonEntry entry;
    read_keys(Fields(node, "a Python entry", python_key_names(), ignored), python_keys(), entry,
              ignored);
    if (entry.file.empty()) return std::nullopt;
    return PythonFile{
        placed(entry.file, suite_file), interpreter_of(entry, suite_file),
        fmt::format("{}:{}:{}", util::printable(suite_file), node.at.line, node.at.column),
        suite_file};
}

std::string python_text(const std::string& file) {
    return util::read_file(file, most_python_bytes, "Python file");
}

/// Replaces the variants by one that stands for all cases, which are known when the file has run.
static void leave_open(python::DeclaredWorkload& declared) {
    model::WorkloadInfo& info = declared.info;
    model::VariantInfo unknown = info.variants.front();
    unknown.name = model::unknown_cases;
    unknown.help = fmt::format(
        "the cases of {} are known after the first run: {} ({}:{})", in_quotes(info.name),
        declared.open, util::printable(fs::path(info.plugin).filename().native()), declared.line);
    info.params.clear();
    info.variants = {std::move(unknown)};
}

void add_declared(const std::vector<PythonFile>& files, model::WorkloadCatalogue& workloads,
                  const ReadText& read) {
    for (const PythonFile& python : files) {
        std::vector<python::DeclaredWorkload> declared;
        try {
            declared = python::declared_workloads(read(python.file), python.file);
        } catch (const util::InputError& error) {
            throw util::InputError("{}: {}", python.place, error.what());
        }
        for (python::DeclaredWorkload& one : declared) {
            const model::WorkloadInfo* other = model::find_workload(workloads, one.info.name);
            if (!one.open.empty()) leave_open(one);
            if (other == nullptr) {
                workloads.push_back(std::move(one.info));
            } else if (other->bundled) {
                workloads[static_cast<std::size_t>(other - workloads.data())] = std::move(one.info);
            } else if (other->plugin != python.file) {
                throw util::InputError(
                    "{}: {}:{}: the workload '{}' is one of {}, too; give it another name "
                    "(name=\"…\" in the decorator)",
                    python.place, util::printable(python.file), one.line, one.info.name,
                    util::printable(other->plugin));
            }
        }
    }
}

model::WorkloadCatalogue known_by_run(const model::SuiteResult& measured, model::Target target,
                                      model::WorkloadCatalogue workloads) {
    for (model::WorkloadInfo& info : workloads) {
        if (!is_open(info)) continue;
        model::WorkloadInfo found = info;
        found.variants.clear();
        std::map<std::string, std::vector<model::ParamValue>> values;
        for (const model::CaseResult& result : measured.cases) {
            if (result.spec.workload != info.name) continue;
            if (model::find_variant(found, result.spec.variant) == nullptr) {
                model::VariantInfo& variant = found.variants.emplace_back();
                variant.name = result.spec.variant;
                variant.target = target;
            }
            for (const auto& [name, value] : result.spec.params) {
                auto& known = values[name];
                if (std::ranges::find(known, value) == known.end()) {
                    known.push_back(value);
                }
            }
        }
        for (auto& [name, all] : values) {
            if (auto param = python::parameter(name, std::move(all))) {
                found.params.push_back(*std::move(param));
            }
        }
        if (!found.variants.empty()) info = std::move(found);
    }
    return workloads;
}

}  // namespace perfgate::suite
