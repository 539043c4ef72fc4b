// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/texts.hpp"

#include <fmt/format.h>

#include <cmath>

#include <optional>
#include <vector>

#include "model/quantity.hpp"
#include "report/columns.hpp"
#include "util/text.hpp"

namespace perfgate::cli {

std::string self_test_text(const runner::SelfTestOutcome& outcome,
                           const runner::SelfTestRequest& request) {
    const gate::SelfTestReport& found = outcome.report;
    std::string text = fmt::format(
        "self-test on {}, tolerance {:g} %, {} processes against {}, seed {}, {:.1f} s\n\n",
        util::printable(outcome.environment.device.name), 100 * request.tolerance,
        request.measuring.processes.value_or(runner::usual_processes), request.processes_of_base,
        request.seed, outcome.wall_s);
    std::vector<std::vector<std::string>> sizes{
        {"slower", "cases", "regressed", "inconclusive", "improved", "pass", "not judged"}};
    for (const gate::SizeTally& size : found.sizes) {
        sizes.push_back({fmt::format("{:.4g}%", 100 * size.size), fmt::format("{}", size.cases),
                         model::share_text(size.regressed, size.cases),
                         model::share_text(size.inconclusive, size.cases),
                         fmt::format("{}", size.improved), fmt::format("{}", size.passed),
                         fmt::format("{}", size.unjudged)});
    }
    text +=
        report::table(sizes, {.align = std::vector(sizes.front().size(), report::Align::right)});
    std::vector<std::vector<std::string>> cases{{"detects", "found from", "case"}};
    for (const gate::CaseTally& of_case : found.cases) {
        const std::optional<double> from = gate::found_from(of_case);
        cases.push_back({of_case.minimum_detectable_change
                             ? fmt::format("{:.2f} %", 100 * *of_case.minimum_detectable_change)
                             : "-",
                         from ? fmt::format("{:g} %", 100 * *from) : "-",
                         util::printable(of_case.name.second, 200)});
    }
    text += '\n' + report::table(cases, {.align = {report::Align::right, report::Align::right}});
    text +=
        fmt::format("\nslowdowns at or above the minimum detectable change: {}, found: {} ({})\n",
                    found.promised, found.kept, model::share_text(found.kept, found.promised));
    for (const std::string& problem : found.problems) {
        text += fmt::format("problem: {}\n", util::printable(problem, 1000));
    }
    if (found.unjudged > 0) {
        text += fmt::format("not judged: {}; `perfgate report` of the runs in {} says why\n",
                            found.unjudged, util::printable(request.measuring.out));
    }
    if (found.proves_nothing) {
        text +=
            "no slowdown was as large as what the gate claims to detect: nothing was proved; use "
            "larger --sizes, or a quieter machine\n";
    }
    if (found.not_shown) {
        text +=
            "fewer than nine of ten were found, and with so few slowdowns this may be chance: it "
            "is not shown that the gate detects what it claims; use more cases or --sizes, or a "
            "quieter machine\n";
    }
    if (outcome.exit_code == 0 && found.promised > 0) {
        text +=
            fmt::format("{}: with 95 % confidence the gate finds at least {:.0f} %\n",
                        found.at_least >= gate::promised_share ? "the gate detects what it claims"
                                                               : "nine of ten or more were found",
                        std::floor(100 * found.at_least));
    }
    return text;
}

}  // namespace perfgate::cli
