// SPDX-License-Identifier: Apache-2.0
// From the timeline of a process to its profile. Pure functions.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "activity/captured_part.hpp"
#include "activity/profile.hpp"
#include "activity/timeline.hpp"
#include "model/case.hpp"
#include "model/interval.hpp"

namespace perfgate::activity {

struct ProfileOptions {
    /// Restricts the program to this much of it, seconds from its first record.
    double delay_s = 0;
    double duration_s = std::numeric_limits<double>::infinity();
    model::CaptureRange capture;
    std::size_t gaps = 10;
    bool own_thread = false;  ///< ranges take the launches of their own thread alone

    [[nodiscard]] bool timed() const { return delay_s > 0 || std::isfinite(duration_s); }
    /// To a part of the recording.
    [[nodiscard]] bool restricted() const { return timed() || capture.is_stated(); }
};

/// The part of a process that these options leave; `missing` says why there is none.
CapturedPart part_of(const Timeline& timeline, const ProfileOptions& options);

/// Throws util::Error if the options leave no part.
Profile profile_of(const Timeline& timeline, const ProfileOptions& options = {});

/// The summary of what was launched in [begin, end).
WorkSummary summarise(const Timeline& timeline, Interval piece,
                      std::optional<std::uint32_t> thread = std::nullopt);

/// The sum over all windows; of the whole program from its first device work to its last.
WorkSummary summarise(const Timeline& timeline, const CapturedPart& part);

/// The kernels of `work`, which is in the order of launches, by name; longest total first.
std::vector<KernelSummary> kernels_of(const Timeline& timeline, std::span<const Work> work);

/// For each range of the timeline its work in the profile; null where it was left open or is
/// outside of what the profile covers.
std::vector<const WorkSummary*> work_of_ranges(const Timeline& timeline, const Profile& profile);

/// By symbol, the fingerprint of its machine code. Of a symbol that two modules have with different
/// code it is empty.
std::unordered_map<std::string, std::string> machine_code(const Recording& recording);

/// By symbol, the bytes of stack per thread that its machine code needs. A symbol that two modules
/// have with different sizes has none.
std::unordered_map<std::string, std::optional<std::uint32_t>> stack_sizes(
    const Recording& recording);

struct FunctionSource {
    model::SourcePlace place;                ///< absolute; line 0: unknown
    std::optional<std::int64_t> code_bytes;  ///< of its instructions
};

/// By symbol. What two modules say differently of a symbol is unknown.
std::unordered_map<std::string, FunctionSource> function_sources(const Recording& recording);

// Suggests what to look at first in a profile.

/// At most `count` sentences with their figures, what takes most of the time first. Each is one
/// line; names in them come from the program and are to be made printable.
std::vector<std::string> advice(const Profile& profile, std::size_t count = 3);

/// Notes, in sentences, that readers of the profile's figures need.
std::vector<std::string> notes(const Profile& profile);

// Host time that CUPTI and the driver took for themselves, counted separately: what CUPTI takes is
// the cost of recording, what the driver takes (compiling, loading code) the program has without a
// profiler, too.

/// Names a CUpti_ActivityOverheadKind.
std::string overhead_name(std::uint32_t kind);

/// Fills `overheads` and their sums; the profile's windows must be set.
void add_overheads(const std::vector<Overhead>& records, Profile& profile);

// Which kernels ran in the NVTX ranges of a profile, bounded: they are in its document.

struct RangeKernelLimits {
    std::size_t of_a_range = 1000;
    std::size_t in_all = 100'000;
};

/// Fills `kernels` of the profile's ranges, whose other members and whose kernels must be set. A
/// range with more kernels than a limit lists none. `own_thread`: those that its thread launched.
void add_range_kernels(const Timeline& timeline, bool own_thread, Profile& profile,
                       const RangeKernelLimits& limits = {});

}  // namespace perfgate::activity
