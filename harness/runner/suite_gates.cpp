// SPDX-License-Identifier: Apache-2.0
#include "runner/suite_gates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "metrics/catalogue.hpp"
#include "model/case.hpp"
#include "runner/checkout.hpp"
#include "runner/devices.hpp"
#include "suite/named_plugins.hpp"
#include "suite/plan.hpp"
#include "suite/tolerance_edit.hpp"
#include "suite/yaml_reader.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

using Gates = std::map<std::pair<std::string, std::string>, model::Tolerance>;

Gates gates_of(const model::PlannedSuite& suite) {
    Gates gates;
    for (const model::PlannedCase& planned : suite.cases) {
        for (const model::GateRule& gate : planned.gates) {
            gates[{model::case_id(planned.spec), gate.metric}] = gate.tolerance;
        }
    }
    return gates;
}

bool suffices(const model::Tolerance& tolerance, const WantedTolerance& wanted) {
    constexpr double rounding = 1e-9;
    return (wanted.points ? tolerance.abs : tolerance.worse) >= wanted.amount - rounding;
}

/// The cases that the run has of what stands for others in the suite.
std::map<std::size_t, model::Discovered> discovered_in(const suite::Suite& suite,
                                                       const model::SuiteResult& measured) {
    std::map<std::size_t, model::Discovered> by_group;
    for (const suite::SuiteCase& suite_case : suite.cases) {
        if (!suite_case.group || !model::stands_for_cases(suite_case.spec)) continue;
        for (const model::CaseResult& result : measured.cases) {
            const std::string id = model::case_id(result.spec);
            if (!model::stands_for(suite_case.spec, id) || model::stands_for_cases(result.spec)) {
                continue;
            }
            by_group[*suite_case.group].cases.push_back(
                {result.spec.variant, result.spec.params,
                 result.status == model::CaseStatus::skipped ? result.reason : ""});
        }
    }
    return by_group;
}

const model::SuiteResult* suite_of(const model::Run& run, const std::string& name) {
    const auto found =
        std::ranges::find_if(run.suites, [&](const auto& suite) { return suite.name == name; });
    return found == run.suites.end() ? nullptr : &*found;
}

/// Whether each case of the group has enough, and no tolerance changed that was not to be raised.
bool is_what_was_meant(const Gates& before, const Gates& after,
                       const std::vector<WantedTolerance>& group,
                       const std::vector<WantedTolerance>& all) {
    const auto wanted = [&](const std::pair<std::string, std::string>& gate) {
        return std::ranges::any_of(all, [&](const WantedTolerance& each) {
            return each.id == gate.first && each.metric == gate.second;
        });
    };
    if (before.size() != after.size()) return false;
    for (const auto& [gate, tolerance] : after) {
        const auto then = before.find(gate);
        if (then == before.end() || (!(then->second == tolerance) && !wanted(gate))) return false;
    }
    return std::ranges::all_of(group, [&](const WantedTolerance& each) {
        const auto now = after.find({each.id, each.metric});
        return now != after.end() && suffices(now->second, each);
    });
}

}  // namespace

std::string tolerance_text(const WantedTolerance& wanted) {
    return wanted.points ? fmt::format("{:.4g}pt", wanted.amount)
                         : fmt::format("{:.4g}%", wanted.amount * 100);
}

SuiteGates::SuiteGates(const std::vector<std::string>& files,
                       const std::vector<std::string>& plugins)
    : workloads_(load_workloads_of(files, plugins)) {
    suite::add_declared(suite::python_files(files), workloads_);
    for (const std::string& file : files) {
        const std::string text = util::read_file(file, suite::most_yaml_bytes, "suite");
        suites_.push_back({file, text, suite::name_in(file), text});
    }
}

suite::Suite SuiteGates::parsed(const Text& suite, const model::Run& run) const {
    const model::SuiteResult* measured = suite_of(run, suite.name);
    if (measured == nullptr) {
        throw util::InputError("{}: the run does not have its suite '{}'",
                               util::printable(suite.file), util::printable(suite.name));
    }
    const model::Target target = run.backend == "host" ? model::Target::host : model::Target::cuda;
    suite::Suite parsed = suite::parse_suite(suite.text, suite.file,
                                             suite::known_by_run(*measured, target, workloads_));
    suite::set_discovered_cases(discovered_in(parsed, *measured), parsed);
    return parsed;
}

model::PlannedSuite SuiteGates::planned(const Text& suite, const model::Run& run) const {
    suite::PlanOptions options;
    if (run.backend == "cuda") options.target = model::Target::cuda;
    if (run.backend == "host") options.target = model::Target::host;
    options.device_key = run.environment.device.key;
    options.compute_capability = run.environment.device.compute_capability;
    model::PlannedSuite planned = suite::plan_suite(parsed(suite, run), options).suite;
    make_portable(planned);
    return planned;
}

