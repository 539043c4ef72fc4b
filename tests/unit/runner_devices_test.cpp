// SPDX-License-Identifier: Apache-2.0
// Devices and GPUs of a run: which are there, measure, and are locked.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "runner/devices.hpp"
#include "runner/plan.hpp"
#include "unit/runner_fixture.hpp"

namespace perfgate::runner {
namespace {

TEST(NvidiaGpu, IsWhatTheDriverShowsUnlessItIsHidden) {
    const TemporaryFolder machine;
    unsetenv("CUDA_VISIBLE_DEVICES");
    EXPECT_FALSE(has_nvidia_gpu(machine.path()));
    fs::create_directories(machine.path() / "proc/driver/nvidia/gpus");
    EXPECT_FALSE(has_nvidia_gpu(machine.path()));  // a driver alone
    fs::create_directories(machine.path() / "proc/driver/nvidia/gpus/0000:05:00.0");
    EXPECT_TRUE(has_nvidia_gpu(machine.path()));
    for (const char* hidden : {"", "-1"}) {
        setenv("CUDA_VISIBLE_DEVICES", hidden, 1);
        EXPECT_FALSE(has_nvidia_gpu(machine.path())) << hidden;
    }
    setenv("CUDA_VISIBLE_DEVICES", "0", 1);
    EXPECT_TRUE(has_nvidia_gpu(machine.path()));
    unsetenv("CUDA_VISIBLE_DEVICES");
    const TemporaryFolder container;
    fs::create_directories(container.path() / "dev");
    std::ofstream(container.path() / "dev/nvidia0") << "";
    EXPECT_TRUE(has_nvidia_gpu(container.path()));
}

TEST_F(Runner, WithSeveralDevicesEachCaseIsMeasuredOnOneOfThem) {
    RunRequest asked = request();
    asked.measuring.backend.devices = "all";
    run(asked);
    const model::Run measured = stored();
    for (const model::CaseResult& result : measured.suites.at(0).cases) {
        EXPECT_EQ(batches(result), usual_processes);
        std::set<std::string> boards;
        for (const model::Batch& batch : result.metrics.at("gpu_time").batches) {
            boards.insert(batch.device);
        }
        EXPECT_EQ(boards.size(), 1U);
    }
}

TEST_F(Runner, ADeviceIsKeptOpenWhereItIsAGpu) {
    BackendChoice choice = measuring().backend;
    EXPECT_NE(open_backend(choice).keeper, nullptr);
    choice.backend = "host";
    EXPECT_EQ(open_backend(choice).keeper, nullptr);
}

TEST_F(Runner, RefusesDevicesOfSeveralKindsAndABackendThatCannotMeasure) {
    RunRequest mixed = request();
    mixed.measuring.backend.devices = "mixed";
    EXPECT_EQ(refusal(mixed),
              "--devices: 0 is a Fake fake and 2 is a Fake other: one run measures boards of one "
              "kind; run once for each kind");
    EXPECT_NE(refusal(request({"blind"})).find("backend 'cuda' cannot measure here"),
              std::string::npos);
}

/// A suite of two programs, and how many GPUs each sees.
std::string suite_of_programs(const std::string& file, const char* other, const char* first = "2") {
    std::ofstream(file) << "name: programs\n"
                           "workloads:\n"
                           "  - command: [./app]\n"
                           "    name: pair\n"
                        << "    gpus: " << first << '\n'
                        << "    tolerances: {program.gpu_time: 3%}\n"
                           "  - command: [./app]\n"
                           "    name: other\n"
                        << "    gpus: " << other << '\n'
                        << "    tolerances: {program.gpu_time: 3%}\n";
    return file;
}

TEST_F(Runner, ProgramsOnSeveralGpusHaveTheirNumberInTheKey) {
    const std::string suite = suite_of_programs(folder("programs.yaml"), "2");
    const MeasuringChoice choice = measuring();
    OpenedBackend backend = open_to_measure(choice);
    EXPECT_EQ(backend.visible, Texts{"GPU-0"});
    EXPECT_EQ(backend.locks.size(), 1U);
    EXPECT_EQ(plan_for({suite}, choice, backend).suites.at(0).cases.size(), 2U);
    EXPECT_EQ(backend.visible, (Texts{"GPU-0", "GPU-1"}));
    EXPECT_EQ(backend.locks.size(), 2U);
    EXPECT_EQ(backend.capabilities.environment.device.key, "fake-x2");
    // Both are taken: nobody else measures on the second.
    MeasuringChoice second = measuring();
    second.backend.devices = "all";
    second.lock_wait_s = 0;
    EXPECT_THROW(open_to_measure(second), util::Error);
}

TEST_F(Runner, OneGpuLeavesTheKeyAndTheLocksAlone) {
    const MeasuringChoice choice = measuring();
    OpenedBackend backend = open_to_measure(choice);
    plan_for({suite_file()}, choice, backend);
    EXPECT_EQ(backend.visible, Texts{"GPU-0"});
    EXPECT_EQ(backend.locks.size(), 1U);
    EXPECT_EQ(backend.capabilities.environment.device.key, "fake");
}

TEST_F(Runner, ARunThatOnlyPlansLocksNothing) {
    const std::string suite = suite_of_programs(folder("programs.yaml"), "2");
    const MeasuringChoice choice = measuring();
    OpenedBackend backend = open_backend(choice.backend);
    plan_for({suite}, choice, backend);
    EXPECT_TRUE(backend.locks.empty());
}

TEST_F(Runner, RefusesProgramsWithMoreGpusThanThereAre) {
    const std::string suite = suite_of_programs(folder("programs.yaml"), "2");
    const auto refused = [&](const std::string& name, const std::string& devices) -> std::string {
        MeasuringChoice choice = measuring();
        choice.backend.backend = name;
        choice.backend.devices = devices;
        OpenedBackend backend = open_to_measure(choice);
        try {
            plan_for({suite}, choice, backend);
        } catch (const util::InputError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refused("cuda", "0"),
              "a program needs 2 GPUs ('gpus'), but --devices names 1 of the same model: use a "
              "machine with enough GPUs");
    EXPECT_EQ(refused("host", ""),
              "a program needs 2 GPUs ('gpus'), but this machine has 0 of the same model: use a "
              "machine with enough GPUs");
    EXPECT_EQ(refused("cuda", "all"), "");
}

TEST_F(Runner, ProgramsOnAllGpusTakeThoseOfOneModelAndAreSkippedWhereThereIsOne) {
    const std::string suite = suite_of_programs(folder("programs.yaml"), "all", "all");
    const auto planned = [&](const std::string& devices) {
        MeasuringChoice choice = measuring();
        choice.backend.devices = devices;
        OpenedBackend backend = open_to_measure(choice);
        const model::Plan plan = plan_for({suite}, choice, backend);
        return backend.capabilities.environment.device.key + ": " +
               plan.suites.at(0).cases.at(0).skip_reason;
    };
    EXPECT_EQ(planned("all"), "fake-x2: ");
    EXPECT_EQ(planned(""), "fake-x2: ");
    EXPECT_EQ(planned("0"), "fake: its program needs several GPUs of one model, and one is here");
}

TEST_F(Runner, RefusesCasesThatSeeDifferentNumbersOfGpus) {
    const std::string suite = suite_of_programs(folder("programs.yaml"), "1");
    MeasuringChoice choice = measuring();
    OpenedBackend backend = open_to_measure(choice);
    try {
        plan_for({suite}, choice, backend);
        FAIL() << "it was not refused";
    } catch (const util::InputError& error) {
        EXPECT_NE(
            std::string(error.what()).find("other/program uses 1 GPU, but pair/program uses 2"),
            std::string::npos)
            << error.what();
    }
    choice.filters = {"pair/*"};
    EXPECT_EQ(plan_for({suite}, choice, backend).suites.at(0).cases.size(), 1U);
}

}  // namespace
}  // namespace perfgate::runner
