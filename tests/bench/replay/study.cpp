// SPDX-License-Identifier: Apache-2.0
#include "replay/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <set>
#include <utility>

#include "gate/batch_rule.hpp"
#include "gate/rule.hpp"
#include "gate/series.hpp"
#include "runner/choice.hpp"
#include "stats/quantiles.hpp"

namespace perfgate::replay {

namespace {

using runner::settling_processes;
constexpr std::size_t first_processes = runner::usual_processes;
constexpr std::size_t most_baseline = runner::baseline_processes;
/// With fewer no test reaches even a whole budget.
constexpr std::size_t least_baseline = 7;

model::MetricDefinition gpu_time() {
    model::MetricDefinition definition;
    definition.name = "gpu_time";
    definition.unit = "ns";
    definition.metric_class = model::MetricClass::timing;
    return definition;
}

/// Of the first look of `ab`, and of its rounds.
std::size_t first_pairs() {
    return runner::usual_pairs;
}

std::size_t round_of(const Setting& setting, std::int64_t round) {
    return gate::round_size(round,
                            setting.paired ? gate::Processes::paired : gate::Processes::alone);
}

/// A batch of one process. The rule takes a batch by one value, so the batch holds that alone: the
/// verdicts are the same and the study is faster.
model::Batch batch_of(const Process& process) {
    model::Batch batch;
    batch.device = process.board;
    batch.run = static_cast<std::int64_t>(process.session);
    batch.samples = {process.value};
    return batch;
}

template <class Item>
void shuffle(std::vector<Item>& items, Random& random) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

using Processes = std::vector<const Process*>;

std::vector<model::Batch> batches_of(const Processes& processes) {
    std::vector<model::Batch> batches;
    for (const Process* process : processes) batches.push_back(batch_of(*process));
    // Runs of a baseline are numbered from 0.
    std::map<std::int64_t, std::int64_t> runs;
    for (model::Batch& batch : batches) {
        batch.run =
            runs.try_emplace(batch.run, static_cast<std::int64_t>(runs.size())).first->second;
    }
    return batches;
}

/// Any of the processes.
Draw draw_processes(Processes processes, Random& random) {
    shuffle(processes, random);
    const std::size_t run = first_processes + gate::round_size(1);
    const std::size_t baseline = std::min(most_baseline, processes.size() - run);
    Draw draw{batches_of({processes.begin(), processes.begin() + std::ptrdiff_t(baseline)}),
              batches_of({processes.begin() + std::ptrdiff_t(baseline), processes.end()})};
    for (model::Batch& batch : draw.baseline) batch.run = 0;
    for (model::Batch& batch : draw.run) batch.run = 0;
    return draw;
}

/// Half of the processes for each side.
Draw draw_pairs(Processes processes, Random& random) {
    shuffle(processes, random);
    const auto half = std::ptrdiff_t(processes.size() / 2);
    Draw draw{batches_of({processes.begin(), processes.begin() + half}),
              batches_of({processes.begin() + half, processes.begin() + 2 * half})};
    for (model::Batch& batch : draw.baseline) batch.run = 0;
    for (model::Batch& batch : draw.run) batch.run = 0;
    return draw;
}

double tail_of(std::vector<double> samples, const Stalls& stalls, Random& random) {
    for (double& sample : samples) sample *= random.uniform() < stalls.share ? stalls.factor : 1;
    model::Batch batch;
    batch.samples = std::move(samples);
    return gate::tail_of(batch)->slowest_tenth;
}

/// The held-out processes against the others.
Draw draw_held_out(const Processes& others, Processes held_out, Random& random) {
    shuffle(held_out, random);
    Draw draw{batches_of(others), batches_of(held_out)};
    for (model::Batch& batch : draw.run) batch.run = 0;
    return draw;
}

Source source_of(const Kernel& kernel, const Processes& all) {
    std::vector<double> values;
    for (const Process* process : all) values.push_back(process->value);
    Source source;
    source.name = kernel.name;
    source.value_ns = stats::median(values);
    source.multimodal = is_multimodal(values);
    return source;
}

/// Adds the suites of one kernel.
void add_sources(const Kernel& kernel, Apart apart, double least_ns,
                 std::map<std::string, Suite>& suites) {
    const std::string workload = kernel.name.substr(0, kernel.name.find('/'));
    const auto add = [&](const std::string& what, Source source) {
        if (source.value_ns <= least_ns) return;
        const bool alone = apart == Apart::processes || workload == kernel.name;
        const std::string suite = kernel.device + " " + what + (alone ? "" : ", " + workload);
        suites.try_emplace(suite, Suite{suite, {}, {}, 1})
            .first->second.cases.push_back(std::move(source));
    };
    std::map<std::string, Processes> boards;
    for (const Process& process : kernel.processes) boards[process.board].push_back(&process);
    const bool by_board = apart == Apart::boards || apart == Apart::few_boards;
    const bool several = boards.size() > gate::least_boards;
    if (by_board && (boards.size() < 2 || several != (apart == Apart::boards))) return;
    for (const auto& [board, processes] : boards) {
        if (apart == Apart::processes) {
            const std::size_t least = least_baseline + first_processes + gate::round_size(1);
            if (processes.size() < least) continue;
            Source source = source_of(kernel, processes);
            source.draw = [processes = processes](Random& random) {
                return draw_processes(processes, random);
            };
            add(board + " " + kernel.name, std::move(source));
            continue;
        }
        std::set<std::size_t> sessions;
        for (const Process* process : processes) sessions.insert(process->session);
        if (apart == Apart::sessions && sessions.size() < 2) continue;
        if (by_board) sessions = {0};
        for (const std::size_t session : sessions) {
            Processes others;
            Processes held_out;
            for (const Process& process : kernel.processes) {
                const bool same = process.board == board;
                const bool held = same && (by_board || process.session == session);
                if (held) held_out.push_back(&process);
                if (!held && (same || by_board)) others.push_back(&process);
            }
            if (others.size() < least_baseline || held_out.size() < first_processes) continue;
            Source source = source_of(kernel, others);
            source.draw = [others, held_out](Random& random) {
                return draw_held_out(others, held_out, random);
            };
            add(by_board ? board : fmt::format("{} session {}", board, session), std::move(source));
        }
    }
}

/// Adds a case for each board of the kernel: the run is of it, the baseline of some of the others.
void add_boards(const Kernel& kernel, std::size_t in_baseline, double least_ns,
                std::map<std::string, std::pair<Suite, std::shared_ptr<std::uint64_t>>>& suites) {
    constexpr std::size_t several = 4;
    std::map<std::string, Processes> boards;
    for (const Process& process : kernel.processes) boards[process.board].push_back(&process);
    std::erase_if(boards, [](const auto& board) { return board.second.size() < least_baseline; });
    if (boards.size() <= (in_baseline == 0 ? several : in_baseline)) return;
    const std::string workload = kernel.name.substr(0, kernel.name.find('/'));
    for (const auto& [board, held_out] : boards) {
        std::map<std::string, Processes> others = boards;
        others.erase(board);
        Processes all;
        for (const auto& [name, processes] : others) {
            all.insert(all.end(), processes.begin(), processes.end());
        }
        Source source = source_of(kernel, all);
        if (source.value_ns <= least_ns) continue;
        const std::string name = kernel.device + " " + board + ", " + workload;
        auto& [suite, turn] =
            suites.try_emplace(name, Suite{name, {}, {}, 1}, std::make_shared<std::uint64_t>(0))
                .first->second;
        source.draw = [others, held_out = held_out, in_baseline, turn = turn](Random& random) {
            std::vector<std::pair<double, std::string>> order;
            for (const auto& other : others) {
                // The same for all cases of a replay, whichever boards they have.
                std::uint64_t seed = *turn;
                for (const char c : other.first) seed = seed * 1099511628211U + std::uint8_t(c);
                order.emplace_back(Random(seed).uniform(), other.first);
            }
            std::sort(order.begin(), order.end());
            if (in_baseline > 0) order.resize(in_baseline);
            Processes chosen;
            for (const auto& each : order) {
                const Processes& processes = others.at(each.second);
                chosen.insert(chosen.end(), processes.begin(), processes.end());
            }
            return draw_held_out(chosen, held_out, random);
        };
        suite.cases.push_back(std::move(source));
        suite.begin = [turn = turn](Random& random) { *turn = random.below(1'000'000); };
    }
}

bool passes(const gate::Judgement& judgement) {
    return judgement.verdict == model::Verdict::pass && judgement.shown;
}

/// Baselines and runs of one suite as they grow, and what the rule says of them.
class Play {
  public:
    Play(const Suite& suite, const Setting& setting, Random& random)
        : suite_(suite), setting_(setting) {
        policy_.false_alarms = setting.share * static_cast<double>(suite.cases.size());
        policy_.rounds = setting.rounds;
        if (suite.begin) suite.begin(random);
        for (const Source& source : suite.cases) {
            draws_.push_back(source.draw(random));
            const std::size_t drawn = draws_.back().run.size();
            std::size_t left = drawn - std::min(drawn, first_look());
            std::int64_t rounds = 0;
            for (; rounds < policy_.rounds; ++rounds) {
                if (left < std::min(round_of(setting, rounds + 1), first_processes)) break;
                left -= std::min(left, round_of(setting, rounds + 1));
            }
            policy_.rounds = rounds + (setting.settling ? 1 : 0);
        }
        slowdowns_.resize(suite.cases.size());
        outcomes_.resize(suite.cases.size());
        baselines_.resize(suite.cases.size());
        runs_.resize(suite.cases.size());
        slow_.resize(suite.cases.size());
        for (std::size_t i = 0; i < draws_.size(); ++i) {
            for (std::size_t n = 0; n < draws_[i].run.size(); ++n) {
                slow_[i].push_back(setting.mode_share > 0 && random.uniform() < setting.mode_share);
            }
            for (model::Batch batch : draws_[i].baseline) {
                if (setting.paired) break;
                batch.samples[0] = read(batch.samples[0], i);
                baselines_[i].batches.push_back(std::move(batch));
            }
        }
    }

