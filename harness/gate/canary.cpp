// SPDX-License-Identifier: Apache-2.0
#include "gate/canary.hpp"

#include <fmt/format.h>

#include "stats/rank_sum.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

std::size_t processes_of_canary(std::size_t against, double level) {
    constexpr std::size_t most = 40;
    for (std::size_t processes = 5; processes <= most; ++processes) {
        if (stats::rank_sum_least(against, processes) <= level) return processes;
    }
    return 0;
}

CanaryResult judge_canary(const Canary& canary, const model::VerdictDocument& verdict) {
    const std::string what =
        fmt::format("{}, made at least {:.1f} % slower (twice what the gate claims to detect)",
                    util::printable(canary.id), 100 * canary.added);
    for (const model::SuiteVerdict& suite : verdict.suites) {
        for (const model::CaseVerdict& judged : suite.cases) {
            if (suite.name != canary.suite || judged.id != canary.id) continue;
            if (judged.verdict == model::Verdict::warned) {
                return {true, what + ", draws a warning, as its gate only warns"};
            }
            if (judged.verdict != model::Verdict::regressed) {
                return {
                    false,
                    fmt::format("{}, is reported as {}, so a pass of this gate proves nothing ({})",
                                what, model::to_text(judged.verdict),
                                util::printable(judged.reason, 1000))};
            }
            if (verdict.exit_code != 1) {
                return {false, fmt::format("{}, is reported as regressed, but the exit code is {}",
                                           what, verdict.exit_code)};
            }
            return {true, what + ", is reported as regressed, as it should be"};
        }
    }
    return {false, what + ", was not judged"};
}

}  // namespace perfgate::gate
