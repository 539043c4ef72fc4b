// SPDX-License-Identifier: Apache-2.0
#include "gate/baseline_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "model/case.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

namespace {

/// The driver reserves an amount of memory that depends on its version. Only a different amount on
/// the board makes another device.
bool same_memory(std::uint64_t left, std::uint64_t right) {
    const auto larger = static_cast<double>(std::max(left, right));
    const auto smaller = static_cast<double>(std::min(left, right));
    return larger - smaller <= 0.05 * larger;
}

}  // namespace

BaselineSet baselines_of(const model::Run& base, const std::string& name) {
    const model::Environment& environment = base.environment;
    model::Provenance provenance;
    provenance.driver = environment.driver;
    provenance.cuda_toolkit = environment.cuda_toolkit;
    provenance.cupti = environment.cupti;
    provenance.tool_version = base.tool_version;
    provenance.git_revision = base.git_revision;
    provenance.recorded_at = base.started_at;
    BaselineSet baselines;
    for (const model::SuiteResult& suite : base.suites) {
        StoredBaseline stored{name, {}};
        stored.baseline.suite = suite.name;
        stored.definitions = base.metric_definitions;
        stored.baseline.device = environment.device;
        stored.baseline.device.board.clear();
        for (const model::CaseResult& result : suite.cases) {
            const std::string id = model::case_id(result.spec);
            stored.base[id] = {result.status, result.reason, result.not_collected,
                               result.measured_as, result.notes};
            if (result.status != model::CaseStatus::measured) continue;
            provenance.board = model::board_of(base, result);
            model::BaselineCase& expected = stored.baseline.cases[id];
            expected = {provenance,       result.metrics,   result.kernels,
                        result.host_code, result.libraries, result.memory_operations};
            expected.tags = result.tags;
        }
        baselines.insert_or_assign(suite.name, std::move(stored));
    }
    return baselines;
}

std::optional<DeviceDifference> device_difference(const model::Device& measured,
                                                  const model::Device& baseline) {
    std::optional<DeviceDifference> difference;
    const auto compare = [&](std::string_view field, const std::string& then,
                             const std::string& now) {
        if (difference || then == now) return;
        difference = {field, fmt::format("'{}'", util::printable(then)),
                      fmt::format("'{}'", util::printable(now))};
    };
    compare("device.name", baseline.name, measured.name);
    compare("device.compute_capability", baseline.compute_capability, measured.compute_capability);
    compare("device.mig_profile", baseline.mig_profile, measured.mig_profile);
    if (!same_memory(baseline.memory_bytes, measured.memory_bytes)) {
        compare("device.memory_bytes", std::to_string(baseline.memory_bytes),
                std::to_string(measured.memory_bytes));
    }
    compare("device.key", baseline.key, measured.key);
    return difference;
}

void require_same_device(const model::Device& measured, const model::Device& baseline,
                         std::string_view baseline_file) {
    const auto differs = device_difference(measured, baseline);
    if (!differs) return;
    throw util::InputError(fmt::format(
        "baseline {} is of another device: {} is {}, the run's is {}; refresh a baseline on "
        "this device",
        util::printable(baseline_file), differs->field, differs->then, differs->now));
}

}  // namespace perfgate::gate
