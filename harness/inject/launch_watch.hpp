// SPDX-License-Identifier: Apache-2.0
// Watches a program's launches: keeps their sequence, has those counted that a label is due for,
// and refuses what cannot be counted by itself.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "activity/writer.hpp"
#include "cupti/api.hpp"
#include "cupti/launch_calls.hpp"
#include "inject/counter_request.hpp"
#include "inject/launch_counter.hpp"
#include "inject/range_watch.hpp"

namespace perfgate::inject {

/// Functions of the driver that is in the process.
struct DriverApi {
    decltype(&cuCtxSynchronize) synchronise = nullptr;
    decltype(&cuDeviceGetUuid_v2) uuid_of = nullptr;      ///< may be null
    decltype(&cuFuncGetName) name_of = nullptr;           ///< may be null
    decltype(&cuKernelGetName) name_of_kernel = nullptr;  ///< may be null
};

/// False, with the reason, if one is missing that is needed.
bool find_driver(DriverApi& driver, std::string& why);

/// The caller lets one thread in at a time. All functions may throw std::bad_alloc.
class LaunchWatch {
  public:
    /// All of these outlive it.
    LaunchWatch(const cupti::Api& counters, const DriverApi& driver,
                const cupti::Captures& captures, activity::Writer& writer,
                const CounterRequest& request, RangeWatch& ranges);

    /// A kernel is about to be launched. True: it is counted, so that nothing else may be launched
    /// until on_exit().
    bool on_entry(CUpti_CallbackId id, const CUpti_CallbackData& data);
    /// The launch that is counted has returned.
    void on_exit(const CUpti_CallbackData& data);
    /// In place of on_exit(), after an error.
    void give_up() noexcept;
    /// A call that may put a kernel into a graph.
    void on_graph_node(CUpti_CallbackId id, const CUpti_CallbackData& data);

    /// Writes what is not yet written. False: it is not in the file.
    bool flush();

  private:
    void note_captured(const std::string& symbol);
    void add_to_sequence(const std::string& symbol, const cupti::KernelLaunch& launch);
    void note_context(CUcontext context);
    [[nodiscard]] std::string why_not(const std::string& symbol, CUcontext context,
                                      bool several_devices) const;
    void begin_counting(CUcontext context);
    void write_plan();
    void write_values(const std::vector<double>& values);
    void refuse(std::size_t label, const std::string& reason);
    void refuse_all(const std::string& reason);

    const cupti::Api& counters_;
    const DriverApi& driver_;
    const cupti::Captures& captures_;
    activity::Writer& writer_;
    const CounterRequest& request_;
    RangeWatch& ranges_;
    LabelStates labels_;
    activity::Records pending_;  ///< not yet written
    std::uint64_t launches_ = 0;
    std::vector<std::pair<CUcontext, std::uint32_t>> contexts_;  ///< that launched, their devices
    std::unique_ptr<LaunchCounter> counter_;
    std::vector<std::size_t> current_;  ///< the labels that the current launch is counted for
};

}  // namespace perfgate::inject
