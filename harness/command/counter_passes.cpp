// SPDX-License-Identifier: Apache-2.0
#include "command/counter_passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "model/text.hpp"

namespace perfgate::command {
namespace {

using activity::Recording;

struct Problem {
    std::string text;
};

/// What tells the processes of a run apart, the same in each run.
std::string key_of(const Recording& recording) {
    return recording.field("rank") + '\n' + recording.field("command");
}

std::string in_words(const Recording& recording) {
    const std::string& rank = recording.field("rank");
    return model::printable(recording.field("command"), 80) +
           (rank.empty() ? "" : ", rank " + model::printable(rank, 20));
}

std::string launch_in_words(const Recording& recording, std::size_t place) {
    const auto& launches = recording.records.launches;
    if (place >= launches.size()) return "no launch";
    const auto& launch = recording.configurations[launches[place].configuration];
    return fmt::format("{} with grid {}x{}x{} and block {}x{}x{}",
                       model::printable(model::demangled(recording.text(launch.symbol)), 120),
                       launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                       launch.block[1], launch.block[2]);
}

/// Everything of a launch that two processes can have in common.
bool same_launch(const Recording& a, const activity::LaunchConfiguration& left, const Recording& b,
                 const activity::LaunchConfiguration& right) {
    return a.text(left.symbol) == b.text(right.symbol) && left.grid == right.grid &&
           left.block == right.block && left.cluster == right.cluster &&
           left.dynamic_smem_bytes == right.dynamic_smem_bytes &&
           left.cooperative == right.cooperative;
}

void require_same_sequence(const Recording& first, const Recording& other, std::size_t pass) {
    const auto& a = first.records.launches;
    const auto& b = other.records.launches;
    // Most launches repeat a few configurations.
    std::map<std::pair<std::uint32_t, std::uint32_t>, bool> compared;
    std::size_t place = 0;
    while (place < std::min(a.size(), b.size())) {
        const auto [known, added] =
            compared.try_emplace({a[place].configuration, b[place].configuration}, false);
        if (added) {
            known->second = same_launch(first, first.configurations[a[place].configuration], other,
                                        other.configurations[b[place].configuration]);
        }
        if (!known->second) break;
        ++place;
    }
    if (place == a.size() && place == b.size()) return;
    throw Problem{fmt::format(
        "the program launches other kernels in each run: launch {} was {} in pass 1 and {} in pass "
        "{}; counters of several runs can be combined only if all launch the same",
        place + 1, launch_in_words(first, place), launch_in_words(other, place), pass + 1)};
}

/// The processes of a run that launched kernels, by their key.
std::map<std::string, const Recording*> processes_of(const Recordings& recordings,
                                                     std::size_t pass) {
    std::map<std::string, const Recording*> processes;
    std::map<std::array<std::uint8_t, 16>, const Recording*> gpus;
    for (const Recording& recording : recordings) {
        if (!recording.incomplete.empty()) {
            throw Problem{fmt::format("the recording of counter pass {} is incomplete: {}",
                                      pass + 1,
                                      model::printable(recording.incomplete.front(), 300))};
        }
        const activity::Records& records = recording.records;
        if (records.launches.empty() && records.counter_refusals.empty()) continue;
        if (!processes.emplace(key_of(recording), &recording).second) {
            throw Problem{fmt::format("two processes of the program cannot be told apart ({})",
                                      in_words(recording))};
        }
    }
    if (processes.size() < 2) return processes;
    for (const auto& [key, recording] : processes) {
        if (recording->records.launches.empty()) continue;
        if (recording->records.devices.empty()) {
            throw Problem{fmt::format("the GPU of {} is not known", in_words(*recording))};
        }
        for (const activity::Device& device : recording->records.devices) {
            const auto [other, alone] = gpus.emplace(device.uuid, recording);
            if (alone || other->second == recording) continue;
            throw Problem{fmt::format(
                "two processes launch kernels on one GPU ({}; {}), and each would count those of "
                "the other",
                in_words(*other->second), in_words(*recording))};
        }
    }
    return processes;
}

/// What CUPTI made of the requested counters.
struct CounterPlan {
    std::size_t passes = 0;
    std::string chip;
    std::map<std::string, std::pair<activity::CounterFate, std::uint32_t>> counters;
    bool operator==(const CounterPlan&) const = default;
};

std::optional<CounterPlan> plan_of(const Recording& recording, std::size_t pass) {
    const activity::Records& records = recording.records;
    if (records.counter_passes.empty()) {
        if (records.counted_launches.empty() && records.counter_values.empty()) return std::nullopt;
        throw Problem{"a recording has counters without saying of which pass"};
    }
    const activity::CounterPass& own = records.counter_passes.front();
    if (records.counter_passes.size() > 1 || own.pass != pass) {
        throw Problem{fmt::format("the recording of counter pass {} is of pass {}", pass + 1,
                                  std::uint64_t{own.pass} + 1)};
    }
    if (own.passes > most_passes) {
        throw Problem{
            fmt::format("the counters need {} runs of the program, and {} are the most: "
                        "name fewer",
                        own.passes, most_passes)};
    }
    CounterPlan plan;
    plan.passes = own.passes;
    plan.chip = recording.text(own.chip);
    for (const activity::PlannedCounter& each : records.planned_counters) {
        plan.counters[recording.text(each.counter)] = {each.fate, each.number};
    }
    return plan;
}

/// Combines the passes of one process after another.
class Combination {
  public:
    Combination(std::span<const Recordings> passes, std::size_t labels) : passes_(passes) {
        counters_.labels.resize(labels);
    }

