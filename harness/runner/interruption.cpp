// SPDX-License-Identifier: Apache-2.0
#include "runner/interruption.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "program/program.hpp"
#include "util/temporary_folder.hpp"

namespace perfgate::runner {
namespace {

// Read by the threads of all devices; lock-free, so that a handler may touch it.
std::atomic<int> signals = 0;
static_assert(std::atomic<int>::is_always_lock_free);

void note(int signal) {
    // A terminal that goes away sends SIGHUP more than once, itself and through its shell.
    if (signal == SIGHUP && signals > 0) return;
    const int count = ++signals;
    if (count > 1) program::hurry = true;
    // The workers' guards end them when this process ends.
    if (count > 2) {
        util::remove_temporary_folders();
        _exit(130);
    }
}

}  // namespace

void catch_interruptions() {
    struct sigaction action {};
    action.sa_handler = note;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    struct sigaction before {};
    sigaction(SIGHUP, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup
}

bool interrupted() {
    return signals > 0;
}

}  // namespace perfgate::runner