    void slow_down(std::size_t i, double slowdown) { slowdowns_[i] = slowdown; }

    void first_round() {
        for (std::size_t i = 0; i < draws_.size(); ++i) {
            runs_[i].batches.clear();
            if (setting_.paired) baselines_[i].batches.clear();
            taken_.assign(draws_.size(), 0);
        }
        const bool settles = !setting_.paired && setting_.processes == 0;
        const std::size_t least = settles ? settling_processes : first_look();
        for (std::size_t i = 0; i < draws_.size(); ++i) take(i, least, setting_.settling ? 1 : 0);
        judge();
        for (std::size_t i = 0; i < draws_.size(); ++i) {
            outcomes_[i].settled = settles && passes(judgements_[i]);
            if (!outcomes_[i].settled) take(i, first_look() - least, setting_.settling ? 1 : 0);
        }
        if (settles) judge();
        for (std::size_t i = 0; i < draws_.size(); ++i) {
            outcomes_[i].undecided = judgements_[i].measure_again;
            outcomes_[i].claimed = judgements_[i].minimum_detectable_change.value_or(0);
        }
    }

    std::vector<Outcome> finish() {
        const std::int64_t first = setting_.settling ? 2 : 1;
        for (std::int64_t round = first; round <= policy_.rounds; ++round) {
            bool any = false;
            for (std::size_t i = 0; i < draws_.size(); ++i) {
                if (!judgements_[i].measure_again) continue;
                any = true;
                outcomes_[i].measured_again = true;
                take(i, round_of(setting_, round), round);
            }
            if (!any) break;
            judge();
        }
        for (std::size_t i = 0; i < draws_.size(); ++i) {
            outcomes_[i].verdict = judgements_[i].verdict;
            outcomes_[i].fails =
                outcomes_[i].verdict == model::Verdict::regressed || judgements_[i].beyond_spread;
            outcomes_[i].passes = passes(judgements_[i]);
            if (!outcomes_[i].passes) outcomes_[i].undecided = true;
            outcomes_[i].processes = taken_[i];
            const auto end = slow_[i].begin() + std::ptrdiff_t(taken_[i]);
            outcomes_[i].slow_processes = std::size_t(std::count(slow_[i].begin(), end, true));
        }
        return outcomes_;
    }

