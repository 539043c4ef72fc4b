// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace perfgate::model {

/// `CaseResult::instance` of what a benchmark reports.
inline constexpr const char* benchmark_instance = "iteration";

}  // namespace perfgate::model
