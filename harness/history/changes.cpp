// SPDX-License-Identifier: Apache-2.0
#include "history/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "gate/batch_rule.hpp"
#include "gate/series.hpp"
#include "stats/distributions.hpp"
#include "stats/spread.hpp"
#include "util/text.hpp"

namespace perfgate::history {

namespace {

/// Nights on either side that are looked at: older ones say little about a machine.
constexpr std::size_t window = 30;
/// Of one place, two-sided, before it is shared out over the places of a window.
constexpr double level = 1e-5;
constexpr double trimmed_nights = 0.2;
/// Of the lines that tell a step from a drift, and the jump in standard errors.
constexpr std::size_t least_nights_of_line = 12, most_nights_of_line = 20;
constexpr double least_jump = 4;
/// Cases that change at once on one machine without a change of code.
constexpr std::size_t least_cases_of_machine = 3;
constexpr double least_share_of_machine = 0.2;

using Span = std::span<const double>;

/// Successive differences do not contain a step, deviations from the sides' means contain drift.
double deviation_of(Span left, double left_mean, Span right, double right_mean) {
    double within = 0;
    std::size_t steps = 0;
    double between = 0;
    const auto add = [&](Span side, double mean) {
        for (std::size_t i = 0; i < side.size(); ++i) {
            within += (side[i] - mean) * (side[i] - mean);
            if (i == 0) continue;
            between += (side[i] - side[i - 1]) * (side[i] - side[i - 1]) / 2;
            ++steps;
        }
    };
    add(left, left_mean);
    add(right, right_mean);
    within /= static_cast<double>(std::max<std::size_t>(left.size() + right.size() - 2, 1));
    between /= static_cast<double>(std::max<std::size_t>(steps, 1));
    return std::sqrt(std::max(within, between));
}

/// How much fewer independent nights there are, in (0, 1]: neighbours that resemble each other
/// repeat themselves.
double independent_share(Span left, double left_mean, Span right, double right_mean) {
    double products = 0, squares = 0;
    const auto add = [&](Span side, double mean) {
        for (std::size_t i = 0; i < side.size(); ++i) {
            squares += (side[i] - mean) * (side[i] - mean);
            if (i > 0) products += (side[i] - mean) * (side[i - 1] - mean);
        }
    };
    add(left, left_mean);
    add(right, right_mean);
    if (squares <= 0) return 1;
    const double correlation = std::clamp(products / squares, 0.0, 0.97);
    return (1 - correlation) / (1 + correlation);
}

/// Where the line through these values is one place beyond their end.
double continued(Span values) {
    const auto n = static_cast<double>(values.size());
    const double middle = (n - 1) / 2;
    double products = 0, squares = 0, total = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double distance = static_cast<double>(i) - middle;
        products += distance * values[i];
        squares += distance * distance;
        total += values[i];
    }
    return total / n + products / squares * n / 2;
}

/// Whether the lines through the nearest nights jump: a slow wave or a drift passes through a place
/// without one. The spread is that of successive nights, which neither contains.
bool jumps(Span left, Span right, double difference) {
    if (std::min(left.size(), right.size()) < least_nights_of_line) return true;
    left = left.last(std::min(left.size(), most_nights_of_line));
    right = right.first(std::min(right.size(), most_nights_of_line));
    double squares = 0;
    for (const Span side : {left, right}) {
        for (std::size_t i = 1; i < side.size(); ++i) {
            squares += (side[i] - side[i - 1]) * (side[i] - side[i - 1]) / 2;
        }
    }
    const auto n = static_cast<double>(left.size()), m = static_cast<double>(right.size());
    const double error = std::sqrt(squares / (n + m - 2) * (4 / n + 4 / m));
    const std::vector<double> backwards(right.rbegin(), right.rend());
    const double jump = continued(backwards) - continued(left);
    return jump * (difference < 0 ? -1 : 1) >= least_jump * error;
}

class Search {
  public:
    explicit Search(const Series& series) {
        definition_.name = series.metric;
        definition_.unit = series.unit;
        definition_.direction =
            series.direction == model::Direction::none ? model::Direction::lower : series.direction;
        definition_.metric_class = series.metric_class;
        std::set<double> different;
        for (const Night& night : series.nights) {
            centres_.push_back(stats::trimmed_mean(night.values, gate::trimmed_processes));
            different.insert(centres_.back());
        }
        least_ = series.metric_class == model::MetricClass::exact ? 1 : least_nights;
        logarithmic_ = std::ranges::all_of(centres_, [](double value) { return value > 0; });
        for (const double value : centres_) {
            scaled_.push_back(logarithmic_ ? std::log(value) : value);
        }
    }

    std::vector<std::size_t> places() {
        split(0, centres_.size());
        std::ranges::sort(places_);
        merge();
        return places_;
    }

