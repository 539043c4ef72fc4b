// SPDX-License-Identifier: Apache-2.0
// What plugins and sources may state of their work.
#pragma once

#include <array>
#include <string_view>

namespace perfgate::model {

/// Types of operations: those whose matrix rate a run measures.
inline constexpr std::array<std::string_view, 5> arithmetic_types{"f32", "tf32", "f16", "bf16",
                                                                  "fp8"};

/// The remedy where something is not stated.
inline constexpr std::string_view where_to_state_work =
    "state it in the plugin, or of a source as 'work' in the suite";

}  // namespace perfgate::model
