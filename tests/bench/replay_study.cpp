// SPDX-License-Identifier: Apache-2.0
// Replays the gate on recorded and generated processes and prints, as Markdown, how often it raises
// false alarms, what it finds, whether its claims of what it detects hold, and what other projects'
// rules make of the same samples.
//
//   replay_study [--replays N] [--suites N] [--kernels] [--check] [POOL…]
//
// POOL: see replay/pool.hpp.
//
// --check makes the exit code 1 where a bound of the project is not kept.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "replay/made.hpp"
#include "replay/peers.hpp"
#include "replay/pool.hpp"
#include "replay/study.hpp"
#include "stats/distributions.hpp"

namespace {

using namespace perfgate::replay;
using perfgate::model::Verdict;

constexpr double least_pooled_ns = 20'000;
constexpr std::size_t least_samples = 10;  ///< of a process, for rules that take samples
constexpr double planted = 0.05;
/// Of changes of just the tolerance, at most so many pass: the interval's level on the side that is
/// worse, at each of the two looks of a run. Flagged cases, one in twenty, have one more.
constexpr double passes_at_most = 2 * 0.025 + 0.05 * 0.025;
constexpr std::array slowdowns{0.01, 0.015, 0.02, 0.05, 0.10};

struct Options {
    std::vector<std::string> pools;
    std::size_t replays = 200;
    std::size_t suites = 0;  ///< of each row, at most; 0: all
    bool kernels = false;
    bool boards = false;
    bool check = false;
};

bool kept = true;

void expect(bool holds, const std::string& what) {
    if (holds) return;
    kept = false;
    fmt::print(stderr, "replay_study: not kept: {}\n", what);
}

double percent(double part, double all) {
    return all > 0 ? 100 * part / all : 0;
}

/// Whether so many of so many are no more than chance makes of this probability.
bool is_by_chance(std::size_t seen, std::size_t tried, double probability) {
    return seen == 0 ||
           1 - perfgate::stats::binomial_lower_tail(seen - 1, tried, probability) >= 1e-3;
}

/// What replays of one suite came to.
struct Tally {
    std::size_t cases = 0, regressed = 0, failed = 0, again = 0, passed = 0, settled = 0;
    std::size_t undecided = 0;
    std::size_t processes = 0, shown_with_slow = 0;

    void add(const Outcome& outcome) {
        ++cases;
        regressed += outcome.verdict == Verdict::regressed ? 1 : 0;
        failed += outcome.fails ? 1 : 0;
        again += outcome.measured_again ? 1 : 0;
        passed += outcome.passes ? 1 : 0;
        settled += outcome.settled ? 1 : 0;
        undecided += outcome.undecided ? 1 : 0;
        processes += outcome.processes;
        shown_with_slow += outcome.passes && outcome.slow_processes > 0 ? 1 : 0;
    }
    void add(const Tally& other) {
        cases += other.cases;
        regressed += other.regressed;
        failed += other.failed;
        again += other.again;
        passed += other.passed;
        settled += other.settled;
        undecided += other.undecided;
        processes += other.processes;
        shown_with_slow += other.shown_with_slow;
    }
    double found() const { return percent(double(regressed), double(cases)); }
    double alarms() const { return percent(double(failed), double(cases)); }
};

Tally replayed(const Suite& suite, const Setting& setting, double slowdown, std::size_t replays,
               std::uint64_t seed) {
    Random random(seed);
    Tally tally;
    for (std::size_t i = 0; i < replays; ++i) {
        for (const Outcome& outcome : play(suite, setting, slowdown, random)) tally.add(outcome);
    }
    return tally;
}

/// Replays of several suites. Those of one suite depend on each other: the same processes, the
/// same session or the same board. So a suite counts as one trial, with the share of its replays.
struct Clusters {
    Tally all;
    std::size_t suites = 0, alarmed = 0;
    double shares = 0;

