// SPDX-License-Identifier: Apache-2.0
#include "runner/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <set>
#include <utility>

#include "kinds/kinds.hpp"
#include "measure/worker_process.hpp"
#include "model/case.hpp"
#include "model/subject.hpp"
#include "runner/installation.hpp"
#include "runner/interruption.hpp"
#include "suite/named_plugins.hpp"
#include "suite/plan.hpp"
#include "suite/yaml_reader.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

model::Target target_of(const std::string& backend) {
    return backend == "cuda" ? model::Target::cuda : model::Target::host;
}

model::Placement in_suite_folder(const std::string& suite_file) {
    return {[folder = std::filesystem::path(folder_of_suite(suite_file))](const std::string& own) {
        return place_of((folder / own).native());
    }};
}

void place(model::PlannedCase& planned, const model::Placement& placement) {
    if (auto placed = planned.subject->placed(placement)) planned.subject = std::move(placed);
}

/// What was discovered in place of the cases of each suite that stand for others, by their group.

/// Of each suite and group the ids of the discovered cases, and why one is left out.
using DiscoveredIds = std::vector<std::map<std::size_t, std::map<std::string, std::string>>>;

bool differs(const model::SideDifferences& own, const model::SideDifferences& sides) {
    return (own.builds && sides.builds) || (own.checkouts && sides.checkouts) ||
           (own.environments && sides.environments);
}

/// "two builds (--base, --head) or …": what has to be named for the case to be compared.
std::string remedy_of(const model::SideDifferences& own) {
    std::vector<std::string> ways;
    if (own.builds) ways.emplace_back("two builds (--base build:PATH --head build:PATH)");
    if (own.checkouts) {
        ways.emplace_back("a git revision (--base rev:REF) or a checkout (--base dir:DIR)");
    }
    if (own.environments) ways.emplace_back("an environment (--base env:NAME=VALUE)");
    if (ways.empty()) return "other suites: ab cannot compare it";
    return fmt::format("{}", fmt::join(ways, ", or "));
}

/// From files to a plan, in steps.
class Planning {
  public:
    Planning(const std::vector<std::string>& files, const MeasuringChoice& choice,
             OpenedBackend& backend)
        : choice_(choice), backend_(backend) {
        const model::Device& device = backend.capabilities.environment.device;
        options_.target = target_of(backend.name);
        options_.device_key = device.key;
        options_.compute_capability = device.compute_capability;
        options_.filters = choice.filters;
        options_.tags = choice.tags;
        suites_ = suite::load_suites({files.begin(), files.end()}, backend.capabilities.workloads);
    }

    /// Makes as many GPUs visible as the cases use, which changes the device key.
    void see_gpus() {
        const int gpus = gpus_used();
        if (gpus == 1) return;
        const std::size_t shared = share_gpus(backend_, choice_, gpus);
        if (gpus == model::all_gpus && shared < 2) return skip_all(shared);
        options_.device_key = backend_.capabilities.environment.device.key;
        // Overrides for the other key may have brought back cases that were skipped.
        if (gpus_used() != gpus) {
            throw util::InputError(
                "overrides of the suites select other cases for {} than for one GPU: select cases "
                "that see {} GPUs with --filter",
                options_.device_key, shared);
        }
    }

    /// Whether cases are not known, or relations with cases that were not.
    bool must_discover() const {
        const auto cases = suite::cases_to_run(suites_, options_);
        return std::ranges::any_of(
                   suites_, [](const auto& suite) { return !suite.open_relations.empty(); }) ||
               std::ranges::any_of(cases, [&](const suite::CaseOfSuites& at) {
                   return model::stands_for_cases(case_at(at).spec);
               });
    }

    /// Runs, in the folders of a checkout, what shows the cases that are not known.
    DiscoveredBySuite discover(const Checkout& checkout, const MeasuringChoice& choice) const {
        const kinds::Machine machine = machine_of(choice, backend_);
        DiscoveredBySuite all(suites_.size());
        for (const suite::CaseOfSuites& at : suite::cases_to_run(suites_, options_)) {
            const suite::SuiteCase& suite_case = case_at(at);
            if (!model::stands_for_cases(suite_case.spec)) continue;
            if (!suite_case.group) {
                throw util::InputError(
                    "{}:{}: the file declares the workload '{}', and does not define it when it "
                    "runs",
                    util::printable(suites_[at.suite].file), suite_case.at.line,
                    suite_case.spec.workload);
            }
            model::PlannedCase planned;
            planned.subject = suite_case.subject;
            place(planned, in_suite_folder(suites_[at.suite].file));
            place(planned, placement_of(checkout, suites_[at.suite].file));
            model::Discovered& found = all[at.suite][suite_case.group.value()];
            found = kinds::discover(machine, *planned.subject);
            if (found.stopped) throw measure::Interrupted();
        }
        return all;
    }

