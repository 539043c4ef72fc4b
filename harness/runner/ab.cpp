// SPDX-License-Identifier: Apache-2.0
#include "runner/ab.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "explain/explain.hpp"
#include "gate/baseline_set.hpp"
#include "gate/batch_rule.hpp"
#include "gate/gate.hpp"
#include "measure/programs.hpp"
#include "runner/code_file.hpp"
#include "runner/confirm.hpp"
#include "runner/devices.hpp"
#include "runner/git.hpp"
#include "runner/installation.hpp"
#include "runner/interruption.hpp"
#include "runner/judging.hpp"
#include "runner/plan.hpp"
#include "runner/revisions.hpp"
#include "runner/run_file.hpp"
#include "suite/named_plugins.hpp"
#include "util/error.hpp"
#include "util/folder.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

/// Two sessions as one, for the progress display.
struct SharedProgress {
    std::shared_ptr<ProgressObserver> shown;
    std::vector<const measure::Session*> sessions;
};

class SideProgress final : public ProgressObserver {
  public:
    SideProgress(const SharedProgress& shared, std::string side)
        : shared_(shared), side_(std::move(side)) {}

    void begin() override { shared_.shown->begin(); }
    void end() override { shared_.shown->end(); }
    void show(const measure::Progress& step) override {
        const std::string phase = fmt::format("{}, {}", side_, step.phase);
        measure::Progress of_both = step;
        of_both.phase = phase;
        of_both.done = of_both.total = 0;
        for (const measure::Session* session : shared_.sessions) {
            of_both.done += session->done();
            of_both.total += session->total();
        }
        shared_.shown->show(of_both);
    }

  private:
    const SharedProgress& shared_;
    std::string side_;
};

/// The plugins of a build: a file, or all in a folder.
std::vector<std::string> plugins_of(const std::string& build) {
    if (build.empty()) return {};
    if (!std::filesystem::is_directory(build)) return {build};
    std::vector<std::string> plugins = plugins_in(build);
    if (plugins.empty()) {
        throw util::InputError("build:{}: the folder has no plugin (*.so other than *_cuda.so)",
                               util::printable(build));
    }
    return plugins;
}

/// The two sides as a user names them: their places, and variables.
Checkouts named_sides(const AbRequest& request) {
    return {{request.base.folder, {}, request.base.variables},
            {request.head.folder, {}, request.head.variables}};
}

std::string differing_variables(const AbRequest& request) {
    return differing_names(request.base.variables, request.head.variables);
}

/// The name of the base in messages that otherwise name a baseline file.
std::string base_name(const AbRequest& request) {
    std::string text = "base";
    const Side& base = request.base;
    for (const std::string* name : {&base.build, &base.revision, &base.folder}) {
        if (name->empty()) continue;
        text += " " + *name;
        break;
    }
    const std::string names = differing_variables(request);
    return names.empty() ? text : fmt::format("{} (environments differ in {})", text, names);
}

/// In what the sides differ. Throws util::InputError unless a build, a place or an environment is
/// named, and if both sides are the same.
model::SideDifferences checked_sides(const AbRequest& request) {
    const Side& base = request.base;
    const Side& head = request.head;
    const bool environments_differ = !differing_variables(request).empty();
    if (base.build.empty() != head.build.empty()) {
        throw util::InputError(
            "--base build:… and --head build:… belong together: name the plugins of both");
    }
    if (base.revision.empty() && !head.revision.empty()) {
        throw util::InputError(
            "--head rev:… needs --base rev:…: name the revision to compare with");
    }
    if (!head.folder.empty() && base.folder.empty()) {
        throw util::InputError(
            "--head dir:… needs --base dir:…: name the checkout to compare with");
    }
    require_different("build", base.build, head.build);
    const bool builds = !base.build.empty();
    if (!builds && !environments_differ) {
        require_different("dir", base.folder, head.folder);
        for (const std::string& suite : request.suites) {
            if (!head.folder.empty()) break;
            const std::filesystem::path file = std::filesystem::absolute(suite);
            require_different("dir", base.folder, file.parent_path().string());
        }
    }
    const bool environments = !base.variables.empty() || !head.variables.empty();
    if (!builds && !base.has_place() && environments && !environments_differ) {
        throw util::InputError(
            "--base and --head have the same variables (env:), and nothing else differs");
    }
    if (!builds && !base.has_place() && !environments) {
        throw util::InputError(
            "nothing to compare: name two builds (--base build:PATH --head build:PATH), for "
            "programs, sources and Python kernels a git revision (--base rev:REF) or a checkout "
            "(--base dir:DIR), or for programs and Python kernels two environments (--base "
            "env:NAME=VALUE)");
    }
    // Plugins of a checkout may be named with --plugin; a revision has what its build makes.
    const bool own_plugins =
        !base.folder.empty() ||
        (!base.revision.empty() &&
         (!request.measuring.build.empty() || !request.measuring.backend.plugins.empty()));
    return {builds || own_plugins, base.has_place(), environments};
}

