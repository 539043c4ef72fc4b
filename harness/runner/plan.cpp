// SPDX-License-Identifier: Apache-2.0
#include "runner/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "kinds/benchmark/batch.hpp"
#include "kinds/benchmark/formats/results.hpp"
#include "kinds/command/recorder.hpp"
#include "measure/worker_process.hpp"
#include "runner/checkout_paths.hpp"
#include "runner/interruption.hpp"
#include "runner/side_environment.hpp"
#include "runner/source_code.hpp"
#include "suite/benchmark_cases.hpp"
#include "suite/plan.hpp"
#include "suite/suite.hpp"
#include "suite/yaml_reader.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/folder.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

model::Target target_of(const std::string& backend) {
    return backend == "cuda" ? model::Target::cuda : model::Target::host;
}

std::filesystem::path folder_of(const model::PlannedSuite& suite) {
    return std::filesystem::absolute(suite.file).parent_path();
}

/// Why a build does not offer the case; empty: it does.
std::string lacks(const model::WorkloadCatalogue& catalogue, const model::CaseSpec& spec) {
    const model::WorkloadInfo* workload = model::find_workload(catalogue, spec.workload);
    if (!workload) return fmt::format("it has no workload '{}'", spec.workload);
    const model::VariantInfo* variant = model::find_variant(*workload, spec.variant);
    if (!variant) return fmt::format("its '{}' has no variant '{}'", spec.workload, spec.variant);
    if (!variant->not_built.empty()) {
        return fmt::format("its variant '{}' was not built: {}", spec.variant, variant->not_built);
    }
    for (const auto& [name, value] : spec.params) {
        if (std::none_of(workload->params.begin(), workload->params.end(),
                         [&name = name](const auto& param) { return param.name == name; })) {
            return fmt::format("its '{}' has no parameter '{}'", spec.workload, name);
        }
    }
    return {};
}

/// The number of GPUs visible to each case; for a plugin's case, one.
int gpus_of(const model::Plan& plan) {
    const model::PlannedCase* first = nullptr;
    int gpus = 1;
    for (const model::PlannedSuite& suite : plan.suites) {
        for (const model::PlannedCase& planned : suite.cases) {
            if (!planned.skip_reason.empty()) continue;
            const int own = planned.program ? suite.commands[planned.program->command].gpus : 1;
            if (first == nullptr) {
                first = &planned;
                gpus = own;
            } else if (own != gpus) {
                throw util::InputError(fmt::format(
                    "{}:{}: {} uses {}, but {} uses {}: a run has one device key, which "
                    "includes the number of GPUs; measure them in separate runs with --filter",
                    planned.place.file, planned.place.line, case_id(planned.spec),
                    util::counted(static_cast<std::size_t>(own), "GPU"), case_id(first->spec),
                    gpus));
            }
        }
    }
    return gpus;
}

