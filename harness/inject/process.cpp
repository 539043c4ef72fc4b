// SPDX-License-Identifier: Apache-2.0
#include "inject/process.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "util/process_list.hpp"

namespace perfgate::inject {
namespace {

constexpr std::size_t command_bytes = 4096;

std::string file_start(const char* path, std::size_t limit) {
    std::ifstream file(path, std::ios::binary);
    std::string text(limit, '\0');
    file.read(text.data(), static_cast<std::streamsize>(limit));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

std::uint64_t process_start() {
    const auto state = util::state_of({getpid(), "/proc/self"});
    return state ? state->start : 0;
}

std::string command_line() {
    std::string words = file_start("/proc/self/cmdline", command_bytes);
    while (!words.empty() && words.back() == '\0') words.pop_back();
    std::replace(words.begin(), words.end(), '\0', ' ');
    return words;
}

std::string rank() {
    for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) {
        const char* value = std::getenv(name);
        if (value == nullptr) continue;
        const std::string_view text = value;
        const bool number = !text.empty() && text.size() < 8 &&
                            std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
        if (number) return std::string(text);
    }
    return "";
}

}  // namespace

std::uint64_t now(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_nsec);
}

std::string file_name() {
    std::string name = "p" + std::to_string(getpid()) + "-s" + std::to_string(process_start());
    if (const std::string number = rank(); !number.empty()) name += "-r" + number;
    return name + ".activity";
}

activity::Writer::Header header_of(const Settings& settings, const cupti::Api* api) {
    activity::Writer::Header header = {{"pid", std::to_string(getpid())},
                                       {"parent", std::to_string(getppid())},
                                       {"start", std::to_string(process_start())},
                                       {"command", command_line()},
                                       {"rank", rank()},
                                       {"level", to_text(settings.level)}};
    if (api != nullptr) {
        header.emplace_back("cupti", std::to_string(api->version));
        header.emplace_back("cupti_library", api->path);
    }
    return header;
}

CUptiResult read_clocks(const cupti::Api& api, activity::ClockReading& reading) {
    const CUptiResult code = api.cuptiGetTimestamp(&reading.time_ns);
    reading.realtime_ns = now(CLOCK_REALTIME);
    reading.monotonic_ns = now(CLOCK_MONOTONIC);
    return code;
}

}  // namespace perfgate::inject
