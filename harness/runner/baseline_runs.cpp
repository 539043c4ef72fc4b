// SPDX-License-Identifier: Apache-2.0
#include "runner/baseline_runs.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "baseline/pooling.hpp"
#include "baseline/refresh.hpp"
#include "baseline/store.hpp"
#include "model/case_index.hpp"
#include "runner/devices.hpp"
#include "runner/execution.hpp"
#include "runner/plan.hpp"
#include "runner/run_file.hpp"
#include "util/folder.hpp"

namespace perfgate::runner {

namespace fs = std::filesystem;

namespace {

static_assert(baseline_processes == baseline::enough_processes);

std::vector<model::CaseIndex> noisy_cases(const model::Run& run) {
    std::vector<model::CaseIndex> found;
    for (std::size_t s = 0; s < run.suites.size(); ++s) {
        for (std::size_t c = 0; c < run.suites[s].cases.size(); ++c) {
            if (baseline::noisy(run.suites[s].cases[c])) found.push_back({s, c});
        }
    }
    return found;
}

/// `first`: of several runs, whose cases stay on their devices; null: this is it.
model::Run measure_one(const std::vector<std::string>& suites, const MeasuringChoice& choice,
                       const model::Run* first, const std::string& baselines) {
    OpenedBackend backend =
        open_to_measure(choice, suites, [&](const model::Device& device, const auto& names) {
            baseline::load_baselines(baselines, device, names);
        });
    const model::Plan plan = plan_for(suites, choice, backend);
    Execution execution(choice, backend, plan);
    if (first != nullptr) execution.session().keep_devices_of(*first);
    measure_for_baseline(execution.session(), choice.processes.value_or(baseline_processes));
    return execution.finish(suites.front());
}

std::string folder_of(std::size_t number) {
    return fmt::format("run-{}", number);
}

/// Runs of an earlier call must not be taken for this one's.
void remove_runs(const MeasuringChoice& choice) {
    util::remove_below(choice.out, "run.json");
    std::error_code ignored;
    for (std::size_t number = 1; fs::exists(fs::path(choice.out) / folder_of(number), ignored);
         ++number) {
        util::remove_below(choice.out, fs::path(folder_of(number)) / "run.json");
    }
}

}  // namespace

void measure_for_baseline(measure::Session& session, std::size_t processes) {
    session.measure_all();
    session.fill_up(noisy_cases(session.run()), 2 * processes);
    session.replace_excluded();
}

std::vector<model::Run> measure_baseline_runs(const std::vector<std::string>& suites,
                                              const MeasuringChoice& choice, std::size_t runs,
                                              const std::string& baselines) {
    MeasuringChoice each = choice;
    if (!each.processes) each.processes = (baseline_processes + runs - 1) / runs;
    remove_runs(choice);
    std::vector<model::Run> measured;
    for (std::size_t i = 0; i < runs; ++i) {
        if (runs > 1) each.out = util::Folder(choice.out).below(folder_of(i + 1)).path();
        measured.push_back(
            measure_one(suites, each, i == 0 ? nullptr : &measured.front(), baselines));
        store_run(measured.back(), each.out);  // on another machine it can be added (--add-board)
        if (measured.back().interrupted) break;
    }
    return measured;
}

}  // namespace perfgate::runner