/// What the benchmarks of each suite reported, by command.
using ReportedBySuite = std::vector<std::map<std::size_t, suite::ReportedCases>>;

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
        make();
    }

    const model::Plan& plan() const { return plan_; }

    /// Makes as many GPUs visible as the cases use, which changes the device key.
    void see_gpus() {
        const int gpus = gpus_of(plan_);
        if (gpus == 1) return;
        share_gpus(backend_, choice_, static_cast<std::size_t>(gpus));
        options_.device_key = backend_.capabilities.environment.device.key;
        make();
        // Overrides for the other key may have brought back cases that were skipped.
        if (gpus_of(plan_) != gpus) {
            throw util::InputError(
                fmt::format("overrides of the suites select other cases for {} than for one GPU: "
                            "select cases that see {} GPUs with --filter",
                            options_.device_key, gpus));
        }
    }

    /// Whether cases are not known, or relations with cases that were not.
    bool asks_benchmarks() const {
        const bool open = std::any_of(suites_.begin(), suites_.end(), [](const auto& suite) {
            return !suite.open_relations.empty();
        });
        return open || std::any_of(plan_.suites.begin(), plan_.suites.end(), [](const auto& suite) {
                   return std::any_of(suite.cases.begin(), suite.cases.end(), is_unknown);
               });
    }

    /// Runs each benchmark once in the folders of `plan`.
    ReportedBySuite ask(const model::Plan& plan) const {
        command::require_no_other_tools();
        const command::MeasurementOptions options{
            .library = {},
            .out = util::Folder(choice_.out).below("commands").path(),
            .visible_devices = fmt::format("{}", fmt::join(backend_.visible, ",")),
            .stop = interrupted,
            .records = false};
        ReportedBySuite all(plan.suites.size());
        for (std::size_t s = 0; s < plan.suites.size(); ++s) {
            for (const model::PlannedCase& planned : plan.suites[s].cases) {
                if (!is_unknown(planned)) continue;
                const std::size_t index = planned.program->command;
                const model::Command& command = plan.suites[s].commands[index];
                if (choice_.progress) {
                    fmt::print(stderr, "perfgate: {}: first run, which shows its cases\n",
                               command.name);
                }
                command::Reported found = command::find_results(options, command);
                if (found.stopped) throw measure::Interrupted();
                all[s][index] = {std::move(found.results.results), std::move(found.problem),
                                 std::move(found.log)};
            }
        }
        return all;
    }

    void set_reported(const ReportedBySuite& reported) {
        for (std::size_t s = 0; s < suites_.size(); ++s) {
            suite::set_reported_cases(reported[s], suites_[s]);
        }
        make();
    }

  private:
    static bool is_unknown(const model::PlannedCase& planned) {
        return planned.program && planned.spec.variant == model::unknown_cases &&
               planned.skip_reason.empty();
    }

    void make() {
        plan_ = suite::plan_suites(suites_, options_);
        for (model::PlannedSuite& suite : plan_.suites) {
            make_portable(suite);
            for (model::Command& command : suite.commands) {
                command.folder = (folder_of(suite) / command.folder).lexically_normal().native();
            }
            for (model::PlannedCase& planned : suite.cases) {
                if (planned.source) {
                    planned.source->folder = folder_of(suite).lexically_normal().native();
                }
            }
        }
    }

    const MeasuringChoice& choice_;
    OpenedBackend& backend_;
    suite::PlanOptions options_;
    std::vector<suite::Suite> suites_;
    model::Plan plan_;
};

/// The head's results, and those that only the base has. A head without results has none. What only
/// the head skips is not skipped.
ReportedBySuite reported_by_any(const ReportedBySuite& head, const ReportedBySuite& base) {
    ReportedBySuite all = head;
    for (std::size_t s = 0; s < all.size(); ++s) {
        for (auto& [command, reported] : all[s]) {
            if (!reported.problem.empty()) continue;
            std::map<std::string, std::size_t> places;
            for (std::size_t i = 0; i < reported.results.size(); ++i) {
                places.emplace(benchmark::id_of(reported.results[i]), i);
            }
            for (const auto& result : base[s].at(command).results) {
                const auto found = places.find(benchmark::id_of(result));
                if (found == places.end()) {
                    reported.results.push_back(result);
                } else if (result.skipped.empty()) {
                    reported.results[found->second].skipped.clear();
                }
            }
        }
    }
    return all;
}

/// Why a benchmark has no values of the case; empty: it has.
std::string unreported(const suite::ReportedCases& reported, const std::string& id) {
    for (const benchmark::Result& result : reported.results) {
        if (benchmark::id_of(result) == id) return result.skipped;
    }
    return "the benchmark does not report it";
}

