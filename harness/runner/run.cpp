// SPDX-License-Identifier: Apache-2.0
#include "runner/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "baseline/store.hpp"
#include "gate/rule.hpp"
#include "gate/series.hpp"
#include "gate/tail.hpp"
#include "measure/elapsed.hpp"
#include "measure/programs.hpp"
#include "metrics/catalogue.hpp"
#include "model/run.hpp"
#include "model/subject.hpp"
#include "model/verdict.hpp"
#include "runner/canary.hpp"
#include "runner/changed_only.hpp"
#include "runner/code_file.hpp"
#include "runner/confirm.hpp"
#include "runner/devices.hpp"
#include "runner/execution.hpp"
#include "runner/judging.hpp"
#include "runner/plan.hpp"
#include "runner/run_file.hpp"
#include "runner/settling.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

using Cases = std::vector<model::CaseIndex>;

bool contains(const Cases& cases, const model::CaseIndex& at) {
    return std::ranges::find(cases, at) != cases.end();
}

bool has_groups(const model::Plan& plan) {
    return std::ranges::any_of(plan.suites, [](const auto& suite) {
        return std::ranges::any_of(suite.cases, [](const model::PlannedCase& planned) {
            return planned.group.has_value();
        });
    });
}

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
        for (const model::PlannedCase& one : planned.cases) {
            model::CaseResult& result = suite.cases.emplace_back();
            result.spec = one.spec;
            result.was = one.was;
        }
    }
    return run;
}

/// The cases of which a baseline has what recording costs, with an interval.
void take_known_overheads(const gate::BaselineSet& baselines, MeasuringChoice& choice) {
    for (const auto& [suite, stored] : baselines) {
        for (const auto& [id, expected] : stored.baseline.cases) {
            const auto overhead = expected.metrics.find("tracing_overhead");
            if (overhead != expected.metrics.end() && overhead->second.batches.size() > 1) {
                choice.known_overheads.emplace(suite, id);
            }
        }
    }
}

/// Those of which no other case of their program is measured further: its processes have their
/// values, too, which may join the baseline.
Cases alone_in_their_program(const Cases& cases, const model::Run& run, const model::Plan& plan) {
    std::set<std::pair<std::size_t, std::size_t>> further;
    for (const model::CaseIndex& at : model::all_cases(plan)) {
        const auto& group = model::case_at(plan, at).group;
        const bool measured = model::case_at(run, at).status == model::CaseStatus::measured;
        if (group && measured && !contains(cases, at)) further.emplace(at.suite, *group);
    }
    Cases alone = cases;
    std::erase_if(alone, [&](const model::CaseIndex& at) {
        return further.contains({at.suite, *model::case_at(plan, at).group});
    });
    return alone;
}

/// Whether all that is gated, other than counts, may double, also a time's slow tail. Then two
/// processes are enough if they show the case to be within its tolerances: a third looks for a mode
/// that is slow in some processes, and one that is not beyond the tolerance passes anyway.
bool may_double(const model::PlannedCase& planned, const model::BaselineCase& expected) {
    return std::ranges::all_of(planned.gates, [&](const model::GateRule& gate) {
        const auto metric = metrics::find_metric(gate.metric);
        const auto stored = expected.metrics.find(gate.metric);
        if (!metric || stored == expected.metrics.end()) return false;
        if (metric->definition.metric_class == model::MetricClass::exact) return true;
        const auto allows = [&](double worse, const model::MetricSeries& baseline) {
            return worse >= 1 || gate.tolerance.abs > std::fabs(gate::estimate_of(baseline));
        };
        if (!allows(gate.tolerance.worse, stored->second)) return false;
        if (!gate::has_tail(metric->definition)) return true;
        const auto tail = gate::slowest_tenths(stored->second);
        return !tail || allows(gate::tail_tolerance(gate.tolerance), *tail);
    });
}

/// Those that two processes may decide. A relation may be stricter than a case's own tolerances.
Cases decided_by_two(const model::Plan& plan, const model::Run& run,
                     const gate::BaselineSet& baselines) {
    Cases found;
    for (std::size_t suite = 0; suite < run.suites.size(); ++suite) {
        const auto stored = baselines.find(run.suites[suite].name);
        if (stored == baselines.end()) continue;
        const auto& expected = stored->second.baseline.cases;
        const std::set<std::string> related = named_by_relations(run.suites[suite]);
        for (std::size_t i = 0; i < plan.suites[suite].cases.size(); ++i) {
            const model::PlannedCase& planned = plan.suites[suite].cases[i];
            const std::string id = model::case_id(planned.spec);
            const auto of_case = expected.find(id);
            if (planned.group && of_case != expected.end() && !related.contains(id) &&
                may_double(planned, of_case->second)) {
                found.push_back({suite, i});
            }
        }
    }
    return found;
}

