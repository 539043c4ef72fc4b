// SPDX-License-Identifier: Apache-2.0
// The SDK's random values by the names that the workloads use.
#pragma once

#include "perfgate_random.hpp"

namespace common {

using perfgate::sdk::kMixIncrement;
using perfgate::sdk::mix;
using perfgate::sdk::random_bits;
using perfgate::sdk::stream_key;
using perfgate::sdk::uniform;

}  // namespace common
