// SPDX-License-Identifier: Apache-2.0
// Steps whose GPU waits for Loader::next, which waits for a lock, a pipe or the clock, as its word
// says.
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

__global__ void step(float* values) {
    for (int i = 0; i < 10000; ++i) values[threadIdx.x] += 1.0f;
}

struct Loader {
    std::mutex mutex;
    int pipe[2];

    __attribute__((noinline)) int next(const std::string& what) {
        char byte = 0;
        pollfd end{pipe[0], POLLIN, 0};
        if (what == "lock") {
            const std::lock_guard lock(mutex);
            byte = 1;
        } else if (what == "sleep") {
            byte = static_cast<char>(usleep(20000));
        } else {
            if (what == "poll") poll(&end, 1, -1);
            byte = static_cast<char>(read(pipe[0], &byte, 1));
        }
        return byte;
    }
};

int main(int, char** argv) {
    Loader loader;
    if (pipe(loader.pipe) != 0) return 1;
    std::atomic<bool> over{false};
    std::thread feeder([&] {
        while (!over) {
            {
                const std::lock_guard lock(loader.mutex);
                usleep(20000);
            }
            usleep(100);
            if (write(loader.pipe[1], "", 1) != 1) return;
        }
    });
    float* values = nullptr;
    cudaMalloc(&values, 1024);
    for (int i = 0; i < 60; ++i) {
        loader.next(argv[1]);
        step<<<1, 256>>>(values);
        cudaDeviceSynchronize();
    }
    over = true;
    feeder.join();
    return cudaGetLastError() == cudaSuccess ? 0 : 2;
}
