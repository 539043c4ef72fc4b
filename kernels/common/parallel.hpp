// SPDX-License-Identifier: Apache-2.0
// A loop over independent tasks on the machine's cores. Threads live for one call.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace common {

inline unsigned default_threads() {
    return std::max(1u, std::thread::hardware_concurrency());
}

// Calls body(task) for every task in [0, tasks), each once. The first exception is rethrown.
template <class Body>
void parallel_for(std::size_t tasks, unsigned threads, Body&& body) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::exception_ptr failure;
    const auto work = [&] {
        try {
            for (std::size_t task; (task = next.fetch_add(1)) < tasks;) body(task);
        } catch (...) {
            const std::lock_guard lock(mutex);
            if (!failure) failure = std::current_exception();
            next = tasks;
        }
    };
    const std::size_t wanted = std::min<std::size_t>(threads ? threads : default_threads(), tasks);
    std::vector<std::jthread> others;
    try {
        for (std::size_t i = 1; i < wanted; ++i) others.emplace_back(work);
    } catch (const std::exception&) {
        // No more threads to be had: those that run share the work.
    }
    work();
    others.clear();  // joins
    if (failure) std::rethrow_exception(failure);
}

}  // namespace common