/// Throws util::InputError if the sides are one commit, and nothing else differs.
void require_different_commits(const AbRequest& request, const Checkouts& checkouts) {
    if (!request.base.build.empty() || !differing_variables(request).empty()) return;
    const std::string base = git_revision(checkouts.base.root);
    const std::string head = git_revision(checkouts.head.root);
    if (base.empty() || base != head) return;
    // Untracked files are in the working tree alone.
    if (request.head.revision.empty() && !git_is_clean(checkouts.head.root)) return;
    throw util::InputError(
        "--base rev:{}: base and head are the same commit {}, and no file differs; name another "
        "revision, as --base rev:{}~1",
        util::printable(request.base.revision), base, util::printable(request.base.revision));
}

/// The commit of a checkout; empty: it is not known, or files were changed there.
std::string clean_revision(const std::string& checkout) {
    std::string revision = checkout.empty() ? std::string() : git_revision(checkout);
    return model::names_a_commit(revision) ? revision : std::string();
}

/// The choice for one build: its own plugins and the shared ones, without the bundled plugins,
/// which offer the same workloads if builds of perfgate's own are compared. `plugins` are those of
/// the build, or else what the suites name.
MeasuringChoice side_of(const MeasuringChoice& choice, const std::vector<std::string>& plugins,
                        const SharedProgress& progress, const std::string& name) {
    MeasuringChoice side = choice;
    side.backend.bundled = false;
    side.backend.of_suites = false;
    side.backend.plugins.insert(side.backend.plugins.begin(), plugins.begin(), plugins.end());
    if (progress.shown) side.progress = std::make_shared<SideProgress>(progress, name);
    return side;
}

/// What the sides are, as they are named; a revision is checked out for the lifetime of this.
class NamedCheckouts {
  public:
    explicit NamedCheckouts(const AbRequest& request) : checkouts_(named_sides(request)) {
        if (request.base.revision.empty()) return;
        revisions_.emplace(request.suites, request.measuring.build);
        place(checkouts_.base, checked_out("--base", request.base.revision));
        place(checkouts_.head, request.head.revision.empty()
                                   ? revisions_->working_tree()
                                   : checked_out("--head", request.head.revision));
        require_different_commits(request, checkouts_);
    }
    const Checkouts& operator*() const { return checkouts_; }

  private:
    Checkout checked_out(std::string_view option, const std::string& revision) {
        return revisions_->check_out(fmt::format("{} rev:{}", option, revision), revision);
    }
    static void place(Checkout& side, const Checkout& found) {
        side.root = found.root;
        side.replaced = found.replaced;
    }

    Checkouts checkouts_;
    std::optional<Revisions> revisions_;
};

}  // namespace

