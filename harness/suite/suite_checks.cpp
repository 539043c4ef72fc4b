// SPDX-License-Identifier: Apache-2.0
#include "suite/suite_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "metrics/catalogue.hpp"
#include "model/case.hpp"
#include "suite/placed_text.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

namespace {

class SettingsCheck {
  public:
    SettingsCheck(const Suite& suite, const std::vector<bool>& entry_is_good, Work& work,
                  Problems& problems)
        : suite_(suite), entry_is_good_(entry_is_good), work_(work), problems_(problems) {}

    /// Resolves every case for each device that the suite names.
    void check() {
        std::set<std::string> devices{""};
        const auto note = [&](const std::vector<Override>& overrides) {
            for (const Override& over : overrides) devices.insert(over.device);
        };
        note(suite_.overrides);
        for (const Entry& entry : suite_.entries) note(entry.overrides);

        for (const std::string& device : devices) {
            std::map<std::vector<const Settings*>, ResolvedSettings> resolved;
            for (const SuiteCase& suite_case : suite_.cases) {
                if (!entry_is_good_[suite_case.entry]) continue;
                work_.spend(1 + suite_case.overrides.size(), suite_case.at);
                auto layers = layers_of(suite_, suite_case,
                                        [&](const std::string& glob) { return glob == device; });
                auto found = resolved.find(layers);
                if (found == resolved.end()) {
                    for (const Settings* layer : layers) {
                        work_.spend(4 * layer->tolerances.size(), suite_case.at);
                    }
                    ResolvedSettings settings = resolve(layers, problems_);
                    work_.spend(8 * settings.metrics.size(), suite_case.at);
                    found = resolved.emplace(std::move(layers), std::move(settings)).first;
                }
                // What the Plan will hold, once.
                if (device.empty()) work_.spend(2 * found->second.metrics.size(), suite_case.at);
                check_gates(suite_case, found->second, device);
                check_outputs(suite_case, found->second.deterministic);
            }
        }
    }

  private:
    void check_gates(const SuiteCase& suite_case, const ResolvedSettings& settings,
                     const std::string& device) {
        if (suite_case.expected || suite_case.inferred ||
            !settings.gates(suite_case.target).empty()) {
            return;
        }
        // Once per place: most cases of an entry share their settings.
        if (!gateless_.insert(suite_case.at).second) return;
        problems_.add(suite_case.at, no_gate_message(suite_case, device));
    }

    /// An override may ask it of a program, whose outputs nobody knows.
    void check_outputs(const SuiteCase& suite_case, const Settings::Deterministic& asked) {
        if (!suite_case.group || !asked.value || !asked_of_programs_.insert(asked.at).second) {
            return;
        }
        problems_.add(asked.at, unknown_outputs_message(suite_case));
    }

    const Suite& suite_;
    const std::vector<bool>& entry_is_good_;
    Work& work_;
    Problems& problems_;
    std::set<Position> gateless_;
    std::set<Position> asked_of_programs_;  ///< `deterministic`, where it is a problem
};

}  // namespace

void check_duplicates(const Suite& suite, const model::WorkloadCatalogue& workloads,
                      Problems& problems) {
    struct Repeated {
        const SuiteCase* first;
        const SuiteCase* second;
        std::size_t more = 0;
    };
    std::map<std::string, const SuiteCase*> seen;
    std::map<Position, Repeated> repeated;
    for (const SuiteCase& suite_case : suite.cases) {
        model::CaseSpec full = suite_case.spec;
        const model::WorkloadInfo* workload = model::find_workload(workloads, full.workload);
        for (const model::ParamInfo& info : workload->params) {
            if (info.default_value) full.params.emplace(info.name, *info.default_value);
        }
        const auto [found, inserted] = seen.emplace(model::case_id(full), &suite_case);
        if (inserted) continue;
        const auto [told, is_new] =
            repeated.try_emplace(suite_case.at, Repeated{found->second, &suite_case});
        if (!is_new) ++told->second.more;
    }
    for (const auto& [at, pair] : repeated) {
        const bool same = pair.first->id == pair.second->id;
        problems.add(at, "duplicate case {}; expected each case once, {} in line {} already{}",
                     util::printable(pair.second->id, 200),
                     same ? "it is" : util::printable(pair.first->id, 200) + " is",
                     pair.first->at.line,
                     pair.more == 0 ? "" : fmt::format(" (and {} more)", pair.more));
    }
}

