// SPDX-License-Identifier: Apache-2.0
// A program with a driver, compiled with sanitizers, which have signal handlers and an allocator of
// their own.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

int main() {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == nullptr) return 9;
    if (reinterpret_cast<int (*)(unsigned int)>(dlsym(driver, "cuInit"))(0) != 0) return 8;
    unsigned int sum = 0;
    for (unsigned int i = 0; i < 2000; ++i) {
        auto* numbers = new unsigned int[1024];
        for (unsigned int j = 0; j < 1024; ++j) numbers[j] = i ^ j;
        sum += numbers[i % 1024];
        delete[] numbers;
    }
    usleep(20000);
    std::printf("%u\n", sum);
    return 4;
}