/// The first process of each case, and the second of some. Where all cases of a program pass, one
/// process is enough if it shows that they launch what the baseline's do, two if their times may
/// double. Returns the cases that need more.
Cases measure_programs_briefly(measure::Session& session, const model::Plan& plan,
                               const Judge& judge, Execution& execution, bool settles) {
    session.measure_first();
    Cases all = model::all_cases(plan);
    if (session.interrupted()) return all;
    const auto without_unsettled = [&](Cases cases) {
        const Cases unsettled = judge.unsettled(execution.rated(session.run()));
        std::erase_if(cases, [&](const auto& at) { return contains(unsettled, at); });
        return cases;
    };
    const auto finish = [&](const Cases& cases, std::size_t processes) {
        Cases alone = alone_in_their_program(cases, session.run(), plan);
        session.fill_up(alone, processes);
        return alone;
    };
    const auto leave_out = [&](const Cases& cases) {
        std::erase_if(all, [&](const auto& at) { return contains(cases, at); });
    };
    Cases passing = shown_by_launches(session.run(), plan, judge.baselines());
    if (!passing.empty()) passing = without_unsettled(std::move(passing));
    leave_out(finish(passing, 1));
    if (!settles) return all;
    for (const model::CaseIndex& at : decided_by_two(plan, session.run(), judge.baselines())) {
        if (!contains(passing, at)) passing.push_back(at);
    }
    std::erase_if(passing, [&](const auto& at) { return !contains(all, at); });
    const Cases twice = finish(passing, 2);
    if (!twice.empty() && !session.interrupted()) {
        leave_out(alone_in_their_program(without_unsettled(twice), session.run(), plan));
    }
    return all;
}

/// More processes of what does not pass: the usual number, or as many as decide at the first look.
/// A case is tested once: where that takes more, the usual number cannot decide.
void fill_up_unsettled(measure::Session& session, const Cases& unsettled,
                       const std::map<model::CaseIndex, std::size_t>& first_looks) {
    std::map<model::CaseIndex, std::size_t> wanted;
    std::set<std::size_t> sizes;
    for (const model::CaseIndex& at : unsettled) {
        const auto look = first_looks.find(at);
        const std::size_t decides = look == first_looks.end() ? 0 : look->second;
        if (decides > usual_processes) session.look_slower({at});
        sizes.insert(wanted[at] = std::max(usual_processes, decides));
    }
    // Processes that cases share start once.
    if (!sizes.empty()) session.announce(0, *sizes.rbegin() - settling_processes);
    for (const std::size_t processes : sizes) {
        Cases cases;
        for (const auto& [at, number] : wanted) {
            if (number >= processes) cases.push_back(at);
        }
        session.fill_up(cases, processes);
    }
}

/// A runner that lost a GPU has another device key: its cases would have no baseline, which
/// policies pass.
void refuse_other_gpus(const model::Plan& plan, const std::string& device_key,
                       const std::string& folder) {
    for (const model::PlannedSuite& suite : plan.suites) {
        if (std::ranges::none_of(suite.cases, [](const auto& planned) {
                return planned.subject->gpus() == model::all_gpus;
            })) {
            continue;
        }
        const auto others = baseline::other_gpus_with_baseline(folder, device_key, suite.name);
        if (others.empty()) continue;
        throw util::InputError(
            "{}: 'gpus: all' finds the GPUs of {} here, but its baseline is of {}: is one missing? "
            "'perfgate baseline refresh' records a baseline of this number, too",
            util::printable(suite.file), device_key, fmt::join(others, ", "));
    }
}

struct JudgedRun {
    Judge judge;
    model::Run run;
};

