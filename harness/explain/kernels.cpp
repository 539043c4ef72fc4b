// SPDX-License-Identifier: Apache-2.0
#include "explain/kernels.hpp"

namespace perfgate::explain {

namespace {

using model::KernelChangeKind;

std::string_view rule_of(KernelChangeKind kind) {
    switch (kind) {
        case KernelChangeKind::replaced:
            return "kernel_replaced";
        case KernelChangeKind::added:
            return "kernel_added";
        case KernelChangeKind::removed:
            return "kernel_removed";
        case KernelChangeKind::more_often:
            return "kernel_more_often";
        case KernelChangeKind::less_often:
            return "kernel_less_often";
        case KernelChangeKind::longer:
            return "kernel_longer";
        case KernelChangeKind::shorter:
            return "kernel_shorter";
    }
    return "";
}

std::vector<model::KernelUse> uses_of(const std::vector<model::Kernel>& kernels) {
    std::vector<model::KernelUse> uses;
    uses.reserve(kernels.size());
    for (const model::Kernel& each : kernels) {
        uses.push_back({each.name, each.launches, each.time_ns});
    }
    return uses;
}

}  // namespace

std::vector<model::KernelChange> kernel_changes(const std::vector<model::Kernel>& before,
                                                const std::vector<model::Kernel>& after,
                                                std::optional<double> moved_ns) {
    if (before.empty() || after.empty()) return {};
    return model::kernel_changes(uses_of(before), uses_of(after), moved_ns);
}

model::Cause cause_of(const model::KernelChange& change, std::string_view instance) {
    model::Cause cause{std::string(rule_of(change.kind)), sentence_of(change, instance)};
    cause.brief = cause.sentence;
    cause.figures = {{"kernel_time", "ns", time_of(change.before), time_of(change.after)},
                     {"kernels", "count", launches_of(change.before), launches_of(change.after)}};
    return cause;
}

}  // namespace perfgate::explain
