// SPDX-License-Identifier: Apache-2.0
#include "review/expectations.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "document/baseline.hpp"
#include "metrics/catalogue.hpp"
#include "model/case.hpp"
#include "suite/named_plugins.hpp"
#include "suite/plan.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::review {

namespace {

std::string relative(const std::string& file) {
    return std::filesystem::path(file)
        .lexically_relative(std::filesystem::current_path())
        .generic_string();
}

void read(const std::string& path, const Files& files, const model::WorkloadCatalogue& workloads,
          Expectations& result) {
    const File& file = files.at(path);
    switch (file.role) {
        case FileRole::suite:
            result.suites.push_back(read_suite(path, files, workloads, result.left_out));
            break;
        case FileRole::profile:
            result.profiles.emplace(path, suite::parse_profile(file.content, path));
            break;
        case FileRole::baseline:
            result.baselines.emplace(path, document::parse_baseline(file.content, path));
            break;
        case FileRole::ledger:
            result.ledgers.emplace(path, file.content);
            break;
        case FileRole::python:
            result.python.emplace(path, python::declared_workloads(file.content, path));
            break;
    }
}

}  // namespace

suite::Suite read_suite(const std::string& path, const Files& files,
                        model::WorkloadCatalogue workloads, std::vector<std::string>& notes) {
    const std::string& text = files.at(path).content;
    const auto read = [&](const std::string& python) {
        const auto found = files.find(relative(python));
        if (found == files.end()) {
            throw util::InputError("there is no file {} in the repository",
                                   util::printable(python));
        }
        if (!found->second.fault.empty()) {
            throw util::InputError("{}: {}", util::printable(found->first), found->second.fault);
        }
        return found->second.content;
    };
    for (const suite::PythonFile& python : suite::needs_of_text(text, path).scripts) {
        try {
            suite::add_declared({python}, workloads, read);
        } catch (const util::InputError& error) {
            notes.emplace_back(error.what());
        }
    }
    return suite::parse_known_part(text, path, workloads, notes);
}

Expectations read_expectations(const Files& files, const Files& other,
                               const model::WorkloadCatalogue& workloads) {
    Expectations result;
    for (const auto& [path, file] : files) {
        if (file.role == FileRole::baseline) {
            result.devices.insert(std::filesystem::path(path).parent_path().filename().string());
        }
        const auto same = other.find(path);
        const bool unchanged = same != other.end() && same->second == file;
        // Suites and workloads are compared by their names, regardless of their location.
        const bool named = file.role == FileRole::suite || file.role == FileRole::python;
        if (unchanged && (!named || !file.fault.empty())) continue;
        if (!file.fault.empty()) {
            result.unreadable.emplace(path, file.fault);
            continue;
        }
        try {
            read(path, files, workloads, result);
        } catch (const util::InputError& error) {
            if (unchanged) {
                result.left_out.emplace_back(error.what());
            } else {
                result.unreadable.emplace(path, error.what());
            }
        }
    }
    return result;
}

namespace {

using suite::Suite;
using suite::SuiteCase;

model::Tolerance usual_tolerance(model::MetricClass metric_class) {
    switch (metric_class) {
        case model::MetricClass::timing:
            return {0.05, std::nullopt, 0};
        case model::MetricClass::counter:
            return {0.02, std::nullopt, 0};
        case model::MetricClass::exact:
            break;
    }
    return {};
}

/// The cases that a suite lists, and those that its benchmarks report.
class SuiteCases {
  public:
    SuiteCases(const Suite& suite, const std::string& device)
        : suite_(suite), settings_(suite, device) {
        for (const SuiteCase& each : suite.cases) cases_.emplace(each.id, &each);
    }

    std::optional<SuiteCase> find(const std::string& id) const {
        const auto found = cases_.find(id);
        if (found != cases_.end()) return *found->second;
        const std::string benchmark = id.substr(0, id.find('/')) + '/';
        const auto reported = std::ranges::find_if(suite_.cases, [&](const SuiteCase& each) {
            return model::stands_for_cases(each.spec) && each.spec.workload + '/' == benchmark;
        });
        if (reported == suite_.cases.end()) return std::nullopt;
        SuiteCase result = *reported;
        result.overrides.clear();
        for (const suite::Override& over : suite_.overrides) {
            if (util::glob_match(over.match, id)) result.overrides.push_back(&over);
        }
        return result;
    }

    const std::vector<model::GateRule>& rules(const SuiteCase& suite_case) {
        return settings_.of(suite_case).gates(suite_case.target);
    }

    /// The definition of a metric that the suite defines itself; nothing for any other.
    static std::optional<model::MetricDefinition> own_definition(const SuiteCase& suite_case,
                                                                 const std::string& metric) {
        for (const model::MetricDefinition& own : suite_case.subject->own_metrics()) {
            if (own.name == metric) return own;
        }
        return std::nullopt;
    }

  private:
    const Suite& suite_;
    suite::DeviceSettings settings_;
    std::map<std::string, const SuiteCase*> cases_;
};

model::MetricDefinition definition_of(const std::string& metric, const model::MetricSeries& series,
                                      const std::optional<model::MetricDefinition>& own) {
    if (own) return *own;
    if (const auto known = metrics::find_metric(metric)) return known->definition;
    model::MetricDefinition unknown;
    unknown.name = metric;
    unknown.unit = series.unit;
    unknown.direction = model::Direction::none;
    unknown.metric_class = model::MetricClass::timing;
    return unknown;
}

}  // namespace

std::map<std::string, CaseGates> gates_of(const Expectations& state,
                                          const model::Baseline& baseline) {
    std::optional<SuiteCases> cases;
    for (const Suite& suite : state.suites) {
        if (suite.name == baseline.suite && !cases) cases.emplace(suite, baseline.device.key);
    }
    std::map<std::string, CaseGates> result;
    for (const auto& [id, expected] : baseline.cases) {
        CaseGates& gates = result[id];
        const auto suite_case = cases ? cases->find(id) : std::nullopt;
        for (const auto& [metric, series] : expected.metrics) {
            const auto own =
                suite_case ? SuiteCases::own_definition(*suite_case, metric) : std::nullopt;
            gates.definitions.emplace(metric, definition_of(metric, series, own));
        }
        if (suite_case) {
            for (const model::GateRule& rule : cases->rules(*suite_case)) {
                if (expected.metrics.contains(rule.metric)) gates.rules.push_back(rule);
            }
            continue;
        }
        for (const auto& [metric, definition] : gates.definitions) {
            gates.rules.push_back(
                {metric, usual_tolerance(definition.metric_class), suite::default_cross_board});
        }
    }
    return result;
}

}  // namespace perfgate::review
