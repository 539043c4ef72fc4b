// SPDX-License-Identifier: Apache-2.0
// One process's recording in the order of time: device work with the moment at which the host
// launched it, NVTX ranges with both ends, API calls. What the analysis asks, it asks here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "activity/recording.hpp"
#include "model/interval.hpp"

namespace perfgate::activity {

using model::Interval;
using model::IntervalSet;

enum class WorkKind : std::uint8_t { kernel, copy, memset };

/// A piece of device work.
struct Work {
    Interval time;
    std::uint64_t launch_ns = 0;       ///< when the host launched it; else when the device began it
    std::uint64_t stream_free_ns = 0;  ///< when what was launched before in its stream had ended
    std::uint32_t thread = 0;          ///< that launched it; 0: not known
    std::uint32_t index = 0;           ///< in the recording's kernels, copies or memsets
    WorkKind kind = WorkKind::kernel;
};

/// An NVTX range.
struct Range {
    Interval time;
    StringId name = 0;
    StringId domain = 0;
    std::uint32_t thread = 0;  ///< on which it began
    bool open = false;         ///< it had not ended when recording did
};

class Timeline {
  public:
    /// The recording must outlive it.
    explicit Timeline(const Recording& recording);

    [[nodiscard]] const Recording& recording() const { return recording_; }

    /// By launch time.
    [[nodiscard]] std::span<const Work> work() const { return work_; }
    /// What was launched in the interval.
    [[nodiscard]] std::span<const Work> launched_in(Interval interval) const;
    /// When the last of what was launched before the time ended, on whatever stream; 0: none was.
    [[nodiscard]] std::uint64_t end_of_work_before(std::uint64_t time) const;
    /// When the devices were busy with anything of the process.
    [[nodiscard]] const IntervalSet& busy() const { return busy_; }

    /// By begin.
    [[nodiscard]] std::span<const Range> ranges() const { return ranges_; }
    /// "step", or "domain:step" for a range of a domain.
    [[nodiscard]] std::string range_name(const Range& range) const;

    /// By begin.
    [[nodiscard]] std::span<const ApiCall> api_calls() const { return api_calls_; }

    /// Device work without a launch on record: its launch time is the device's begin.
    [[nodiscard]] std::size_t without_launch() const { return without_launch_; }
    /// Launch times are known, but for what `without_launch` counts.
    [[nodiscard]] bool has_launches() const { return has_launches_; }

    /// From the first device work's begin to the last one's end; empty where there was none.
    [[nodiscard]] Interval device_span() const { return device_span_; }
    /// From the first time of any record to the last.
    [[nodiscard]] Interval span() const { return span_; }

    [[nodiscard]] const LaunchConfiguration& configuration(const Work& kernel) const;
    [[nodiscard]] const Copy& copy(const Work& work) const;
    [[nodiscard]] const GraphNode& graph(const Work& work) const;
    [[nodiscard]] const Place& place(const Work& work) const;
    /// Of the device; 0: it is not on record.
    [[nodiscard]] std::uint32_t sm_count(std::uint32_t device) const;
    /// Whether the work is in the legacy default stream of its context.
    [[nodiscard]] bool in_legacy_stream(const Work& work) const;

  private:
    void add_work();
    void pair_markers();

    const Recording& recording_;
    std::vector<Work> work_;
    std::vector<std::uint64_t> latest_ends_;  ///< of the work up to each
    std::vector<Range> ranges_;
    std::vector<ApiCall> api_calls_;
    IntervalSet busy_;
    Interval device_span_, span_;
    std::size_t without_launch_ = 0;
    bool has_launches_ = false;
};

/// A call's name as the user wrote it: "cudaLaunchKernel" for "cudaLaunchKernel_v7000".
std::string_view call_name(std::string_view name);

// Which NVTX range a moment of a thread lies in.

/// Ranges are numbers in `timeline.ranges()`. Where ranges overlap without nesting, the one that
/// began last is the innermost.
class Nesting {
  public:
    explicit Nesting(const Timeline& timeline);

    /// The innermost range that was open on its thread when the range began.
    [[nodiscard]] std::optional<std::size_t> parent(std::size_t range) const;
    /// How many parents it has, one above the other.
    [[nodiscard]] std::size_t depth(std::size_t range) const { return depths_[range]; }
    /// The innermost range that was open on the thread at the time.
    [[nodiscard]] std::optional<std::size_t> at(std::uint32_t thread, std::uint64_t time) const;

  private:
    static constexpr std::size_t none = SIZE_MAX;
    struct Change {
        std::uint64_t time = 0;
        std::size_t innermost = none;  ///< from that time on
    };

    std::vector<std::size_t> parents_, depths_;
    std::unordered_map<std::uint32_t, std::vector<Change>> changes_;  ///< by thread, in order
};

}  // namespace perfgate::activity
