// SPDX-License-Identifier: Apache-2.0
#include "runner/doctor.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "document/json_writer.hpp"
#include "kinds/source/nvrtc.hpp"
#include "kinds/source/preparing.hpp"
#include "measure/workers.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

using Level = measure::Diagnosis::Level;

measure::Diagnosis failed_with(const std::exception& error) {
    return {Level::problem, "backend", error.what(), "fix this and run 'perfgate doctor' again"};
}

/// The newest CUDA that the driver knows; 0 if that is not known, which `found` says.
int driver_major(measure::Workers& workers, std::vector<measure::Diagnosis>& found) {
    try {
        const measure::Reply reply = workers.must_ask(measure::DescribeRequest{}, 60);
        return source::major_of(
            std::get<measure::DescribeReply>(reply).capabilities.environment.cuda_driver);
    } catch (const measure::Interrupted&) {
        throw;
    } catch (const std::exception& error) {
        if (!has_problem(found)) found.push_back(failed_with(error));
    }
    return 0;
}

std::vector<measure::Diagnosis> diagnosed_by(const std::string& backend,
                                             const BackendChoice& choice) {
    measure::Workers workers(
        worker_command(choice, backend, backend == "host" ? "" : choice.devices), {});
    const measure::Reply reply = workers.must_ask(measure::DiagnoseRequest{}, 60);
    std::vector<measure::Diagnosis> found = std::get<measure::DiagnoseReply>(reply).diagnoses;
    const int newest_major = driver_major(workers, found);
    found.push_back(diagnose_nvrtc(newest_major));
    return found;
}

}  // namespace

std::vector<measure::Diagnosis> diagnose(const BackendChoice& choice) {
    const bool chosen = choice.backend != "auto";
    try {
        return diagnosed_by(chosen ? choice.backend : "cuda", choice);
    } catch (const util::InputError&) {
        throw;
    } catch (const std::exception& error) {
        if (chosen || !choice.devices.empty() || has_nvidia_gpu()) {
            return {failed_with(error)};
        }
        // As `run` does: without a GPU it measures on the host.
        std::vector<measure::Diagnosis> found{
            {Level::warning, "GPU", error.what(),
             "without a GPU only host variants and benchmarks of the CPU can be measured; where "
             "one is expected, use 'perfgate doctor --backend cuda', which fails without it"}};
        for (measure::Diagnosis& entry : diagnosed_by("host", choice)) {
            found.push_back(std::move(entry));
        }
        return found;
    }
}

measure::Diagnosis diagnose_nvrtc(int newest_major) {
    try {
        const source::Nvrtc nvrtc(newest_major);
        const auto [major, minor] = nvrtc.version();
        const std::string found =
            fmt::format("{}.{}, {}", major, minor, util::printable(nvrtc.file().string()));
        if (!nvrtc.include_folders().empty()) return {Level::ok, "NVRTC", found, ""};
        return {
            Level::warning, "NVRTC",
            fmt::format("{}, without headers of CUDA {}, such as cuda_fp16.h and cub", found,
                        major),
            fmt::format("if a source (.cu) includes them: a toolkit of CUDA {} in CUDA_HOME, or "
                        "'pip install {}' beside this file",
                        major,
                        major == 12 ? "nvidia-cuda-runtime-cu12 nvidia-cuda-cccl-cu12"
                                    : "nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl")};
    } catch (const util::Error& error) {
        return {Level::warning, "NVRTC",
                "none that can be used: it compiles a suite's sources (.cu)", error.what()};
    }
}

bool has_problem(const std::vector<measure::Diagnosis>& diagnoses) {
    return std::ranges::any_of(diagnoses, [](const auto& diagnosis) {
        return diagnosis.level == measure::Diagnosis::Level::problem;
    });
}

std::string write_json(const std::vector<measure::Diagnosis>& diagnoses) {
    using document::JsonLayout;
    using document::write_field;
    document::JsonWriter json;
    json.begin_object(JsonLayout::lines);
    write_field(json, "schema", "perfgate.doctor");
    write_field(json, "version", std::int64_t{1});
    json.key("checks");
    json.begin_array(JsonLayout::lines);
    for (const measure::Diagnosis& diagnosis : diagnoses) {
        json.begin_object(JsonLayout::compact);
        write_field(json, "level", to_text(diagnosis.level));
        write_field(json, "topic", diagnosis.topic);
        write_field(json, "detail", diagnosis.detail);
        write_field(json, "remedy", diagnosis.remedy);
        json.end_object();
    }
    json.end_array();
    json.end_object();
    return json.finish();
}

}  // namespace perfgate::runner
