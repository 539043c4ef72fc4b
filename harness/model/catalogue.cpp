// SPDX-License-Identifier: Apache-2.0
#include "model/catalogue.hpp"

#include <algorithm>

namespace perfgate::model {

std::string_view to_text(ParamType type) {
    switch (type) {
        case ParamType::boolean:
            return "boolean";
        case ParamType::integer:
            return "integer";
        case ParamType::real:
            return "real";
        case ParamType::text:
            return "text";
    }
    return "unknown";
}

std::string_view to_text(Target target) {
    switch (target) {
        case Target::host:
            return "host";
        case Target::cuda:
            return "cuda";
        case Target::program:
            return "program";
    }
    return "unknown";
}

std::string_view to_text(Submission submission) {
    switch (submission) {
        case Submission::async:
            return "async";
        case Submission::synchronous:
            return "synchronous";
        case Submission::graph:
            return "graph";
    }
    return "unknown";
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