    /// While the cases that stand for others are still there.
    DiscoveredIds ids_of(const DiscoveredBySuite& discovered) const {
        DiscoveredIds ids(suites_.size());
        for (std::size_t s = 0; s < suites_.size(); ++s) {
            for (const suite::SuiteCase& suite_case : suites_[s].cases) {
                if (!model::stands_for_cases(suite_case.spec)) continue;
                const auto found = discovered[s].find(suite_case.group.value());
                if (found == discovered[s].end()) continue;
                auto& of_group = ids[s][found->first];
                for (const model::DiscoveredCase& each : found->second.cases) {
                    of_group[model::case_id(suite::spec_of(each, suite_case.spec))] = each.skipped;
                }
            }
        }
        return ids;
    }

    void set_discovered(const DiscoveredBySuite& discovered) {
        for (std::size_t s = 0; s < suites_.size(); ++s) {
            suite::set_discovered_cases(discovered[s], suites_[s]);
        }
    }

    model::Plan plan() const {
        model::Plan plan = suite::plan_suites(suites_, options_);
        for (model::PlannedSuite& suite : plan.suites) {
            make_portable(suite);
            const model::Placement placement = in_suite_folder(suite.file);
            for (model::PlannedCase& planned : suite.cases) place(planned, placement);
        }
        return plan;
    }

  private:
    const suite::SuiteCase& case_at(const suite::CaseOfSuites& at) const {
        return suites_[at.suite].cases[at.index];
    }

    void skip_all(std::size_t gpus) {
        for (const suite::CaseOfSuites& at : suite::cases_to_run(suites_, options_)) {
            suites_[at.suite].cases[at.index].skipped =
                fmt::format("its program needs several GPUs of one model, and {} here",
                            gpus == 0 ? "none is" : "one is");
        }
    }

    /// The number of GPUs visible to each case, or all_gpus.
    int gpus_used() const {
        const suite::SuiteCase* first = nullptr;
        for (const suite::CaseOfSuites& at : suite::cases_to_run(suites_, options_)) {
            const suite::SuiteCase& suite_case = case_at(at);
            if (first == nullptr) first = &suite_case;
            const int own = suite_case.subject->gpus();
            if (own == first->subject->gpus()) continue;
            throw util::InputError(
                "{}:{}: {} uses {}, but {} uses {}: a run has one device key, which includes the "
                "number of GPUs; measure them in separate runs with --filter",
                suites_[at.suite].file, suite_case.at.line, suite_case.id,
                model::gpus_in_words(own), first->id, model::gpus_in_words(first->subject->gpus()));
        }
        return first == nullptr ? 1 : first->subject->gpus();
    }

    const MeasuringChoice& choice_;
    OpenedBackend& backend_;
    suite::PlanOptions options_;
    std::vector<suite::Suite> suites_;
};

/// Skips the cases that were not discovered in the base. In the head they are errors: what the base
/// has must not disappear silently. If a program of the base failed, its cases are errors there:
/// what it would have reported is not known.
void skip_undiscovered(model::Plan& plan, const DiscoveredBySuite& of_base,
                       const DiscoveredIds& ids) {
    for (std::size_t s = 0; s < of_base.size(); ++s) {
        for (model::PlannedCase& planned : plan.suites[s].cases) {
            if (!planned.group) continue;
            const auto found = of_base[s].find(*planned.group);
            if (found == of_base[s].end()) continue;
            if (!found->second.problem.empty()) {
                planned.problem = found->second.problem;
                planned.log = found->second.log;
            } else if (planned.skip_reason.empty() && !model::stands_for_cases(planned.spec)) {
                const auto& known = ids[s].at(*planned.group);
                const auto own = known.find(model::case_id(planned.spec));
                planned.skip_reason =
                    own == known.end() ? "its program does not report it" : own->second;
            }
        }
    }
}

void warn_of_missing(const model::Plan& plan) {
    for (const model::PlannedSuite& suite : plan.suites) {
        for (const std::string& line : suite::not_built(suite)) {
            fmt::print(stderr, "perfgate: warning: {}\n", line);
        }
    }
}

