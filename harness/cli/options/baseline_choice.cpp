// SPDX-License-Identifier: Apache-2.0
#include "cli/options/baseline_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "baseline/store.hpp"
#include "model/error.hpp"
#include "model/text.hpp"

namespace perfgate::cli {

void add_device_option(CLI::App& app, std::string& key) {
    app.add_option("--device", key)->group("");  // its former name
    app.add_option("--device-key", key,
                   "Device key (nvidia-h100-80gb-hbm3); may be left out where there is one")
        ->type_name("KEY");
}

std::string chosen_device(const std::string& folder, const std::string& suite,
                          const std::string& device) {
    if (!device.empty()) return device;
    const std::vector<std::string> keys = baseline::devices_with_baseline(folder, suite);
    if (keys.size() == 1) return keys.front();
    if (keys.empty()) {
        throw model::InputError(fmt::format("{}: no device has a baseline of suite '{}'",
                                            model::printable(folder), model::printable(suite)));
    }
    throw model::InputError(fmt::format(
        "suite '{}' has baselines for several devices; choose one with --device-key: {}",
        model::printable(suite), model::printable(fmt::format("{}", fmt::join(keys, ", ")), 1000)));
}

}  // namespace perfgate::cli
