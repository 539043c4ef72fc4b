// SPDX-License-Identifier: Apache-2.0
#include "runner/judging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>

#include "baseline/accept.hpp"
#include "baseline/store.hpp"
#include "explain/explain.hpp"
#include "gate/batch_rule.hpp"
#include "gate/flagged.hpp"
#include "gate/gate.hpp"
#include "gate/proof.hpp"
#include "metrics/catalogue.hpp"
#include "model/error.hpp"

namespace perfgate::runner {

model::VerdictDocument judge_run(const model::Run& run, const JudgingChoice& choice) {
    model::VerdictDocument document =
        gate::judge(run, baseline::load_baselines(choice.baselines, run), choice.policy,
                    gate::BatchRule(choice.policy));
    explain::explain(run, explain::Which::moved, document);
    return document;
}

int report_verdict(const model::VerdictDocument& document, const model::Run& run,
                   const JudgingChoice& choice, OutputOptions reports) {
    if (!reports.commands.run_file.empty()) {
        reports.commands.not_acceptable =
            baseline::not_acceptable(run, document, baseline::load_baselines(choice.baselines, run),
                                     gate::BatchRule(choice.policy));
    }
    return write_reports(document, run, reports);
}

int judge_and_report(const model::Run& run, const JudgingChoice& choice,
                     const OutputOptions& reports) {
    const model::VerdictDocument document = judge_run(run, choice);
    const int judged = model::combine_exit_codes(document.exit_code,
                                                 report_verdict(document, run, choice, reports));
    return model::combine_exit_codes(judged, prove_gates(run, choice));
}

int prove_gates(const model::Run& run, const JudgingChoice& choice) {
    if (!choice.prove || run.interrupted || run.verify_only) return 0;
    constexpr std::size_t most_problems = 20;
    const auto known = [](std::string_view metric) -> std::optional<model::Direction> {
        const auto found = metrics::find_metric(metric);
        if (!found) return std::nullopt;
        return found->definition.direction;
    };
    const gate::Proof proof =
        gate::prove(run, baseline::load_baselines(choice.baselines, run), choice.policy, known);
    for (std::size_t i = 0; i < std::min(proof.problems.size(), most_problems); ++i) {
        fmt::print(stderr, "perfgate: proof: {}\n", proof.problems[i]);
    }
    fmt::print(stderr, "perfgate: proof: {}\n", proof.sentence());
    return proof.problems.empty() ? 0 : 3;
}

std::vector<model::CaseIndex> flagged_cases(const model::Run& run,
                                            const gate::BaselineSet& baselines,
                                            const model::Policy& policy, const gate::Rule& rule) {
    std::vector<model::CaseIndex> found;
    for (const gate::FlaggedCase& found_case : gate::flagged(run, baselines, policy, rule)) {
        found.push_back({found_case.suite, found_case.index});
    }
    return found;
}

std::vector<model::CaseIndex> flagged_by_baselines(const model::Run& run,
                                                   const JudgingChoice& choice) {
    try {
        return flagged_cases(run, baseline::load_baselines(choice.baselines, run), choice.policy,
                             gate::BatchRule(choice.policy));
    } catch (const model::InputError&) {
        return {};
    }
}

std::vector<model::CaseIndex> unsettled_by_baselines(const model::Run& run,
                                                     const JudgingChoice& choice) {
    std::optional<model::VerdictDocument> verdict;
    try {
        verdict = gate::judge(run, baseline::load_baselines(choice.baselines, run), choice.policy,
                              gate::BatchRule(choice.policy));
    } catch (const model::InputError&) {
        // Without a verdict nothing is settled.
    }
    std::vector<model::CaseIndex> found;
    for (std::size_t s = 0; s < run.suites.size(); ++s) {
        for (std::size_t c = 0; c < run.suites[s].cases.size(); ++c) {
            const bool passes =
                verdict && verdict->suites[s].cases[c].verdict == model::Verdict::pass;
            if (!passes) found.push_back({s, c});
        }
    }
    return found;
}

}  // namespace perfgate::runner