void prepare(const MeasuringChoice& choice, const OpenedBackend& backend, model::Plan& plan) {
    if (!kinds::prepare(machine_of(choice, backend), plan)) throw measure::Interrupted();
}

}  // namespace

kinds::Machine machine_of(const MeasuringChoice& choice, const OpenedBackend& backend) {
    const model::Environment& environment = backend.capabilities.environment;
    return {.library = injection_library(),
            .perfgate = own_binary(),
            .out = choice.out,
            .visible_devices = fmt::format("{}", fmt::join(backend.visible, ",")),
            .compute_capability = environment.device.compute_capability,
            .cuda_driver = environment.cuda_driver,
            .case_limit_s = choice.case_limit_s,
            .if_not_started = choice.if_not_started,
            .stop = interrupted,
            .tell = [shown = choice.progress != nullptr](const std::string& line) {
                if (shown) fmt::print(stderr, "perfgate: {}\n", line);
            }};
}

model::Plan plan_for(const std::vector<std::string>& files, const MeasuringChoice& choice,
                     OpenedBackend& backend) {
    Planning planning(files, choice, backend);
    planning.see_gpus();
    if (planning.must_discover()) planning.set_discovered(planning.discover({}, choice));
    model::Plan plan = planning.plan();
    warn_of_missing(plan);
    prepare(choice, backend, plan);
    return plan;
}

kinds::Findings check_cases(const std::vector<suite::Suite>& suites,
                            const std::vector<std::string>& architectures) {
    std::vector<kinds::SuiteCase> cases;
    for (const suite::Suite& suite : suites) {
        for (const suite::SuiteCase& suite_case : suite.cases) {
            const auto placed = suite_case.subject->placed(in_suite_folder(suite.file));
            cases.push_back({fmt::format("{}:{}:{}", util::printable(suite.file),
                                         suite_case.at.line, suite_case.at.column),
                             placed ? placed : suite_case.subject});
        }
    }
    kinds::Machine machine;
    machine.perfgate = own_binary();
    machine.stop = interrupted;
    kinds::Findings found = kinds::check(machine, cases, architectures);
    if (found.stopped) throw measure::Interrupted();
    return found;
}

model::Plan plan_for_workers(const std::vector<std::string>& files, const MeasuringChoice& choice,
                             OpenedBackend& backend) {
    model::Plan plan = without_groups(Planning(files, choice, backend).plan());
    prepare(choice, backend, plan);
    return plan;
}

void require_differences(const std::vector<std::string>& files, const MeasuringChoice& choice,
                         const model::SideDifferences& sides,
                         const model::WorkloadCatalogue& known) {
    std::vector<suite::Suite> suites;
    for (const std::string& file : files) {
        std::vector<std::string> not_known;
        suites.push_back(suite::parse_known_part(
            util::read_file(file, suite::most_yaml_bytes, "suite"), file, known, not_known));
    }
    suite::PlanOptions options;
    options.filters = choice.filters;
    options.tags = choice.tags;
    bool any_environment = false;
    for (const suite::CaseOfSuites& at : suite::cases_to_run(suites, options)) {
        const suite::SuiteCase& suite_case = suites[at.suite].cases[at.index];
        const model::SideDifferences own = suite_case.subject->sides();
        any_environment = any_environment || own.environments;
        if (differs(own, sides)) continue;
        throw util::InputError(
            "{}:{}:{}: {} is {}, of which nothing differs between base and head: name {}",
            util::printable(suites[at.suite].file), suite_case.at.line, suite_case.at.column,
            util::printable(suite_case.id, 200), suite_case.subject->in_words(), remedy_of(own));
    }
    if (sides.environments && !any_environment) {
        throw util::InputError(
            "env: the suites have no programs, benchmarks or Python kernels, and only these have "
            "an environment of their own");
    }
}

std::vector<std::string> plugins_named_for(const Checkout& checkout, std::string_view option,
                                           const std::vector<std::string>& suites) {
    std::vector<std::string> plugins;
    for (const std::string& suite_file : suites) {
        const model::Placement placement = placement_of(checkout, suite_file);
        for (const suite::NamedInSuite& named : suite::needs_of(suite_file).plugins) {
            const std::filesystem::path file = suite::file_of_plugin(named.name, suite_file);
            const std::string placed =
                plugin_file((std::filesystem::path(placement.folder(file.parent_path().native())) /
                             file.filename())
                                .native());
            std::error_code ignored;
            if (!std::filesystem::exists(placed, ignored)) {
                throw util::InputError("{}: {} has no plugin {}; build it there", named.place,
                                       option, util::printable(placed));
            }
            if (std::ranges::find(plugins, placed) == plugins.end()) {
                plugins.push_back(placed);
            }
        }
    }
    return plugins;
}