    void add(const Tally& tally) {
        all.add(tally);
        ++suites;
        alarmed += tally.failed > 0 ? 1 : 0;
        shares += tally.alarms() / 100;
    }
    double bound() const {
        return 100 * upper_bound(std::size_t(std::ceil(shares - 1e-9)), suites);
    }
};

struct Row {
    std::string name;
    std::vector<Suite> suites;
    Setting setting{};
    bool in_budget = true;    ///< --check: whether its alarms must be within the budget
    double least_found = 90;  ///< --check: of a planted drift, in per cent of the replays
};

std::size_t cases_of(const Row& row) {
    std::size_t cases = 0;
    for (const Suite& suite : row.suites) cases += suite.cases.size();
    return cases;
}

Clusters replayed(const Row& row, double slowdown, std::size_t replays) {
    Clusters clusters;
    for (const Suite& suite : row.suites) {
        clusters.add(replayed(suite, row.setting, slowdown, replays, 1));
    }
    return clusters;
}

/// The first suites of the row, if it is not to have all of them.
void cut(Row& row, const Options& options) {
    if (options.suites > 0 && row.suites.size() > options.suites) row.suites.resize(options.suites);
}

std::vector<Row> recorded_rows(const std::vector<Kernel>& kernels, double least_ns,
                               const Options& options) {
    constexpr double leeway = 0.05;
    const std::vector<Suite> boards = suites_of(kernels, Apart::boards, least_ns);
    const std::vector<Suite> few = suites_of(kernels, Apart::few_boards, least_ns);
    // A leeway is outside the budget; without one, other boards differ by more than 0.5 %.
    std::vector<Row> rows{
        {.name = "other processes", .suites = suites_of(kernels, Apart::processes, least_ns)},
        {.name = "another session", .suites = suites_of(kernels, Apart::sessions, least_ns)},
        {.name = "another board; the baseline has three or more",
         .suites = boards,
         .setting = {.new_board = true, .most_between_boards = leeway},
         .least_found = 0},
        {.name = "the same, nothing learned about boards, leeway 5 %",
         .suites = boards,
         .setting = {.leeway = leeway},
         .in_budget = false,
         .least_found = 0},
        {.name = "another board; it has one or two, leeway 5 %",
         .suites = few,
         .setting = {.leeway = leeway},
         .in_budget = false,
         .least_found = 0},
        {.name = "the same without leeway", .suites = few, .in_budget = false, .least_found = 80}};
    std::erase_if(rows, [](const Row& row) { return row.suites.empty(); });
    for (Row& row : rows) cut(row, options);
    return rows;
}

void print_rows(const std::vector<Row>& rows, std::size_t replays) {
    fmt::print(
        "| the run is of | suites | cases | replays of a case | alarms | share | suites with an "
        "alarm | share, upper 95 % bound by suites |");
    for (const double slowdown : slowdowns) fmt::print(" +{:g} % found |", slowdown * 100);
    fmt::print("\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (const Row& row : rows) {
        const Clusters none = replayed(row, 0, replays);
        fmt::print("| {} | {} | {} | {} | {} | {:.3f} % | {} | {:.2f} % |", row.name, none.suites,
                   cases_of(row), replays, none.all.failed, none.all.alarms(), none.alarmed,
                   none.bound());
        const bool new_board = row.setting.new_board;
        // Replays of a left-out board are of the same few processes: a case counts once.
        const std::size_t tried = new_board ? cases_of(row) : none.all.cases;
        const double share = double(none.all.failed) / double(none.all.cases);
        const auto alarms = std::size_t(std::lround(share * double(tried)));
        expect(!row.in_budget || is_by_chance(alarms, tried, row.setting.share),
               row.name + ": the budget of false alarms");
        for (const double slowdown : slowdowns) {
            const double found =
                replayed(row, slowdown, std::max<std::size_t>(replays / 4, 1)).all.found();
            fmt::print(" {:.1f} % |", found);
            if (slowdown == planted) {
                expect(found >= row.least_found, row.name + ": a planted drift of 5 % is an alarm");
            }
            if (slowdown == slowdowns.back() && new_board) {
                expect(found >= 90, fmt::format("{}: +{:g} % is found", row.name, 100 * slowdown));
            }
        }
        fmt::print("\n");
    }
    fmt::print("\n");
}

/// What a run on a board that the baseline does not know comes to, by the baseline's boards; and
/// with the base measured there, back to back.
void print_boards(const std::vector<Kernel>& kernels, const Options& options) {
    constexpr double tests = 300;  // of a run of all suites
    constexpr double leeway = 0.05;
    struct Boards {
        const char* name;
        std::size_t in_baseline;
        bool leeway_shows = false, settling = false;
    };
    for (const double tolerance : {0.005, 0.04}) {
        fmt::print(
            "### Another board, kernels over 20 µs, tolerance {:g} %, each case with a "
            "three-hundredth of the budget\n\n"
            "| boards in the baseline | suites | cases | alarms in a run of 300 tests | "
            "+1 % regressed | +2 % | +3 % | +5 % | +10 % | shown: no change | +2 % | +5 % | "
            "undecided: no change | +2 % | +5 % |\n"
            "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
            100 * tolerance);
        for (const Boards& each :
             {Boards{"1, the leeway shows", 1, true}, Boards{"1", 1},
              Boards{"2, the leeway shows", 2, true}, Boards{"2", 2}, Boards{"3", 3},
              Boards{"4 and more", 0}, Boards{"any, settled by pairs", 0, false, true}}) {
            Row row{each.name,
                    each.settling ? pairs_of(kernels, least_pooled_ns)
                                  : suites_of_boards(kernels, each.in_baseline, least_pooled_ns),
                    {}};
            cut(row, options);
            if (row.suites.empty()) continue;
            const bool few = each.in_baseline == 1 || each.in_baseline == 2;
            Setting& setting = row.setting;
            setting.share = 1e-3 / tests;
            setting.tolerance = tolerance;
            setting.rounds = 2;
            setting.leeway = few ? leeway : 0;
            setting.leeway_shows = each.leeway_shows;
            setting.new_board = !few && !each.settling;
            setting.most_between_boards = leeway;
            setting.paired = setting.settling = each.settling;
            std::string found, shown, undecided;
            const auto add = [](std::string& line, std::size_t part, const Tally& all) {
                line += fmt::format(" {:.1f} % |", percent(double(part), double(all.cases)));
            };
            double alarms = 0;
            for (const double change : {0.0, 0.01, 0.02, 0.03, 0.05, 0.10}) {
                const Tally all = replayed(row, change, options.replays).all;
                if (change == 0) alarms = tests * all.alarms() / 100;
                if (change > 0) add(found, all.regressed, all);
                expect(each.leeway_shows || change <= tolerance ||
                           is_by_chance(all.passed, all.cases, passes_at_most),
                       fmt::format("{} boards: +{:g} % passes seldom", row.name, 100 * change));
                expect(!each.settling || change < 4 * tolerance || all.found() >= 80,
                       fmt::format("pairs find +{:g} %", 100 * change));
                if (change != 0 && change != 0.02 && change != 0.05) continue;
                add(shown, all.passed, all);
                add(undecided, all.undecided, all);
            }
            fmt::print("| {} | {} | {} | {:.2f} |{}{}{}\n", row.name, row.suites.size(),
                       cases_of(row), alarms, found, shown, undecided);
        }
        fmt::print("\n");
    }
}

void print_recorded(const std::vector<Kernel>& kernels, const Options& options) {
    fmt::print(
        "### Recorded processes, tolerance {:g} %, each case with the whole budget of {:g} %\n\n",
        100 * Setting().tolerance, 100 * Setting().share);
    fmt::print("All kernels:\n\n");
    print_rows(recorded_rows(kernels, 0, options), options.replays);
    fmt::print("Kernels over 20 µs:\n\n");
    print_rows(recorded_rows(kernels, least_pooled_ns, options), options.replays);
}

void print_drift(std::size_t replays) {
    fmt::print(
        "### Generated sessions (0.4 %) and processes (0.2 %), tolerance {:g} %, each case with a "
        "hundredth of the budget\n\n",
        100 * Setting().tolerance);
    std::vector<Row> rows;
    for (const bool shared : {false, true}) {
        for (const std::size_t sessions : {1, 2, 3, 5, 10}) {
            Row& row = rows.emplace_back();
            const Suite suite = made_drift({.recorded = sessions, .shared = shared});
            row.name = suite.name;
            row.suites = {suite};
            row.setting.share = 1e-5;
            row.setting.rounds = 2;
        }
    }
    fmt::print(
        "| sessions | suites of 20 | suites with an alarm | cases with an alarm | +1 % found | "
        "+2 % | +5 % | +10 % |\n|---|---|---|---|---|---|---|---|\n");
    for (const Row& row : rows) {
        Random random(1);
        Tally none;
        std::size_t alarmed = 0;
        for (std::size_t i = 0; i < replays; ++i) {
            const std::size_t before = none.failed;
            for (const Outcome& outcome : play(row.suites[0], row.setting, 0, random)) {
                none.add(outcome);
            }
            alarmed += none.failed > before ? 1 : 0;
        }
        fmt::print("| {} | {} | {} | {:.3f} % |", row.name, replays, alarmed, none.alarms());
        for (const double slowdown : {0.01, 0.02, 0.05, 0.1}) {
            fmt::print(" {:.1f} % |",
                       replayed(row, slowdown, std::max<std::size_t>(replays / 10, 1)).all.found());
        }
        fmt::print("\n");
        // Two sessions are too few to know what all cases share.
        const double budget = row.setting.share * double(row.suites[0].cases.size());
        if (row.suites[0].recorded > 2) {
            expect(is_by_chance(alarmed, replays, budget), "false alarms with " + row.name);
        }
    }
    fmt::print("\n");
}

/// Of one case: the mean claim, how often it was made, and how often a change of it was found.
struct Claim {
    const Suite* suite = nullptr;
    const Source* source = nullptr;
    double sum = 0;
    std::size_t made = 0, found = 0, replays = 0;

