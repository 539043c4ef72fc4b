// SPDX-License-Identifier: Apache-2.0
// The results of a batch of one command's cases, as recordings fill them: which value, by which
// method, and why there is none. Runs nothing.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "kinds/command/command.hpp"
#include "kinds/command/counter_passes.hpp"
#include "kinds/command/device_watch.hpp"
#include "kinds/command/pieces.hpp"
#include "measure/programs.hpp"

namespace perfgate::command {

class BatchResults {
  public:
    /// Of what perfgate records.
    BatchResults(const measure::ProgramRequest& request, std::vector<model::CaseResult>& results);
    /// Of what another tool recorded; `method` names it.
    BatchResults(const measure::ProgramRequest& request, std::vector<model::CaseResult>& results,
                 const model::Method& method);

    [[nodiscard]] const Piece& piece_of(std::size_t index) const;

    /// What the device did, and, in the first batch, with which kernels.
    void add_recording(const Recorded& recorded);
    /// The time of a bare run, and what recording costs: of a range its own; else, and where the
    /// bare run shows no such range, of the whole process. `ranges`: null if none is measured.
    void add_bare(double wall_ns, const Recorded* ranges, const Recorded& recorded,
                  double recorded_ns);
    /// What others took from the recorded run and from the bare one goes to the host's times.
    void add_other_work(const std::optional<util::OtherWork>& recorded,
                        const std::optional<util::OtherWork>& bare);
    /// What a process without a recording did on the GPU is in no value.
    void add_unrecorded(const DeviceWatch::Unrecorded& unrecorded, double recorded_ns);
    /// What is counted in the first batch alone.
    void add_api_counts(const Recorded& recorded);

    /// The counter metrics of a case that was measured.
    [[nodiscard]] std::vector<metrics::Metric> counter_metrics(std::size_t index) const;
    /// `cases`: that of each label.
    void add_counters(ProgramCounters counters, const std::vector<std::size_t>& cases);

    /// The cases of ranges and programs that were measured and ask for sampled metrics.
    [[nodiscard]] std::vector<std::size_t> sampled_cases() const;
    /// `recorded`: null, and why.
    void add_samples(const Recorded* recorded, const std::string& problem);

    /// Gated metrics without a value; others are simply not there.
    void note_missing();

  private:
    void add(std::size_t index, const std::string& metric, const model::Method& method,
             std::vector<double> samples);
    void add_details(std::size_t index, const std::map<std::string, std::string>& details);
    void add_values(std::size_t index, const Recorded& recorded, const model::Method& method);
    void add_launch_facts(std::size_t index, const Recorded& recorded);
    void add_counter(std::size_t index, const metrics::Metric& metric, CounterMetric found);
    /// What the first batch gave is not taken back by a later one that is without.
    void note_unknown(std::size_t index, const std::string& metric, const std::string& why);
    [[nodiscard]] bool is_gated(std::size_t index, const std::string& metric) const;
    /// Whether only the host's time in the range is gated, or nothing of it. Of what should work on
    /// the device no count is right if it does nothing.
    [[nodiscard]] bool may_be_idle(std::size_t index) const;
    /// The smallest tolerance of a gated time that recordings give; 0 if none is gated.
    [[nodiscard]] double least_time_tolerance() const;
    [[nodiscard]] std::vector<std::string> sampled_metrics(std::size_t index) const;
    /// Values of another number of processes are not comparable: one may have vanished. How many a
    /// benchmark starts may depend on its speed.
    [[nodiscard]] model::Method method_of(model::Method level, const Recorded& recorded) const;

    const measure::ProgramRequest& request_;
    const Command& command_;
    std::vector<model::CaseResult>& results_;
    model::Method recorded_, with_calls_;
    bool with_kernels_;  ///< the first batch, or one that another tool recorded
};

}  // namespace perfgate::command