/// Skips the cases that the base's benchmarks do not report. In the head they are errors: what the
/// base has must not disappear silently. If a benchmark of the base failed, its cases are errors
/// there: what it would have reported is not known.
model::Plan skipping_unreported(model::Plan plan, const ReportedBySuite& reported) {
    for (std::size_t s = 0; s < reported.size(); ++s) {
        for (const auto& [command, of_base] : reported[s]) {
            if (of_base.problem.empty()) continue;
            model::BenchmarkReading& reading = *plan.suites[s].commands[command].benchmark;
            reading.problem = of_base.problem;
            reading.log = of_base.log;
        }
        for (model::PlannedCase& planned : plan.suites[s].cases) {
            if (!planned.program || !planned.skip_reason.empty()) continue;
            const auto found = reported[s].find(planned.program->command);
            if (found == reported[s].end() || !found->second.problem.empty() ||
                planned.spec.variant == model::unknown_cases) {
                continue;
            }
            planned.skip_reason = unreported(found->second, planned.program->piece.pattern);
        }
    }
    return plan;
}

/// A source that only the head has is new: in the head, a missing one is an error.
void skip_absent_sources(model::Plan& plan) {
    for (model::PlannedSuite& suite : plan.suites) {
        for (model::PlannedCase& planned : suite.cases) {
            if (!planned.source || !planned.skip_reason.empty()) continue;
            std::error_code error;
            const auto file = std::filesystem::path(planned.source->folder) / planned.source->file;
            if (std::filesystem::exists(file, error)) continue;
            planned.skip_reason = fmt::format("it has no file '{}'", planned.source->file);
        }
    }
}

/// What is not built must be heard of.
model::Plan warned_of_missing(model::Plan plan) {
    for (const model::PlannedSuite& suite : plan.suites) {
        for (const std::string& line : suite::not_built(suite)) {
            fmt::print(stderr, "perfgate: warning: {}\n", line);
        }
    }
    return plan;
}

}  // namespace

model::Plan plan_for(const std::vector<std::string>& files, const MeasuringChoice& choice,
                     OpenedBackend& backend, Programs programs) {
    Planning planning(files, choice, backend);
    if (programs == Programs::left_out) {
        model::Plan plan = without_programs(planning.plan());
        compile_sources(choice, backend, plan);
        return plan;
    }
    planning.see_gpus();
    if (planning.asks_benchmarks()) planning.set_reported(planning.ask(planning.plan()));
    model::Plan plan = warned_of_missing(planning.plan());
    compile_sources(choice, backend, plan);
    return plan;
}

void refuse_entries(const std::vector<std::string>& files,
                    const std::vector<suite::EntryKind>& kinds, std::string_view why) {
    for (const std::string& file : files) {
        suite::Problems problems(file);
        const std::string yaml = util::read_file(file, suite::most_yaml_bytes, "suite");
        const suite::YamlDocument document = suite::read_yaml(yaml, problems);
        for (const suite::YamlNode::Entry& key : document.root->entries) {
            if (key.key->text != "workloads") continue;
            for (const suite::YamlNode* entry : key.value->items) {
                const suite::EntryKind kind = suite::kind_of_entry(*entry, problems);
                if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) continue;
                throw util::InputError(fmt::format(
                    "{}:{}:{}: a {}, and {}", util::printable(file), entry->at.line,
                    entry->at.column,
                    kind == suite::EntryKind::source ? "source" : "plugin's workload", why));
            }
        }
    }
}

BothPlans plan_for_both(const std::vector<std::string>& files, const MeasuringChoice& choice,
                        OpenedBackend& backend, const Checkouts& checkouts) {
    Planning planning(files, choice, backend);
    planning.see_gpus();
    const bool variables = !checkouts.base.variables.empty() || !checkouts.head.variables.empty();
    if (variables && !has_programs(planning.plan())) {
        throw util::InputError(
            "--base-env and --head-env: the suites have no programs or benchmarks, and only these "
            "have an environment of their own");
    }
    if (!has_programs(planning.plan()) && !has_sources(planning.plan())) {
        return {warned_of_missing(planning.plan()), planning.plan()};
    }
    if (checkouts.base.root.empty() && (!variables || has_sources(planning.plan()))) {
        throw util::InputError(
            "the suites have programs, benchmarks or sources: name a git revision to compare with "
            "(--base-rev), the checkouts that these are in (--base-root, --head-root), or for "
            "programs and benchmarks an environment (--base-env, --head-env)");
    }
    ReportedBySuite of_base, of_head;
    if (planning.asks_benchmarks()) {
        of_head = planning.ask(in_checkout(planning.plan(), checkouts.head));
        of_base = planning.ask(in_checkout(planning.plan(), checkouts.base));
        planning.set_reported(reported_by_any(of_head, of_base));
    }
    BothPlans plans{skipping_unreported(
                        in_checkout(warned_of_missing(planning.plan()), checkouts.base), of_base),
                    in_checkout(planning.plan(), checkouts.head)};
    skip_absent_sources(plans.base);
    compile_sources(choice, backend, plans.head);
    MeasuringChoice of_the_base = choice;
    of_the_base.out = (std::filesystem::path(choice.out) / "base").string();
    compile_sources(of_the_base, backend, plans.base);
    return plans;
}