BothRuns measure_sides(const AbRequest& request, const Checkouts& checkouts,
                       const SidesMeasure& measure) {
    const model::SideDifferences sides = checked_sides(request);
    const std::vector<suite::PythonFile> scripts = suite::python_files(request.suites);
    const bool builds = !request.base.build.empty();
    const auto plugins = [&](const Side& side, const Checkout& checkout, const char* option) {
        return builds ? plugins_of(side.build)
                      : plugins_named_for(checkout, option, request.suites);
    };
    const auto base_plugins = plugins(request.base, checkouts.base, "--base");
    const auto head_plugins = plugins(request.head, checkouts.head, "--head");
    MeasuringChoice choice = request.measuring;
    choice.processes = choice.processes.value_or(usual_pairs);
    choice.verify_seed = choice.verify_seed.value_or(fresh_seed());
    SharedProgress progress{choice.progress, {}};

    const MeasuringChoice of_head = side_of(choice, head_plugins, progress, "head");
    OpenedBackend head = open_to_measure(of_head, request.suites, {}, checkouts.head);
    if (!scripts.empty()) {
        require_differences(request.suites, request.measuring, sides, head.capabilities.workloads);
    }
    if (head.devices.size() > 1) {
        throw util::InputError(
            "--devices: builds are compared back to back on one device; name one");
    }
    MeasuringChoice of_base = side_of(choice, base_plugins, progress, "base");
    of_base.backend.backend = head.name;
    if (!request.base.revision.empty() && request.measuring.build.empty()) {
        // A revision has no file that only a build makes.
        of_base.if_not_started = "; if a build makes it, name the build: --set 'build=make'";
    }
    of_base.out = util::Folder(choice.out).below("base").path();
    // The head's lock covers both.
    OpenedBackend base = open_beside(of_base, request.suites, checkouts.base);

    const BothPlans plans = plan_for_both(request.suites, of_head, of_base, head,
                                          base.capabilities.workloads, checkouts);
    base.visible = head.visible;
    base.capabilities.environment.device.key = head.capabilities.environment.device.key;
    Execution head_execution(of_head, head, plans.head);
    Execution base_execution(of_base, base, plans.base, Execution::Unsupported::skip);
    progress.sessions = {&base_execution.session(), &head_execution.session()};

    BackToBack both(base_execution.session(), head_execution.session(), *choice.processes);
    const std::vector<model::CaseIndex> slower = measure(both, head_execution);
    const model::KeptCode code = code_of_slower(
        head_execution.session(), slower,
        [&](const auto& cases) { return base_execution.session().machine_code(cases); }, choice);
    if (both.interrupted()) {
        for (Execution* side : {&base_execution, &head_execution}) side->session().interrupt();
    }

    BothRuns runs;
    runs.notes = same_program_notes(plans);
    runs.head = head_execution.finish(request.suites.front());
    runs.base = base_execution.finish_beside(runs.head);
    if (!request.base.revision.empty()) {
        runs.base.git_revision = git_revision(checkouts.base.root);
        runs.head.git_revision = git_revision(checkouts.head.root);
        const bool same =
            !runs.head.git_revision.empty() && runs.head.git_revision == runs.base.git_revision;
        if (same && differing_variables(request).empty()) {
            for (const model::PlannedSuite& suite : plans.head.suites) {
                runs.notes[suite.name].push_back(
                    fmt::format("base and head are the same commit {}", runs.head.git_revision));
            }
        }
    }
    keep_code(
        code, of_head.out,
        [&](const auto&) {
            const std::string& folder = request.head.folder;
            return folder.empty() ? runs.head.git_revision : clean_revision(folder);
        },
        [&](const auto&) { return clean_revision(checkouts.base.root); }, runs.head);
    return runs;
}

Compared compare_checkouts(const AbRequest& request, const Checkouts& checkouts) {
    const gate::PairedRule rule(request.policy);
    BothRuns runs = measure_sides(request, checkouts, [&](BackToBack& both, Execution& head) {
        const auto flagged = [&](const model::Run& so_far) {
            const model::Run base_so_far = head.rated(both.base_run());
            return worth_measuring_again(head.rated(so_far),
                                         gate::baselines_of(base_so_far, base_name(request)),
                                         request.policy, rule);
        };
        both.measure_all();
        confirm(both, flagged, gate::Processes::paired);
        if (both.interrupted()) return std::vector<model::CaseIndex>();
        const model::Run base = head.rated(both.base_run());
        const model::Run run = head.rated(both.run());
        const model::VerdictDocument verdict =
            gate::judge(run, gate::baselines_of(base, base_name(request)), request.policy, rule);
        const std::vector<model::CaseIndex> slower = failing_host_times(run, verdict);
        if (!slower.empty()) both.measure_again(slower, measure::stacks_round, 1);
        return slower_by_code(verdict);
    });
    const std::filesystem::path out = request.measuring.out;
    const int stored = model::combine_exit_codes(
        store_run(runs.base, util::Folder(out).below("base").path()), store_run(runs.head, out));
    gate::BaselineSet baselines = gate::baselines_of(runs.base, base_name(request));
    for (auto& [suite, of_base] : baselines) of_base.notes = runs.notes[suite];
    Compared compared{gate::judge(runs.head, baselines, request.policy, rule), 0};
    explain::explain(runs.head, explain::Which::moved, compared.verdict);
    compared.exit_code = model::combine_exit_codes(
        stored,
        model::combine_exit_codes(compared.verdict.exit_code,
                                  write_reports(compared.verdict, runs.head, request.reports)));
    return compared;
}

void check_sides(const AbRequest& request) {
    const model::SideDifferences sides = checked_sides(request);
    // What Python files offer is known for certain when they have run.
    if (suite::python_files(request.suites).empty()) {
        require_differences(request.suites, request.measuring, sides, {});
    }
}

int compare_builds(const AbRequest& request) {
    check_sides(request);
    catch_interruptions();
    const NamedCheckouts checkouts(request);
    return compare_checkouts(request, *checkouts).exit_code;
}

}  // namespace perfgate::runner
