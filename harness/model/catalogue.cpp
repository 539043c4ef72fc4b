// SPDX-License-Identifier: Apache-2.0
#include "model/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "util/text.hpp"

namespace perfgate::model {

std::string_view to_text(ParamType type) {
    return util::word_of<ParamType::text>(type, {"boolean", "integer", "real", "text"});
}

std::string_view to_text(Target target) {
    return util::word_of<Target::program>(target, {"host", "cuda", "program"});
}

std::string_view to_text(Submission submission) {
    return util::word_of<Submission::graph>(submission, {"async", "synchronous", "graph"});
}

const WorkloadInfo* find_workload(const WorkloadCatalogue& catalogue, const std::string& name) {
    const auto found = std::ranges::find(catalogue, name, &WorkloadInfo::name);
    return found == catalogue.end() ? nullptr : &*found;
}

const VariantInfo* find_variant(const WorkloadInfo& workload, const std::string& name) {
    const auto found = std::ranges::find(workload.variants, name, &VariantInfo::name);
    return found == workload.variants.end() ? nullptr : &*found;
}

std::string why_not_offered(const CaseSpec& spec, const WorkloadCatalogue& offered) {
    const WorkloadInfo* workload = find_workload(offered, spec.workload);
    if (!workload) return fmt::format("it has no workload '{}'", spec.workload);
    const VariantInfo* variant = find_variant(*workload, spec.variant);
    if (!variant) return fmt::format("its '{}' has no variant '{}'", spec.workload, spec.variant);
    if (!variant->not_built.empty()) {
        return fmt::format("its variant '{}' was not built: {}", spec.variant, variant->not_built);
    }
    for (const auto& [name, value] : spec.params) {
        if (std::ranges::none_of(workload->params, [&name = name](const auto& param) {
                return param.name == name;
            })) {
            return fmt::format("its '{}' has no parameter '{}'", spec.workload, name);
        }
    }
    return {};
}

}  // namespace perfgate::model
