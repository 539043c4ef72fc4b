// SPDX-License-Identifier: Apache-2.0
#include "inject/process.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string_view>

namespace perfgate::inject {
namespace {

constexpr std::size_t command_bytes = 4096;
/// The field of /proc/self/stat, counted after the name in parentheses, which may contain any
/// character.
constexpr int start_field = 22 - 2;

std::string file_start(const char* path, std::size_t limit) {
    std::ifstream file(path, std::ios::binary);
    std::string text(limit, '\0');
    file.read(text.data(), static_cast<std::streamsize>(limit));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

std::uint64_t now(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

std::uint64_t process_start() {
    const std::string stat = file_start("/proc/self/stat", 4096);
    std::size_t place = stat.rfind(')');
    for (int field = 0; field < start_field && place != std::string::npos; ++field) {
        place = stat.find(' ', place + 1);
    }
    if (place == std::string::npos) return 0;
    std::uint64_t ticks = 0;
    std::from_chars(stat.data() + place + 1, stat.data() + stat.size(), ticks);
    return ticks;
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
        const bool number =
            !text.empty() && text.size() < 8 &&
            std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
        if (number) return std::string(text);
    }
    return "";
}

std::string file_name() {
    std::string name = "p" + std::to_string(getpid()) + "-s" + std::to_string(process_start());
    if (const std::string number = rank(); !number.empty()) name += "-r" + number;
    return name + ".activity";
}

CUptiResult read_clocks(const CuptiApi& api, activity::ClockReading& reading) {
    const CUptiResult code = api.cuptiGetTimestamp(&reading.time_ns);
    reading.realtime_ns = now(CLOCK_REALTIME);
    reading.monotonic_ns = now(CLOCK_MONOTONIC);
    return code;
}

}  // namespace perfgate::inject