    double claimed(std::size_t i) const { return outcomes_[i].claimed; }

  private:
    double read(double time, std::size_t i) const {
        const double tick = suite_.cases[i].tick_ns;
        return tick > 0 ? std::floor(time / tick) * tick : time;
    }

    double tolerance() const {
        return setting_.tolerance + (setting_.leeway_shows ? setting_.leeway : 0);
    }

    std::size_t first_look() const {
        if (setting_.processes > 0) return setting_.processes;
        if (setting_.settling) return round_of(setting_, 1);
        return setting_.paired ? first_pairs() : first_processes;
    }

    void take(std::size_t i, std::size_t count, std::int64_t round) {
        for (std::size_t n = 0; n < count && taken_[i] < draws_[i].run.size(); ++n) {
            if (setting_.paired) {
                model::Batch base = draws_[i].baseline[taken_[i]];
                base.samples[0] = read(base.samples[0], i);
                base.round = round;
                baselines_[i].batches.push_back(std::move(base));
            }
            const double mode = slow_[i][taken_[i]] ? setting_.mode : 1;
            model::Batch batch = draws_[i].run[taken_[i]++];
            batch.samples[0] = read(batch.samples[0] * mode * (1 + slowdowns_[i]), i);
            batch.round = round;
            runs_[i].batches.push_back(std::move(batch));
        }
    }