  private:
    /// The t-statistic of a place between two ends, without sign; 0: nothing to see.
    struct Seen {
        double statistic = 0, df = 1;
    };
    Seen seen(std::size_t from, std::size_t place, std::size_t to) const {
        const auto [left, right] = sides(scaled_, from, place, to);
        const double left_mean = stats::trimmed_mean(left, trimmed_nights);
        const double right_mean = stats::trimmed_mean(right, trimmed_nights);
        const double difference = std::abs(right_mean - left_mean);
        if (difference <= 0) return {};
        const double share = independent_share(left, left_mean, right, right_mean);
        const auto n = static_cast<double>(left.size());
        const auto m = static_cast<double>(right.size());
        const double error =
            deviation_of(left, left_mean, right, right_mean) * std::sqrt((1 / n + 1 / m) / share);
        const double df = std::max((n + m) * share - 2, 1.0);
        if (error <= 0) return {std::numeric_limits<double>::infinity(), df};
        return {difference / error, df};
    }

    static std::pair<Span, Span> sides(const std::vector<double>& values, std::size_t from,
                                       std::size_t place, std::size_t to) {
        const std::size_t first = std::max(from, place > window ? place - window : 0);
        const std::size_t last = std::min(to, place + window);
        return {Span(values).subspan(first, place - first),
                Span(values).subspan(place, last - place)};
    }

    bool differs(std::size_t from, std::size_t place, std::size_t to) const {
        if (place - from < least_ || to - place < least_) return false;
        const Seen found = seen(from, place, to);
        if (found.statistic <= 0) return false;
        const double probability = std::isinf(found.statistic)
                                       ? 0
                                       : 2 * stats::student_upper_tail(found.statistic, found.df);
        if (probability > level) return false;
        const auto [left, right] = sides(scaled_, from, place, to);
        const double difference =
            stats::trimmed_mean(right, trimmed_nights) - stats::trimmed_mean(left, trimmed_nights);
        return jumps(left, right, difference) && gate_says_so(from, place, to);
    }

    /// The gate's rule, each night one process, with no change allowed.
    bool gate_says_so(std::size_t from, std::size_t place, std::size_t to) const {
        const auto [left, right] = sides(centres_, from, place, to);
        const auto series = [&](Span values) {
            model::MetricSeries made;
            made.unit = definition_.unit;
            for (const double value : values) {
                model::Batch batch;
                batch.process = static_cast<std::int64_t>(made.batches.size());
                batch.samples = {value};
                made.batches.push_back(std::move(batch));
            }
            made.value = stats::trimmed_mean(values, trimmed_nights);
            return made;
        };
        const model::MetricSeries before = series(left), after = series(right);
        gate::Comparison comparison;
        comparison.definition = &definition_;
        comparison.baseline = &before;
        comparison.measured = &after;
        comparison.tolerance.better = 0;
        model::Policy policy;
        policy.rounds = 0;
        const model::Verdict verdict =
            gate::BatchRule(policy).judge(std::span(&comparison, 1)).front().verdict;
        return verdict == model::Verdict::regressed || verdict == model::Verdict::improved;
    }

    void split(std::size_t from, std::size_t to) {
        if (to - from < 2 * least_) return;
        std::size_t best = 0;
        double most = 0;
        for (std::size_t place = from + least_; place + least_ <= to; ++place) {
            const Seen found = seen(from, place, to);
            // Places with few nights behind them have long tails: compare probabilities.
            const double strength =
                std::isinf(found.statistic)
                    ? 1e300
                    : -std::log(
                          std::max(stats::student_upper_tail(found.statistic, found.df), 1e-290));
            if (strength > most && differs(from, place, to)) {
                most = strength;
                best = place;
            }
        }
        if (most <= 0) return;
        places_.push_back(best);
        split(from, best);
        split(best, to);
    }

    void merge() {
        for (bool merged = true; merged;) {
            merged = false;
            for (std::size_t i = 0; i < places_.size(); ++i) {
                const std::size_t from = i == 0 ? 0 : places_[i - 1];
                const std::size_t to = i + 1 == places_.size() ? centres_.size() : places_[i + 1];
                if (differs(from, places_[i], to)) continue;
                places_.erase(places_.begin() + static_cast<std::ptrdiff_t>(i));
                merged = true;
                break;
            }
        }
    }

