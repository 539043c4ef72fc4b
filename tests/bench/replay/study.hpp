// SPDX-License-Identifier: Apache-2.0
// Plays the gate on recorded or generated processes: a baseline, a run that shares no process with
// it, a change of known size multiplied in. As `perfgate run` does it by default: three processes,
// five for cases that do not pass with these, flagged cases measured again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "model/metric.hpp"
#include "model/verdict.hpp"
#include "replay/pool.hpp"
#include "unit/simulated.hpp"

namespace perfgate::replay {

using simulated::Random;

/// One replay of a case: the baseline's batches, and the run's in the order in which the rounds
/// take them. No process is in both.
struct Draw {
    std::vector<model::Batch> baseline, run;
};

struct Source {
    std::string name;
    double value_ns = 0;
    double tick_ns = 0;       ///< times are read in steps of this; 0: recorded times
    bool multimodal = false;  ///< see is_multimodal()
    std::function<Draw(Random&)> draw;
};

/// Cases that are judged together. What they have in common (a session, a board) makes their
/// replays dependent, so bounds count suites.
struct Suite {
    std::string name;
    std::vector<Source> cases;
    std::function<void(Random&)> begin{};  ///< before the draws of a replay; may be empty
    std::size_t recorded = 1;              ///< sessions of the baseline, if it was generated
};

/// What differs between baseline and run.
enum class Apart {
    processes,   ///< nothing else: one board, any session
    sessions,    ///< the run is one session, the baseline all others of its board
    boards,      ///< the run is of one board, the baseline of all others, three or more
    few_boards,  ///< the same, with one or two others
};

/// Suites whose run is of a board that the baseline does not know. Each replay draws the baseline's
/// boards, `in_baseline` for all cases of a suite. 0: all others, four or more.
std::vector<Suite> suites_of_boards(const std::vector<Kernel>& kernels, std::size_t in_baseline,
                                    double least_ns);

/// A change of some of a process's samples, as a program that stalls has: each is longer by the
/// factor with this probability.
struct Stalls {
    double share = 0, factor = 1;
};

/// The same processes, each with the mean of the slowest tenth of its samples as its value; a run
/// is drawn with these stalls. Kernels with fewer than ten samples a process are left out.
std::vector<Suite> tails_of(const std::vector<Kernel>& kernels, const Stalls& stalls);

/// Pairs, as `ab` measures them: base and head are of other processes of one board. Kernels with
/// too few processes for a first look and a round are left out.
std::vector<Suite> pairs_of(const std::vector<Kernel>& kernels, double least_ns);

/// The suites that the recorded kernels allow: by workload and board (and session). Kernels with
/// too few processes for both groups are left out. `least_ns`: only kernels that take longer.
std::vector<Suite> suites_of(const std::vector<Kernel>& kernels, Apart apart, double least_ns);

/// Two groups of processes, of at least two each, that are at least as far apart as they are wide
/// together.
bool is_multimodal(std::vector<double> values);

struct Setting {
    double tolerance = 0.005;
    double share = 1e-3;  ///< of each case in the budget of false alarms
    double leeway = 0;
    bool new_board = false;          ///< the baseline has no processes of the run's board
    bool leeway_shows = false;       ///< a time counts as shown within tolerance and leeway
    double most_between_boards = 0;  ///< with new_board: as in gate::Comparison
    std::int64_t rounds = 1;         ///< fewer where a run has no processes left
    bool paired = false;             ///< `ab`
    bool settling = false;           ///< with `paired`: of cases that other processes flagged
    /// Of a mode that only some of the run's processes are in: which share, how much slower.
    double mode_share = 0, mode = 1;
    std::size_t processes = 0;  ///< of the first look; 0: as by default
};

struct Outcome {
    model::Verdict verdict = model::Verdict::pass;
    bool fails = false;      ///< regressed, or so far away that it is invalid though undecided
    bool passes = false;     ///< shown to be within the tolerance
    bool settled = false;    ///< with the first three processes
    bool undecided = false;  ///< flagged in the first look, regressed or not shown
    bool measured_again = false;
    std::size_t processes = 0;       ///< that the run took
    std::size_t slow_processes = 0;  ///< that are in the mode
    double claimed = 0;              ///< minimum detectable change after the first round; 0: none
};

/// One replay of a suite whose cases are all slower by `slowdown`.
std::vector<Outcome> play(const Suite& suite, const Setting& setting, double slowdown,
                          Random& random);

/// The same where each case is slower by just what its report line claims to see.
std::vector<Outcome> play_claims(const Suite& suite, const Setting& setting, Random& random);

/// The largest probability under which so few of so many would still be seen in one of twenty
/// attempts: the upper 95 % bound of Clopper and Pearson.
double upper_bound(std::size_t seen, std::size_t tried);

}  // namespace perfgate::replay
