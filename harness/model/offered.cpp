// SPDX-License-Identifier: Apache-2.0
#include "model/offered.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace perfgate::model {

std::string why_not_offered(const CaseSpec& spec, const WorkloadCatalogue& offered) {
    const WorkloadInfo* workload = find_workload(offered, spec.workload);
    if (!workload) return fmt::format("it has no workload '{}'", spec.workload);
    const VariantInfo* variant = find_variant(*workload, spec.variant);
    if (!variant) return fmt::format("its '{}' has no variant '{}'", spec.workload, spec.variant);
    if (!variant->not_built.empty()) {
        return fmt::format("its variant '{}' was not built: {}", spec.variant, variant->not_built);
    }
    for (const auto& [name, value] : spec.params) {
        if (std::none_of(workload->params.begin(), workload->params.end(),
                         [&name = name](const auto& param) { return param.name == name; })) {
            return fmt::format("its '{}' has no parameter '{}'", spec.workload, name);
        }
    }
    return {};
}

}  // namespace perfgate::model
