// SPDX-License-Identifier: Apache-2.0
// The descriptor module. Every stage runs on a GPU alone.
#include "catalogue.hpp"

static perfgate::sdk::Plugin plugin() {
    return camera::catalogue([](std::string_view) { return camera::Create{}; });
}

PERFGATE_PLUGIN(plugin);