void apply_overrides(Suite& suite, bool all_known, Work& work, Problems& problems) {
    std::set<const Override*> matched;
    const auto apply = [&](const std::vector<Override>& overrides, SuiteCase& suite_case) {
        for (const Override& over : overrides) {
            work.spend(1 + over.match.size() * suite_case.id.size() / 128, over.at);
            if (!util::glob_match(over.match, suite_case.id)) continue;
            suite_case.overrides.push_back(&over);
            matched.insert(&over);
        }
    };
    for (SuiteCase& suite_case : suite.cases) {
        apply(suite.overrides, suite_case);
        apply(suite.entries[suite_case.entry].overrides, suite_case);
    }
    // If cases are unknown, an override that matches none may be correct.
    if (!all_known) return;
    const auto check = [&](const std::vector<Override>& overrides, std::string_view whose) {
        for (const Override& over : overrides) {
            if (matched.contains(&over) || may_match_unknown(suite, over)) continue;
            problems.add(over.at, matches_none_message(over, whose));
        }
    };
    check(suite.overrides, "suite");
    for (const Entry& entry : suite.entries) check(entry.overrides, "entry");
}

void check_settings(const Suite& suite, const std::vector<bool>& entry_is_good, Work& work,
                    Problems& problems) {
    SettingsCheck(suite, entry_is_good, work, problems).check();
}

void check_tolerances(const Suite& suite, Problems& problems) {
    const auto check = [&](const Settings& settings) {
        for (const auto& [name, entry] : settings.tolerances) {
            if (!entry.tolerance || entry.tolerance->worse < 1) continue;
            const auto own = settings.own.find(name);
            const std::optional<metrics::Metric> metric =
                own != settings.own.end() ? own->second : metrics::find_metric(name);
            if (!metric || metric->definition.direction != model::Direction::higher) continue;
            problems.add(entry.at,
                         "{} may become worse by all of it: no value would fail; "
                         "expected less than 100%",
                         in_quotes(name));
        }
    };
    check(suite.defaults);
    for (const Override& over : suite.overrides) check(over.settings);
    for (const Entry& entry : suite.entries) {
        check(entry.settings);
        for (const Override& over : entry.overrides) check(over.settings);
    }
}

bool may_match_unknown(const Suite& suite, const Override& over) {
    return std::ranges::any_of(suite.cases, [&](const SuiteCase& suite_case) {
        return model::stands_for_cases(suite_case.spec) &&
               util::glob_may_match(over.match, suite_case.spec.workload + '/');
    });
}

std::string matches_none_message(const Override& over, std::string_view whose) {
    return fmt::format(
        "{} matches no case; expected a glob on the ids of the {}'s cases, which `perfgate list` "
        "shows",
        in_quotes(over.match), whose);
}

std::string no_gate_message(const SuiteCase& suite_case, const std::string& device) {
    const auto expected = [&] {
        switch (suite_case.target) {
            case model::Target::host:
                return "host_time, the time of a host variant";
            case model::Target::cuda:
                return "a metric of CUDA variants, such as gpu_time";
            case model::Target::program:
                if (suite_case.discovered || model::stands_for_cases(suite_case.spec)) {
                    return "a value that it reports, such as real_time";
                }
                return "a metric of programs, such as gpu_time";
        }
        return "";
    };
    return fmt::format("no gated metric applies to {}{}; expected a tolerance for {}",
                       util::printable(suite_case.id, 200),
                       device.empty() ? "" : " on " + in_quotes(device), expected());
}

std::string unknown_outputs_message(const SuiteCase& suite_case) {
    return fmt::format(
        "'deterministic' for {}, whose outputs perfgate does not know; expected it for plugins and "
        "sources only",
        util::printable(suite_case.id, 200));
}

}  // namespace perfgate::suite
