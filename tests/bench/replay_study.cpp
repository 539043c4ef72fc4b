// SPDX-License-Identifier: Apache-2.0
// Replays the gate on recorded samples and prints, as Markdown, how often it raises false alarms,
// what it finds, whether its claims of what it detects hold, and what other projects' rules make of
// the same samples.
//
//   replay_study [--suites N] [--check] POOL…     POOL: see replay/pool.hpp
//
// --check makes the exit code 1 where a bound of the project is not kept.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "replay/peers.hpp"
#include "replay/pool.hpp"
#include "replay/study.hpp"
#include "stats/distributions.hpp"
#include "stats/quantiles.hpp"
#include "stats/spread.hpp"

namespace {

using namespace perfgate::replay;
using perfgate::model::Verdict;

constexpr double least_pooled_ns = 20'000;
constexpr std::size_t least_samples = 10;  ///< of a process, for rules that take samples
constexpr std::array slowdowns{0.0, 0.005, 0.01, 0.015, 0.02, 0.05, 0.10};

struct Options {
    std::vector<std::string> pools;
    std::size_t suites = 20'000;
    bool check = false;
};

/// What a number of cases came to.
struct Tally {
    std::size_t cases = 0, regressed = 0, inconclusive = 0, again = 0;

    void add(const Outcome& outcome) {
        ++cases;
        regressed += outcome.verdict == Verdict::regressed ? 1 : 0;
        inconclusive += outcome.verdict == Verdict::inconclusive ? 1 : 0;
        again += outcome.measured_again ? 1 : 0;
    }
    void add(const Tally& other) {
        cases += other.cases;
        regressed += other.regressed;
        inconclusive += other.inconclusive;
        again += other.again;
    }
    double share(std::size_t count) const {
        return cases == 0 ? 0 : 100 * static_cast<double>(count) / static_cast<double>(cases);
    }
};

double median_ns(const Kernel& kernel) {
    std::vector<double> medians;
    for (const Samples& samples : kernel.processes) {
        medians.push_back(perfgate::stats::median(samples));
    }
    return perfgate::stats::median(medians);
}

/// Standard deviation between processes, relative.
double spread_of(const Kernel& kernel) {
    const std::array groups{kernel.values};
    return perfgate::stats::pooled_spread(groups).deviation /
           perfgate::stats::trimmed_mean(kernel.values, 0);
}

std::vector<const Kernel*> kernels_of(const std::vector<Pool>& pools, double least_ns = 0) {
    std::vector<const Kernel*> kernels;
    for (const Pool& pool : pools) {
        for (const Kernel& kernel : pool.kernels) {
            if (median_ns(kernel) > least_ns) kernels.push_back(&kernel);
        }
    }
    return kernels;
}

bool kept = true;

void expect(bool holds, const char* what) {
    if (holds) return;
    kept = false;
    fmt::print(stderr, "replay_study: not kept: {}\n", what);
}

void print_false_alarms(const std::vector<const Kernel*>& kernels, std::size_t suites) {
    const Setting setting;
    fmt::print(
        "### False alarms: no change, or one of just the tolerance of {:g} %; {} cases a suite\n\n"
        "| change | processes drawn | suites | suites with a false alarm | rate, upper 95 % bound "
        "| cases measured again | cases inconclusive |\n|---|---|---|---|---|---|---|\n",
        setting.tolerance * 100, setting.cases);
    struct Row {
        double slowdown;
        Drawing drawing;
    };
    for (const auto& [slowdown, drawing] : {Row{0, Drawing::independent}, Row{0, Drawing::in_order},
                                            Row{setting.tolerance, Drawing::independent}}) {
        Random random(1);
        Tally cases;
        std::size_t alarms = 0;
        for (std::size_t i = 0; i < suites; ++i) {
            const auto suite = draw_suite(kernels, setting, slowdown, random);
            bool alarm = false;
            for (const Outcome& outcome : play_suite(suite, setting, drawing, random)) {
                cases.add(outcome);
                alarm = alarm || outcome.verdict == Verdict::regressed;
            }
            alarms += alarm ? 1 : 0;
        }
        const bool independent = drawing == Drawing::independent;
        fmt::print("| {:+g} % | {} | {} | {} | {:.3f} % | {:.2f} % | {:.3f} % |\n", 100 * slowdown,
                   independent ? "at random" : "in the order of recording", suites, alarms,
                   100 * upper_bound(alarms, suites), cases.share(cases.again),
                   cases.share(cases.inconclusive));
        if (slowdown > 0) {
            // As many alarms are not improbable for the budget, which is all used here.
            expect(alarms == 0 || 1 - perfgate::stats::binomial_lower_tail(
                                          alarms - 1, suites, setting.policy.false_alarms) >=
                                      0.01,
                   "false alarms of suites that are slower by just the tolerance");
        } else if (independent) {
            expect(upper_bound(alarms, suites) <= (suites >= 3000 ? 0.001 : 5.0 / double(suites)),
                   "false alarms of suites");
        }
    }
    fmt::print("\n");
}

Tally play_slower(const std::vector<const Kernel*>& kernels, const Setting& setting,
                  double slowdown, std::size_t suites, std::uint64_t seed) {
    Random random(seed);
    Tally tally;
    for (std::size_t i = 0; i < suites; ++i) {
        const auto suite = draw_suite(kernels, setting, slowdown, random);
        for (const Outcome& outcome : play_suite(suite, setting, Drawing::independent, random)) {
            tally.add(outcome);
        }
    }
    return tally;
}

void print_detection(const std::vector<Pool>& pools, std::size_t suites) {
    const Setting setting;
    fmt::print(
        "### Detection, tolerance {:g} %: share of cases called regressed (inconclusive)\n\n"
        "| kernels |",
        setting.tolerance * 100);
    for (const double slowdown : slowdowns) fmt::print(" +{:g} % |", slowdown * 100);
    fmt::print("\n|---|---|---|---|---|---|---|---|\n");
    for (const double least_ns : {least_pooled_ns, 0.0}) {
        const auto kernels = kernels_of(pools, least_ns);
        if (kernels.empty()) continue;
        fmt::print("| {} |", least_ns > 0 ? "over 20 µs, pooled" : "all, pooled");
        for (const double slowdown : slowdowns) {
            const Tally tally = play_slower(kernels, setting, slowdown, suites, 2);
            fmt::print(" {:.2f} ({:.2f}) |", tally.share(tally.regressed),
                       tally.share(tally.inconclusive));
            if (least_ns > 0 && slowdown == 0.02) {
                expect(tally.share(tally.regressed) >= 99, "99 % found at +2 %");
            }
            if (least_ns > 0 && slowdown == 0.015) {
                expect(tally.share(tally.regressed) >= 90,
                       "90 % found at 1 % more than the tolerance");
            }
        }
        fmt::print("\n");
    }
    fmt::print("\n");
}

/// Of the cases of one workload on one board: what the table per kernel says, in one row.
struct Together {
    std::size_t kernels = 0;
    std::vector<double> spreads, minimum_detectable_change;
    Tally claimed, one_per_cent, two_per_cent;
};

void print_together(const std::map<std::string, Together>& workloads) {
    fmt::print(
        "### Together, kernels over 20 µs\n\n"
        "| board and workload | kernels | spread between processes: half, nine in ten below | "
        "detects: "
        "half, nine in ten below | found there | +1 % | +2 % |\n|---|---|---|---|---|---|---|\n");
    for (const auto& [name, all] : workloads) {
        using perfgate::stats::quantile;
        fmt::print(
            "| {} | {} | {:.2f}, {:.2f} % | {:.2f}, {:.2f} % | {:.1f} % | {:.1f} % | {:.1f} % |\n",
            name, all.kernels, 100 * quantile(all.spreads, 0.5), 100 * quantile(all.spreads, 0.9),
            100 * quantile(all.minimum_detectable_change, 0.5),
            100 * quantile(all.minimum_detectable_change, 0.9),
            all.claimed.share(all.claimed.regressed),
            all.one_per_cent.share(all.one_per_cent.regressed),
            all.two_per_cent.share(all.two_per_cent.regressed));
    }
    fmt::print("\n");
}

void print_kernels(const std::vector<Pool>& pools, std::size_t suites) {
    const Setting setting;
    fmt::print(
        "### Per kernel\n\n"
        "\"detects\" is the claim of the report line, the mean over the runs; the next column "
        "is how often a change that large was found.\n\n"
        "| pool | kernel | µs | spread between processes | detects | found there | +0.5 % | "
        "+1 % | +1.5 % | +2 % | +5 % | +10 % "
        "|\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    std::map<std::string, Together> workloads;
    for (const Pool& pool : pools) {
        for (const Kernel& kernel : pool.kernels) {
            const std::vector<const Kernel*> only{&kernel};
            Random random(3);
            double detects = 0;
            Tally claimed;
            for (std::size_t i = 0; i < suites; ++i) {
                for (const Outcome& outcome :
                     play_claims(draw_suite(only, setting, 0, random), setting, random)) {
                    detects += outcome.minimum_detectable_change /
                               static_cast<double>(setting.cases * suites);
                    claimed.add(outcome);
                }
            }
            fmt::print("| {} | `{}` | {:.1f} | {:.2f} % | {:.2f} % | {:.1f} % |", pool.name,
                       kernel.name, median_ns(kernel) / 1000, 100 * spread_of(kernel),
                       100 * detects, claimed.share(claimed.regressed));
            expect(claimed.share(claimed.regressed) >= 90,
                   "what the gate claims to detect is found");
            std::map<double, Tally> slower;
            for (const double slowdown : slowdowns) {
                if (slowdown == 0) continue;
                const Tally& tally = slower[slowdown] =
                    play_slower(only, setting, slowdown, suites, 5);
                fmt::print(" {:.1f} % |", tally.share(tally.regressed));
            }
            fmt::print("\n");
            if (median_ns(kernel) <= least_pooled_ns) continue;
            const std::string workload = kernel.name.substr(0, kernel.name.find('/'));
            Together& all =
                workloads[workload == kernel.name ? pool.name : pool.name + ", " + workload];
            ++all.kernels;
            all.spreads.push_back(spread_of(kernel));
            all.minimum_detectable_change.push_back(detects);
            all.claimed.add(claimed);
            all.one_per_cent.add(slower[0.01]);
            all.two_per_cent.add(slower[0.02]);
        }
    }
    fmt::print("\n");
    print_together(workloads);
}

void print_peers(const std::vector<Pool>& pools) {
    std::vector<const Kernel*> kernels = kernels_of(pools, least_pooled_ns);
    // They take samples, of which a baseline keeps one value a process.
    std::erase_if(kernels, [](const Kernel* kernel) {
        return std::any_of(kernel->processes.begin(), kernel->processes.end(),
                           [](const Samples& samples) { return samples.size() < least_samples; });
    });
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
                Samples now = kernel.processes[second];
                for (double& sample : now) sample *= 1 + slowdown;
                slower += peer.slower(kernel.processes[first], now) ? 1 : 0;
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
    const std::vector<Pool> pools = read_pools(options.pools);
    const Setting setting;
    fmt::print(
        "Baselines of {} processes, twice as many where they are noisy, runs of {}, flagged cases "
        "in up "
        "to {} rounds of more.\n\n",
        setting.baseline_processes, setting.first_processes, setting.policy.rounds);
    const std::size_t shares = std::max<std::size_t>(options.suites / 400, 3);
    print_false_alarms(kernels_of(pools), options.suites);
    print_detection(pools, shares);
    print_kernels(pools, std::max<std::size_t>(shares / 4, 2));
    print_peers(pools);
    return options.check && !kept ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        CLI::App app("Replays the gate on recorded samples");
        Options options;
        app.add_option("POOL", options.pools, "Recorded samples: CSV, Runs, Baselines")->required();
        app.add_option("--suites", options.suites, "Suites without a change")
            ->capture_default_str();
        app.add_flag("--check", options.check, "Exit 1 where a bound is not kept");
        CLI11_PARSE(app, argc, argv);
        return study(options);
    } catch (const std::exception& error) {
        fmt::print(stderr, "replay_study: {}\n", error.what());
        return 2;
    }
}
