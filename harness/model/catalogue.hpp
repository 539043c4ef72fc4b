// SPDX-License-Identifier: Apache-2.0
// What plugins offer, as values: the workloads, their variants and parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/case.hpp"

namespace perfgate::model {

enum class ParamType { boolean, integer, real, text };
/// What runs a case: a variant of a plugin on the host or with CUDA, or a program of the suite.
enum class Target { host, cuda, program };
enum class Submission { async, synchronous, graph };

struct ParamInfo {
    std::string name;
    std::string help;
    ParamType type = ParamType::integer;
    std::int64_t minimum = 0;  ///< integers: inclusive bounds
    std::int64_t maximum = 0;
    std::vector<std::string> choices;         ///< text: the allowed values; empty allows any
    std::optional<ParamValue> default_value;  ///< absent: the suite must set it
    std::vector<ParamValue> values = {};      ///< that a suite measures if it names none
};

struct VariantInfo {
    std::string name;
    std::string help;
    Target target = Target::cuda;
    Submission submission = Submission::async;
    int min_compute_capability = 0;  ///< 80 for 8.0; 0 for host variants
    std::string not_built;           ///< what is absent; empty: it is built
};

struct WorkloadInfo {
    std::string name;
    std::string help;
    std::string plugin;    ///< the file that it comes from
    bool bundled = false;  ///< it comes with perfgate
    std::vector<ParamInfo> params;
    std::vector<VariantInfo> variants;
};

using WorkloadCatalogue = std::vector<WorkloadInfo>;

std::string_view to_text(ParamType type);
std::string_view to_text(Target target);
std::string_view to_text(Submission submission);

const WorkloadInfo* find_workload(const WorkloadCatalogue& catalogue, const std::string& name);
const VariantInfo* find_variant(const WorkloadInfo& workload, const std::string& name);

/// Why a worker that offers these workloads does not have the case: "it has no workload 'gemm'".
/// Empty: it does, whatever the values of its parameters.
std::string why_not_offered(const CaseSpec& spec, const WorkloadCatalogue& offered);

}  // namespace perfgate::model