    ProgramCounters take() {
        try {
            combine();
        } catch (const Problem& problem) {
            counters_.problem = problem.text;
        }
        return std::move(counters_);
    }

  private:
    void combine() {
        std::vector<std::map<std::string, const Recording*>> processes;
        for (std::size_t pass = 0; pass < passes_.size(); ++pass) {
            processes.push_back(processes_of(passes_[pass], pass));
            if (processes[pass].size() != processes[0].size()) {
                throw Problem{fmt::format("{} launched kernels in pass 1 and {} in pass {}",
                                          model::counted(processes[0].size(), "process"),
                                          processes[pass].size(), pass + 1)};
            }
        }
        if (processes.empty() || processes[0].empty()) {
            throw Problem{"no process of the program launched a kernel"};
        }
        for (const auto& [key, first] : processes[0]) {
            std::vector<const Recording*> runs;
            for (std::size_t pass = 0; pass < passes_.size(); ++pass) {
                // The words of a program that is alone may differ from run to run: a port, a
                // folder.
                const auto found =
                    processes[0].size() == 1 ? processes[pass].begin() : processes[pass].find(key);
                if (found == processes[pass].end()) {
                    throw Problem{fmt::format("{} launched kernels in pass 1 and not in pass {}",
                                              in_words(*first), pass + 1)};
                }
                runs.push_back(found->second);
            }
            add_process(runs);
        }
        if (plan_ && plan_->passes > passes_.size()) {
            throw Problem{fmt::format("{} of {} counter passes are missing",
                                      plan_->passes - passes_.size(), plan_->passes)};
        }
    }

    /// `runs` of one process, one for each pass.
    void add_process(const std::vector<const Recording*>& runs) {
        for (const Recording* run : runs) note_refusals(*run);
        for (std::size_t pass = 0; pass < runs.size(); ++pass) {
            require_same_sequence(*runs[0], *runs[pass], pass);
            note_plan(plan_of(*runs[pass], pass));
        }
        const auto places = places_of(*runs[0]);
        std::map<std::uint64_t, std::map<std::string, double>> values;
        for (std::size_t pass = 0; pass < runs.size(); ++pass) {
            if (places_of(*runs[pass]) != places) {
                throw Problem{
                    fmt::format("the launches that were counted in pass {} are not those "
                                "of pass 1",
                                pass + 1)};
            }
            for (const activity::CounterValue& each : runs[pass]->records.counter_values) {
                const auto value = std::bit_cast<double>(each.bits);
                if (!std::isfinite(value)) continue;
                const std::string& name = runs[pass]->text(each.counter);
                const auto planned = plan_->counters.find(name);
                if (planned == plan_->counters.end() || planned->second.second != pass ||
                    planned->second.first != activity::CounterFate::counted) {
                    throw Problem{fmt::format("pass {} has a counter of another pass", pass + 1)};
                }
                values[each.launch][name] = value;
            }
        }
        for (const auto& [label, place] : places) {
            counters_.labels[label].launches.push_back(values[place]);
        }
    }

    void note_refusals(const Recording& run) {
        for (const activity::CounterRefusal& each : run.records.counter_refusals) {
            std::string& problem = label(each.label).problem;
            if (problem.empty()) problem = model::printable(run.text(each.reason), 600);
        }
    }

