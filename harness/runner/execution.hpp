// SPDX-License-Identifier: Apache-2.0
// One execution of a plan on opened devices: the journal, what is resumed, and what a Run records
// about its environment.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "measure/journal.hpp"
#include "measure/session.hpp"
#include "model/plan.hpp"
#include "model/run.hpp"
#include "runner/choice.hpp"
#include "runner/devices.hpp"

namespace perfgate::runner {

class Execution {
  public:
    using Unsupported = measure::Session::Unsupported;

    /// Removes the results of an earlier execution from the output folder, starts the journal, and
    /// prepares the session. All arguments outlive the execution. Throws util::InputError if
    /// another run is to be resumed, and as Session::prepare does.
    Execution(const MeasuringChoice& choice, OpenedBackend& backend, const model::Plan& plan,
              Unsupported unsupported = Unsupported::refuse);
    Execution& operator=(Execution&&) = delete;  // nor copied
    ~Execution();

    measure::Session& session() { return *session_; }

    /// `run`, of this device, as it is judged while it is measured: with its start, by which
    /// acknowledgements hold, and the metrics that follow from its ceilings. If a case asks for
    /// one, the ceilings are measured now, else after the cases.
    model::Run rated(const model::Run& run);

    /// The run, with the device's state and ceilings after it. `suite_file` determines the
    /// repository whose revision is recorded.
    model::Run finish(const std::string& suite_file);
    /// The run of another build, measured side by side with `other` on the same device: readings of
    /// the device apply to both.
    model::Run finish_beside(const model::Run& other);

  private:
    model::Run conclude();
    const model::Ceilings& ceilings();
    measure::Workers& plain();
    void end_progress();

    const MeasuringChoice& choice_;
    OpenedBackend& backend_;
    std::optional<measure::JournalContent> resumed_;
    measure::JournalHeader header_;
    std::unique_ptr<measure::Programs> programs_;  ///< null: the plan has no groups
    std::unique_ptr<measure::Journal> journal_;
    model::BoardState before_;
    std::unique_ptr<measure::Workers> plain_;
    std::optional<model::Ceilings> ceilings_;  ///< once they are measured
    std::unique_ptr<measure::Session> session_;
};

/// A new seed for each run, small enough for readers with signed integers.
inline std::uint64_t fresh_seed() {
    std::random_device random;
    return (std::uint64_t{random()} << 32 | random()) >> 1;
}

}  // namespace perfgate::runner
