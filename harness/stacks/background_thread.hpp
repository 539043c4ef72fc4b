// SPDX-License-Identifier: Apache-2.0
// Starts a thread of perfgate's inside a user's program.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace perfgate::stacks {

/// The thread is detached and takes no signal: the program's must go to its own threads. False if
/// none could be made.
inline bool start_background_thread(void* (*run)(void*), void* argument) noexcept {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread{};
    const int error = pthread_create(&thread, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return error == 0;
}

}  // namespace perfgate::stacks
