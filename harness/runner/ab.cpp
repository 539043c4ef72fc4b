// SPDX-License-Identifier: Apache-2.0
#include "runner/ab.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "explain/explain.hpp"
#include "gate/baseline_set.hpp"
#include "gate/batch_rule.hpp"
#include "gate/gate.hpp"
#include "runner/back_to_back.hpp"
#include "runner/confirm.hpp"
#include "runner/devices.hpp"
#include "runner/execution.hpp"
#include "runner/git.hpp"
#include "runner/installation.hpp"
#include "runner/interruption.hpp"
#include "runner/plan.hpp"
#include "runner/revisions.hpp"
#include "runner/run_file.hpp"
#include "runner/same_sides.hpp"
#include "runner/side_environment.hpp"
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

/// The plugins that an option names: a file, or all in a folder.
std::vector<std::string> plugins_of(std::string_view option, const std::string& value) {
    if (value.empty()) return {};
    if (!std::filesystem::is_directory(value)) return {value};
    std::vector<std::string> plugins = plugins_in(value);
    if (plugins.empty()) {
        throw util::InputError(
            fmt::format("{} {}: the folder has no plugin (*.so other than *_cuda.so)", option,
                        util::printable(value)));
    }
    return plugins;
}

/// The two sides as a user names them: their places, and variables.
Checkouts named_sides(const AbRequest& request) {
    return {{request.base_root, {}, variables_of("--base-env", request.base_env)},
            {request.head_root, {}, variables_of("--head-env", request.head_env)}};
}

/// The name of the base in messages that otherwise name a baseline file.
std::string base_name(const AbRequest& request) {
    std::string text = "base";
    for (const std::string* name : {&request.base, &request.base_rev, &request.base_root}) {
        if (name->empty()) continue;
        text += " " + *name;
        break;
    }
    const Checkouts sides = named_sides(request);
    const std::string names = differing_names(sides.base.variables, sides.head.variables);
    return names.empty() ? text : fmt::format("{} (environments differ in {})", text, names);
}

bool environments_differ(const AbRequest& request) {
    const Checkouts sides = named_sides(request);
    return !differing_names(sides.base.variables, sides.head.variables).empty();
}

/// Throws util::InputError unless a build, a place or an environment is named, and if both sides
/// are the same.
model::SideDifferences differences_of(const AbRequest& request) {
    const bool builds = !request.base.empty();
    const bool environments = !request.base_env.empty() || !request.head_env.empty();
    const bool checkouts = !request.base_root.empty() || !request.base_rev.empty();
    require_different("--base", request.base, "--head", request.head);
    if (!builds && !environments_differ(request)) {
        require_different("--base-root", request.base_root, "--head-root", request.head_root);
    }
    if (!builds && !checkouts && environments && !environments_differ(request)) {
        throw util::InputError(
            "--base-env and --head-env give both sides the same variables, and nothing else "
            "differs");
    }
    if (!builds && !checkouts && !environments) {
        throw util::InputError(
            "nothing to compare: name two builds (--base, --head), for programs and sources a git "
            "revision (--base-rev) or two checkouts (--base-root, --head-root), or for programs "
            "two environments (--base-env, --head-env)");
    }
    // Plugins of a checkout may be named with --plugin; a revision has none that are built.
    const bool own_plugins =
        !request.base_root.empty() ||
        (!request.base_rev.empty() && !request.measuring.backend.plugins.empty());
    return {builds || own_plugins, checkouts, environments};
}

/// The choice for one build: its own plugins and the shared ones, without the bundled plugins,
/// which offer the same workloads if builds of perfgate's own are compared.
MeasuringChoice side_of(const MeasuringChoice& choice, const std::vector<std::string>& plugins,
                        const SharedProgress& progress, const std::string& name) {
    MeasuringChoice side = choice;
    side.backend.bundled = false;
    side.backend.plugins.insert(side.backend.plugins.begin(), plugins.begin(), plugins.end());
    if (progress.shown) side.progress = std::make_shared<SideProgress>(progress, name);
    return side;
}

struct BothRuns {
    model::Run base, head;
    std::map<std::string, std::vector<std::string>> notes;  ///< by suite
};