void SuiteGates::take(model::Run& run) const {
    for (const Text& text : suites_) {
        const model::PlannedSuite planned = this->planned(text, run);
        std::map<std::string, const model::PlannedCase*> cases;
        for (const model::PlannedCase& each : planned.cases) {
            cases.emplace(model::case_id(each.spec), &each);
        }
        for (model::SuiteResult& suite : run.suites) {
            if (suite.name != text.name) continue;
            std::erase_if(suite.cases, [&](const model::CaseResult& result) {
                return !cases.contains(model::case_id(result.spec));
            });
            suite.partial = suite.partial || suite.cases.size() < cases.size();
            suite.relations = planned.relations;
            for (model::CaseResult& result : suite.cases) {
                const model::PlannedCase& now = *cases.at(model::case_id(result.spec));
                const std::string difference =
                    result.measured_as.empty()
                        ? ""
                        : model::difference(result.measured_as, now.measured_as);
                if (!difference.empty()) {
                    throw util::InputError(
                        "{}: {} is now measured as something else ({}): measure it again",
                        util::printable(text.file), util::printable(model::case_id(result.spec)),
                        difference);
                }
                model::CaseResult described;
                now.subject->describe(described);
                result.max_overhead = described.max_overhead;
                result.gates = now.gates;
                result.tags = now.tags;
                for (const model::GateRule& gate : now.gates) {
                    if (const auto metric = metrics::find_metric(gate.metric)) {
                        run.metric_definitions.emplace(gate.metric, metric->definition);
                    }
                }
            }
        }
    }
}

void SuiteGates::raise(const std::vector<WantedTolerance>& wanted, const model::Run& run) {
    for (Text& suite : suites_) {
        std::vector<WantedTolerance> own;
        for (const WantedTolerance& each : wanted) {
            if (each.suite == suite.name) own.push_back(each);
        }
        if (!own.empty()) raise(suite, own, run);
    }
}

void SuiteGates::raise(Text& suite, const std::vector<WantedTolerance>& wanted,
                       const model::Run& run) const {
    const Gates first = gates_of(planned(suite, run));
    const suite::Suite parsed = this->parsed(suite, run);
    std::map<std::string, std::pair<suite::Position, std::string>> places;  // entry and variant
    for (const suite::SuiteCase& each : parsed.cases) {
        places[each.id] = {parsed.entries[each.entry].at, each.spec.variant};
    }
    // Where one place states it for several cases, the most that one of them needs.
    using Place = std::tuple<suite::Position, std::string, std::string>;
    const auto place_of = [&](const WantedTolerance& each, bool by_variant) {
        const auto& [entry, variant] = places.at(each.id);
        return Place(entry, by_variant ? variant : "", each.metric);
    };
    std::vector<WantedTolerance> left = wanted;
    for (const bool by_variant : {true, false}) {
        std::map<Place, std::vector<WantedTolerance>> groups;
        for (const WantedTolerance& each : left) groups[place_of(each, by_variant)].push_back(each);
        left.clear();
        for (const auto& [place, group] : groups) {
            const auto& [entry, variant, metric] = place;
            const WantedTolerance& most = *std::ranges::max_element(
                group, [](const auto& a, const auto& b) { return a.amount < b.amount; });
            const std::string key = by_variant ? fmt::format("{}.{}", variant, metric) : metric;
            Text edited = suite;
            bool meant = false;
            if (auto text =
                    suite::with_stated_tolerance(suite.text, entry, {key}, tolerance_text(most))) {
                edited.text = std::move(*text);
                try {
                    meant = is_what_was_meant(first, gates_of(planned(edited, run)), group, wanted);
                } catch (const util::InputError&) {
                    meant = false;
                }
            }
            if (meant) {
                suite = std::move(edited);
            } else {
                left.insert(left.end(), group.begin(), group.end());
            }
        }
    }
    std::map<std::string, std::vector<std::pair<std::string, std::string>>> overrides;
    for (const WantedTolerance& each : left) {
        overrides[each.id].emplace_back(each.metric, tolerance_text(each));
    }
    for (const auto& [id, tolerances] : overrides) {
        suite.text = suite::with_override(suite.text, id, tolerances);
    }
    if (!is_what_was_meant(first, gates_of(planned(suite, run)), wanted, wanted)) {
        throw util::InputError(
            "{}: the tolerance of {}.{} cannot be set to {} there: write it by hand",
            util::printable(suite.file), util::printable(wanted.front().id), wanted.front().metric,
            tolerance_text(wanted.front()));
    }
}

void SuiteGates::write() const {
    for (const Text& suite : suites_) {
        if (suite.text == suite.read) continue;
        // Measuring takes long.
        if (util::read_file(suite.file, suite::most_yaml_bytes, "suite") != suite.read) {
            throw util::InputError(
                "{}: it was changed while this measured; nothing was stored: refresh from the "
                "stored run, with this file and --tolerances",
                util::printable(suite.file));
        }
        util::write_file_atomically(suite.file, suite.text);
    }
}

}  // namespace perfgate::runner
