// SPDX-License-Identifier: Apache-2.0
#include "kinds/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>

#include "kinds/benchmark/batch.hpp"
#include "kinds/command/measurement.hpp"
#include "kinds/python/kernel.hpp"
#include "kinds/source/preparing.hpp"

namespace perfgate::kinds {

namespace {

template <class Programs>
std::unique_ptr<measure::Programs> measured_by(const Machine& machine) {
    return std::make_unique<Programs>(machine);
}

/// Names the workloads whose cases are known when their file has run.
Findings check_kernels(const Machine& /*machine*/, const std::vector<SuiteCase>& cases,
                       const std::vector<std::string>& /*architectures*/) {
    Findings found;
    for (const SuiteCase& each : cases) {
        const std::string& open = dynamic_cast<const python::Kernel&>(*each.subject).open();
        if (!open.empty()) found.done.push_back(fmt::format("{}: {}", each.place, open));
    }
    return found;
}

constexpr std::array<Kind, 5> table{{
    {.name = "plugin"},
    {.name = "python", .check = check_kernels},
    {.name = "source", .prepare = source::compile_sources, .check = source::check_sources},
    {.name = "program",
     .stored = command::read_stored,
     .stores_recordings = true,
     .programs = measured_by<command::Measurement>,
     .check = command::check_scripts},
    {.name = "benchmark",
     .discover = benchmark::find_results,
     .stored = benchmark::read_stored,
     .programs = measured_by<benchmark::Measurement>,
     .check = command::check_scripts},
}};

const Kind& kind_of(const model::Subject& subject) {
    const auto found =
        std::ranges::find_if(table, [&](const Kind& kind) { return kind.name == subject.kind(); });
    if (found == table.end()) throw std::logic_error("a case of no kind");
    return *found;
}

/// Calls `visit` with each case that will be measured.
template <class Plan, class Visit>
void for_each_case(Plan& plan, const Visit& visit) {
    for (auto& suite : plan.suites) {
        for (auto& planned : suite.cases) {
            if (planned.skip_reason.empty()) visit(planned);
        }
    }
}

/// Has each group measured by its kind.
class ProgramsByKind final : public measure::Programs {
  public:
    explicit ProgramsByKind(std::map<const Kind*, std::unique_ptr<measure::Programs>> programs)
        : programs_(std::move(programs)) {}

    bool measure(const measure::ProgramRequest& request, std::vector<model::CaseResult>& results,
                 const std::function<void(std::string_view phase)>& observe) override {
        const Kind& kind = kind_of(*request.cases.front()->subject);
        return programs_.at(&kind)->measure(request, results, observe);
    }

    std::vector<model::CaseCode> machine_code(
        const measure::ProgramRequest& request, const std::vector<model::CaseResult>& results,
        const std::function<void(std::string_view phase)>& observe) override {
        const Kind& kind = kind_of(*request.cases.front()->subject);
        return programs_.at(&kind)->machine_code(request, results, observe);
    }

  private:
    std::map<const Kind*, std::unique_ptr<measure::Programs>> programs_;
};

}  // namespace

model::Discovered discover(const Machine& machine, const model::Subject& subject) {
    return kind_of(subject).discover(machine, subject);
}

bool has_stored(const model::Subject& subject, bool recordings) {
    const Kind& kind = kind_of(subject);
    return kind.stored != nullptr && kind.stores_recordings == recordings;
}

StoredResults stored(const model::Subject& subject, const std::filesystem::path& file) {
    return kind_of(subject).stored(subject, file);
}

bool prepare(const Machine& machine, model::Plan& plan) {
    std::map<const Kind*, std::vector<model::PlannedCase*>> cases;
    for_each_case(plan, [&](model::PlannedCase& planned) {
        cases[&kind_of(*planned.subject)].push_back(&planned);
    });
    return std::ranges::all_of(table, [&](const Kind& kind) {
        return kind.prepare == nullptr || kind.prepare(machine, cases[&kind]);
    });
}

std::unique_ptr<measure::Programs> programs_of(const Machine& machine, const model::Plan& plan) {
    std::map<const Kind*, std::unique_ptr<measure::Programs>> programs;
    for_each_case(plan, [&](const model::PlannedCase& planned) {
        const Kind& kind = kind_of(*planned.subject);
        if (kind.programs == nullptr || programs.contains(&kind)) return;
        programs.emplace(&kind, kind.programs(machine));
    });
    if (programs.empty()) return nullptr;
    return std::make_unique<ProgramsByKind>(std::move(programs));
}

Findings check(const Machine& machine, const std::vector<SuiteCase>& cases,
               const std::vector<std::string>& architectures) {
    Findings all;
    for (const Kind& kind : table) {
        if (kind.check == nullptr || all.stopped) continue;
        std::vector<SuiteCase> own;
        for (const SuiteCase& each : cases) {
            if (&kind_of(*each.subject) == &kind) own.push_back(each);
        }
        Findings found = kind.check(machine, own, architectures);
        const auto add = [](std::vector<std::string>& to, std::vector<std::string>& from) {
            to.insert(to.end(), from.begin(), from.end());
        };
        add(all.done, found.done);
        add(all.warnings, found.warnings);
        add(all.problems, found.problems);
        all.stopped = found.stopped;
    }
    return all;
}

}  // namespace perfgate::kinds
