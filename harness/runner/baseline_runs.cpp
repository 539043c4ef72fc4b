// SPDX-License-Identifier: Apache-2.0
#include "runner/baseline_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "baseline/pooling.hpp"
#include "baseline/refresh.hpp"
#include "baseline/store.hpp"
#include "runner/devices.hpp"
#include "runner/execution.hpp"
#include "runner/plan.hpp"
#include "runner/run_file.hpp"
#include "runner/settling.hpp"
#include "util/folder.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace fs = std::filesystem;

namespace {

static_assert(baseline_processes == baseline::enough_processes);

std::vector<model::CaseIndex> noisy_cases(const model::Run& run) {
    std::vector<model::CaseIndex> found = model::all_cases(run);
    std::erase_if(found, [&](const auto& at) { return !baseline::noisy(model::case_at(run, at)); });
    return found;
}

/// A start of a program or of an interpreter takes seconds, and later runs of the same code add
/// processes (refresh.hpp): so many, with those in which what recording costs is measured.
constexpr std::size_t most_starts = 12;
/// After so many the gated times of a case may be steady enough. A run decides about one time that
/// is far slower with 6 processes; against 8 it would need 7.
constexpr std::size_t least_starts = baseline::least_processes;
constexpr double steady_share = 0.25;

bool is_steady(const model::Run& run, const model::CaseResult& result) {
    return std::ranges::all_of(result.gates, [&](const model::GateRule& gate) {
        const auto series = result.metrics.find(gate.metric);
        return series == result.metrics.end() ||
               run.metric_definitions.at(gate.metric).metric_class != model::MetricClass::timing ||
               baseline::spread_of_tolerance(series->second, gate.tolerance) <= steady_share;
    });
}

/// Measures what one baseline needs. `chosen`: the number of processes, if the user chose one;
/// `slow`: workers take long to start, too.
class BaselineMeasuring {
  public:
    BaselineMeasuring(measure::Session& session, const model::Plan& plan,
                      const MeasuringChoice& choice, std::optional<std::size_t> chosen, bool slow)
        : session_(session), choice_(choice), chosen_(chosen), slow_(slow) {
        std::set<std::pair<std::size_t, std::size_t>> groups;
        for (const model::CaseIndex& at : model::all_cases(plan)) {
            const model::PlannedCase& planned = model::case_at(plan, at);
            if (!planned.skip_reason.empty()) continue;
            (planned.group ? programs_ : workers_).push_back(at);
            if (planned.group) groups.emplace(at.suite, *planned.group);
        }
        groups_ = groups.size();
    }

    /// `collections` of the counters; those of programs are collected once.
    void measure(std::size_t collections) {
        const auto begun = std::chrono::steady_clock::now();
        say_before();
        session_.measure_first();
        if (session_.interrupted()) return;
        const std::chrono::duration<double> first = std::chrono::steady_clock::now() - begun;
        const std::size_t workers = workers_at_first(chosen_, slow_);
        // What recording costs takes starts of its own.
        const bool bare = std::ranges::any_of(programs_, [&](const auto& at) {
            return model::case_at(session_.run(), at).metrics.contains("tracing_overhead");
        });
        const std::size_t bare_starts = bare ? measure::overhead_batches : 0;
        const std::size_t programs = chosen_.value_or(most_starts - bare_starts);
        say_after(first.count() / (bare ? 2 : 1), programs + bare_starts, workers);
        session_.fill_up(programs_, std::min(programs, chosen_.value_or(least_starts)));
        if (!chosen_) session_.fill_up(unsteady(programs_), programs);
        session_.fill_up(workers_, workers, collections - 1);
        if (slow_) {
            if (!chosen_) session_.fill_up(unsteady(workers_), most_starts);
        } else {
            session_.fill_up(noisy_workers(), 2 * workers);
        }
        session_.replace_excluded();
    }

    static std::size_t workers_at_first(std::optional<std::size_t> chosen, bool slow) {
        return chosen.value_or(slow ? least_starts : baseline_processes);
    }

