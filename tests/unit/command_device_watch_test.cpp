// SPDX-License-Identifier: Apache-2.0
// Stand-ins for processes with CUDA: they map a file of the driver library's, or of the device's,
// name.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "kinds/command/device_watch.hpp"
#include "temporary_folder.hpp"
#include "util/process_list.hpp"

namespace perfgate::command {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr const char* device = "nvidia-uvm";
constexpr const char* driver = "libcuda.so.580.1";
constexpr const char* recorder = "CUDA_INJECTION64_PATH=/library.so";

std::string maps_of(pid_t pid) {
    return (std::stringstream() << std::ifstream("/proc/" + std::to_string(pid) + "/maps").rdbuf())
        .str();
}

/// Some shared library of this process.
std::string any_library() {
    const std::string maps = maps_of(getpid());
    const std::size_t name = maps.find("/libstdc++.so");
    const std::size_t begin = maps.rfind(' ', name) + 1;
    return maps.substr(begin, maps.find('\n', begin) - begin);
}

class DeviceWatchTest : public ::testing::Test {
  protected:
    ~DeviceWatchTest() override {
        for (const program::Process& process : all_) end(process);
    }

    /// A process that waits to be ended and has mapped files of these names.
    program::Process start(const std::vector<std::string>& mapped, std::string variable = "X=") {
        std::string preload = "LD_PRELOAD=";
        for (const std::string& name : mapped) {
            const fs::path file = folder_.path() / name;
            if (!fs::exists(file)) fs::copy_file(any_library(), file);
            preload += file.native() + ":";
        }
        const pid_t pid = fork();
        if (pid == 0) {
            execle("/bin/sleep", "sleep", "600", nullptr,
                   std::vector<char*>{preload.data(), variable.data(), nullptr}.data());
            _exit(1);
        }
        const auto has_all = [&] {
            const std::string maps = maps_of(pid);
            bool all = maps.find("/sleep") != std::string::npos;
            for (const std::string& name : mapped) all = all && maps.find(name) != maps.npos;
            return all;
        };
        while (!has_all()) std::this_thread::yield();
        all_.push_back({pid, util::state_of({pid, "/proc/" + std::to_string(pid)})->start});
        return all_.back();
    }

    static void end(const program::Process& process) {
        kill(process.pid, SIGKILL);
        waitpid(process.pid, nullptr, 0);
    }

    static activity::Recording recording_of(const program::Process& process) {
        activity::Recording recording;
        recording.header = {{"pid", std::to_string(process.pid)},
                            {"start", std::to_string(process.start)}};
        return recording;
    }

    /// A look every 10 ms.
    void look(const std::vector<program::Process>& processes) {
        watch_.look(processes, now_ += milliseconds(10));
    }

    TemporaryFolder folder_;
    std::vector<program::Process> all_;
    DeviceWatch watch_;
    DeviceWatch::Clock::time_point now_{};
};

TEST_F(DeviceWatchTest, AProcessWithAContextAndNoRecordingIsFound) {
    const program::Process plain = start({"libnvidia-ml.so.1"});
    const program::Process silent = start({driver, device});
    look({plain});
    look({plain, silent});
    look({plain, silent});
    look({plain});
    look({plain});
    const auto found = watch_.unrecorded({});
    EXPECT_EQ(found.commands, std::vector<std::string>{"sleep 600"});
    // From the look before it was seen first to the one after it was seen last.
    EXPECT_DOUBLE_EQ(found.seconds, 0.030);
    EXPECT_EQ(unrecorded_notes(found).size(), 1U);
}

TEST_F(DeviceWatchTest, RecordedProcessesAreKnownByPidAndStart) {
    const program::Process recorded = start({driver, device});
    look({recorded});
    look({recorded});
    EXPECT_TRUE(watch_.unrecorded({recording_of(recorded)}).commands.empty());
    EXPECT_EQ(watch_.unrecorded({}).commands.size(), 1U);
    const program::Process earlier{recorded.pid, recorded.start - 1};
    EXPECT_EQ(watch_.unrecorded({recording_of(earlier)}).commands.size(), 1U);
}

TEST_F(DeviceWatchTest, TheVariableDoesNotExcuseAContext) {
    const program::Process silent = start({driver, device}, recorder);
    look({silent});
    EXPECT_EQ(watch_.unrecorded({}).commands.size(), 1U);
}

TEST_F(DeviceWatchTest, TheTimesOfSeveralProcessesAddUp) {
    const program::Process first = start({device}), second = start({device});
    look({});
    look({first, second});
    look({second});
    look({});
    const auto found = watch_.unrecorded({});
    EXPECT_EQ(found.commands.size(), 1U);  // the same words
    EXPECT_DOUBLE_EQ(found.seconds, 0.020 + 0.030);
}

// Such as on WSL, which has no such device file.
TEST_F(DeviceWatchTest, WithoutContextsTheDriversLibraryWithoutTheVariableCounts) {
    const program::Process silent = start({driver}), passed_on = start({driver}, recorder);
    look({silent, passed_on});
    look({silent, passed_on});
    const auto found = watch_.unrecorded({recording_of(passed_on)});
    EXPECT_EQ(found.commands.size(), 1U);
    EXPECT_DOUBLE_EQ(found.seconds, 0.010);
    EXPECT_TRUE(watch_.unrecorded({recording_of(silent)}).commands.empty());
}

// Such as nvidia-smi, which loads the driver's library to ask for its version.
TEST_F(DeviceWatchTest, WithContextsTheDriversLibraryAloneIsNoUse) {
    const program::Process recorded = start({driver, device}, recorder), idle = start({driver});
    look({recorded, idle});
    look({recorded, idle});
    EXPECT_TRUE(watch_.unrecorded({recording_of(recorded)}).commands.empty());
}

TEST_F(DeviceWatchTest, WhatHasEndedOrHasNoMapIsNothing) {
    const program::Process ended = start({driver, device});
    end(ended);
    look({ended, {getpid() + 1'000'000, 1}});
    const auto found = watch_.unrecorded({});
    EXPECT_TRUE(found.commands.empty());
    EXPECT_TRUE(found.hidden.empty());
    EXPECT_EQ(found.seconds, 0);
}

}  // namespace
}  // namespace perfgate::command