    void judge() {
        std::vector<gate::Comparison> comparisons;
        for (std::size_t i = 0; i < draws_.size(); ++i) {
            comparisons.push_back({&definition_,
                                   &baselines_[i],
                                   &runs_[i],
                                   {tolerance(), std::nullopt, 0},
                                   setting_.leeway_shows ? 0 : setting_.leeway,
                                   0,
                                   setting_.new_board,
                                   setting_.most_between_boards});
        }
        judgements_ = setting_.paired ? gate::PairedRule(policy_).judge(comparisons)
                                      : gate::BatchRule(policy_).judge(comparisons);
    }

    const model::MetricDefinition definition_ = gpu_time();
    const Suite& suite_;
    const Setting& setting_;
    model::Policy policy_;
    std::vector<Draw> draws_;
    std::vector<double> slowdowns_;
    std::vector<std::size_t> taken_;
    std::vector<std::vector<bool>> slow_;  ///< by case: which of the run's processes are in a mode
    std::vector<model::MetricSeries> baselines_, runs_;
    std::vector<gate::Judgement> judgements_;
    std::vector<Outcome> outcomes_;
};

}  // namespace

bool is_multimodal(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    for (std::size_t i = 2; i + 2 <= values.size(); ++i) {
        const double gap = values[i] - values[i - 1];
        const double widths = values[i - 1] - values.front() + values.back() - values[i];
        if (gap > 0 && gap >= widths) return true;
    }
    return false;
}

std::vector<Suite> suites_of(const std::vector<Kernel>& kernels, Apart apart, double least_ns) {
    std::map<std::string, Suite> by_name;
    for (const Kernel& kernel : kernels) add_sources(kernel, apart, least_ns, by_name);
    std::vector<Suite> suites;
    for (auto& [name, suite] : by_name) suites.push_back(std::move(suite));
    return suites;
}

std::vector<Suite> suites_of_boards(const std::vector<Kernel>& kernels, std::size_t in_baseline,
                                    double least_ns) {
    std::map<std::string, std::pair<Suite, std::shared_ptr<std::uint64_t>>> by_name;
    for (const Kernel& kernel : kernels) add_boards(kernel, in_baseline, least_ns, by_name);
    std::vector<Suite> suites;
    for (auto& [name, made] : by_name) suites.push_back(std::move(made.first));
    return suites;
}

std::vector<Suite> tails_of(const std::vector<Kernel>& kernels, const Stalls& stalls) {
    std::vector<Suite> suites;
    for (const Kernel& kernel : kernels) {
        Processes processes;
        for (const Process& process : kernel.processes) processes.push_back(&process);
        const bool enough =
            std::all_of(processes.begin(), processes.end(), [](const Process* process) {
                return process->samples.size() >= gate::least_samples_of_tail;
            });
        if (!enough || processes.size() < least_baseline + first_processes + gate::round_size(1)) {
            continue;
        }
        Source source = source_of(kernel, processes);
        source.draw = [processes, stalls](Random& random) {
            Processes shuffled = processes;
            shuffle(shuffled, random);
            Draw draw;
            const std::size_t run = first_processes + gate::round_size(1);
            const std::size_t baseline = std::min(most_baseline, shuffled.size() - run);
            for (std::size_t i = 0; i < shuffled.size(); ++i) {
                const bool of_run = i >= baseline;
                model::Batch batch = batch_of(*shuffled[i]);
                batch.run = 0;
                batch.samples = {tail_of(shuffled[i]->samples, of_run ? stalls : Stalls(), random)};
                (of_run ? draw.run : draw.baseline).push_back(std::move(batch));
            }
            return draw;
        };
        suites.push_back({kernel.name, {std::move(source)}, {}, 1});
    }
    return suites;
}

std::vector<Suite> pairs_of(const std::vector<Kernel>& kernels, double least_ns) {
    std::vector<Suite> suites;
    Setting setting;
    setting.paired = true;
    for (const Kernel& kernel : kernels) {
        std::map<std::string, Processes> boards;
        for (const Process& process : kernel.processes) boards[process.board].push_back(&process);
        for (const auto& [board, processes] : boards) {
            if (processes.size() / 2 < first_pairs() + round_of(setting, 1)) continue;
            Source source = source_of(kernel, processes);
            if (source.value_ns <= least_ns) continue;
            source.draw = [processes = processes](Random& random) {
                return draw_pairs(processes, random);
            };
            suites.push_back({board + " " + kernel.name, {std::move(source)}, {}, 1});
        }
    }
    return suites;
}

std::vector<Outcome> play(const Suite& suite, const Setting& setting, double slowdown,
                          Random& random) {
    Play playing(suite, setting, random);
    for (std::size_t i = 0; i < suite.cases.size(); ++i) playing.slow_down(i, slowdown);
    playing.first_round();
    return playing.finish();
}

std::vector<Outcome> play_claims(const Suite& suite, const Setting& setting, Random& random) {
    Play playing(suite, setting, random);
    playing.first_round();
    std::vector<double> claims;
    for (std::size_t i = 0; i < suite.cases.size(); ++i) {
        claims.push_back(playing.claimed(i));
        playing.slow_down(i, claims[i]);
    }
    playing.first_round();
    std::vector<Outcome> outcomes = playing.finish();
    for (std::size_t i = 0; i < suite.cases.size(); ++i) outcomes[i].claimed = claims[i];
    return outcomes;
}

double upper_bound(std::size_t seen, std::size_t tried) {
    if (seen >= tried) return 1;
    const auto count = static_cast<double>(tried);
    const auto at_most_seen = [&](double probability) {
        double term = count * std::log1p(-probability);
        double sum = 0;
        for (std::size_t k = 0; k <= seen; ++k) {
            sum += std::exp(term);
            const auto next = static_cast<double>(k);
            term += std::log((count - next) / (next + 1)) + std::log(probability) -
                    std::log1p(-probability);
        }
        return sum;
    };
    double low = static_cast<double>(seen) / count;
    double high = 1;
    for (int step = 0; step < 200; ++step) {
        const double middle = (low + high) / 2;
        (at_most_seen(middle) > 0.05 ? low : high) = middle;
    }
    return high;
}

}  // namespace perfgate::replay