bool has_sources(const model::Plan& plan) {
    return std::any_of(plan.suites.begin(), plan.suites.end(), [](const auto& suite) {
        return std::any_of(suite.cases.begin(), suite.cases.end(), [](const auto& planned) {
            return planned.source && planned.skip_reason.empty();
        });
    });
}

bool has_programs(const model::Plan& plan) {
    return std::any_of(plan.suites.begin(), plan.suites.end(), [](const auto& suite) {
        return std::any_of(suite.cases.begin(), suite.cases.end(), [](const auto& planned) {
            return planned.program && planned.skip_reason.empty();
        });
    });
}

bool records_programs(const model::Plan& plan) {
    return std::any_of(plan.suites.begin(), plan.suites.end(), [](const auto& suite) {
        return std::any_of(suite.cases.begin(), suite.cases.end(), [&](const auto& planned) {
            return planned.program && planned.skip_reason.empty() &&
                   !suite.commands[planned.program->command].benchmark;
        });
    });
}

model::Plan in_checkout(model::Plan plan, const Checkout& checkout) {
    set_variables(checkout.variables, plan);
    if (checkout.root.empty()) return plan;
    const std::filesystem::path root = std::filesystem::absolute(checkout.root);
    for (model::PlannedSuite& suite : plan.suites) {
        const std::filesystem::path replaced = checkout.replaced.empty()
                                                   ? folder_of(suite).lexically_normal()
                                                   : std::filesystem::path(checkout.replaced);
        const auto move = [&](std::string& folder) {
            const auto below = std::filesystem::path(folder).lexically_relative(replaced);
            if (!checkout.replaced.empty() && (below.empty() || *below.begin() == "..")) {
                throw util::InputError(
                    fmt::format("{}: the folder {} is outside of {}, so no revision has its own: "
                                "expected one in the repository",
                                util::printable(suite.file), util::printable(folder),
                                util::printable(checkout.replaced)));
            }
            folder = (root / below).lexically_normal().native();
            // Where it is the replaced folder itself: "/base/." is "/base/".
            if (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
        };
        for (model::Command& command : suite.commands) move(command.folder);
        for (model::PlannedCase& planned : suite.cases) {
            if (planned.source) move(planned.source->folder);
        }
    }
    return plan;
}

model::Plan without_programs(model::Plan plan) {
    bool left = false;
    for (model::PlannedSuite& suite : plan.suites) {
        std::erase_if(suite.cases, [](const model::PlannedCase& planned) {
            return planned.program.has_value();
        });
        left = left || !suite.cases.empty();
    }
    if (!left) {
        throw util::InputError(
            "the suites have only programs: work of a known length can be added to the launches "
            "of plugins' cases, not to programs");
    }
    return plan;
}

model::Plan offered(model::Plan plan, const model::WorkloadCatalogue& catalogue) {
    for (model::PlannedSuite& suite : plan.suites) {
        for (model::PlannedCase& planned : suite.cases) {
            if (planned.program || planned.source) continue;
            if (planned.skip_reason.empty()) planned.skip_reason = lacks(catalogue, planned.spec);
        }
    }
    return plan;
}

}  // namespace perfgate::runner
