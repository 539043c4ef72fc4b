// SPDX-License-Identifier: Apache-2.0
// How a session has cases measured that share processes of their own (PlannedCase::group), without
// knowing how these are started, recorded and analysed. Implemented by kinds/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernel_code.hpp"
#include "model/plan.hpp"
#include "model/run.hpp"

namespace perfgate::measure {

/// In so many processes what recording costs is measured: enough for an interval.
inline constexpr std::size_t overhead_batches = 3;

/// The round of a request that measures nothing: what the host does while the device is idle is
/// sampled, and becomes part of the details of the host's times. Failures and interruptions of it
/// change nothing of what was measured.
inline constexpr std::int64_t stacks_round = -1;

/// One batch of all these cases, which are of one group.
struct ProgramRequest {
    std::vector<const model::PlannedCase*> cases;
    std::string board;         ///< as in model::Batch
    std::int64_t process = 0;  ///< as in model::Batch
    std::int64_t round = 0;    ///< as in model::Batch
    /// The first batch: the program warms up, its result is checked, and counts that are taken once
    /// are taken.
    bool first = false;
    bool verify_only = false;  ///< it runs once and is checked: nothing is measured
    /// By case: whether a gate or a relation is about it. Empty: all.
    std::vector<bool> gated = {};
    /// What recording costs is to be measured, which takes another run of the program.
    bool overhead = false;
};

class Programs {
  public:
    virtual ~Programs() = default;

    /// Runs the program as often as a batch needs, and sets status, reason, log, verification,
    /// metrics and wall_s of the results, one for each case in order. Errors are in the results; it
    /// does not throw. False: interrupted by the user, the results are meaningless.
    virtual bool measure(const ProgramRequest& request, std::vector<model::CaseResult>& results,
                         const std::function<void(std::string_view phase)>& observe) = 0;

    /// The machine code of the measured cases' kernels and samples of where these spend their time,
    /// from further processes of the program: one for each case, in order. Errors and interruptions
    /// are their problems; it does not throw.
    virtual std::vector<model::CaseCode> machine_code(
        const ProgramRequest& request, const std::vector<model::CaseResult>& /*results*/,
        const std::function<void(std::string_view phase)>& /*observe*/) {
        std::vector<model::CaseCode> none(request.cases.size());
        for (model::CaseCode& code : none) code.problem = "its kernels are not recorded";
        return none;
    }
};

}  // namespace perfgate::measure
