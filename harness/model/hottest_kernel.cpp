// SPDX-License-Identifier: Apache-2.0
#include "model/hottest_kernel.hpp"

#include <map>

namespace perfgate::model {

std::optional<HottestKernel> hottest_kernel(const std::vector<Kernel>& kernels) {
    std::map<std::string, double> times_ns;
    double all_ns = 0;
    for (const Kernel& kernel : kernels) {
        times_ns[kernel.name] += kernel.time_ns;
        all_ns += kernel.time_ns;
    }
    if (!(all_ns > 0)) return std::nullopt;
    HottestKernel hottest;
    double most_ns = 0;
    for (const auto& [name, time_ns] : times_ns) {
        if (time_ns <= most_ns) continue;
        most_ns = time_ns;
        hottest = {name, time_ns / all_ns};
    }
    return hottest;
}

std::optional<std::string> expected_kernel(const Relation& relation) {
    if (!compares_property(relation, hottest_operand) || relation.right_text.empty()) {
        return std::nullopt;
    }
    return relation.right_text;
}

}  // namespace perfgate::model
