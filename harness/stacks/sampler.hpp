// SPDX-License-Identifier: Apache-2.0
// Samples the stacks of the process that it runs in and of its children (README.md).
#pragma once

#include <pthread.h>
#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "activity/writer.hpp"
#include "stacks/interruptions.hpp"
#include "stacks/native.hpp"
#include "stacks/python.hpp"
#include "stacks/thread_state.hpp"

namespace perfgate::stacks {

class Sampler {
  public:
    /// `clock` gives the time of the records, ns.
    Sampler(std::chrono::nanoseconds interval, std::function<std::uint64_t()> clock);
    ~Sampler();  ///< only before start(): the thread may run until the process ends
    Sampler& operator=(Sampler&&) = delete;  // nor copied

    /// Starts the thread; once. It runs until the process ends or stop() is called.
    void start();
    /// What was sampled since the last call, in records of `writer`. Nothing if the sampler is busy
    /// for too long, which a program that ends must not wait for.
    void take(activity::Writer& writer, activity::Records& records);
    void stop() noexcept;

  private:
    struct Thread;
    struct Process;
    struct Frame {
        std::uint32_t caller = 0;
        Python::Frame at;
        bool operator==(const Frame&) const = default;
    };
    struct FrameHash {
        std::size_t operator()(const Frame& frame) const;
    };
    void run() noexcept;
    void look();
    void look_at(Process& process, std::uint64_t now, bool list_threads);
    /// False if it has ended. Adds it to `changed` if its sample may be another one now.
    bool look_at(const Process& process, Thread& thread, std::uint64_t now,
                 std::vector<Thread*>& changed);
    /// False if there may be an interpreter whose threads could not be read.
    bool find_python_frames(Process& process, bool search);
    void sample(Process& process, Thread& thread, std::uint64_t now, bool python_is_known);
    bool take_interruptions(Process& process, Thread& thread, std::uint64_t now,
                            activity::HostState state);
    std::uint32_t native_frame(Process& process, const Registers& registers,
                               const elf::ModuleMemory& stack);
    void begin(const Process& process, Thread& thread, std::uint64_t now, std::uint32_t frame,
               activity::HostState state);
    void find_children();
    void close(Thread& thread, std::uint64_t now);
    std::uint32_t number_of(const std::vector<Python::Frame>& innermost_first);

    std::chrono::nanoseconds interval_, pause_;  ///< asked for; the mean that it is now
    std::function<std::uint64_t()> clock_;
    std::string about_python_;
    const char* ended_ = nullptr;  ///< why there are no more stacks
    std::optional<Python> python_;
    Native native_;

    std::timed_mutex mutex_;  ///< held during a look
    std::condition_variable_any wake_;
    std::atomic<bool> stopping_{false};

    std::map<pid_t, std::unique_ptr<Process>> processes_;
    std::uint64_t last_look_ns_ = 0, look_monotonic_ns_ = 0;
    std::size_t interrupted_threads_ = 0;
    std::size_t failed_stacks_ = 0, stacks_ = 0;
    std::unordered_map<Frame, std::uint32_t, FrameHash> numbers_;
    std::vector<Frame> new_frames_;
    std::vector<activity::HostSample> samples_;
    std::vector<std::pair<activity::HostThread, std::string>> new_threads_;
    activity::HostSampling sampling_;
    std::minstd_rand random_;
    std::vector<Python::Thread> python_threads_;
    std::vector<Python::Frame> stack_;
    std::vector<std::uint32_t> native_stack_;
};

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
