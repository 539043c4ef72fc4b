// SPDX-License-Identifier: Apache-2.0
// A program with a driver whose main thread waits in Loader::next, for what its word says, until
// the sampler has looked at it some times.
#include <dlfcn.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

namespace {

/// How often the thread that samples has run.
long looks() {
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        std::getline(std::ifstream(task.path() / "comm"), name);
        long time = 0, ready = 0, runs = 0;
        if (name != "perfgate stacks") continue;
        std::ifstream(task.path() / "schedstat") >> time >> ready >> runs;
        return runs;
    }
    return 0;
}

void wait_for_looks() {
    const long first = looks();
    while (looks() < first + 60) usleep(1000);
}

/// As a C library waits, compiled with -O0 one that has frame pointers.
__attribute__((noinline)) void sleep_with_frame() {
    const timespec time{0, 20'000'000};
    long result = SYS_nanosleep;
    asm volatile("syscall" : "+a"(result) : "D"(&time), "S"(nullptr) : "rcx", "r11", "memory");
}

struct Loader {
    std::mutex mutex;
    std::condition_variable changed;
    std::atomic<bool> started{false}, ready{false};
    int pipe[2]{};

    __attribute__((noinline)) int next(const std::string& what) {
        char byte = 0;
        if (what == "lock") {
            const std::lock_guard lock(mutex);
            byte = 1;
        } else if (what == "condition") {
            std::unique_lock lock(mutex);
            changed.wait(lock, [&] { return ready.load(); });
        } else if (what == "read") {
            byte = static_cast<char>(read(pipe[0], &byte, 1));
        } else if (what == "poll") {
            pollfd end{pipe[0], POLLIN, 0};
            byte = static_cast<char>(poll(&end, 1, -1));
        } else if (what == "sleep") {
            while (!ready) usleep(20000);
        } else if (what == "run") {
            while (!ready) byte = 1;
        } else if (what == "frame") {
            while (!ready) sleep_with_frame();
        }
        return byte;
    }
};

}  // namespace

int main(int, char** argv) {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == nullptr) return 9;
    if (reinterpret_cast<int (*)(unsigned int)>(dlsym(driver, "cuInit"))(0) != 0) return 8;
    Loader loader;
    if (pipe(loader.pipe) != 0) return 7;
    std::thread feeder([&] {
        std::unique_lock lock(loader.mutex, std::defer_lock);
        const bool holds = std::string(argv[1]) == "lock";
        if (holds) lock.lock();
        loader.started = true;
        wait_for_looks();
        if (!holds) lock.lock();
        loader.ready = true;
        lock.unlock();
        loader.changed.notify_all();
        if (write(loader.pipe[1], "", 1) != 1) _exit(6);
    });
    while (!loader.started) usleep(1000);
    const int got = loader.next(argv[1]);
    feeder.join();
    return got < 0 ? 5 : 0;
}