  private:
    [[nodiscard]] std::vector<model::CaseIndex> unsteady(
        std::vector<model::CaseIndex> cases) const {
        std::erase_if(cases, [&](const model::CaseIndex& at) {
            return is_steady(session_.run(), model::case_at(session_.run(), at));
        });
        return cases;
    }

    [[nodiscard]] std::vector<model::CaseIndex> noisy_workers() const {
        std::vector<model::CaseIndex> noisy = noisy_cases(session_.run());
        std::erase_if(noisy, [&](const model::CaseIndex& at) {
            return std::ranges::find(workers_, at) == workers_.end();
        });
        return noisy;
    }

    void say(const std::string& line) const {
        if (choice_.progress) choice_.progress->say(line);
    }

    void say_before() const {
        if (programs_.empty()) return;
        say(fmt::format("{} of {}: at most {} starts each; the first shows how long one takes",
                        util::counted(programs_.size(), "case"), util::counted(groups_, "program"),
                        chosen_.value_or(most_starts)));
    }

    /// `start_s`: of all programs and, with the counters, of all other cases.
    void say_after(double start_s, std::size_t programs, std::size_t workers) const {
        if (programs_.empty()) {
            say(fmt::format("{}, {} of about {}: {}", util::counted(workers_.size(), "case"),
                            util::counted(workers, "process"), duration(start_s),
                            duration(start_s * static_cast<double>(workers))));
            return;
        }
        const auto groups = static_cast<double>(std::max<std::size_t>(1, groups_));
        say(fmt::format("{}, about {} starts of {}: {}",
                        util::counted(programs_.size() + workers_.size(), "case"),
                        programs * groups_, duration(start_s / groups),
                        duration(start_s * static_cast<double>(programs))));
    }

    static std::string duration(double seconds) {
        if (seconds >= 90) return fmt::format("{:.1f} min", seconds / 60);
        return fmt::format("{:.{}g} s", seconds, seconds < 10 ? 2 : 3);
    }

    measure::Session& session_;
    const MeasuringChoice& choice_;
    std::optional<std::size_t> chosen_;
    bool slow_;
    std::vector<model::CaseIndex> programs_, workers_;
    std::size_t groups_ = 0;  ///< programs
};

/// `first`: of several runs, whose cases stay on their devices; null: this is it.
model::Run measure_one(const std::vector<std::string>& suites, MeasuringChoice choice,
                       const model::Run* first, const std::string& baselines,
                       std::size_t collections) {
    // Only what starts slowly asks how many are needed when it is opened.
    choice.verb = "baseline refresh";
    const std::optional<std::size_t> chosen = choice.processes;
    choice.processes = BaselineMeasuring::workers_at_first(chosen, true);
    OpenedBackend backend =
        open_to_measure(choice, suites, [&](const model::Device& device, const auto& names) {
            baseline::load_baselines(baselines, device, names);
        });
    choice.processes = 1;
    const bool slow = !backend.chosen.interpreters.empty();
    const model::Plan plan = plan_for(suites, choice, backend);
    Execution execution(choice, backend, plan);
    if (first != nullptr) execution.session().keep_devices_of(*first);
    BaselineMeasuring(execution.session(), plan, choice, chosen, slow).measure(collections);
    model::Run run = execution.finish(suites.front());
    if (!run.interrupted) keep_builds(choice, backend, plan, run);
    return run;
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
    // With fewer, the spread of counters is not known.
    constexpr std::size_t collections = 3;
    MeasuringChoice each = choice;
    if (!each.processes && runs > 1) each.processes = (baseline_processes + runs - 1) / runs;
    remove_runs(choice);
    std::vector<model::Run> measured;
    for (std::size_t i = 0; i < runs; ++i) {
        if (runs > 1) each.out = util::Folder(choice.out).below(folder_of(i + 1)).path();
        measured.push_back(measure_one(suites, each, i == 0 ? nullptr : &measured.front(),
                                       baselines, (collections + runs - 1) / runs));
        store_run(measured.back(), each.out);  // on another machine it can be added (--add-board)
        if (measured.back().interrupted) break;
    }
    return measured;
}

}  // namespace perfgate::runner
