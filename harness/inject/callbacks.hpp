// SPDX-License-Identifier: Apache-2.0
// CUPTI's callbacks while the program runs: loaded modules, destroyed contexts, calls that start
// and stop profilers, launches. A process has only one subscription, which another tool may already
// hold.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "activity/writer.hpp"
#include "cupti/api.hpp"
#include "cupti/launch_calls.hpp"
#include "inject/code_sampler.hpp"
#include "inject/device_sampler.hpp"
#include "inject/launch_names.hpp"
#include "inject/settings.hpp"

namespace perfgate::inject {

/// Launches that entered the driver, counted independently of the records.
struct LaunchCounts {
    std::atomic<std::uint64_t> kernels{0}, captured{0}, graphs{0}, failed{0};
};

class Callbacks {
  public:
    /// `sampler`, null if nothing is sampled, hears of contexts and holds launches; `code` is null
    /// but at level `code`; `context_ends` is called before a context is destroyed.
    Callbacks(const cupti::Api& api, activity::Writer& writer, LaunchNames& names,
              DeviceSampler* sampler, CodeSampler* code, std::function<void()> context_ends)
        : api_(api),
          writer_(writer),
          launch_names_(names),
          sampler_(sampler),
          code_(code),
          context_ends_(std::move(context_ends)) {}

    /// Subscribes; false with the reason, which names who holds CUPTI, if that failed.
    bool subscribe(std::string& why);
    /// Enables the callbacks; they come from here on. False with the reason if that failed.
    bool enable(const Settings& settings, std::string& why);

    /// The launch calls since the last call; empty unless they are recorded.
    std::vector<activity::LaunchCall> take_launch_calls();

    [[nodiscard]] const LaunchCounts& launches() const { return launches_; }
    [[nodiscard]] std::uint64_t unreadable_modules() const { return unreadable_modules_; }

    /// After fork, in the child: nothing is recorded any more.
    void abandon() { abandoned_ = true; }

  private:
    static void CUPTIAPI callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                  const void* data) noexcept;
    void on_resource(CUpti_CallbackId id, const CUpti_ResourceData& data);
    void add_profiler_call(activity::ProfilerCallKind kind);
    void on_driver_call(CUpti_CallbackId id, const CUpti_CallbackData& data);
    void on_graph_node(CUpti_CallbackId id, const CUpti_GraphData& data);
    void on_module(CUcontext context, const CUpti_ModuleResourceData& module);

    const cupti::Api& api_;
    activity::Writer& writer_;
    LaunchNames& launch_names_;
    DeviceSampler* sampler_;
    CodeSampler* code_;
    std::function<void()> context_ends_;
    bool keep_calls_ = false;
    std::atomic<bool> abandoned_{false};
    CUpti_SubscriberHandle subscriber_ = nullptr;
    LaunchCounts launches_;
    std::atomic<std::uint64_t> unreadable_modules_{0};
    cupti::Captures captures_;
    std::mutex mutex_;
    std::vector<activity::LaunchCall> calls_;
};

}  // namespace perfgate::inject
