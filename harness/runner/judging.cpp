// SPDX-License-Identifier: Apache-2.0
#include "runner/judging.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baseline/accept.hpp"
#include "baseline/store.hpp"
#include "explain/explain.hpp"
#include "gate/batch_rule.hpp"
#include "gate/flagged.hpp"
#include "gate/gate.hpp"
#include "gate/other_suites.hpp"
#include "gate/proof.hpp"
#include "metrics/catalogue.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::runner {
namespace {

/// Where a suite without a baseline would have one, and who has one there.
void note_absent_baselines(const model::Run& run, const std::string& folder,
                           const gate::BaselineSet& baselines, model::VerdictDocument& document) {
    const std::string& key = run.environment.device.key;
    for (model::SuiteVerdict& suite : document.suites) {
        const bool missed = std::any_of(suite.cases.begin(), suite.cases.end(),
                                        [](const model::CaseVerdict& verdict) {
                                            return verdict.verdict == model::Verdict::no_baseline;
                                        });
        if (!missed || baselines.contains(suite.name)) continue;
        const std::vector<std::string> keys = baseline::devices_with_baseline(folder, suite.name);
        suite.notes.push_back(fmt::format(
            "the baseline would be {}; {}",
            util::printable(baseline::baseline_path(folder, key, suite.name).string(), 300),
            keys.empty()
                ? "no other device has one there"
                : fmt::format("there is one for {}",
                              util::printable(fmt::format("{}", fmt::join(keys, ", ")), 500))));
    }
}

}  // namespace

model::VerdictDocument judge_run(const model::Run& run, const JudgingChoice& choice) {
    gate::BaselineSet baselines = baseline::load_baselines(choice.baselines, run);
    const std::string& device = run.environment.device.key;
    std::vector<std::string> others = baseline::suites_with_baseline(choice.baselines, device);
    std::erase_if(others, [&](const std::string& suite) { return gate::has_suite(run, suite); });
    const bool judged = choice.policy.complete && gate::is_of_all_suites(run);
    if (judged) {
        for (const std::string& suite : others) {
            if (auto stored = baseline::load_baseline(choice.baselines, device, suite)) {
                baselines.emplace(suite, *std::move(stored));
            }
        }
    }
    model::VerdictDocument document =
        gate::judge(run, baselines, choice.policy, gate::BatchRule(choice.policy));
    const std::string note = gate::other_suites_note(run, others, choice.policy);
    if (!note.empty() && !document.suites.empty()) {
        document.suites.front().notes.push_back(note);
    }
    note_absent_baselines(run, choice.baselines, baselines, document);
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
    } catch (const util::InputError&) {
        return {};
    }
}

std::vector<model::CaseIndex> unsettled_by_baselines(const model::Run& run,
                                                     const JudgingChoice& choice) {
    std::optional<model::VerdictDocument> verdict;
    try {
        verdict = gate::judge(run, baseline::load_baselines(choice.baselines, run), choice.policy,
                              gate::BatchRule(choice.policy));
    } catch (const util::InputError&) {
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
