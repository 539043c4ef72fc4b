// SPDX-License-Identifier: Apache-2.0
#include "gate/self_test.hpp"

#include <fmt/format.h>

#include <numeric>

#include "stats/distributions.hpp"
#include "stats/rank_tests.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

namespace {

using model::Verdict;

/// How often a gate that keeps to this rate looks worse by chance.
constexpr double chance = 0.05;

void count(Verdict verdict, SizeTally& tally) {
    ++tally.cases;
    switch (verdict) {
        case Verdict::regressed:
        case Verdict::warned:
            ++tally.regressed;
            break;
        case Verdict::inconclusive:
            ++tally.inconclusive;
            break;
        case Verdict::improved:
            ++tally.improved;
            break;
        case Verdict::pass:
            ++tally.passed;
            break;
        default:
            ++tally.unjudged;
            break;
    }
}

void check_exit_code(const model::VerdictDocument& verdict, std::vector<std::string>& problems) {
    const bool any = model::count_verdicts(verdict).contains(Verdict::regressed);
    if (any && verdict.exit_code != 1) {
        problems.push_back(
            fmt::format("with regressed cases the exit code is {}", verdict.exit_code));
    }
    if (!any && verdict.exit_code == 1) {
        problems.push_back("without regressed cases the exit code is 1");
    }
}

/// Judges the slowdowns at or above the claim, of which there is at least one. Most are well above
/// it, where a sound gate finds nearly all: fewer than nine of ten prove nothing, even if that may
/// be chance.
void check_promises(SelfTestReport& report) {
    report.at_least = stats::binomial_lower_bound(report.kept, report.promised, 0.95);
    const double share = static_cast<double>(report.kept) / static_cast<double>(report.promised);
    if (share >= promised_share) return;
    if (stats::binomial_lower_tail(report.kept, report.promised, promised_share) < chance) {
        report.problems.push_back(
            fmt::format("of {} slowdowns at or above the minimum detectable change it found {}",
                        report.promised, report.kept));
    } else {
        report.not_shown = true;
    }
}

}  // namespace

std::optional<double> found_from(const CaseTally& of_case) {
    std::optional<double> from;
    for (auto size = of_case.by_size.rbegin(); size != of_case.by_size.rend(); ++size) {
        if (size->first == 0 || !is_worse(size->second)) break;
        from = size->first;
    }
    return from;
}

SelfTestReport tally(const std::vector<Trial>& trials) {
    SelfTestReport report;
    std::map<double, SizeTally> sizes;
    std::map<CaseName, std::size_t> places;
    std::map<CaseName, std::vector<double>> claims;
    for (const Trial& trial : trials) {
        check_exit_code(trial.verdict, report.problems);
        for (const model::SuiteVerdict& suite : trial.verdict.suites) {
            for (const model::CaseVerdict& judged : suite.cases) {
                const CaseName name(suite.name, judged.id);
                const auto added = trial.added.find(name);
                if (added == trial.added.end() || judged.verdict == Verdict::skipped) continue;
                sizes[added->second].size = added->second;
                count(judged.verdict, sizes[added->second]);
                const auto [place, is_new] = places.try_emplace(name, report.cases.size());
                if (is_new) {
                    report.cases.push_back(
                        {.name = name, .minimum_detectable_change = {}, .by_size = {}});
                }
                report.cases[place->second].by_size[added->second] = judged.verdict;
                for (const model::MetricVerdict& metric : judged.metrics) {
                    if (metric.minimum_detectable_change) {
                        claims[name].push_back(*metric.minimum_detectable_change);
                    }
                }
                if (added->second == 0 &&
                    (is_worse(judged.verdict) || judged.verdict == Verdict::improved)) {
                    report.problems.push_back(
                        fmt::format("{} is reported as {} and had no added work",
                                    util::printable(judged.id), model::to_text(judged.verdict)));
                }
            }
        }
    }
    std::size_t judged_cases = 0;
    for (const auto& [size, counts] : sizes) {
        report.sizes.push_back(counts);
        judged_cases += counts.cases - counts.unjudged;
        report.unjudged += counts.unjudged;
    }
    if (judged_cases == 0) report.problems.emplace_back("no case could be judged");
    for (CaseTally& of_case : report.cases) {
        const std::vector<double>& seen = claims[of_case.name];
        if (seen.empty()) continue;
        of_case.minimum_detectable_change =
            std::accumulate(seen.begin(), seen.end(), 0.0) / static_cast<double>(seen.size());
        for (const auto& [size, verdict] : of_case.by_size) {
            if (size < *of_case.minimum_detectable_change) continue;
            ++report.promised;
            if (is_worse(verdict)) ++report.kept;
        }
    }
    report.proves_nothing = report.promised == 0 && !sizes.empty() && sizes.rbegin()->first > 0;
    if (report.promised > 0) check_promises(report);
    return report;
}

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
    const model::CaseVerdict* judged = find_case(verdict, canary.suite, canary.id);
    if (judged == nullptr) return {false, what + ", was not judged"};
    const std::string reported =
        fmt::format("{}, is reported as {}", what, model::to_text(judged->verdict));
    std::vector<std::string> problems;
    check_exit_code(verdict, problems);
    if (!is_worse(judged->verdict)) {
        return {false, fmt::format("{}, so a pass of this gate proves nothing ({})", reported,
                                   util::printable(judged->reason, 1000))};
    }
    if (!problems.empty()) return {false, reported + ", but " + problems.front()};
    return {true, reported + ", as it should be"};
}

}  // namespace perfgate::gate
