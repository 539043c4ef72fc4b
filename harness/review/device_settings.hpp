// SPDX-License-Identifier: Apache-2.0
// The settings of a suite's cases on one device.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "suite/problems.hpp"
#include "suite/settings.hpp"
#include "suite/suite.hpp"
#include "util/text.hpp"

namespace perfgate::review {

/// A suite's settings for one device. `device` is a key, or a glob of an override, which represents
/// the devices that it matches.
class DeviceSettings {
  public:
    DeviceSettings(const suite::Suite& suite, std::string device)
        : suite_(suite), device_(std::move(device)) {}

    const suite::ResolvedSettings& of(const suite::SuiteCase& suite_case) {
        auto layers = suite::layers_of(suite_, suite_case, [&](const std::string& glob) {
            return util::glob_match(glob, device_);
        });
        const auto [found, added] = resolved_.try_emplace(std::move(layers));
        if (added) {
            // Parsing has reported the problems; what remains is a device that none was written
            // for.
            suite::Problems ignored(suite_.file);
            found->second = suite::resolve(found->first, ignored);
        }
        return found->second;
    }

  private:
    const suite::Suite& suite_;
    std::string device_;
    std::map<std::vector<const suite::Settings*>, suite::ResolvedSettings> resolved_;
};

}  // namespace perfgate::review
