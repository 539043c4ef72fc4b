// SPDX-License-Identifier: Apache-2.0
#include "kinds/command/counter_passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "model/launch_size.hpp"
#include "util/text.hpp"

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
    return util::printable(recording.field("command"), 80) +
           (rank.empty() ? "" : ", rank " + util::printable(rank, 20));
}

std::string launch_in_words(const Recording& recording, std::size_t place) {
    const auto& launches = recording.records.launches;
    if (place >= launches.size()) return "no launch";
    const auto& launch = recording.configurations[launches[place].configuration];
    return fmt::format("{} with {}",
                       util::printable(util::demangled(recording.text(launch.symbol)), 120),
                       model::in_words(model::LaunchSize{launch.grid, launch.block}));
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
                                      util::printable(recording.incomplete.front(), 300))};
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
            fmt::format("the counters need {} runs of the program, at most {} are allowed: "
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

using Places = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

}  // namespace

/// Keeps the first pass to compare the others with it.
class CounterPasses::Combination {
  public:
    explicit Combination(std::vector<std::uint64_t> counts) : counts_(std::move(counts)) {
        counters_.labels.resize(counts_.size());
    }

    void add(Recordings recordings) {
        const std::size_t pass = passes_++;
        try {
            if (counters_.problem.empty()) {
                add_pass(std::move(recordings), pass);
            } else {
                for (const Recording& recording : recordings) {
                    if (recording.incomplete.empty()) note_refusals(recording);
                }
            }
        } catch (const Problem& problem) {
            if (counters_.problem.empty()) counters_.problem = problem.text;
        }
    }

    ProgramCounters take() {
        if (!counters_.problem.empty()) return std::move(counters_);
        if (processes_.empty()) {
            counters_.problem = "no process of the program launched a kernel";
        } else if (plan_ && plan_->passes > passes_) {
            counters_.problem = fmt::format("{} of {} counter passes are missing",
                                            plan_->passes - passes_, plan_->passes);
        }
        for (Process& process : processes_) {
            std::set<std::uint32_t> labels;
            for (const auto& [label, place] : process.places) {
                counters_.labels[label].launches.push_back(process.values[place]);
                labels.insert(label);
                add_kernel(counters_.labels[label].kernels, *process.first, place);
            }
            for (const std::uint32_t label : labels) ++counters_.labels[label].processes;
        }
        return std::move(counters_);
    }

  private:
    struct Process {
        const Recording* first = nullptr;
        Places places;
        std::map<std::uint64_t, std::map<std::string, double>> values{};  ///< by launch
    };

    void add_pass(Recordings recordings, std::size_t pass) {
        if (pass == 0) {
            first_ = std::move(recordings);
            for (const auto& [key, recording] : processes_of(first_, pass)) {
                note_refusals(*recording);
                Process& process = processes_.emplace_back(Process{recording, {}});
                process.places = places_of(*recording);
                note_too_few(process.places);
                keys_.push_back(key);
            }
            for (Process& process : processes_) add_values(process, *process.first, pass);
            return;
        }
        const auto processes = processes_of(recordings, pass);
        if (processes.size() != processes_.size()) {
            throw Problem{fmt::format("{} launched kernels in pass 1 and {} in pass {}",
                                      util::counted(processes_.size(), "process"), processes.size(),
                                      pass + 1)};
        }
        for (std::size_t i = 0; i < processes_.size(); ++i) {
            Process& process = processes_[i];
            // The words of a program that is alone may differ from run to run: a port, a folder.
            const auto found =
                processes_.size() == 1 ? processes.begin() : processes.find(keys_[i]);
            if (found == processes.end()) {
                throw Problem{fmt::format("{} launched kernels in pass 1 and not in pass {}",
                                          in_words(*process.first), pass + 1)};
            }
            const Recording& run = *found->second;
            note_refusals(run);
            require_same_sequence(*process.first, run, pass);
            if (places_of(run) != process.places) {
                throw Problem{fmt::format(
                    "the launches that were counted in pass {} are not those of pass 1", pass + 1)};
            }
            add_values(process, run, pass);
        }
    }

