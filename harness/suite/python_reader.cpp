// SPDX-License-Identifier: Apache-2.0
#include "suite/python_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
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
            problems.add(at->at, fmt::format("{} declares no workload; expected a function behind "
                                             "@perfgate.workload(…)",
                                             in_quotes(own.file)));
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
        ReadEntry& entry = entries.emplace_back(
            read_declared(*workload, {own.variants, own.params, own.matrix}, node.at, problems));
        entry.entry = common;
    }
    if (problems.count() != before) return {};
    return entries;
}

std::vector<PythonFile> python_files(const std::vector<std::string>& suite_files) {
    std::vector<PythonFile> files;
    for (const std::string& suite_file : suite_files) {
        try {
            Problems problems(suite_file);
            const std::string yaml = util::read_file(suite_file, most_yaml_bytes, "suite");
            const YamlDocument document = read_yaml(yaml, problems);
            for (const YamlNode::Entry& key : document.root->entries) {
                if (key.key->text != "workloads") continue;
                for (const YamlNode* item : key.value->items) {
                    Problems ignored(suite_file);  // said where the suite is read
                    PythonEntry entry;
                    read_keys(Fields(*item, "a Python entry", python_key_names(), ignored),
                              python_keys(), entry, ignored);
                    if (entry.file.empty()) continue;
                    PythonFile found{placed(entry.file, suite_file),
                                     interpreter_of(entry, suite_file),
                                     fmt::format("{}:{}:{}", util::printable(suite_file),
                                                 item->at.line, item->at.column),
                                     suite_file};
                    const bool known =
                        std::any_of(files.begin(), files.end(), [&](const auto& one) {
                            return one.file == found.file && one.interpreter == found.interpreter;
                        });
                    if (!known) files.push_back(std::move(found));
                }
            }
        } catch (const util::InputError&) {
            // Said with its place where the suite is read.
        }
    }
    return files;
}

void add_declared(const std::vector<PythonFile>& files, model::WorkloadCatalogue& workloads) {
    for (const PythonFile& python : files) {
        std::vector<python::DeclaredWorkload> declared;
        try {
            declared = python::declared_workloads(
                util::read_file(python.file, python::most_python_bytes, "Python file"),
                python.file);
        } catch (const util::InputError& error) {
            throw util::InputError(fmt::format("{}: {}", python.place, error.what()));
        }
        for (python::DeclaredWorkload& one : declared) {
            const model::WorkloadInfo* other = model::find_workload(workloads, one.info.name);
            if ((other == nullptr || other->bundled) && !one.open.empty()) {
                throw util::InputError(fmt::format(
                    "{}: {}:{}: the cases of '{}' are known only to a run: {}; write literals",
                    python.place, util::printable(python.file), one.line, one.info.name, one.open));
            }
            if (other == nullptr) {
                workloads.push_back(std::move(one.info));
            } else if (other->bundled) {
                workloads[static_cast<std::size_t>(other - workloads.data())] = std::move(one.info);
            } else if (other->plugin != python.file) {
                throw util::InputError(fmt::format(
                    "{}: {}:{}: the workload '{}' is one of {}, too; give it another name "
                    "(name=\"…\" in the decorator)",
                    python.place, util::printable(python.file), one.line, one.info.name,
                    util::printable(other->plugin)));
            }
        }
    }
}

}  // namespace perfgate::suite
