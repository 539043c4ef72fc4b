// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "backend/cuda/driver.hpp"
#include "backend/cuda/environment.hpp"
#include "util/process_list.hpp"

namespace perfgate::backend::cuda {
namespace {

using measure::Diagnosis;
using Level = measure::Diagnosis::Level;

Diagnosis ok(std::string topic, std::string detail) {
    return {Level::ok, std::move(topic), std::move(detail), ""};
}

Diagnosis warning(std::string topic, std::string detail, std::string remedy) {
    return {Level::warning, std::move(topic), std::move(detail), std::move(remedy)};
}

Diagnosis problem(std::string topic, std::string detail, std::string remedy) {
    return {Level::problem, std::move(topic), std::move(detail), std::move(remedy)};
}

constexpr int hopper = 9;

std::string cuda_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::vector<std::string> names_of_processes() {
    std::vector<std::string> names;
    for (const util::ListedProcess& process : util::list_processes()) {
        std::ifstream file(process.folder / "comm");
        std::string name;
        if (std::getline(file, name)) names.push_back(std::move(name));
    }
    return names;
}

}  // namespace

std::vector<Diagnosis> diagnose_tools(const Tools& tools) {
    std::vector<Diagnosis> found;
    const std::string versions =
        fmt::format("it knows CUDA up to {}, and perfgate was built with {}",
                    cuda_text(tools.driver_cuda), cuda_text(tools.toolkit_cuda));
    if (tools.driver_cuda / 1000 < tools.toolkit_cuda / 1000) {
        found.push_back(problem(
            "driver", versions,
            fmt::format("install a driver for CUDA {} or newer", cuda_text(tools.toolkit_cuda))));
    } else if (tools.driver_cuda < tools.toolkit_cuda) {
        found.push_back(warning("driver", versions + ": it cannot compile PTX of that version",
                                "build kernels for this GPU's architecture, or update the driver"));
    }
    // Before Hopper one user at a time can have the counters.
    const bool dcgm = std::ranges::any_of(
        tools.processes, [](const std::string& name) { return name == "nv-hostengine"; });
    if (dcgm && tools.compute_capability_major < hopper) {
        found.push_back(warning("DCGM",
                                "nv-hostengine is running: while it watches profiling fields, "
                                "counters cannot be collected",
                                "dcgmi profile --pause while perfgate measures"));
    }
    return found;
}

std::vector<Diagnosis> diagnose_board(const NvmlReading& reading, unsigned own_pid) {
    std::vector<Diagnosis> found;
    const auto mhz = [](const std::optional<unsigned>& value) {
        return value ? fmt::format("{} MHz", *value) : std::string("not reported");
    };
    if (reading.sm_clock_mhz || reading.memory_clock_mhz) {
        found.push_back(
            ok("clocks",
               fmt::format("SM {} (at most {}), memory {} (at most {})", mhz(reading.sm_clock_mhz),
                           mhz(reading.max_sm_clock_mhz), mhz(reading.memory_clock_mhz),
                           mhz(reading.max_memory_clock_mhz))));
    } else {
        found.push_back(
            warning("clocks", "NVML does not report them", "gate on cycles rather than on time"));
    }
    if (reading.throttle_bits) {
        const std::string reasons = fmt::format("{}", fmt::join(reading.throttle_reasons, ", "));
        if (throttled(*reading.throttle_bits)) {
            found.push_back(warning("throttling", reasons,
                                    "let the board cool down, raise its power limit, or lock the "
                                    "clocks below what it can hold: nvidia-smi --lock-gpu-clocks"));
        } else {
            found.push_back(ok("throttling", reasons.empty() ? "none" : "none (" + reasons + ")"));
        }
    }
    if (reading.temperature_c || reading.power_w) {
        std::string text;
        if (reading.temperature_c) text = fmt::format("{} °C", *reading.temperature_c);
        if (reading.power_w) {
            text += fmt::format("{}{:.0f} W", text.empty() ? "" : ", ", *reading.power_w);
        }
        if (reading.power_limit_w) text += fmt::format(" of {:.0f} W", *reading.power_limit_w);
        found.push_back(ok("temperature and power", text));
    }
    if (reading.compute_processes) {
        const auto others = other_processes(*reading.compute_processes, own_pid);
        if (others.empty()) {
            found.push_back(ok("other processes", "none"));
        } else {
            found.push_back(warning("other processes", fmt::format("{}", fmt::join(others, ", ")),
                                    "stop them, or measure on another device"));
        }
    }
    if (reading.persistence_mode) {
        if (*reading.persistence_mode) {
            found.push_back(ok("persistence mode", "on"));
        } else {
            found.push_back(warning("persistence mode", "off: the first context takes seconds",
                                    "run nvidia-persistenced, or nvidia-smi -pm 1"));
        }
    }
    if (reading.mig) {
        found.push_back(*reading.mig
                            ? warning("MIG",
                                      "on: the memory system is shared, some counters are not "
                                      "available",
                                      "keep baselines for this MIG profile")
                            : ok("MIG", "off"));
    }
    if (reading.ecc) found.push_back(ok("ECC", *reading.ecc ? "on" : "off"));
    return found;
}

std::vector<Diagnosis> diagnose(OpenDevice& device, const Nvml* nvml,
                                const std::string& nvml_problem) {
    std::vector<Diagnosis> found;
    const model::Environment environment = describe_environment(device, nvml);
    found.push_back(
        ok("driver", fmt::format("{}, CUDA {}", environment.driver, environment.cuda_driver)));
    found.push_back(
        ok("device", fmt::format("{}, compute capability {}, {:.0f} GiB", device.facts().name,
                                 environment.device.compute_capability,
                                 static_cast<double>(device.facts().memory_bytes) / (1 << 30))));
    for (Diagnosis& entry : diagnose_tools({driver_cuda_version(), CUDA_VERSION,
                                            device.facts().cc_major, names_of_processes()})) {
        found.push_back(std::move(entry));
    }
    try {
        const cupti::Api& api = cupti::own();
        found.push_back(
            ok("CUPTI", fmt::format("{}, {}", cupti::version_text(api.version), api.path)));
    } catch (const util::Error& error) {
        found.push_back(
            problem("CUPTI", error.what(),
                    "install cuda-cupti-13-0 or newer (from 12.0 on times are measured, "
                    "from 12.6 update 2 on counters, too)"));
    }
    if (!device.wants_cupti()) {
        found.push_back(warning("CUPTI subscriber", device.cupti_problem(), "drop --no-cupti"));
    } else if (!device.has_cupti()) {
        found.push_back(problem("CUPTI subscriber", device.cupti_problem(),
                                "run without another profiler, or pass --no-cupti"));
    } else {
        found.push_back(ok("CUPTI subscriber", "free"));
        const std::string counters = device.counters_problem();
        found.push_back(counters.empty()
                            ? ok("counter permission", "granted")
                            : problem("counter permission", counters,
                                      "allow it as the message says, or gate on gpu_time alone"));
    }
    if (nvml == nullptr) {
        found.push_back(warning("NVML", nvml_problem,
                                "install the driver's libnvidia-ml.so.1 (in a container: the "
                                "\"utility\" capability)"));
        return found;
    }
    for (Diagnosis& entry : diagnose_board(nvml->read(), static_cast<unsigned>(getpid()))) {
        found.push_back(std::move(entry));
    }
    return found;
}

}  // namespace perfgate::backend::cuda
