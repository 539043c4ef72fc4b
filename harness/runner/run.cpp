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

/// Devices are locked and open for the lifetime of this object.
model::Run measure_run(const RunRequest& request) {
    MeasuringChoice choice = request.measuring;
    const bool settles = !choice.processes;
    if (settles) choice.processes = settling_processes;
    std::vector<std::string> files = request.suites;
    if (!choice.resume.empty()) files.push_back(choice.resume);
    OpenedBackend backend = open_to_measure(choice, files);
    model::Plan plan = plan_for(request.suites, choice, backend);
    std::optional<model::Shard> shard;
    if (request.shard) shard = suite::take_shard(plan, *request.shard);

    Execution execution(choice, backend, plan);
    measure::Session& session = execution.session();
    if (choice.changed_only) {
        leave_out_unchanged(session, plan, request.judging.baselines);
    }
    session.measure_all();
    if (settles && !session.interrupted()) {
        session.fill_up(unsettled_by_baselines(execution.rated(session.run()), request.judging),
                        usual_processes);
    }
    session.replace_excluded();
    confirm(session, [&](const model::Run& so_far) {
        return flagged_by_baselines(execution.rated(so_far), request.judging);
    });

    model::Run run = execution.finish(request.suites.front());
    run.shard = std::move(shard);
    return run;
}

}  // namespace

int run_suites(const RunRequest& request) {
    const model::Run run = measure_run(request);
    const int stored = store_run(run, request.measuring.out);
    model::VerdictDocument verdict = judge_run(run, request.judging);
    if (request.canary) note_without_canary(run, verdict);
    const int judged = model::combine_exit_codes(
        verdict.exit_code, report_verdict(verdict, run, request.judging, request.reports));
    const int result = model::combine_exit_codes(model::combine_exit_codes(stored, judged),
                                                 prove_gates(run, request.judging));
    if (!request.canary) return result;
    return model::combine_exit_codes(
        result, try_canary(run, request.suites, request.measuring, request.judging.policy));
}

}  // namespace perfgate::runner
