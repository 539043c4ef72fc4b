// SPDX-License-Identifier: Apache-2.0
#include "model/catalogue.hpp"

#include <algorithm>

#include "util/word_of.hpp"

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
    const auto found = std::find_if(catalogue.begin(), catalogue.end(),
                                    [&](const WorkloadInfo& info) { return info.name == name; });
    return found == catalogue.end() ? nullptr : &*found;
}

const VariantInfo* find_variant(const WorkloadInfo& workload, const std::string& name) {
    const auto found = std::find_if(workload.variants.begin(), workload.variants.end(),
                                    [&](const VariantInfo& info) { return info.name == name; });
    return found == workload.variants.end() ? nullptr : &*found;
}

}  // namespace perfgate::model
