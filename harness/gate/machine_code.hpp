// SPDX-License-Identifier: Apache-2.0
// Whether a case still runs the code that its baseline ran: machine code of every kernel, launch
// configuration, arguments, copies and memsets, inputs, driver, host code and the libraries it
// loads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gate/rule.hpp"
#include "model/baseline.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

/// What a case runs, from a run or a baseline.
struct Code {
    const std::vector<model::Kernel>* kernels = nullptr;
    const std::string* host_code = nullptr;
    std::string driver;
    std::optional<std::uint64_t> seed;  ///< of the inputs
    const std::optional<model::Libraries>* libraries = nullptr;
    const std::optional<std::vector<model::MemoryOperation>>* memory_operations = nullptr;
    /// A source's: `host_code` is the fingerprint of its launch, its arguments, their fill, which
    /// the kernel reads as inputs, and its stated work.
    bool launch_is_stated = false;
    /// A program's copies and memsets are metrics.
    const std::map<std::string, model::MetricSeries>* metrics = nullptr;
};

/// Removes what says that the code is the baseline's: what is slower for a test is of other code.
void forget_code(model::CaseResult& result);

/// Parameters are not compared: both are of the same case, whose id contains them.
Code code_of(const model::CaseResult& result, const model::Environment& environment);
Code code_of(const model::BaselineCase& expected);

struct CodeComparison {
    model::CodeChange change = model::CodeChange::unknown;
    /// What differs, in words: "machine code changed: kernel saxpy". Empty if nothing does, or if
    /// it is not known.
    std::string difference;
    /// What it launches is the baseline's to the bit, with the same inputs under the same driver,
    /// and the same libraries are loaded. Another plugin file that launches the same counts: a
    /// change to one of its kernels does not affect the others.
    bool runs_the_same = false;
    std::vector<std::string> changed_kernels = {};  ///< with other machine code, by short name
    /// A program's: what it passes to its kernels, and its host code, are not known.
    bool of_program = false;
    /// Other host code launches no kernels, and the baseline's copies and memsets. From where they
    /// copy, and how rows lie in memory, is not recorded: a time may differ.
    bool copies_the_same = false;
};

/// A case with kernels is judged by them first; one without, by its host code, libraries, copies
/// and memsets. A program runs the same if each instance launches the same kernels (machine code,
/// grid, block, cluster, shared memory, registers, launches) and copies and sets as much, under the
/// same driver; else it is not known. Copies and memsets of a program are in the order of their
/// kinds, each once. A baseline from before libraries, copies and memsets were
/// recorded equals a case without any; for a case with some it is not known.
CodeComparison compare_code(const Code& now, const Code& baseline);

/// Or what the device's time decides about: the share of a ceiling, the energy of a launch.
inline bool is_device_time(std::string_view metric) {
    return metric == "gpu_time" || metric == "gpu_span" || metric == "ceiling_share" ||
           metric == "energy" || metric == "power" || metric == "efficiency" ||
           metric == "bytes_per_joule";
}

/// What hardware counters of the launch say.
inline bool is_counted(const model::MetricSeries& series) {
    return series.method.source == model::counter_source;
}

/// Whether unchanged code can excuse a worse value: of a device time or a counter.
inline bool can_be_excused(std::string_view metric, const model::MetricSeries& series) {
    return is_device_time(metric) || is_counted(series);
}

/// What the comparison of the code adds to the sentence of a regressed metric.
struct CodeAside {
    /// A device time or a counter that got worse although nothing changed says nothing about the
    /// code.
    bool excuses = false;
    model::Doubt doubt = model::Doubt::none;  ///< of what it excuses
    std::string words;   ///< after the verdict: "nothing changed", "device code unchanged"
    std::string detail;  ///< one clause
};
/// Empty for what is neither regressed nor unclear, for other metrics, and if the code is not
/// known. A counter is excused only if the host code is unchanged, too: what the host fills buffers
/// with is not compared, and counters depend on that more than on the machine.
CodeAside code_aside(const CodeComparison& code, const Comparison& comparison,
                     const Judgement& judgement);

/// The largest factor that a machine fit for measuring adds to a time of which all is the
/// baseline's (harness/gate/README.md). By convention more is left to the policy for a counter, and
/// for a time of which only what is launched is the baseline's.
inline constexpr double slowest_machine = 1.5;
inline constexpr double most_left_to_policy = 10;

/// Whether a value is so much worse than the baseline's that no machine fit for measuring explains
/// it. Never for a counter whose baseline is 0: 0 has no multiples.
bool beyond_any_machine(const CodeComparison& code, const Comparison& comparison,
                        const Judgement& judgement);
std::string beyond_any_machine_words(const CodeComparison& code, const Comparison& comparison,
                                     const Judgement& judgement);

/// Whether the comparison of the code shows that this time did not change, however it spreads:
/// `gpu_time` if the case runs the same, others if its host code, which launches it, is the same
/// too.
bool shown_by_code(const CodeComparison& code, const model::MetricDefinition& definition);

}  // namespace perfgate::gate
