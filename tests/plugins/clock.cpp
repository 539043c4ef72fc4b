// SPDX-License-Identifier: Apache-2.0
// Preloaded: the clock with which perfgate's workers time launches. The other processes of a
// command keep the real one. PERFGATE_TEST_CLOCK is one of
//
// stated: a sleep takes no time and moves the clock by what it states and up to 1 % more; a
//         reading moves it by 50 µs. A worker then measures what its plugin states, whatever
//         else the machine does, and soon.
// noisy:  each process is up to eight times slower than another, and stalls now and then. A
//         test that fails with it depends on how quiet the machine is.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace {

enum class Kind { real, stated, noisy };

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t reading_ns = 50'000;
constexpr std::int64_t stall_ns = 20'000'000;
constexpr int readings_between_stalls = 200;
constexpr double slowest = 8;

Kind kind = Kind::real;
double factor = 1;  // of noisy times
std::int64_t begin_ns = 0;
std::atomic<std::int64_t> moved_ns{0};
std::atomic<std::uint64_t> state{0};

/// In [0, 1), another one each time and in each process.
double random_number() {
    std::uint64_t x = state.fetch_add(0x9e3779b97f4a7c15) + 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
}

int real_time(clockid_t id, timespec* time) {
    static const auto real =
        reinterpret_cast<decltype(&clock_gettime)>(dlsym(RTLD_NEXT, "clock_gettime"));
    return real(id, time);
}

std::int64_t in_ns(const timespec& time) {
    return time.tv_sec * second + time.tv_nsec;
}

/// Whether it serves a coordinator: `perfgate worker …`, or a Python that runs worker.py.
bool is_worker() {
    std::ifstream file("/proc/self/cmdline");
    const std::string words{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::size_t second_word = std::strlen(words.c_str()) + 1;
    if (second_word >= words.size()) return false;
    const std::string_view word = words.c_str() + second_word;
    return word == "worker" || words.find("/worker.py") != std::string::npos;
}

[[gnu::constructor]] void choose() {
    const char* name = std::getenv("PERFGATE_TEST_CLOCK");
    if (name == nullptr || !is_worker()) return;
    state = static_cast<std::uint64_t>(getpid()) << 32;
    factor = 1 + (slowest - 1) * random_number();
    timespec now{};
    real_time(CLOCK_MONOTONIC, &now);
    begin_ns = in_ns(now);
    kind = std::strcmp(name, "stated") == 0 ? Kind::stated : Kind::noisy;
}

}  // namespace

#pragma GCC visibility push(default)

extern "C" int clock_gettime(clockid_t id, timespec* time) noexcept {
    const int result = real_time(id, time);
    if (kind == Kind::real || id != CLOCK_MONOTONIC || result != 0) return result;
    std::int64_t now = begin_ns;
    if (kind == Kind::stated) {
        now += moved_ns += reading_ns;
    } else {
        if (random_number() * readings_between_stalls < 1) moved_ns += stall_ns;
        now += moved_ns +
               static_cast<std::int64_t>(factor * static_cast<double>(in_ns(*time) - begin_ns));
    }
    *time = {now / second, now % second};
    return 0;
}

extern "C" int nanosleep(const timespec* requested, timespec* left) {
    if (kind == Kind::stated) {
        moved_ns += static_cast<std::int64_t>(static_cast<double>(in_ns(*requested)) *
                                              (1 + random_number() / 100));
        return 0;
    }
    errno = clock_nanosleep(CLOCK_REALTIME, 0, requested, left);
    return errno == 0 ? 0 : -1;
}

#pragma GCC visibility pop
