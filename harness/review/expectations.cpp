// SPDX-License-Identifier: Apache-2.0
#include "review/expectations.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "document/baseline.hpp"
#include "suite/named_plugins.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::review {

namespace {

std::string relative(const std::string& file) {
    return std::filesystem::path(file)
        .lexically_relative(std::filesystem::current_path())
        .generic_string();
}

void read(const std::string& path, const Files& files, const model::WorkloadCatalogue& workloads,
          Expectations& result) {
    const File& file = files.at(path);
    switch (file.role) {
        case FileRole::suite:
            result.suites.push_back(read_suite(path, files, workloads, result.left_out));
            break;
        case FileRole::profile:
            result.profiles.emplace(path, suite::parse_profile(file.content, path));
            break;
        case FileRole::baseline:
            result.baselines.emplace(path, document::parse_baseline(file.content, path));
            break;
        case FileRole::ledger:
            result.ledgers.emplace(path, file.content);
            break;
        case FileRole::python:
            result.python.emplace(path, python::declared_workloads(file.content, path));
            break;
    }
}

}  // namespace

suite::Suite read_suite(const std::string& path, const Files& files,
                        model::WorkloadCatalogue workloads, std::vector<std::string>& notes) {
    const std::string& text = files.at(path).content;
    const auto read = [&](const std::string& python) {
        const auto found = files.find(relative(python));
        if (found == files.end()) {
            throw util::InputError(
                fmt::format("there is no file {} in the repository", util::printable(python)));
        }
        if (!found->second.fault.empty()) {
            throw util::InputError(
                fmt::format("{}: {}", util::printable(found->first), found->second.fault));
        }
        return found->second.content;
    };
    for (const suite::PythonFile& python : suite::needs_of_text(text, path).scripts) {
        try {
            suite::add_declared({python}, workloads, read);
        } catch (const util::InputError& error) {
            notes.emplace_back(error.what());
        }
    }
    return suite::parse_known_part(text, path, workloads, notes);
}

Expectations read_expectations(const Files& files, const Files& other,
                               const model::WorkloadCatalogue& workloads) {
    Expectations result;
    for (const auto& [path, file] : files) {
        if (file.role == FileRole::baseline) {
            result.devices.insert(std::filesystem::path(path).parent_path().filename().string());
        }
        const auto same = other.find(path);
        const bool unchanged = same != other.end() && same->second == file;
        // Suites and workloads are compared by their names, regardless of their location.
        const bool named = file.role == FileRole::suite || file.role == FileRole::python;
        if (unchanged && (!named || !file.fault.empty())) continue;
        if (!file.fault.empty()) {
            result.unreadable.emplace(path, file.fault);
            continue;
        }
        try {
            read(path, files, workloads, result);
        } catch (const util::InputError& error) {
            if (unchanged) {
                result.left_out.emplace_back(error.what());
            } else {
                result.unreadable.emplace(path, error.what());
            }
        }
    }
    return result;
}

}  // namespace perfgate::review
