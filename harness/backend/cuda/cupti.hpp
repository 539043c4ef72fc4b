// SPDX-License-Identifier: Apache-2.0
//
// Shared by all uses of CUPTI: results as exceptions with a remedy, the required version, and the
// one callback subscription that a process may hold.
#pragma once

#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "backend/cuda/cupti_facts.hpp"
#include "util/error.hpp"

namespace perfgate::backend::cuda {

/// A failed CUPTI call: what was being done, CUPTI's name and text, and the remedy if one is known.
class CuptiError : public util::Error {
  public:
    CuptiError(CUptiResult code, std::string_view what, std::string_view detail = {});
    [[nodiscard]] CUptiResult code() const { return code_; }
    /// Counters are restricted to administrators here.
    [[nodiscard]] bool no_permission() const;

  private:
    CUptiResult code_;
};

/// Throws CuptiError unless `code` is CUPTI_SUCCESS. `what` is a clause: "cannot start a pass".
void check(CUptiResult code, std::string_view what);

/// "CUPTI_ERROR_HARDWARE_BUSY (26): …".
std::string describe(CUptiResult code);

/// What a user can do about it; may be empty.
std::string_view remedy(CUptiResult code);

/// API version of the loaded library, 130001 for CUDA 13.0 update 1.
std::uint32_t cupti_version();

/// Loads the metric libraries that CUPTI itself looks for by name (libnvperf_host,
/// libnvperf_target) from the folder of the loaded libcupti, so that they need not be on the
/// loader's path. Call it before anything that needs them; does nothing the second time, or if they
/// do not exist.
void preload_metric_libraries();

/// Throws util::Error if the loaded library is older than `required_cupti_version`.
void require_cupti_version();

/// The process's callback subscription. Holding it excludes other tools from CUPTI; if it is taken,
/// the error names the tool that holds it.
class Subscriber {
  public:
    /// A kernel launch that is about to enter the driver; valid during the call.
    struct Launch {
        CUcontext context = nullptr;
        std::string_view symbol;           ///< mangled; empty if CUPTI does not know it
        CUfunction function = nullptr;     ///< null for obsolete launch calls
        void* const* arguments = nullptr;  ///< one per parameter; null: passed in another way
        CUstream stream = nullptr;
        std::uint32_t call = 0;  ///< number of the API call
    };
    using LaunchHandler = std::function<void(const Launch&)>;
    /// The launch of this API call has failed.
    using FailureHandler = std::function<void(std::uint32_t call)>;
    /// The driver loaded a module; `cubin` is its ELF image, valid during the call.
    using ModuleHandler = std::function<void(std::span<const char> cubin)>;

    /// An outermost call of the CUDA runtime or driver begins: its name, "cudaLaunchKernel_v7000".
    using CallHandler = std::function<void(const char* name)>;

    /// Throws CuptiError, naming the holder, if another tool in this process has subscribed.
    Subscriber();
    ~Subscriber();
    Subscriber(const Subscriber&) = delete;
    Subscriber& operator=(const Subscriber&) = delete;

    /// Calls `handler` for each launch of a kernel, from the launching thread; an empty handler
    /// stops that; and `failed` for those that the driver refuses. Change it only while no work is
    /// being submitted.
    void on_launch(LaunchHandler handler, FailureHandler failed = {});
    /// Likewise for loaded modules.
    void on_module(ModuleHandler handler);
    /// Likewise for calls, of all threads, one at a time. Not together with on_launch.
    void on_call(CallHandler handler);

  private:
    static void CUPTIAPI callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                  const void* data);
    void note_call(const CUpti_CallbackData& call);
    CUpti_SubscriberHandle handle_ = nullptr;
    LaunchHandler launch_;
    FailureHandler launch_failed_;
    ModuleHandler module_;
    CallHandler call_;
    std::mutex calls_mutex_;
    std::atomic<bool> counts_calls_ = false;     ///< there is a `call_`
    std::map<std::thread::id, int> call_depth_;  ///< calls that the thread is in
};

}  // namespace perfgate::backend::cuda
