// SPDX-License-Identifier: Apache-2.0
// What a process chose for a case before it measured it, such as an autotuner's configuration. The
// metric `prepare_time` says how long compiling and choosing took; its detail has the choices.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "model/metric.hpp"

namespace perfgate::model {

inline constexpr std::string_view prepare_time = "prepare_time";
MetricDefinition prepare_time_definition();

/// By name: "add_kernel.BLOCK" → "128".
using Choices = std::map<std::string, std::string>;

/// Names and values are cut and lose what separates them in a text. At most 100 are kept.
void add_choice(std::string_view name, std::string_view value, Choices& choices);

/// "add_kernel.BLOCK 128, add_kernel.num_warps 4", and back.
std::string to_text(const Choices& choices);
Choices choices_in(std::string_view text);

/// "add_kernel.BLOCK 128 → 64, add_kernel.num_warps 4 → none" of two such texts; empty: no
/// difference.
std::string difference_of_choices(std::string_view before, std::string_view now);

/// How the processes of a `prepare_time` chose differently: "add_kernel.BLOCK 128 in 3 processes,
/// 64 in 2". Empty: all chose the same.
std::string varying_choices(const MetricSeries& series);

/// "compiled and tuned in 3.2 s, at most: add_kernel.BLOCK 128" of a `prepare_time`.
std::string preparation_text(const MetricSeries& series);

}  // namespace perfgate::model
