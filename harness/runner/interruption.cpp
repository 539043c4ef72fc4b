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

void set_flag(int signal) {
    // The second time, end at once. The workers' guards end them when this process ends. Not for
    // SIGHUP: a terminal that goes away sends it more than once, itself and through its shell.
    if (flag.exchange(true) && signal != SIGHUP) _exit(130);
}

}  // namespace

void catch_interruptions() {
    struct sigaction action {};
    action.sa_handler = set_flag;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    struct sigaction before {};
    sigaction(SIGHUP, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup
}

bool interrupted() {
    return flag;
}

}  // namespace perfgate::runner