BothRuns measure_both(const AbRequest& request, const gate::Rule& rule) {
    Checkouts checkouts = named_sides(request);
    require_differences(request.suites, request.measuring, differences_of(request));
    catch_interruptions();
    std::optional<Revisions> revisions;
    if (!request.base_rev.empty()) revisions.emplace(request.suites);
    if (revisions) {
        const auto place = [](Checkout& side, const Checkout& found) {
            side.root = found.root;
            side.replaced = found.replaced;
        };
        place(checkouts.base, revisions->check_out("--base-rev", request.base_rev));
        place(checkouts.head, request.head_rev.empty()
                                  ? revisions->working_tree()
                                  : revisions->check_out("--head-rev", request.head_rev));
    }
    const std::vector<std::string> base_plugins = plugins_of("--base", request.base);
    const std::vector<std::string> head_plugins = plugins_of("--head", request.head);
    MeasuringChoice choice = request.measuring;
    choice.verify_seed = choice.verify_seed.value_or(fresh_seed());
    SharedProgress progress{choice.progress, {}};

    const MeasuringChoice of_head = side_of(choice, head_plugins, progress, "head");
    OpenedBackend head = open_to_measure(of_head, request.suites);
    if (head.devices.size() > 1) {
        throw util::InputError(
            "--devices: builds are compared back to back on one device; name one");
    }
    MeasuringChoice of_base = side_of(choice, base_plugins, progress, "base");
    of_base.backend.backend = head.name;
    of_base.out = util::Folder(choice.out).below("base").path();
    // The head's lock covers both.
    OpenedBackend base = open_backend(of_base.backend);

    const BothPlans plans =
        plan_for_both(request.suites, of_head, head, base.capabilities.workloads, checkouts);
    base.visible = head.visible;
    base.capabilities.environment.device.key = head.capabilities.environment.device.key;
    Execution head_execution(of_head, head, plans.head);
    Execution base_execution(of_base, base, plans.base, Execution::Unsupported::skip);
    progress.sessions = {&base_execution.session(), &head_execution.session()};

    BackToBack both(base_execution.session(), head_execution.session(),
                    choice.processes.value_or(usual_processes));
    both.measure_all();
    confirm(both, [&](const model::Run& so_far) {
        const model::Run base_so_far = head_execution.rated(both.base_run());
        return gate::flagged(head_execution.rated(so_far),
                             gate::baselines_of(base_so_far, base_name(request)), request.policy,
                             rule);
    });
    if (both.interrupted()) {
        for (Execution* side : {&base_execution, &head_execution}) side->session().interrupt();
    }

    BothRuns runs;
    runs.notes = same_program_notes(plans);
    runs.head = head_execution.finish(request.suites.front());
    runs.base = base_execution.finish_beside(runs.head);
    if (revisions) {
        runs.base.git_revision = git_revision(checkouts.base.root);
        runs.head.git_revision = git_revision(checkouts.head.root);
        const bool same =
            !runs.head.git_revision.empty() && runs.head.git_revision == runs.base.git_revision;
        if (same && !environments_differ(request)) {
            for (const model::PlannedSuite& suite : plans.head.suites) {
                runs.notes[suite.name].push_back(
                    fmt::format("base and head are the same commit {}", runs.head.git_revision));
            }
        }
    }
    return runs;
}

}  // namespace

int compare_builds(const AbRequest& request) {
    const gate::PairedRule rule(request.policy);
    BothRuns runs = measure_both(request, rule);
    const std::filesystem::path out = request.measuring.out;
    const int stored = model::combine_exit_codes(
        store_run(runs.base, util::Folder(out).below("base").path()), store_run(runs.head, out));
    gate::BaselineSet baselines = gate::baselines_of(runs.base, base_name(request));
    for (auto& [suite, of_base] : baselines) of_base.notes = runs.notes[suite];
    model::VerdictDocument document = gate::judge(runs.head, baselines, request.policy, rule);
    explain::explain(runs.head, explain::Which::moved, document);
    return model::combine_exit_codes(
        stored, model::combine_exit_codes(document.exit_code,
                                          write_reports(document, runs.head, request.reports)));
}

}  // namespace perfgate::runner
