// SPDX-License-Identifier: Apache-2.0
#include "runner/interruption.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace perfgate::runner {
namespace {

// Read by the threads of all devices; lock-free, so that a handler may touch it.
std::atomic<bool> flag = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void set_flag(int /*signal*/) {
    // Twice: whoever asks means now. The workers are killed by the kernel when this process ends.
    if (flag.exchange(true)) _exit(130);
}

}  // namespace

void catch_interruptions() {
    struct sigaction action {};
    action.sa_handler = set_flag;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() {
    return flag;
}

}  // namespace perfgate::runner
