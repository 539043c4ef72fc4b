// SPDX-License-Identifier: Apache-2.0
#include "gate/canary.hpp"

#include <fmt/format.h>

#include "model/text.hpp"

namespace perfgate::gate {

CanaryResult judge_canary(const Canary& canary, const model::VerdictDocument& verdict) {
    const std::string what =
        fmt::format("{}, made {:.0f} % slower", model::printable(canary.id), 100 * canary.added);
    for (const model::SuiteVerdict& suite : verdict.suites) {
        for (const model::CaseVerdict& judged : suite.cases) {
            if (suite.name != canary.suite || judged.id != canary.id) continue;
            if (judged.verdict != model::Verdict::regressed) {
                return {
                    false,
                    fmt::format("{}, is reported as {}, so a pass of this gate proves nothing ({})",
                                what, model::to_text(judged.verdict),
                                model::printable(judged.reason, 1000))};
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
