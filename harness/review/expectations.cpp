// SPDX-License-Identifier: Apache-2.0
#include "review/expectations.hpp"

#include <filesystem>

#include "document/baseline.hpp"
#include "util/error.hpp"

namespace perfgate::review {

namespace {

void read(const std::string& path, const File& file, const model::WorkloadCatalogue& workloads,
          Expectations& result) {
    switch (file.role) {
        case FileRole::suite:
            result.suites.push_back(
                suite::parse_known_part(file.content, path, workloads, result.left_out));
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
    }
}

}  // namespace

Expectations read_expectations(const Files& files, const Files& other,
                               const model::WorkloadCatalogue& workloads) {
    Expectations result;
    for (const auto& [path, file] : files) {
        if (file.role == FileRole::baseline) {
            result.devices.insert(std::filesystem::path(path).parent_path().filename().string());
        }
        const auto same = other.find(path);
        const bool unchanged = same != other.end() && same->second == file;
        // A suite is compared by its name, regardless of its location.
        if (unchanged && (file.role != FileRole::suite || !file.fault.empty())) continue;
        if (!file.fault.empty()) {
            result.unreadable.emplace(path, file.fault);
            continue;
        }
        try {
            read(path, file, workloads, result);
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
