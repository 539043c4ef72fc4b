// SPDX-License-Identifier: Apache-2.0
// The counters of a program's kernels, from the recordings of one run for each pass: pure
// functions.
//
// The passes belong together only if every process launched the same kernels in the same order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "activity/recording.hpp"
#include "metrics/catalogue.hpp"

namespace perfgate::command {

/// More would be more runs of the program than anybody wants.
inline constexpr std::size_t most_passes = 64;

struct CountedKernel {
    std::string name;  ///< demangled
    std::array<std::int64_t, 3> grid{};
    bool operator==(const CountedKernel&) const = default;
};

/// The counted launches of a label, those of all processes.
struct LabelCounters {
    std::string problem;                 ///< why there are none, or too few
    std::size_t processes = 0;           ///< that have some
    std::vector<CountedKernel> kernels;  ///< each once
    std::vector<std::map<std::string, double>> launches;
};

struct ProgramCounters {
    std::string problem;  ///< why nothing is known of any label
    std::string chip;     ///< empty: no launch was to be counted
    std::set<std::string> counted;
    std::map<std::string, std::size_t> several_passes;  ///< that these need, each by itself
    std::vector<LabelCounters> labels;
};

using Recordings = std::vector<activity::Recording>;

/// How many runs the collection needs, from the recordings of the first one; at least 1.
std::size_t passes_needed(const Recordings& first);

/// Combines the runs, in order, and keeps the launches of the first one alone.
class CounterPasses {
  public:
    /// How many launches each label asked for.
    explicit CounterPasses(std::vector<std::uint64_t> counts);
    ~CounterPasses();
    CounterPasses& operator=(CounterPasses&&) = delete;  // nor copied

    void add(Recordings pass);
    /// Once.
    ProgramCounters take();

  private:
    class Combination;
    std::unique_ptr<Combination> combination_;
};

/// A metric of one label.
struct CounterMetric {
    std::vector<double> samples;  ///< one: the mean of all launches
    std::size_t processes = 0;    ///< whose launches these are
    std::string problem;          ///< why there is no value
    bool not_applicable = false;  ///< the chip's hardware lacks it
};
CounterMetric metric_of(const ProgramCounters& counters, std::size_t label,
                        const metrics::Metric& metric);

/// The names of the counters that the metrics need: each with its alternatives, once.
std::vector<std::vector<std::string>> counters_for(std::span<const metrics::Metric> metrics);

}  // namespace perfgate::command
