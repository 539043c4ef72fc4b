// SPDX-License-Identifier: Apache-2.0
// A plugin that goes wrong before any of its functions is called.
#include "misdeeds.hpp"
#include "perfgate.hpp"

namespace {

const bool done = [] {
    misdeeds::MISDEED();
    return true;
}();

perfgate::sdk::Plugin plugin() {
    return {.name = "static_initialiser", .cuda_module = "", .workloads = {}};
}

}  // namespace

PERFGATE_PLUGIN(plugin);
