// SPDX-License-Identifier: Apache-2.0
// Plays the gate on recorded samples: baselines and runs drawn from the processes of a pool, a
// change of known size multiplied in, flagged cases measured again as `perfgate run` does it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "model/verdict.hpp"
#include "replay/pool.hpp"

namespace perfgate::replay {

struct Setting {
    double tolerance = 0.005;
    std::size_t baseline_processes = 20;
    std::size_t first_processes = 5;
    std::size_t cases = 100;  ///< of a suite
    model::Policy policy;
};

/// How processes are drawn from a pool.
enum class Drawing {
    independent,  ///< each at random, with replacement
    in_order,     ///< the baseline's in a row from a random start, then the run's, so that drift
                  ///< between them is as it was recorded
};

/// A case of a suite that is played: which kernel, and how much slower it became.
struct Case {
    const Kernel* kernel = nullptr;
    double slowdown = 0;
};

struct Outcome {
    model::Verdict verdict = model::Verdict::pass;
    bool measured_again = false;
    double minimum_detectable_change = 0;  ///< as claimed after the first round
};

/// The same on every machine, unlike std's distributions.
class Random {
  public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    std::size_t below(std::size_t count) {
        return static_cast<std::size_t>(static_cast<double>(engine_() >> 11) * 0x1p-53 *
                                        static_cast<double>(count));
    }

  private:
    std::mt19937_64 engine_;
};

/// A suite's cases, each of a random kernel of a random pool, all slower by `slowdown`.
std::vector<Case> draw_suite(const std::vector<const Kernel*>& kernels, const Setting& setting,
                             double slowdown, Random& random);

/// Baseline, run, rounds and the last verdict of each case.
std::vector<Outcome> play_suite(const std::vector<Case>& suite, const Setting& setting,
                                Drawing drawing, Random& random);

/// The same where each case is slower by just what its report line claims to see.
std::vector<Outcome> play_claims(const std::vector<Case>& suite, const Setting& setting,
                                 Random& random);

/// The largest probability under which so few of so many would still be seen in one of twenty
/// attempts: the upper 95 % bound of Clopper and Pearson.
double upper_bound(std::size_t seen, std::size_t tried);

}  // namespace perfgate::replay
