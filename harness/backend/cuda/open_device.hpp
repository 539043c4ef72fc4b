// SPDX-License-Identifier: Apache-2.0
//
// The device that a worker measures on, with everything that its cases share.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/cuda/added_work.hpp"
#include "backend/cuda/driver.hpp"
#include "backend/cuda/event_timer.hpp"
#include "backend/cuda/l2_flush.hpp"
#include "backend/cuda/launch_arguments.hpp"
#include "backend/cuda/loaded_code.hpp"
#include "backend/cuda/range_profiler.hpp"
#include "backend/cuda/subscriber.hpp"

namespace perfgate::backend::cuda {

/// The ordinal that `--device` means: empty for the first device, a number, a UUID ("GPU-…", or its
/// beginning) or a PCI bus id. Throws util::InputError listing the devices for anything else.
int find_device(const std::string& wanted);

/// The ordinals that `--devices` means: "all", or a comma-separated list of what find_device takes.
/// Throws util::InputError for a device that is named twice.
std::vector<int> find_devices(const std::string& wanted);

/// A kernel launch as it entered the driver.
struct ObservedLaunch {
    CUfunction function = nullptr;  ///< null for the obsolete ways to launch
    ArgumentFingerprint arguments;
    bool captured = false;   ///< into a graph: nothing runs
    std::uint32_t call = 0;  ///< as Subscriber::Launch
};

class OpenDevice {
  public:
    /// `use_cupti`: false leaves CUPTI alone, so that another tool may attach.
    OpenDevice(int ordinal, bool use_cupti);

    const DeviceFacts& facts() const { return facts_; }
    const PrimaryContext& context() const { return context_; }
    CUstream stream() const { return stream_.get(); }
    L2Flush& flush();
    const PersistingL2& persisting_l2() const { return persisting_l2_; }
    StreamBlocker& blocker();
    /// Measures the device's clock at the first call (about 1 ms).
    const AddedWork& added_work();

    /// CUPTI may be used: records and counters. If not, `cupti_problem` says why, with the remedy.
    bool has_cupti() const { return subscriber_.has_value(); }
    const std::string& cupti_problem() const { return cupti_problem_; }
    /// Whether CUPTI was requested at all.
    bool wants_cupti() const { return use_cupti_; }
    /// Throws util::Error with `cupti_problem` if CUPTI may not be used.
    void require_cupti(const char* what) const;

    /// The launches that `launch` makes, in order, without those that fail. Needs CUPTI.
    std::vector<ObservedLaunch> launches_made_by(const std::function<void()>& launch);
    /// The outermost API calls that `work` makes, by name without version. Needs CUPTI.
    std::map<std::string, std::int64_t> calls_made_by(const std::function<void()>& work);
    /// As measure::Backend::keep_code.
    void keep_code();
    /// What keep_code() keeps.
    LoadedCode& code() { return code_; }
    /// As LoadedCode::of, for code loaded since keep_code(); all unknown without CUPTI. `function`
    /// says in which module to look; null: in all.
    LoadedFunction loaded_function(const std::string& symbol, CUfunction function) const;

    /// Created at the first call (0.2 s). Throws as RangeProfiler does; a failure is remembered.
    RangeProfiler& profiler();
    /// Why `profiler()` throws; empty if it does not.
    std::string counters_problem();

  private:
    DeviceFacts facts_;
    PrimaryContext context_;
    Stream stream_;
    PersistingL2 persisting_l2_{stream_.get()};
    bool use_cupti_;
    std::string cupti_problem_;
    std::string counters_problem_;
    LoadedCode code_;  ///< outlives the subscription that fills it
    bool keeps_code_ = false;
    std::optional<Subscriber> subscriber_;
    std::optional<L2Flush> flush_;
    std::optional<StreamBlocker> blocker_;
    std::optional<AddedWork> added_work_;
    std::unique_ptr<RangeProfiler> profiler_;
};

}  // namespace perfgate::backend::cuda