    void add_values(Process& process, const Recording& run, std::size_t pass) {
        note_plan(plan_of(run, pass));
        for (const activity::CounterValue& each : run.records.counter_values) {
            const auto value = std::bit_cast<double>(each.bits);
            if (!std::isfinite(value)) continue;
            const std::string& name = run.text(each.counter);
            const auto planned = plan_->counters.find(name);
            if (planned == plan_->counters.end() || planned->second.second != pass ||
                planned->second.first != activity::CounterFate::counted) {
                throw Problem{fmt::format("pass {} has a counter of another pass", pass + 1)};
            }
            process.values[each.launch][name] = value;
        }
    }

    void note_refusals(const Recording& run) {
        for (const activity::CounterRefusal& each : run.records.counter_refusals) {
            std::string& problem = label(each.label).problem;
            if (problem.empty()) problem = util::printable(run.text(each.reason), 600);
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
    Places places_of(const Recording& run) {
        Places places;
        std::set<std::pair<std::uint32_t, std::uint64_t>> known;
        std::vector<std::uint64_t> counted(counts_.size());
        for (const activity::CountedLaunch& each : run.records.counted_launches) {
            label(each.label);
            if (each.launch >= run.records.launches.size()) {
                throw Problem{"a recording has counters of a launch that it does not have"};
            }
            if (!known.emplace(each.label, each.launch).second) {
                throw Problem{"a recording has a counted launch twice"};
            }
            if (++counted[each.label] > counts_[each.label]) {
                throw Problem{
                    fmt::format("a recording has more than {} counted launches of a label",
                                counts_[each.label])};
            }
            places.emplace_back(each.label, each.launch);
        }
        return places;
    }

    void note_too_few(const Places& places) {
        std::map<std::uint32_t, std::uint64_t> counted;
        for (const auto& [label, place] : places) ++counted[label];
        for (const auto& [number, launches] : counted) {
            std::string& problem = label(number).problem;
            if (launches == counts_[number] || !problem.empty()) continue;
            problem = fmt::format("only {} of the {} launches to count were made", launches,
                                  counts_[number]);
        }
    }

    static void add_kernel(std::vector<CountedKernel>& kernels, const Recording& run,
                           std::uint64_t place) {
        const auto& launch = run.configurations[run.records.launches[place].configuration];
        CountedKernel kernel{util::valid_utf8(util::demangled(run.text(launch.symbol))),
                             {launch.grid[0], launch.grid[1], launch.grid[2]}};
        if (std::ranges::find(kernels, kernel) == kernels.end()) {
            kernels.push_back(std::move(kernel));
        }
    }

    LabelCounters& label(std::uint32_t number) {
        if (number >= counters_.labels.size()) {
            throw Problem{"a recording has counters of a label that was not asked for"};
        }
        return counters_.labels[number];
    }

    std::vector<std::uint64_t> counts_;
    std::size_t passes_ = 0;
    Recordings first_;
    std::vector<Process> processes_;  ///< of the first pass
    std::vector<std::string> keys_;
    std::optional<CounterPlan> plan_;
    ProgramCounters counters_;
};

CounterPasses::CounterPasses(std::vector<std::uint64_t> counts)
    : combination_(std::make_unique<Combination>(std::move(counts))) {}
CounterPasses::~CounterPasses() = default;

void CounterPasses::add(Recordings pass) {
    combination_->add(std::move(pass));
}

ProgramCounters CounterPasses::take() {
    return combination_->take();
}

std::size_t passes_needed(const Recordings& first) {
    std::size_t passes = 1;
    for (const Recording& recording : first) {
        for (const activity::CounterPass& each : recording.records.counter_passes) {
            if (each.passes <= most_passes) passes = std::max<std::size_t>(passes, each.passes);
        }
    }
    return passes;
}

}  // namespace perfgate::command
