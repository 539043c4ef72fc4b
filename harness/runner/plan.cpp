// SPDX-License-Identifier: Apache-2.0
#include "runner/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "model/error.hpp"
#include "suite/plan.hpp"
#include "suite/suite.hpp"

namespace perfgate::runner {

namespace {

model::Target target_of(const std::string& backend) {
    return backend == "cuda" ? model::Target::cuda : model::Target::host;
}

std::filesystem::path folder_of(const model::PlannedSuite& suite) {
    return std::filesystem::absolute(suite.file).parent_path();
}

/// Why a build does not offer the case; empty: it does.
std::string lacks(const model::WorkloadCatalogue& catalogue, const model::CaseSpec& spec) {
    const model::WorkloadInfo* workload = model::find_workload(catalogue, spec.workload);
    if (!workload) return fmt::format("it has no workload '{}'", spec.workload);
    const model::VariantInfo* variant = model::find_variant(*workload, spec.variant);
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

/// The number of GPUs visible to each case; for a plugin's case, one.
int gpus_of(const model::Plan& plan) {
    const model::PlannedCase* first = nullptr;
    int gpus = 1;
    for (const model::PlannedSuite& suite : plan.suites) {
        for (const model::PlannedCase& planned : suite.cases) {
            if (!planned.skip_reason.empty()) continue;
            const int own = planned.program ? suite.commands[planned.program->command].gpus : 1;
            if (first == nullptr) {
                first = &planned;
                gpus = own;
            } else if (own != gpus) {
                throw model::InputError(fmt::format(
                    "{}:{}: {} uses {} GPU{}, but {} uses {}: a run has one device key, which "
                    "includes the number of GPUs; measure them in separate runs with --filter",
                    planned.place.file, planned.place.line, case_id(planned.spec), own,
                    own == 1 ? "" : "s", case_id(first->spec), gpus));
            }
        }
    }
    return gpus;
}

}  // namespace

model::Plan plan_for(const std::vector<std::string>& files, const MeasuringChoice& choice,
                     OpenedBackend& backend, Programs programs) {
    const model::Device& device = backend.capabilities.environment.device;
    suite::PlanOptions options;
    options.target = target_of(backend.name);
    options.device_key = device.key;
    options.compute_capability = device.compute_capability;
    options.filters = choice.filters;
    options.tags = choice.tags;
    const auto suites =
        suite::load_suites({files.begin(), files.end()}, backend.capabilities.workloads);
    model::Plan plan = suite::plan_suites(suites, options);
    if (programs == Programs::left_out) return without_programs(std::move(plan));
    if (const int gpus = gpus_of(plan); gpus > 1) {
        share_gpus(backend, choice, static_cast<std::size_t>(gpus));
        options.device_key = device.key;
        plan = suite::plan_suites(suites, options);
        // Overrides for the other key may have brought back cases that were skipped.
        if (gpus_of(plan) != gpus) {
            throw model::InputError(
                fmt::format("overrides of the suites select other cases for {} than for one GPU: "
                            "select cases that see {} GPUs with --filter",
                            device.key, gpus));
        }
    }
    for (model::PlannedSuite& suite : plan.suites) {
        for (const std::string& line : suite::not_built(suite)) {
            fmt::print(stderr, "perfgate: warning: {}\n", line);
        }
        for (model::Command& command : suite.commands) {
            command.folder = (folder_of(suite) / command.folder).lexically_normal().native();
        }
    }
    return plan;
}

bool has_programs(const model::Plan& plan) {
    return std::any_of(plan.suites.begin(), plan.suites.end(), [](const auto& suite) {
        return std::any_of(suite.cases.begin(), suite.cases.end(), [](const auto& planned) {
            return planned.program && planned.skip_reason.empty();
        });
    });
}

model::Plan in_root(model::Plan plan, const std::string& root) {
    for (model::PlannedSuite& suite : plan.suites) {
        for (model::Command& command : suite.commands) {
            const std::filesystem::path folder = command.folder;
            command.folder = (std::filesystem::absolute(root) /
                              folder.lexically_relative(folder_of(suite).lexically_normal()))
                                 .lexically_normal()
                                 .native();
        }
    }
    return plan;
}

model::Plan without_programs(model::Plan plan) {
    bool left = false;
    for (model::PlannedSuite& suite : plan.suites) {
        std::erase_if(suite.cases, [](const model::PlannedCase& planned) {
            return planned.program.has_value();
        });
        left = left || !suite.cases.empty();
    }
    if (!left) {
        throw model::InputError(
            "the suites have only programs: work of a known length can be added to the launches "
            "of plugins' cases, not to programs");
    }
    return plan;
}

model::Plan offered(model::Plan plan, const model::WorkloadCatalogue& catalogue) {
    for (model::PlannedSuite& suite : plan.suites) {
        for (model::PlannedCase& planned : suite.cases) {
            if (planned.program) continue;
            if (planned.skip_reason.empty()) planned.skip_reason = lacks(catalogue, planned.spec);
        }
    }
    return plan;
}

}  // namespace perfgate::runner
