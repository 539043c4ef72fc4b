// SPDX-License-Identifier: Apache-2.0
#include "suite/suite.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "suite/named_plugins.hpp"
#include "suite/yaml_reader.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

std::map<std::string, const Settings*> discovering_of(const Suite& suite) {
    std::map<std::string, const Settings*> settings;
    for (const auto& [name, entry] : suite.discovering) {
        settings.emplace(name, &suite.entries[entry].settings);
    }
    return settings;
}

std::string name_in(const std::string& file) {
    std::vector<std::string> left_out;
    return parse_known_part(util::read_file(file, most_yaml_bytes, "suite"), file, {}, left_out)
        .name;
}

std::vector<Suite> load_suites(const std::vector<std::string>& files,
                               const model::WorkloadCatalogue& known) {
    model::WorkloadCatalogue workloads = known;
    add_declared(python_files(files), workloads);
    std::vector<Suite> suites;
    std::string messages;
    const auto add_message = [&](const std::string& message) {
        messages += (messages.empty() ? "" : "\n") + message;
    };
    for (const std::string& line : borrowed_workloads(files, workloads)) add_message(line);
    if (!messages.empty()) throw util::InputError(messages);
    std::map<std::string, std::string> file_of_name;
    for (const std::string& file : files) {
        std::error_code ignored;
        if (std::filesystem::is_directory(file, ignored)) {
            add_message(
                fmt::format("{0}: expected suite files, found a folder; name those in it: {1}",
                            util::printable(file),
                            util::printable((std::filesystem::path(file) / "*.yaml").native())));
            continue;
        }
        try {
            Suite suite =
                parse_suite(util::read_file(file, most_yaml_bytes, "suite"), file, workloads);
            const auto [other, inserted] = file_of_name.emplace(suite.name, file);
            if (!inserted) {
                add_message(fmt::format(
                    "{}: suite {} is in {} too; expected every suite's name "
                    "once",
                    util::printable(file), in_quotes(suite.name), util::printable(other->second)));
            }
            suites.push_back(std::move(suite));
        } catch (const util::InputError& error) {
            add_message(error.what());
        }
    }
    if (!messages.empty()) throw util::InputError(messages);
    return suites;
}

}  // namespace perfgate::suite
