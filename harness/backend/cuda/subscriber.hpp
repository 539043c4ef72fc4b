// SPDX-License-Identifier: Apache-2.0
//
// The one callback subscription that a process may hold, with the CUPTI that the backend links.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>

#include "cupti/api.hpp"
#include "cupti/launch_calls.hpp"

namespace perfgate::backend::cuda {

/// Throws cupti::Error unless `code` is CUPTI_SUCCESS. `what` is a clause: "cannot start a pass".
inline void check(CUptiResult code, std::string_view what) {
    if (code != CUPTI_SUCCESS) throw cupti::Error(cupti::own(), code, what);
}

/// The process's callback subscription. Holding it excludes other tools from CUPTI; if it is taken,
/// the error names the tool that holds it.
class Subscriber {
  public:
    /// A kernel launch that is about to enter the driver; valid during the call.
    struct Launch : cupti::KernelLaunch {
        CUcontext context = nullptr;
        std::string_view symbol;  ///< mangled; empty if CUPTI does not know it
        std::uint32_t call = 0;   ///< number of the API call
    };
    using LaunchHandler = std::function<void(const Launch&)>;
    /// The launch of this API call has failed.
    using FailureHandler = std::function<void(std::uint32_t call)>;
    /// The driver loaded a module; `cubin` is its ELF image, valid during the call.
    using ModuleHandler = std::function<void(std::span<const char> cubin)>;
    /// A driver call that loads or unloads a module. The driver may load an image only when a
    /// function of it is looked up.
    struct ModuleCall {
        enum class Site { load_begins, load_ends, unload_begins };
        Site site = Site::load_begins;
        CUmodule module = nullptr;  ///< null: not yet, or the call failed
    };
    using ModuleCallHandler = std::function<void(const ModuleCall&)>;

    /// An outermost call of the CUDA runtime or driver begins: its name, "cudaLaunchKernel_v7000".
    using CallHandler = std::function<void(const char* name)>;

    /// Throws util::Error, naming the holder, if another tool in this process has subscribed.
    Subscriber();
    ~Subscriber();
    Subscriber& operator=(Subscriber&&) = delete;  // nor copied

    /// Calls `handler` for each launch of a kernel, from the launching thread; an empty handler
    /// stops that; and `failed` for those that the driver refuses. Change it only while no work is
    /// being submitted.
    void on_launch(LaunchHandler handler, FailureHandler failed = {});
    /// Likewise for loaded modules, and for the calls that load them, from the calling thread.
    void on_module(ModuleHandler handler, ModuleCallHandler calls = {});
    /// Likewise for calls, of all threads, one at a time. Not together with on_launch.
    void on_call(CallHandler handler);

  private:
    static void CUPTIAPI callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                  const void* data) noexcept;
    void note_call(const CUpti_CallbackData& call);
    void watch_module_calls(bool enable);
    CUpti_SubscriberHandle handle_ = nullptr;
    LaunchHandler launch_;
    FailureHandler launch_failed_;
    ModuleHandler module_;
    ModuleCallHandler module_call_;
    CallHandler call_;
    std::mutex calls_mutex_;
    std::atomic<bool> counts_calls_ = false;     ///< there is a `call_`
    std::map<std::thread::id, int> call_depth_;  ///< calls that the thread is in
};

}  // namespace perfgate::backend::cuda
