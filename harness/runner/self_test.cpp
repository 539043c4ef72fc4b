// SPDX-License-Identifier: Apache-2.0
#include "runner/self_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <random>
#include <string_view>
#include <utility>

#include "document/archive.hpp"
#include "gate/baseline_set.hpp"
#include "gate/batch_rule.hpp"
#include "gate/gate.hpp"
#include "gate/machine_code.hpp"
#include "model/case.hpp"
#include "report/formats.hpp"
#include "runner/baseline_runs.hpp"
#include "runner/confirm.hpp"
#include "runner/devices.hpp"
#include "runner/execution.hpp"
#include "runner/plan.hpp"
#include "runner/run_file.hpp"
#include "util/folder.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

PERFGATE_FIELDS(SizeTally, required(size, cases, regressed, inconclusive, improved),
                named(required, "pass", passed), named(required, "not_judged", unjudged))

static const document::Form<std::map<double, model::Verdict>> verdicts_by_size{
    [](document::JsonWriter& json, const std::map<double, model::Verdict>& verdicts) {
        json.begin_object(document::JsonLayout::compact);
        for (const auto& [size, verdict] : verdicts) {
            write_field(json, util::number_text(size), to_text(verdict));
        }
        json.end_object();
    },
    nullptr};
PERFGATE_FIELDS(CaseTally, named(required, "suite", name.first), named(required, "id", name.second),
                optional(minimum_detectable_change),
                named(required, "verdicts", by_size, verdicts_by_size))

}  // namespace perfgate::gate

namespace perfgate::runner {

namespace {

/// The JUnit file must agree with the verdicts, because CI shows only that file.
std::string junit_problem(const model::VerdictDocument& verdict, const model::Run& run) {
    const auto counts = model::count_verdicts(verdict);
    const auto regressed = counts.find(model::Verdict::regressed);
    const std::int64_t expected = regressed == counts.end() ? 0 : regressed->second;
    const std::string junit = report::find_format("junit")->write(verdict, run, {});
    std::int64_t found = 0;
    for (std::size_t at = junit.find("<failure"); at != std::string::npos;
         at = junit.find("<failure", at + 1)) {
        ++found;
    }
    if (found == expected) return {};
    return fmt::format("a trial has {} regressed cases and its JUnit file {} failures", expected,
                       found);
}

constexpr std::array<std::string_view, 3> times{"gpu_time", "gpu_span", "host_time"};

class SelfTest {
  public:
    explicit SelfTest(const SelfTestRequest& request)
        : request_(request), rule_(request.policy), sizes_(request.sizes) {
        std::ranges::sort(sizes_);
        sizes_.erase(std::unique(sizes_.begin(), sizes_.end()), sizes_.end());
    }

    SelfTestOutcome carry_out() {
        const auto start = std::chrono::steady_clock::now();
        SelfTestOutcome outcome;
        model::Run base = measure_base();
        outcome.environment = base.environment;
        outcome.interrupted = base.interrupted;
        for (model::SuiteResult& suite : base.suites) {
            for (model::CaseResult& result : suite.cases) gate::forget_code(result);
        }
        baselines_ = gate::baselines_of(base, "base");

        std::vector<gate::Trial> trials;
        std::vector<std::string> problems;
        for (std::size_t number = 0; number < sizes_.size() && !outcome.interrupted; ++number) {
            gate::Trial trial;
            const model::Run run = measure_trial(number, trial);
            outcome.interrupted = run.interrupted;
            if (run.interrupted) break;
            trial.verdict = gate::judge(run, baselines_, request_.policy, rule_);
            if (std::string problem = junit_problem(trial.verdict, run); !problem.empty()) {
                problems.push_back(std::move(problem));
            }
            trials.push_back(std::move(trial));
        }
        outcome.report = gate::tally(trials);
        outcome.report.problems.insert(outcome.report.problems.end(), problems.begin(),
                                       problems.end());
        outcome.wall_s =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        outcome.exit_code = exit_code_of(outcome);
        return outcome;
    }

  private:
    int exit_code_of(const SelfTestOutcome& outcome) const {
        if (outcome.interrupted) return 130;
        const gate::SelfTestReport& report = outcome.report;
        const bool short_of_data = report.unjudged > 0 || report.proves_nothing || report.not_shown;
        const int measured = short_of_data ? 3 : stored_;
        return model::combine_exit_codes(report.problems.empty() ? 0 : 1, measured);
    }

    MeasuringChoice choice_of(const std::string& name) const {
        fmt::print(stderr, "perfgate: self-test, {}\n", name);
        MeasuringChoice choice = request_.measuring;
        choice.ceilings = false;
        return choice;
    }

    /// Once the suites are known to be there: what is refused writes nothing.
    OpenedBackend open_for(const std::string& name, MeasuringChoice& choice) const {
        OpenedBackend backend = open_to_measure(choice, request_.suites);
        choice.out = util::Folder(choice.out).below(name).path();
        return backend;
    }

