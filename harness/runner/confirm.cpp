// SPDX-License-Identifier: Apache-2.0
#include "runner/confirm.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "measure/batches.hpp"

namespace perfgate::runner {

namespace {

using Cases = std::vector<model::CaseIndex>;

/// Bounds the rounds, whatever the gate flags.
constexpr int most_rounds = 20;

/// Rounds that were begun, with the processes that are still missing.
std::map<std::pair<std::int64_t, std::size_t>, Cases> begun_rounds(const model::Run& run,
                                                                   gate::Processes of_sides) {
    std::map<std::pair<std::int64_t, std::size_t>, Cases> found;
    for (std::size_t s = 0; s < run.suites.size(); ++s) {
        for (std::size_t c = 0; c < run.suites[s].cases.size(); ++c) {
            const model::CaseResult& result = run.suites[s].cases[c];
            if (result.status != model::CaseStatus::measured) continue;
            const std::int64_t round = measure::last_round(result);
            if (round == 0) continue;
            const std::size_t processes = measure::processes_in_round(result, round);
            const std::size_t enough = gate::round_size(round, of_sides);
            if (processes >= enough) continue;
            found[{round, enough - processes}].push_back({s, c});
        }
    }
    return found;
}

/// The next round of each of the cases that have not failed.
std::map<std::int64_t, Cases> next_rounds(const model::Run& run, const Cases& cases) {
    std::map<std::int64_t, Cases> found;
    for (const model::CaseIndex& at : cases) {
        const model::CaseResult& result = model::case_at(run, at);
        if (result.status != model::CaseStatus::measured) continue;
        found[measure::last_round(result) + 1].push_back(at);
    }
    return found;
}

}  // namespace

void confirm(measure::Measuring& measuring, const Flagged& flagged, gate::Processes processes) {
    const model::Run& run = measuring.run();
    if (run.verify_only || measuring.interrupted()) return;
    for (const auto& [round, cases] : begun_rounds(run, processes)) {
        measuring.measure_again(cases, round.first, round.second);
    }

    for (int n = 0; n < most_rounds && !measuring.interrupted(); ++n) {
        const std::map<std::int64_t, Cases> rounds = next_rounds(run, flagged(run));
        if (rounds.empty()) return;
        for (const auto& [round, cases] : rounds) {
            measuring.measure_again(cases, round, gate::round_size(round, processes));
        }
    }
}

}  // namespace perfgate::runner