/// Devices are locked and open until it returns.
JudgedRun measure_run(const RunRequest& request) {
    MeasuringChoice choice = request.measuring;
    choice.verb = "run";
    const bool settles = !choice.processes;
    if (settles) choice.processes = settling_processes;
    const bool whole = choice.filters.empty() && choice.tags.empty() && !request.shard;
    OpenedBackend backend = open_to_measure(
        choice, request.suites, [&](const model::Device& device, const auto& suites) {
            check_baselines(request.judging, device, suites, whole);
        });
    model::Plan plan = plan_for(request.suites, choice, backend);
    refuse_other_gpus(plan, backend.capabilities.environment.device.key, request.judging.baselines);
    std::optional<model::Shard> shard;
    if (request.shard) shard = suite::take_shard(plan, *request.shard);
    Judge judge(request.judging, frame_of(plan, backend, choice, shard));

    take_known_overheads(judge.baselines(), choice);
    Execution execution(choice, backend, plan);
    measure::Session& session = execution.session();
    if (choice.changed_only) leave_out_unchanged(session, plan, judge.baselines());
    Cases further = model::all_cases(plan);
    if (has_groups(plan) && (settles || choice.changed_only)) {
        further = measure_programs_briefly(session, plan, judge, execution, settles);
        session.fill_up(further, choice.processes.value_or(usual_processes));
    } else {
        session.measure_all();
    }
    if (settles && !session.interrupted()) {
        Cases unsettled = judge.unsettled(execution.rated(session.run()));
        std::erase_if(unsettled, [&](const auto& at) { return !contains(further, at); });
        fill_up_unsettled(session, unsettled, judge.first_looks(execution.rated(session.run())));
    }
    session.replace_excluded();
    SettledCases settled;
    measure::PhaseTimes beside;  // what the session does not time
    if (!session.interrupted()) {
        const model::Run so_far = execution.rated(session.run());
        beside.enter("settling");
        settled = settle_here(choice, backend, plan, judge, so_far, session);
        beside.enter({});
    }
    confirm(session, [&](const model::Run& so_far) {
        model::Run rated = execution.rated(so_far);
        add_settled(settled, rated);
        Cases flagged = judge.flagged(rated);
        // Pairs that the gate does not take, because their base is too far off, settle nothing.
        const Cases undecided = judge.undecided_on_board(rated);
        std::erase_if(flagged, [&](const model::CaseIndex& at) {
            const auto found = settled.find(at);
            return found != settled.end() && found->second.settled.problem.empty() &&
                   !contains(undecided, at);
        });
        return flagged;
    });
    if (!session.interrupted()) {
        model::Run rated = execution.rated(session.run());
        add_settled(settled, rated);
        const Cases slower = judge.failing_host_times(rated);
        if (!slower.empty()) session.measure_again(slower, measure::stacks_round, 1);
    }
    for (std::size_t i = 0; i < gate::fresh_collections.size(); ++i) {
        model::Run rated = execution.rated(session.run());
        add_settled(settled, rated);
        session.collect_again(judge.failing_counters(rated, i > 0),
                              static_cast<std::int64_t>(i) + 1, gate::fresh_collections[i]);
    }

    model::KeptCode code;
    if (!session.interrupted()) {
        model::Run final = execution.rated(session.run());
        add_settled(settled, final);
        beside.enter("machine code");
        code = code_of_slower(
            session, slower_by_code(judge.verdict(final)),
            [&](const Cases& cases) {
                return code_of_bases(choice, backend, plan, judge, final, cases);
            },
            choice);
        beside.enter({});
    }
    model::Run run = execution.finish(request.suites.front());
    run.phase_s.insert(beside.seconds().begin(), beside.seconds().end());
    add_settled(settled, run);
    keep_code(
        code, choice.out, [&](const auto&) { return run.git_revision; },
        [&](const model::CaseCode& base) {
            return judge.baselines()
                .at(base.suite)
                .baseline.cases.at(base.id)
                .provenance.git_revision;
        },
        run);
    if (!run.interrupted) keep_builds(choice, backend, plan, run, &judge.baselines());
    run.shard = std::move(shard);
    run.options = request.reports.commands.again_words;
    return {std::move(judge), std::move(run)};
}

}  // namespace

int run_suites(const RunRequest& request) {
    const auto [judge, run] = measure_run(request);
    const int stored = store_run(run, request.measuring.out);
    model::VerdictDocument verdict = judge.verdict(run);
    if (request.canary) note_without_canary(run, verdict);
    const int result =
        model::combine_exit_codes(stored, judge.conclude(verdict, run, request.reports));
    if (!request.canary) return result;
    return model::combine_exit_codes(
        result, try_canary(run, request.suites, request.measuring, request.judging.policy));
}

}  // namespace perfgate::runner