    double mean() const { return made == 0 ? 0 : sum / double(made); }
    double share() const { return percent(double(found), double(made)); }
};

std::vector<Claim> claims_of(const Row& row, std::size_t replays) {
    std::vector<Claim> claims;
    for (const Suite& suite : row.suites) {
        const std::size_t first = claims.size();
        for (const Source& source : suite.cases) claims.push_back({&suite, &source, 0, 0, 0, 0});
        Random random(3);
        for (std::size_t i = 0; i < replays; ++i) {
            const std::vector<Outcome> outcomes = play_claims(suite, row.setting, random);
            for (std::size_t j = 0; j < outcomes.size(); ++j) {
                Claim& claim = claims[first + j];
                ++claim.replays;
                if (outcomes[j].claimed == 0) continue;
                ++claim.made;
                claim.sum += outcomes[j].claimed;
                claim.found += outcomes[j].verdict == Verdict::regressed ? 1 : 0;
            }
        }
    }
    return claims;
}

Tally of_all(const std::vector<Suite>& suites, const Setting& setting, double slowdown,
             std::size_t replays) {
    Tally all;
    for (std::size_t i = 0; i < suites.size(); ++i) {
        all.add(replayed(suites[i], setting, slowdown, replays, i + 1));
    }
    return all;
}

/// How many processes a verdict takes: of a run, and of `ab` (of each side).
void print_starts(const std::vector<Suite>& alone, const std::vector<Suite>& paired,
                  std::size_t replays) {
    constexpr std::array changes{0.0, 0.02, 0.03, 0.05, 0.10, 0.50};
    fmt::print(
        "### Processes until the verdict, tolerance 0.5 %, each case with a tenth of the budget\n\n"
        "| | change | replays | failed | regressed | shown | processes, mean |\n"
        "|---|---|---|---|---|---|---|\n");
    for (const bool pairs : {false, true}) {
        const std::vector<Suite>& suites = pairs ? paired : alone;
        Setting setting;
        setting.share = 1e-4;
        setting.paired = pairs;
        for (const double change : changes) {
            const Tally all = of_all(suites, setting, change, replays);
            if (all.cases == 0) continue;
            fmt::print("| {} | {:g} % | {} | {:.2f} % | {:.2f} % | {:.2f} % | {:.1f} |\n",
                       pairs ? "ab" : "run", 100 * change, all.cases, all.alarms(), all.found(),
                       percent(double(all.passed), double(all.cases)),
                       double(all.processes) / double(all.cases));
            expect(change > 0 || is_by_chance(all.failed, all.cases, setting.share),
                   "false alarms by the number of processes");
            expect(change < 0.5 || all.alarms() >= 99, "+50 % is found");
        }
    }
    fmt::print("\n");
}

/// A mode that only some of the run's processes have, twice as slow.
void print_modes(const std::vector<Suite>& suites, std::size_t replays) {
    fmt::print(
        "### Some processes twice as slow, tolerance 5 %, each case with the whole budget\n\n"
        "| slow | first look | replays | failed | shown | shown with a slow process |\n"
        "|---|---|---|---|---|---|\n");
    for (const double share : {0.0, 0.05, 0.1, 0.3, 0.5}) {
        for (const std::size_t processes : {std::size_t{0}, std::size_t{20}}) {
            Setting setting;
            setting.tolerance = 0.05;
            setting.mode_share = share;
            setting.mode = 2;
            setting.processes = processes;
            setting.rounds = processes == 0 ? 1 : 0;
            const Tally all = of_all(suites, setting, 0, replays);
            const auto part = [&](std::size_t count) {
                return percent(double(count), double(all.cases));
            };
            fmt::print("| {:g} % | {} | {} | {:.2f} % | {:.2f} % | {:.2f} % |\n", 100 * share,
                       processes == 0 ? "3 to 5" : "20", all.cases, all.alarms(), part(all.passed),
                       part(all.shown_with_slow));
            expect(all.shown_with_slow == 0, "a run with a slow process is shown");
            expect(share > 0 || is_by_chance(all.failed, all.cases, setting.share),
                   "false alarms of the precedence test");
        }
    }
    fmt::print("\n");
}

/// The mean of the slowest tenth, which has twice the tolerance.
void print_tails(const std::vector<Kernel>& kernels, std::size_t replays) {
    if (tails_of(kernels, {}).empty()) return;
    fmt::print(
        "### Tails: the mean of the slowest tenth, each case with the whole budget\n\n"
        "| of the run's samples | tolerance of the tail | replays | failed | claimed: median | "
        "claims found |\n|---|---|---|---|---|---|\n");
    struct Planted {
        const char* words;
        Stalls stalls;
    };
    for (const auto& [words, stalls] :
         {Planted{"none is slower", {}}, Planted{"5 % are twice as slow", {0.05, 2}},
          Planted{"10 % are twice as slow", {0.1, 2}},
          Planted{"10 % are ten times slower", {0.1, 10}},
          Planted{"1 % are ten times slower", {0.01, 10}}}) {
        const std::vector<Suite> suites = tails_of(kernels, stalls);
        for (const double tolerance : {0.01, 0.08}) {
            Setting setting;
            setting.tolerance = tolerance;
            const Tally all = of_all(suites, setting, 0, replays);
            std::string claims = " | ";
            if (stalls.share == 0) {
                std::vector<double> means;
                std::size_t made = 0;
                std::size_t found = 0;
                for (const Claim& claim : claims_of({"", suites, setting}, replays)) {
                    means.push_back(claim.mean());
                    made += claim.made;
                    found += claim.found;
                }
                std::sort(means.begin(), means.end());
                claims = fmt::format("{:.2f} % | {:.1f} %", 100 * means[means.size() / 2],
                                     percent(double(found), double(made)));
                expect(is_by_chance(all.failed, all.cases, setting.share), "alarms of tails");
                expect(percent(double(found), double(made)) >= 95, "claims of tails");
            }
            fmt::print("| {} | {:g} % | {} | {:.2f} % | {} |\n", words, 100 * tolerance, all.cases,
                       all.alarms(), claims);
            expect(stalls.share < 0.1 || all.alarms() >= 90, "a slow tail is found");
        }
    }
    fmt::print("\n");
}

/// How often no change passes, and one of just the tolerance.
void print_passes(const Row& row, std::size_t replays) {
    const double tolerance = row.setting.tolerance;
    fmt::print(
        "### A true change of just the tolerance\n\n| the run is of | true change | tolerance | "
        "replays | passed | with 3 processes | regressed |\n|---|---|---|---|---|---|---|\n");
    for (const double allowed : {tolerance, 4 * tolerance}) {
        for (const double slowdown : {0.0, allowed}) {
            Setting setting = row.setting;
            setting.tolerance = allowed;
            Tally all;
            for (std::size_t i = 0; i < row.suites.size(); ++i) {
                all.add(replayed(row.suites[i], setting, slowdown, replays, i + 1));
            }
            const auto share = [&](std::size_t part) {
                return percent(double(part), double(all.cases));
            };
            fmt::print("| {} | {:g} % | {:g} % | {} | {:.2f} % | {:.2f} % | {:.2f} % |\n", row.name,
                       100 * slowdown, 100 * allowed, all.cases, share(all.passed),
                       share(all.settled), share(all.regressed));
            expect(slowdown == 0 || is_by_chance(all.passed, all.cases, passes_at_most),
                   fmt::format("{}: a change of just the tolerance passes seldom", row.name));
        }
    }
    fmt::print("\n");
}

void print_coverage_row(const std::string& name, const std::vector<Claim>& claims) {
    std::size_t made = 0;
    std::size_t found = 0;
    std::size_t good = 0;
    std::size_t missed = 0;  // found in less than nine of ten, by more than chance
    double least = 101;
    std::string worst;
    std::vector<double> means;
    for (const Claim& claim : claims) {
        if (claim.made == 0) continue;
        made += claim.made;
        found += claim.found;
        good += claim.share() >= 90 ? 1 : 0;
        if (claim.share() < least) {
            least = claim.share();
            worst = claim.source->name;
        }
        means.push_back(claim.mean());
        const std::size_t not_found = claim.made - claim.found;
        if (1 - perfgate::stats::binomial_lower_tail(not_found, claim.made, 0.1) <= 1e-4) ++missed;
    }
    if (means.empty()) return;
    std::sort(means.begin(), means.end());
    const double pooled = percent(double(found), double(made));
    fmt::print("| {} | {} | {:.2f}, {:.2f} % | {:.1f} % | {} | {:.1f} % (`{}`) |\n", name,
               means.size(), 100 * means[means.size() / 2], 100 * means[means.size() * 9 / 10],
               pooled, good, least, worst);
    expect(pooled >= 95 || is_by_chance(made - found, made, 0.05),
           name + ": 95 % of the claims are found");
    // A small baseline may lack a mode, so a few claims cannot hold.
    expect(missed * 100 <= means.size(),
           fmt::format("{}: the claims of 99 % of the cases are found in nine of ten replays ({} "
                       "of {} are not)",
                       name, missed, means.size()));
}

void print_coverage(const std::vector<Row>& rows, const Options& options) {
    fmt::print(
        "### Claims: a change of the minimum detectable change that the report states\n\n"
        "| run | cases | claimed: median, 90th percentile | found, pooled | cases found in ≥ 90 % "
        "| "
        "least of a case |\n|---|---|---|---|---|---|\n");
    std::vector<std::vector<Claim>> all;
    for (const Row& row : rows) {
        all.push_back(claims_of(row, options.replays));
        std::vector<Claim> modes;
        std::copy_if(all.back().begin(), all.back().end(), std::back_inserter(modes),
                     [](const Claim& claim) { return claim.source->multimodal; });
        print_coverage_row(row.name, all.back());
        if (modes.size() < all.back().size()) print_coverage_row(row.name + ", multimodal", modes);
    }
    fmt::print("\n");
    if (!options.kernels) return;
    fmt::print("### Each case\n\n| board | case | µs | claimed | found |\n|---|---|---|---|---|\n");
    for (const std::vector<Claim>& claims : all) {
        for (const Claim& claim : claims) {
            fmt::print("| {} | `{}`{} | {:.1f} | {:.2f} % | {:.1f} % |\n", claim.suite->name,
                       claim.source->name, claim.source->multimodal ? " (multimodal)" : "",
                       claim.source->value_ns / 1000, 100 * claim.mean(), claim.share());
        }
    }
    fmt::print("\n");
}

Row made_row() {
    Row row{"generated", made_shapes(), {}};
    row.setting.share = 1e-5;
    row.setting.rounds = 2;
    return row;
}

void print_peers(const std::vector<Kernel>& all) {
    // They take samples, of which a baseline keeps one value a process.
    std::vector<const Kernel*> kernels;
    for (const Kernel& kernel : all) {
        const bool sampled = std::all_of(
            kernel.processes.begin(), kernel.processes.end(),
            [](const Process& process) { return process.samples.size() >= least_samples; });
        const bool one_board = std::all_of(
            kernel.processes.begin(), kernel.processes.end(), [&](const Process& process) {
                return process.board == kernel.processes.front().board;
            });
        if (sampled && one_board && kernel.processes.front().value > least_pooled_ns) {
            kernels.push_back(&kernel);
        }
    }
    if (kernels.empty()) return;
    fmt::print(
        "### Other projects' rules on the same samples: kernels over 20 µs, share of pairs "
        "of processes called slower\n\n| rule | A/A | suites of 100 with a false alarm | +1 % "
        "| +2 % | +5 % |\n|---|---|---|---|---|---|\n");
    constexpr std::size_t pairs = 3000;
    for (const Peer& peer : peers()) {
        fmt::print("| {} |", peer.name);
        for (const double slowdown : {0.0, 0.01, 0.02, 0.05}) {
            Random random(6);
            std::size_t slower = 0;
            for (std::size_t i = 0; i < pairs; ++i) {
                const Kernel& kernel = *kernels[random.below(kernels.size())];
                const std::size_t count = kernel.processes.size();
                const std::size_t first = random.below(count);
                const std::size_t second = (first + 1 + random.below(count - 1)) % count;
                Samples now = kernel.processes[second].samples;
                for (double& sample : now) sample *= 1 + slowdown;
                slower += peer.slower(kernel.processes[first].samples, now) ? 1 : 0;
            }
            const double share = static_cast<double>(slower) / static_cast<double>(pairs);
            fmt::print(" {:.2f} % |", 100 * share);
            if (slowdown == 0) fmt::print(" {:.1f} % |", 100 * (1 - std::pow(1 - share, 100)));
        }
        fmt::print("\n");
    }
    fmt::print("\n");
}

int study(const Options& options) {
    std::vector<Row> claimed;
    std::vector<Kernel> kernels;
    if (!options.pools.empty()) {
        kernels = read_kernels(options.pools);
        if (options.boards) {
            print_boards(kernels, options);
            return options.check && !kept ? 1 : 0;
        }
        print_recorded(kernels, options);
        claimed.push_back({"other processes", suites_of(kernels, Apart::processes, 0), {}});
        cut(claimed.back(), options);
    } else {
        print_drift(options.replays);
        claimed.push_back(made_row());
    }
    if (!kernels.empty()) {
        Row paired{"ab, other processes", pairs_of(kernels, 0), {}};
        paired.setting.paired = true;
        cut(paired, options);
        print_starts(claimed.front().suites, paired.suites, options.replays);
        print_modes(claimed.front().suites, options.replays);
        print_tails(kernels, options.replays);
        claimed.push_back(std::move(paired));
    }
    print_passes(claimed.front(), options.replays);
    print_coverage(claimed, options);
    print_peers(kernels);
    if (options.check && kept) fmt::print("\nEvery bound is kept.\n");
    return options.check && !kept ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        CLI::App app("Replays the gate on recorded samples, or without any on generated ones");
        Options options;
        app.add_option("POOL", options.pools, "Recorded samples: CSV, Runs, Baselines");
        app.add_option("--replays", options.replays, "Replays of each suite")
            ->check(CLI::Range(1, 1'000'000))
            ->capture_default_str();
        app.add_option("--suites", options.suites,
                       "At most so many suites of each row (default: all)");
        app.add_flag("--kernels", options.kernels, "A line for each case");
        app.add_flag("--boards", options.boards, "Only runs on boards that baselines do not know");
        app.add_flag("--check", options.check, "Exit 1 where a bound is not kept");
        CLI11_PARSE(app, argc, argv);
        return study(options);
    } catch (const std::exception& error) {
        fmt::print(stderr, "replay_study: {}\n", error.what());
        return 2;
    }
}