    model::Plan plan_of_times(const MeasuringChoice& choice, OpenedBackend& backend) const {
        model::Plan plan = plan_for_workers(request_.suites, choice, backend);
        keep_times_alone(plan, request_.tolerance);
        return plan;
    }

    model::Run stored(Execution& execution, const MeasuringChoice& choice) {
        model::Run run = execution.finish(request_.suites.front());
        stored_ = model::combine_exit_codes(stored_, store_run(run, choice.out));
        return run;
    }

    model::Run measure_base() {
        MeasuringChoice choice = choice_of("base");
        choice.processes = request_.processes_of_base;
        OpenedBackend backend = open_for("base", choice);
        model::Plan plan = plan_of_times(choice, backend);
        for (model::PlannedSuite& suite : plan.suites) {
            for (model::PlannedCase& planned : suite.cases) planned.added_work = 0;
        }
        Execution execution(choice, backend, plan);
        measure_for_baseline(execution.session(), *choice.processes);
        return stored(execution, choice);
    }

    model::Run measure_trial(std::size_t number, gate::Trial& trial) {
        const std::string name = fmt::format("trial-{}", number + 1);
        MeasuringChoice choice = choice_of(name);
        OpenedBackend backend = open_for(name, choice);
        model::Plan plan = plan_of_times(choice, backend);
        deal(plan, number, trial);
        Execution execution(choice, backend, plan);
        execution.session().measure_all();
        execution.session().replace_excluded();
        confirm(execution.session(), [this](const model::Run& so_far) {
            return gate::flagged(so_far, baselines_, request_.policy, rule_);
        });
        return stored(execution, choice);
    }

    /// The slowdown of each case in this trial, which the gate does not know.
    void deal(model::Plan& plan, std::size_t number, gate::Trial& trial) const {
        std::size_t cases = 0;
        for (const model::PlannedSuite& suite : plan.suites) cases += suite.cases.size();
        const auto dealt = deal_sizes(cases, sizes_.size(), request_.seed);
        std::size_t index = 0;
        for (model::PlannedSuite& suite : plan.suites) {
            for (model::PlannedCase& planned : suite.cases) {
                const double size = sizes_[dealt[index++][number]];
                planned.added_work = size;
                trial.added[{suite.name, model::case_id(planned.spec)}] = size;
            }
        }
    }

    const SelfTestRequest& request_;
    gate::BatchRule rule_;
    std::vector<double> sizes_;
    gate::BaselineSet baselines_;
    int stored_ = 0;  ///< 3 if a run is not in its place
};

}  // namespace

std::vector<std::vector<std::size_t>> deal_sizes(std::size_t cases, std::size_t sizes,
                                                 std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::vector<std::size_t>> dealt(cases, std::vector<std::size_t>(sizes));
    for (std::vector<std::size_t>& order : dealt) {
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::shuffle(order.begin(), order.end(), random);
    }
    return dealt;
}

void keep_times_alone(model::Plan& plan, double tolerance) {
    for (model::PlannedSuite& suite : plan.suites) {
        suite.relations.clear();
        std::erase_if(suite.cases, [&](model::PlannedCase& planned) {
            const auto* const time = std::ranges::find_if(times, [&](std::string_view name) {
                return std::ranges::find(planned.metrics, name) != planned.metrics.end() &&
                       (name == "host_time") == (planned.target == model::Target::host);
            });
            if (time == times.end()) return true;
            planned.metrics = {std::string(*time)};
            planned.gates = {{.metric = planned.metrics.front(),
                              .tolerance = {.worse = tolerance, .better = tolerance}}};
            return false;
        });
    }
}

SelfTestOutcome self_test(const SelfTestRequest& request) {
    return SelfTest(request).carry_out();
}

namespace {

struct SelfTestDocument {
    const SelfTestRequest& request;
    const SelfTestOutcome& outcome;
};
PERFGATE_FIELDS(SelfTestDocument, named(required, "device", outcome.environment.device.name),
                named(required, "seed", request.seed),
                named(required, "tolerance", request.tolerance),
                named(required, "wall_s", outcome.wall_s),
                named(required, "interrupted", outcome.interrupted),
                named(required, "promised", outcome.report.promised),
                named(required, "kept", outcome.report.kept),
                named(required, "problems", outcome.report.problems),
                named(required, "exit_code", outcome.exit_code),
                named(required, "sizes", outcome.report.sizes, document::lines),
                named(required, "cases", outcome.report.cases, document::lines))

}  // namespace

std::string write_json(const SelfTestOutcome& outcome, const SelfTestRequest& request) {
    constexpr document::Schema schema{"perfgate.selftest", 2, 2};
    return document::write_document(schema, SelfTestDocument{request, outcome}) + "\n";
}

}  // namespace perfgate::runner
