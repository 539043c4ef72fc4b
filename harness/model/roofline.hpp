// SPDX-License-Identifier: Apache-2.0
// A case compared with the machine's ceilings: how close its time is to the least they allow, and
// which ceiling bounds it. Pure functions.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "model/environment.hpp"
#include "model/relation.hpp"
#include "model/run.hpp"

namespace perfgate::model {

/// `memory`, `compute`: the case is near that ceiling. `neither`: it is far below both, limited by
/// latency or by work that its result does not need. `link`: near the limit of the device's links.
enum class Bound { memory, compute, neither, link };

/// Below this share of its ceiling, a case counts as `neither`.
inline constexpr double near_share = 0.25;

struct CeilingShare {
    Bound bound = Bound::neither;
    /// The ceiling that determines the least time: "copy", the arithmetic type of the matrix rate,
    /// or of a bus bandwidth "link".
    std::string ceiling;
    double share = 0;  ///< least time over measured time; 1 is the ceiling

    bool operator==(const CeilingShare&) const = default;
};

std::string_view to_text(Bound bound);

// What a suite may expect of a case: `softmax/online.bound: "== memory"`.

/// Stands where other relations have a metric.
inline constexpr const char* bound_operand = "bound";

/// "memory", "compute", "link", or "latency" for `neither`.
std::string_view bound_word(Bound bound);
std::optional<Bound> bound_named(std::string_view word);

/// The bound that the relation compares its leading case with; nothing for any other relation. The
/// right side is the bound's number.
std::optional<Bound> expected_bound(const Relation& relation);

/// The case's time on the device, in ns: gpu_time, or without kernel records gpu_span. Null if
/// neither was measured.
const MetricSeries* device_time(const CaseResult& result);

/// Which ceiling is missing to place this work, and why; empty: none is.
std::string missing_ceiling(const Work& work, const Ceilings& ceilings);

/// The least time is the larger of bytes over copy bandwidth and flops over the matrix rate of
/// their type. Nothing if the case states no work, has flops of an unstated or unmeasured type, or
/// no GPU time was measured. A bus bandwidth is compared with that of the device's links.
std::optional<CeilingShare> ceiling_share(const CaseResult& result, const Ceilings& ceilings);

/// The same for any time taken by that work.
std::optional<CeilingShare> ceiling_share(const Work& work, double seconds,
                                          const Ceilings& ceilings);

/// "87 % of copy bandwidth, memory-bound".
std::string in_words(const CeilingShare& share);

/// "copy 2.80 TB/s, bf16 700 Tflop/s"; empty if nothing was measured.
std::string in_words(const Ceilings& ceilings);

// What plugins and sources may state of their work.

/// Types of operations: those whose matrix rate a run measures.
inline constexpr std::array<std::string_view, 5> arithmetic_types{"f32", "tf32", "f16", "bf16",
                                                                  "fp8"};

/// The remedy where something is not stated.
inline constexpr std::string_view where_to_state_work =
    "state it in the plugin, or of a source as 'work' in the suite";

}  // namespace perfgate::model
