// SPDX-License-Identifier: Apache-2.0
// The kernel that takes most of the kernels' time in a case of a program, and what a suite may
// expect of it: `train/step.hottest_kernel: "== *flash*"`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/relation.hpp"
#include "model/run.hpp"

namespace perfgate::model {

/// Stands where other relations have a metric.
inline constexpr const char* hottest_operand = "hottest_kernel";

struct HottestKernel {
    std::string name;
    double share = 0;  ///< of the time of all kernels
};

/// By the time of all of its launches; of several with the same time the first by name. Nothing if
/// the case lists no kernels, or none of a program.
std::optional<HottestKernel> hottest_kernel(const std::vector<Kernel>& kernels);

/// The glob that the relation compares the hottest kernel of its leading case with: its right side
/// as written. Nothing for any other relation.
std::optional<std::string> expected_kernel(const Relation& relation);

}  // namespace perfgate::model
