// SPDX-License-Identifier: Apache-2.0
#include "runner/run.hpp"

#include <string>
#include <utility>
#include <vector>

#include "model/run.hpp"
#include "model/verdict.hpp"
#include "runner/canary.hpp"
#include "runner/changed_only.hpp"
#include "runner/confirm.hpp"
#include "runner/devices.hpp"
#include "runner/execution.hpp"
#include "runner/judging.hpp"
#include "runner/plan.hpp"
#include "runner/run_file.hpp"

namespace perfgate::runner {

namespace {

/// What is to be measured, before any of it is.
model::Run frame_of(const model::Plan& plan, const OpenedBackend& backend,
                    const MeasuringChoice& choice, const std::optional<model::Shard>& shard) {
    model::Run run;
    run.environment = backend.capabilities.environment;
    run.verify_only = choice.verify_only;
    run.shard = shard;
    if (!choice.filters.empty() || !choice.tags.empty()) {
        run.selections.push_back({choice.filters, choice.tags});
    }
    for (const model::PlannedSuite& planned : plan.suites) {
        model::SuiteResult& suite = run.suites.emplace_back();
        suite.name = planned.name;
        suite.partial = planned.partial;
    }
    return run;
}

struct JudgedRun {
    Judge judge;
    model::Run run;
};

/// Devices are locked and open until it returns.
JudgedRun measure_run(const RunRequest& request) {
    MeasuringChoice choice = request.measuring;
    const bool settles = !choice.processes;
    if (settles) choice.processes = settling_processes;
    OpenedBackend backend = open_to_measure(choice, request.suites,
                                            [&](const model::Device& device, const auto& suites) {
                                                check_baselines(request.judging, device, suites);
                                            });
    model::Plan plan = plan_for(request.suites, choice, backend);
    std::optional<model::Shard> shard;
    if (request.shard) shard = suite::take_shard(plan, *request.shard);
    Judge judge(request.judging, frame_of(plan, backend, choice, shard));

    Execution execution(choice, backend, plan);
    measure::Session& session = execution.session();
    if (choice.changed_only) leave_out_unchanged(session, plan, judge.baselines());
    session.measure_all();
    if (settles && !session.interrupted()) {
        session.fill_up(judge.unsettled(execution.rated(session.run())), usual_processes);
    }
    session.replace_excluded();
    confirm(session,
            [&](const model::Run& so_far) { return judge.flagged(execution.rated(so_far)); });

    model::Run run = execution.finish(request.suites.front());
    run.shard = std::move(shard);
    return {std::move(judge), std::move(run)};
}

}  // namespace

int run_suites(const RunRequest& request) {
    const auto [judge, run] = measure_run(request);
    const int stored = store_run(run, request.measuring.out);
    model::VerdictDocument verdict = judge.verdict(run);
    if (request.canary) note_without_canary(run, verdict);
    const int judged =
        model::combine_exit_codes(verdict.exit_code, judge.report(verdict, run, request.reports));
    const int result =
        model::combine_exit_codes(model::combine_exit_codes(stored, judged), judge.prove(run));
    if (!request.canary) return result;
    return model::combine_exit_codes(
        result, try_canary(run, request.suites, request.measuring, request.judging.policy));
}

}  // namespace perfgate::runner
