// SPDX-License-Identifier: Apache-2.0
// Parameters that once were part of the ids of benchmarks' cases and say how they were measured, or
// where there is no choice. Baselines that have them still match (gate/renames.hpp).
#pragma once

#include <string_view>

namespace perfgate::model {

/// How a benchmark measures, not what: Google Benchmark writes it into names.
constexpr bool is_benchmark_setting(std::string_view parameter) {
    return parameter == "repeats" || parameter == "iterations" || parameter == "min_time" ||
           parameter == "min_warmup_time" || parameter == "real_time";
}

/// Whether an id of former versions had the parameter, as "name=value", where a method of this
/// source gave its values.
constexpr bool was_in_ids(std::string_view method, std::string_view parameter) {
    if (method == "google-benchmark") {
        return is_benchmark_setting(parameter.substr(0, parameter.find('=')));
    }
    return method == "nvbench" && parameter == "device=0";
}

/// `CaseResult::instance` of what a benchmark reports.
inline constexpr const char* benchmark_instance = "iteration";

}  // namespace perfgate::model
