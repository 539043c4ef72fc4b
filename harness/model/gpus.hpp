// SPDX-License-Identifier: Apache-2.0
// How many GPUs a program sees: a number, or all of one model that the machine has.
#pragma once

#include <cstddef>
#include <string>

#include "util/text.hpp"

namespace perfgate::model {

inline constexpr int all_gpus = 0;

inline std::string gpus_in_words(int gpus) {
    return gpus == all_gpus ? "all GPUs" : util::counted(static_cast<std::size_t>(gpus), "GPU");
}

}  // namespace perfgate::model