    void note_plan(std::optional<CounterPlan> plan) {
        if (!plan) return;
        if (plan_) {
            if (*plan_ == *plan) return;
            throw Problem{
                "the passes do not agree on which counters there are: the program's "
                "processes use different GPUs or CUPTI libraries"};
        }
        plan_ = std::move(plan);
        counters_.chip = plan_->chip;
        for (const auto& [name, fate] : plan_->counters) {
            if (fate.first == activity::CounterFate::counted) counters_.counted.insert(name);
            if (fate.first == activity::CounterFate::several_passes) {
                counters_.several_passes[name] = fate.second;
            }
        }
    }

    /// Label and place of each counted launch.
    std::vector<std::pair<std::uint32_t, std::uint64_t>> places_of(const Recording& run) {
        std::vector<std::pair<std::uint32_t, std::uint64_t>> places;
        for (const activity::CountedLaunch& each : run.records.counted_launches) {
            label(each.label);
            places.emplace_back(each.label, each.launch);
        }
        return places;
    }

    LabelCounters& label(std::uint32_t number) {
        if (number >= counters_.labels.size()) {
            throw Problem{"a recording has counters of a label that was not asked for"};
        }
        return counters_.labels[number];
    }

    std::span<const Recordings> passes_;
    std::optional<CounterPlan> plan_;
    ProgramCounters counters_;
};

}  // namespace

std::size_t passes_needed(const Recordings& first) {
    std::size_t passes = 1;
    for (const Recording& recording : first) {
        for (const activity::CounterPass& each : recording.records.counter_passes) {
            if (each.passes <= most_passes) passes = std::max<std::size_t>(passes, each.passes);
        }
    }
    return passes;
}

ProgramCounters counters_of(std::span<const Recordings> passes, std::size_t labels) {
    return Combination(passes, labels).take();
}

CounterMetric metric_of(const ProgramCounters& counters, std::size_t label,
                        const metrics::Metric& metric) {
    CounterMetric found;
    const auto fail = [&](std::string why) {
        found.samples.clear();
        found.problem = std::move(why);
        return found;
    };
    // Its own reason first: a label that is refused in one pass alone ends the sequence early.
    const LabelCounters& own = counters.labels.at(label);
    if (!own.problem.empty()) return fail(own.problem);
    if (!counters.problem.empty()) return fail(counters.problem);
    if (counters.chip.empty()) return fail("no matching kernel was launched to be counted");

    for (const auto& alternatives : counters_for(std::span(&metric, 1))) {
        for (const std::string& name : alternatives) {
            const auto several = counters.several_passes.find(name);
            if (several == counters.several_passes.end()) continue;
            return fail(
                fmt::format("{} needs {} passes by itself, and each run of a program "
                            "collects one; use counters of one pass",
                            model::printable(name, 200), several->second));
        }
    }
    const metrics::Selection selection = metrics::select_counters(
        std::span(&metric, 1),
        [&](const std::string& name) { return counters.counted.contains(name); }, counters.chip);
    if (!selection.not_applicable.empty()) {
        found.not_applicable = true;
        return found;
    }
    if (!selection.unavailable.empty()) {
        return fail(model::printable(selection.unavailable.front().reason, 600));
    }
    if (own.launches.empty()) return fail("no matching kernel was launched to be counted");
    for (const auto& launch : own.launches) {
        const auto value = metrics::fold_counters(selection.metrics.front(), std::span(&launch, 1));
        if (!value || !std::isfinite(*value)) {
            return fail(
                "the device gave no number: the unit is shared with others or not "
                "available (MIG)");
        }
        found.samples.push_back(*value);
    }
    return found;
}

std::vector<std::vector<std::string>> counters_for(std::span<const metrics::Metric> metrics) {
    std::vector<std::vector<std::string>> counters;
    const auto add = [&](const std::vector<std::string>& names) {
        if (std::find(counters.begin(), counters.end(), names) == counters.end()) {
            counters.push_back(names);
        }
    };
    for (const metrics::Metric& metric : metrics) {
        for (const auto* terms : {&metric.numerator, &metric.denominator}) {
            for (const metrics::Term& term : *terms) add(term.names);
        }
        if (metric.definition.fold == model::Fold::weighted_mean) add({metrics::weight_counter});
    }
    return counters;
}

}  // namespace perfgate::command