    model::MetricDefinition definition_;
    std::vector<double> centres_, scaled_;
    std::vector<std::size_t> places_;
    std::size_t least_ = least_nights;
    bool logarithmic_ = false;
};

double mean_of(const Series& series, std::size_t from, std::size_t to) {
    std::vector<double> centres;
    for (std::size_t i = from; i < to; ++i) {
        centres.push_back(stats::trimmed_mean(series.nights[i].values, gate::trimmed_processes));
    }
    return stats::trimmed_mean(centres, trimmed_nights);
}

std::string changed_words(std::string_view what, const std::string& before,
                          const std::string& after) {
    return fmt::format("{} changed: {} → {}", what, util::printable(before),
                       util::printable(after));
}

/// Without what other cases did; empty evidence: nothing but the values changed.
void explain(const Night& before, const Night& after, const Origin& earlier, const Origin& later,
             ChangePoint& point) {
    const auto found = [&](CauseClass cause, std::string evidence) {
        point.cause = cause;
        point.evidence = std::move(evidence);
    };
    if (before.method != after.method) {
        found(CauseClass::method, changed_words("the method", before.method, after.method));
    } else if (before.inputs != after.inputs) {
        found(CauseClass::inputs, "the launches or the command line changed");
    } else if (!before.code.empty() && !after.code.empty() && before.code != after.code) {
        found(CauseClass::code,
              fmt::format("the code's fingerprint changed between {:.12} and {:.12}",
                          util::printable(earlier.revision), util::printable(later.revision)));
    } else if (earlier.driver != later.driver) {
        found(CauseClass::driver, changed_words("the driver", earlier.driver, later.driver));
    } else if (earlier.toolkit != later.toolkit) {
        found(CauseClass::driver,
              changed_words("the CUDA toolkit", earlier.toolkit, later.toolkit));
    } else if (earlier.tool != later.tool) {
        found(CauseClass::method, changed_words("perfgate", earlier.tool, later.tool));
    } else if (earlier.board != later.board) {
        found(CauseClass::machine, changed_words("the board", earlier.board, later.board));
    }
}

}  // namespace

std::string_view to_text(CauseClass cause) {
    switch (cause) {
        case CauseClass::code:
            return "code";
        case CauseClass::method:
            return "method";
        case CauseClass::driver:
            return "driver or toolkit";
        case CauseClass::machine:
            return "machine";
        case CauseClass::inputs:
            return "inputs";
        case CauseClass::unexplained:
            break;
    }
    return "unexplained";
}

std::vector<std::size_t> change_places(const Series& series) {
    if (series.nights.empty()) return {};
    return Search(series).places();
}

std::vector<ChangePoint> change_points(const std::vector<Series>& all,
                                       const std::map<std::int64_t, Origin>& origins) {
    const auto origin = [&](const Night& night) {
        const auto found = origins.find(night.run);
        return found == origins.end() ? Origin() : found->second;
    };
    std::vector<ChangePoint> points;
    // Cases by what they share on a device: the run at which they changed.
    std::map<std::pair<std::string, std::int64_t>, std::set<std::pair<std::string, std::string>>>
        measured, moved;
    for (std::size_t index = 0; index < all.size(); ++index) {
        const Series& series = all[index];
        for (const Night& night : series.nights) {
            measured[{series.device, night.run}].emplace(series.suite, series.id);
        }
        const std::vector<std::size_t> places = change_places(series);
        for (std::size_t i = 0; i < places.size(); ++i) {
            const std::size_t from = i == 0 ? 0 : places[i - 1];
            const bool last = i + 1 == places.size();
            ChangePoint point;
            point.series = index;
            point.night = places[i];
            point.before = mean_of(series, from, places[i]);
            point.after = mean_of(series, places[i], last ? series.nights.size() : places[i + 1]);
            if (point.before != 0) {
                point.change = (point.after - point.before) / std::abs(point.before);
            }
            point.worse =
                series.direction != model::Direction::none &&
                (point.after > point.before) == (series.direction == model::Direction::lower);
            point.open = last;
            const Night& before = series.nights[places[i] - 1];
            const Night& after = series.nights[places[i]];
            explain(before, after, origin(before), origin(after), point);
            if (point.evidence.empty()) {
                moved[{series.device, after.run}].emplace(series.suite, series.id);
            }
            points.push_back(std::move(point));
        }
    }
    for (ChangePoint& point : points) {
        if (!point.evidence.empty()) continue;
        const Series& series = all[point.series];
        const Night& night = series.nights[point.night];
        const auto key = std::pair(series.device, night.run);
        const std::size_t cases = moved[key].size(), of = measured[key].size();
        if (cases >= least_cases_of_machine &&
            static_cast<double>(cases) >= least_share_of_machine * static_cast<double>(of)) {
            point.cause = CauseClass::machine;
            point.evidence = fmt::format(
                "{} of {} cases of this device changed in the same run, with the same code, driver "
                "and board",
                cases, of);
        } else {
            point.evidence = night.code.empty() ? "whether the code changed is not known"
                                                : "code, method, driver and board are the same";
        }
    }
    return points;
}

}  // namespace perfgate::history