DiscoveredBySuite discovered_by_any(const DiscoveredBySuite& head, const DiscoveredBySuite& base) {
    const auto id_of = [](const model::DiscoveredCase& found) {
        return model::case_id({"", found.name, found.params, model::Cache::cold});
    };
    DiscoveredBySuite all = head;
    for (std::size_t s = 0; s < all.size(); ++s) {
        for (auto& [group, discovered] : all[s]) {
            if (!discovered.problem.empty()) continue;
            std::map<std::string, std::size_t> places;
            for (std::size_t i = 0; i < discovered.cases.size(); ++i) {
                places.emplace(id_of(discovered.cases[i]), i);
            }
            for (const model::DiscoveredCase& each : base[s].at(group).cases) {
                const auto found = places.find(id_of(each));
                if (found == places.end()) {
                    discovered.cases.push_back(each);
                } else if (each.skipped.empty()) {
                    discovered.cases[found->second].skipped.clear();
                }
            }
        }
    }
    return all;
}

BothPlans plan_for_both(const std::vector<std::string>& files, const MeasuringChoice& of_head,
                        const MeasuringChoice& of_base, OpenedBackend& backend,
                        const model::WorkloadCatalogue& base_plugins, const Checkouts& checkouts) {
    Planning planning(files, of_head, backend);
    planning.see_gpus();
    DiscoveredBySuite in_base;
    DiscoveredIds ids;
    if (planning.must_discover()) {
        const DiscoveredBySuite in_head = planning.discover(checkouts.head, of_head);
        in_base = planning.discover(checkouts.base, of_base);
        ids = planning.ids_of(in_base);
        planning.set_discovered(discovered_by_any(in_head, in_base));
    }
    const model::Plan plan = planning.plan();
    warn_of_missing(plan);
    BothPlans plans{in_checkout(plan, checkouts.base), in_checkout(plan, checkouts.head)};
    skip_undiscovered(plans.base, in_base, ids);
    plans.base = offered(std::move(plans.base), base_plugins);
    prepare(of_head, backend, plans.head);
    prepare(of_base, backend, plans.base);
    return plans;
}

model::Plan in_checkout(model::Plan plan, const Checkout& checkout) {
    for (model::PlannedSuite& suite : plan.suites) {
        const model::Placement placement = placement_of(checkout, suite.file);
        for (model::PlannedCase& planned : suite.cases) place(planned, placement);
    }
    return plan;
}

model::Plan without_groups(model::Plan plan) {
    bool left = false;
    for (model::PlannedSuite& suite : plan.suites) {
        std::erase_if(suite.cases,
                      [](const model::PlannedCase& planned) { return planned.group.has_value(); });
        left = left || !suite.cases.empty();
    }
    if (!left) {
        throw util::InputError(
            "the suites have only programs: work of a known length can be added to the launches of "
            "plugins' cases, not to programs");
    }
    return plan;
}

model::Plan offered(model::Plan plan, const model::WorkloadCatalogue& catalogue) {
    for (model::PlannedSuite& suite : plan.suites) {
        for (model::PlannedCase& planned : suite.cases) {
            if (!planned.skip_reason.empty()) continue;
            planned.skip_reason = planned.subject->absent(planned.spec, catalogue);
        }
    }
    return plan;
}

std::map<std::string, std::vector<std::string>> same_program_notes(const BothPlans& plans) {
    std::map<std::string, std::vector<std::string>> notes;
    for (std::size_t s = 0; s < plans.head.suites.size(); ++s) {
        const model::PlannedSuite& suite = plans.head.suites[s];
        std::set<std::size_t> asked;
        std::set<std::string> of_suite;
        for (std::size_t c = 0; c < suite.cases.size(); ++c) {
            const model::PlannedCase& planned = suite.cases[c];
            if (!planned.skip_reason.empty()) continue;
            // The cases of a group have the same files.
            if (planned.group && !asked.insert(*planned.group).second) continue;
            std::string note = planned.subject->same_as(*plans.base.suites[s].cases[c].subject);
            if (!note.empty()) of_suite.insert(std::move(note));
        }
        if (!of_suite.empty()) notes[suite.name] = {of_suite.begin(), of_suite.end()};
    }
    return notes;
}

}  // namespace perfgate::runner
