// SPDX-License-Identifier: Apache-2.0
#include "replay/study.hpp"

#include <cmath>
#include <deque>

#include "baseline/pooling.hpp"
#include "gate/batch_rule.hpp"
#include "gate/rounds.hpp"

namespace perfgate::replay {

namespace {

/// Draws processes one after the other.
class Processes {
  public:
    Processes(const Kernel& kernel, Drawing drawing, Random& random)
        : kernel_(kernel),
          drawing_(drawing),
          random_(random),
          next_(random.below(kernel.values.size())) {}

    /// A batch as a process of the pool had it. The rule takes a batch by one value, so the batch
    /// holds that alone: the verdicts are the same and the study is faster.
    model::Batch batch(double slowdown, std::int64_t round) {
        const std::size_t count = kernel_.values.size();
        const std::size_t chosen =
            drawing_ == Drawing::independent ? random_.below(count) : next_++ % count;
        model::Batch batch;
        batch.round = round;
        batch.samples = {kernel_.values.at(chosen) * (1 + slowdown)};
        return batch;
    }

  private:
    const Kernel& kernel_;
    Drawing drawing_;
    Random& random_;
    std::size_t next_;
};

model::MetricDefinition gpu_time() {
    model::MetricDefinition definition;
    definition.name = "gpu_time";
    definition.unit = "ns";
    definition.metric_class = model::MetricClass::timing;
    return definition;
}

/// One suite: baselines and runs as they grow, and what the rule says of them.
class Play {
  public:
    Play(const std::vector<Case>& suite, const Setting& setting, Drawing drawing, Random& random)
        : suite_(suite),
          setting_(setting),
          rule_(setting.policy),
          baselines_(suite.size()),
          runs_(suite.size()),
          comparisons_(suite.size()),
          outcomes_(suite.size()) {
        for (std::size_t i = 0; i < suite.size(); ++i) {
            processes_.emplace_back(*suite[i].kernel, drawing, random);
            comparisons_[i] = {
                &definition_, &baselines_[i], &runs_[i], {setting.tolerance, std::nullopt, 0}, 0};
        }
    }
    Play(const Play&) = delete;
    Play& operator=(const Play&) = delete;

    /// Baselines, and the first round.
    void measure() {
        for (std::size_t i = 0; i < suite_.size(); ++i) {
            for (std::size_t n = 0; n < setting_.baseline_processes; ++n) {
                baselines_[i].batches.push_back(processes_[i].batch(0, 0));
            }
            // As `baseline refresh` does.
            if (baseline::noisy_metric(baselines_[i], comparisons_[i].tolerance)) {
                for (std::size_t n = 0; n < setting_.baseline_processes; ++n) {
                    baselines_[i].batches.push_back(processes_[i].batch(0, 0));
                }
            }
            add_batches(i, setting_.first_processes, 0);
        }
        judge();
        for (std::size_t i = 0; i < suite_.size(); ++i) {
            outcomes_[i].minimum_detectable_change =
                judgements_[i].minimum_detectable_change.value_or(0);
        }
    }

    void slow_down_as_claimed() {
        for (std::size_t i = 0; i < suite_.size(); ++i) {
            suite_[i].slowdown = outcomes_[i].minimum_detectable_change;
            for (model::Batch& batch : runs_[i].batches) {
                batch.samples[0] *= 1 + outcomes_[i].minimum_detectable_change;
            }
        }
        judge();
    }

    std::vector<Outcome> finish() {
        for (std::int64_t round = 1; round <= setting_.policy.rounds; ++round) {
            bool any = false;
            for (std::size_t i = 0; i < suite_.size(); ++i) {
                if (!judgements_[i].measure_again) continue;
                any = true;
                outcomes_[i].measured_again = true;
                add_batches(i, gate::round_size(round), round);
            }
            if (!any) break;
            judge();
        }
        for (std::size_t i = 0; i < suite_.size(); ++i) {
            outcomes_[i].verdict = judgements_[i].verdict;
        }
        return outcomes_;
    }

  private:
    void add_batches(std::size_t i, std::size_t count, std::int64_t round) {
        for (std::size_t n = 0; n < count; ++n) {
            runs_[i].batches.push_back(processes_[i].batch(suite_[i].slowdown, round));
        }
    }
    void judge() { judgements_ = rule_.judge(comparisons_); }

    const model::MetricDefinition definition_ = gpu_time();
    std::vector<Case> suite_;
    const Setting& setting_;
    const gate::BatchRule rule_;
    std::vector<model::MetricSeries> baselines_, runs_;
    std::vector<gate::Comparison> comparisons_;
    std::deque<Processes> processes_;
    std::vector<gate::Judgement> judgements_;
    std::vector<Outcome> outcomes_;
};

}  // namespace

std::vector<Case> draw_suite(const std::vector<const Kernel*>& kernels, const Setting& setting,
                             double slowdown, Random& random) {
    std::vector<Case> suite(setting.cases);
    for (Case& drawn : suite) drawn = {kernels[random.below(kernels.size())], slowdown};
    return suite;
}

std::vector<Outcome> play_suite(const std::vector<Case>& suite, const Setting& setting,
                                Drawing drawing, Random& random) {
    Play play(suite, setting, drawing, random);
    play.measure();
    return play.finish();
}

std::vector<Outcome> play_claims(const std::vector<Case>& suite, const Setting& setting,
                                 Random& random) {
    Play play(suite, setting, Drawing::independent, random);
    play.measure();
    play.slow_down_as_claimed();
    return play.finish();
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
