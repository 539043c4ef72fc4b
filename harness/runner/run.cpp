// SPDX-License-Identifier: Apache-2.0
#include "runner/run.hpp"

#include <algorithm>
#include <utility>

#include "baseline/store.hpp"
#include "gate/machine_code.hpp"
#include "metrics/catalogue.hpp"
#include "model/case.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"
#include "runner/canary.hpp"
#include "runner/confirm.hpp"
#include "runner/devices.hpp"
#include "runner/execution.hpp"
#include "runner/judging.hpp"
#include "runner/plan.hpp"
#include "runner/run_file.hpp"
#include "runner/shard_costs.hpp"

namespace perfgate::runner {

namespace {

/// Whether the metric depends on what the launch runs on the device alone. The others depend on
/// host code, too.
bool is_of_device(const std::string& name) {
    const auto metric = metrics::find_metric(name);
    return metric && (metric->source == metrics::Source::activity ||
                      metric->source == metrics::Source::counter ||
                      metric->source == metrics::Source::kernel_record);
}

/// Whether a relation of the suite needs the values of the case.
bool is_in_relation(const model::PlannedSuite& suite, const std::string& id) {
    return std::any_of(suite.relations.begin(), suite.relations.end(), [&](const auto& relation) {
        return std::any_of(relation.instances.begin(), relation.instances.end(),
                           [&](const std::vector<std::string>& ids) {
                               return std::find(ids.begin(), ids.end(), id) != ids.end();
                           });
    });
}

/// Whether a baseline has the case with the same code and inputs as this launch.
bool is_unchanged(const measure::RecordedLaunch& launch, const model::Run& run,
                  const model::Plan& plan, const gate::BaselineSet& baselines) {
    const auto stored = baselines.find(run.suites[launch.at.suite].name);
    if (stored == baselines.end()) return false;
    const auto& cases = stored->second.baseline.cases;
    const std::string id = model::case_id(launch.result.spec);
    const auto expected = cases.find(id);
    const model::PlannedSuite& suite = plan.suites[launch.at.suite];
    if (expected == cases.end() || is_in_relation(suite, id)) return false;
    const model::PlannedCase& planned = suite.cases[launch.at.index];
    gate::Code now = gate::code_of(launch.result, run.environment);
    now.seed = planned.seed;
    const gate::CodeComparison code = gate::compare_code(now, gate::code_of(expected->second));
    if (code.change == model::CodeChange::unchanged) return true;
    return code.runs_the_same &&
           std::all_of(planned.gates.begin(), planned.gates.end(),
                       [](const model::GateRule& gate) { return is_of_device(gate.metric); });
}

/// --changed-only: one launch of each case shows whether it needs to be measured.
void leave_out_unchanged(measure::Session& session, const model::Plan& plan,
                         const std::string& folder) {
    const gate::BaselineSet baselines = baseline::load_baselines(folder, session.run());
    for (measure::RecordedLaunch& launch : session.record_launches()) {
        if (is_unchanged(launch, session.run(), plan, baselines)) {
            session.leave_out(std::move(launch),
                              "code and inputs are the baseline's (--changed-only)");
        }
    }
}

/// Devices are locked and open for the lifetime of this object.
model::Run measure_run(const RunRequest& request) {
    MeasuringChoice choice = request.measuring;
    const bool settles = !choice.processes;
    if (settles) choice.processes = settling_processes;
    OpenedBackend backend = open_to_measure(choice);
    model::Plan plan = plan_for(request.suites, choice, backend);
    std::optional<model::Shard> shard;
    if (request.shard) {
        const std::string& device = backend.capabilities.environment.device.key;
        shard =
            suite::take_shard(plan, *request.shard,
                              shard_costs(plan, request.costs, request.judging.baselines, device));
    }

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
    const int judged =
        model::combine_exit_codes(verdict.exit_code, write_reports(verdict, run, request.reports));
    const int result = model::combine_exit_codes(model::combine_exit_codes(stored, judged),
                                                 prove_gates(run, request.judging));
    if (!request.canary) return result;
    return model::combine_exit_codes(
        result, try_canary(run, request.suites, request.measuring, request.judging.policy));
}

}  // namespace perfgate::runner
