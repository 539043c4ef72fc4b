// SPDX-License-Identifier: Apache-2.0
// What a process in which counters are collected adds to its recording. It collects one pass: the
// counters that the hardware counts at the same time. The passes of a collection are processes of
// their own, and belong together if their launches are the same.
#pragma once

#include <cstdint>

#include "activity/record.hpp"

namespace perfgate::activity {

/// A kernel launch, in the order of the process; up to the last one that is counted. Launches into
/// a graph are not among them.
struct Launched {
    std::uint32_t configuration = 0;
};

/// Once, before the first counted launch.
struct CounterPass {
    std::uint32_t pass = 0;
    std::uint32_t passes = 0;  ///< that the requested counters need; 0: none can be counted
    StringId chip = 0;
    std::uint32_t padding = 0;
};

enum class CounterFate : std::uint32_t {
    counted = 0,         ///< in pass `number`
    absent = 1,          ///< the chip does not have it
    several_passes = 2,  ///< it needs `number` passes by itself
};

/// What becomes of a requested counter.
struct PlannedCounter {
    StringId counter = 0;
    CounterFate fate = CounterFate::absent;
    std::uint32_t number = 0;
    std::uint32_t padding = 0;
};

/// A launch whose counters are on record, for each label that it was counted for.
struct CountedLaunch {
    std::uint64_t launch = 0;  ///< its place in the sequence of Launched
    std::uint32_t label = 0;   ///< its place in the request
    std::uint32_t padding = 0;
};

struct CounterValue {
    std::uint64_t launch = 0;
    std::uint64_t bits = 0;  ///< of a double
    StringId counter = 0;
    std::uint32_t padding = 0;
};

/// Why nothing is counted for a label.
struct CounterRefusal {
    std::uint32_t label = 0;
    StringId reason = 0;
};

static_assert(is_record<Launched> && sizeof(Launched) == 4);
static_assert(is_record<CounterPass> && sizeof(CounterPass) == 16);
static_assert(is_record<PlannedCounter> && sizeof(PlannedCounter) == 16);
static_assert(is_record<CountedLaunch> && sizeof(CountedLaunch) == 16);
static_assert(is_record<CounterValue> && sizeof(CounterValue) == 24);
static_assert(is_record<CounterRefusal> && sizeof(CounterRefusal) == 8);

}  // namespace perfgate::activity
