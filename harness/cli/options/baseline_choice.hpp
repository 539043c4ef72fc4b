// SPDX-License-Identifier: Apache-2.0
// Which stored baseline a verb means: a suite's name and, where several devices have one, a device.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace perfgate::cli {

/// --device, a device key.
void add_device_option(CLI::App& app, std::string& key);

/// `device`, or, where it is empty, the only one that has a baseline of the suite. Throws
/// InputError where there is none, or a choice.
std::string chosen_device(const std::string& folder, const std::string& suite,
                          const std::string& device);

}  // namespace perfgate::cli
