// SPDX-License-Identifier: Apache-2.0
#include "history/places.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

#include "gate/batch_rule.hpp"
#include "gate/series.hpp"
#include "stats/distributions.hpp"
#include "stats/drift.hpp"
#include "stats/quantiles.hpp"
#include "stats/rank_tests.hpp"
#include "stats/spread.hpp"

namespace perfgate::history {

namespace {

using Span = std::span<const double>;

/// Lengths in nights. A short window finds a change soon, a long one a small change.
constexpr std::array<std::size_t, 15> windows = {3,  4,  5,  6,  8,  10, 12, 15,
                                                 18, 21, 25, 30, 40, 50, 60};
constexpr std::size_t longest = windows.back();
/// A slow wave looks like a step through windows that are not much shorter. How such windows differ
/// elsewhere tells, so longer ones than this need as many places elsewhere.
constexpr std::size_t longest_alone = 5;
constexpr std::size_t least_elsewhere = 3;  ///< in lengths of the window
/// The two-sided level of one place and length.
constexpr double level = 1e-5;
/// The one-sided level beside what such windows differ by elsewhere.
constexpr double level_elsewhere = 1e-4;
/// The one-sided level of the exact test.
constexpr double rank_level = 1e-4;
constexpr std::size_t nights_of_rank_test = 60;
/// The other side's deviation counts too if both sides have so many nights.
constexpr std::size_t enough_for_a_deviation = 10;
/// The variance of a trimmed mean of normal values, as a multiple of the mean's.
constexpr double variance_of_trimmed = 1.2;
/// Smaller spreads come from the resolution of clocks and are no measure of nights. A fraction.
constexpr double least_deviation = 3e-4;
/// Standard deviations by which nights may be farther from the levels of their sides.
constexpr double as_good = 2.5;
/// Nights between two changes.
constexpr std::size_t least_between = 5;
/// Ranges of so many nights by which others are away from them where a change is obvious.
constexpr double obvious_ranges = 1;

double middle(Span values) {
    if (values.size() <= 3) return stats::median(values);
    return stats::trimmed_mean(values, 0.25);
}

/// The middles of all windows of a length, which slide.
std::vector<double> middles(Span values, std::size_t length) {
    std::vector<double> found, sorted(values.begin(), values.begin() + static_cast<long>(length));
    std::ranges::sort(sorted);
    const std::size_t dropped = length <= 3 ? (length - 1) / 2 : length / 4;
    for (std::size_t next = length;; ++next) {
        double sum = 0;
        for (std::size_t i = dropped; i < length - dropped; ++i) sum += sorted[i];
        found.push_back(sum / static_cast<double>(length - 2 * dropped));
        if (next == values.size()) return found;
        sorted.erase(std::ranges::lower_bound(sorted, values[next - length]));
        sorted.insert(std::ranges::upper_bound(sorted, values[next]), values[next]);
    }
}

double deviation_without_outliers(Span values) {
    const std::vector<double> kept =
        stats::winsorised(std::vector<double>(values.begin(), values.end()), 3.5, 0);
    double mean = 0, within = 0, between = 0;
    for (const double value : kept) mean += value / static_cast<double>(kept.size());
    for (std::size_t i = 0; i < kept.size(); ++i) {
        within += (kept[i] - mean) * (kept[i] - mean);
        if (i > 0) between += (kept[i] - kept[i - 1]) * (kept[i] - kept[i - 1]) / 2;
    }
    const double df = std::max<double>(static_cast<double>(kept.size()) - 1, 1);
    return std::sqrt(std::max(within, between) / df);
}

std::vector<double> in_scale(const std::vector<double>& values, bool logarithmic) {
    std::vector<double> scaled = values;
    if (logarithmic) {
        for (double& value : scaled) value = std::log(value);
    }
    return scaled;
}

bool all_positive(const std::vector<double>& values) {
    return std::ranges::all_of(values, [](double value) { return value > 0; });
}

class Search {
  public:
    explicit Search(const Series& series)
        : centres_(centres(series)),
          logarithmic_(all_positive(centres_)),
          scaled_(in_scale(centres_, logarithmic_)),
          deviations_(scaled_.size()) {
        definition_.name = series.metric;
        definition_.unit = series.unit;
        definition_.direction =
            series.direction == model::Direction::none ? model::Direction::lower : series.direction;
        definition_.metric_class = model::MetricClass::timing;
        if (scaled_.size() < 2 * least_nights) return;
        for (const std::size_t window : windows) {
            middles_.push_back(window <= count() ? middles(scaled_, window)
                                                 : std::vector<double>());
        }
    }

    std::vector<Place> places() {
        split_obvious();
        while (const std::optional<std::size_t> place = strongest()) {
            places_.push_back(*place);
            std::ranges::sort(places_);
        }
        merge();
        std::vector<Place> found;
        const std::vector<std::size_t> ends = borders();
        for (std::size_t i = 0; i < places_.size(); ++i) {
            found.push_back(uncertain(ends[i], ends[i + 1], ends[i + 2]));
        }
        return found;
    }

  private:
    std::size_t count() const { return scaled_.size(); }

    /// Places, and both ends.
    std::vector<std::size_t> borders() const {
        std::vector<std::size_t> all = {0};
        all.insert(all.end(), places_.begin(), places_.end());
        all.push_back(count());
        return all;
    }

    /// Begins with changes far beyond the nights around them: two that are near each other would
    /// each be the other's spread. `merge` removes those that are not shown.
    void split_obvious() {
        for (std::size_t at = least_between; at + least_between <= count(); ++at) {
            const Span before = Span(scaled_).subspan(at - least_between, least_between);
            const auto left = std::ranges::minmax(before);
            const auto right = std::ranges::minmax(Span(scaled_).subspan(at, least_between));
            const double gap = std::max(right.min - left.max, left.min - right.max);
            const double range = std::max(left.max - left.min, right.max - right.min);
            if (gap > obvious_ranges * std::max(range, least_spread(before))) {
                places_.push_back(at);
            }
        }
    }

    double least_spread(Span nights) const {
        return logarithmic_ ? least_deviation : least_deviation * std::abs(middle(nights));
    }

    double difference(std::size_t place, std::size_t before, std::size_t after) const {
        return middles_[after][place] - middles_[before][place - windows[before]];
    }

    /// The index of the longest window of at most so many nights.
    static std::optional<std::size_t> window_of(std::size_t nights) {
        const auto above = std::ranges::upper_bound(windows, nights);
        if (above == windows.begin()) return std::nullopt;
        return static_cast<std::size_t>(above - windows.begin()) - 1;
    }

    /// The standard deviation that differences of such windows have away from a place, and at how
    /// many places that was seen. No window crosses a border.
    struct Elsewhere {
        double deviation = 0;
        std::size_t places = 0;
    };
    Elsewhere elsewhere(std::size_t place, std::size_t before, std::size_t after) const {
        const std::size_t left = windows[before], right = windows[after];
        std::vector<double> sizes;
        const std::vector<std::size_t> ends = borders();
        for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
            for (std::size_t at = ends[i] + left; at + right <= ends[i + 1]; ++at) {
                if (at + right > place && at < place + left) continue;
                sizes.push_back(std::abs(difference(at, before, after)));
            }
        }
        if (sizes.empty()) return {};
        const double typical = stats::quantile(sizes, 0.5) / 0.6745;
        const double large = stats::quantile(sizes, 0.9) / 1.6449;
        return {std::max(typical, large), sizes.size()};
    }

    /// What the level needs at a place: standard deviations, times that of one night.
    struct Needed {
        double deviations = 0, deviation = 0;
    };
    Needed needed(std::size_t from, std::size_t place, std::size_t to) {
        const std::size_t first = std::max(from, place > longest ? place - longest : 0);
        const std::size_t last = std::min(to, place + longest);
        const std::size_t n = place - first, m = last - place;
        double found = n >= m ? deviation(first, place) : deviation(place, last);
        if (std::min(n, m) >= enough_for_a_deviation) {
            found = std::max(found, n >= m ? deviation(place, last) : deviation(first, place));
        }
        return {quantile(quantiles_, level / 2, std::max(n, m) - 1), found};
    }

    static double quantile(std::vector<double>& known, double probability, std::size_t df) {
        if (known.size() <= df) known.resize(df + 1);
        if (known[df] == 0) {
            known[df] = stats::student_upper_quantile(probability, static_cast<double>(df));
        }
        return known[df];
    }

    /// The difference as a multiple of what the level needs; 0: it is not more than `least`.
    double strength(std::size_t place, std::size_t before, std::size_t after,
                    const Needed& level_needs, double least) {
        const double size = std::abs(difference(place, before, after));
        const double error =
            level_needs.deviation *
            std::sqrt(variance_of_trimmed * (1 / static_cast<double>(windows[before]) +
                                             1 / static_cast<double>(windows[after])));
        if (size <= least * level_needs.deviations * error) return 0;
        const Elsewhere others = elsewhere(place, before, after);
        const std::size_t shorter = std::min(windows[before], windows[after]);
        if (shorter > longest_alone && others.places < least_elsewhere * shorter) return 0;
        // Windows that overlap are not independent: what few differ by is known less well.
        const std::size_t apart = std::max<std::size_t>(others.places / shorter, 1);
        const double unsure = 1 + 2 * static_cast<double>(shorter) /
                                      static_cast<double>(std::max<std::size_t>(others.places, 1));
        const double deviations = std::min(level_needs.deviations * unsure,
                                           quantile(quantiles_elsewhere_, level_elsewhere, apart));
        return size / std::max(level_needs.deviations * error, deviations * others.deviation);
    }

    /// The place to accept next; its windows lie between borders.
    std::optional<std::size_t> strongest() {
        const std::vector<std::size_t> ends = borders();
        double most = 1;
        std::optional<std::size_t> found;
        for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
            const std::size_t from = ends[i], to = ends[i + 1];
            for (std::size_t place = from + least_before(from); place + least_after(to) <= to;
                 ++place) {
                const std::size_t before_most = place - from, after_most = to - place;
                const Needed level_needs = needed(from, place, to);
                const auto offer = [&](std::size_t before, std::size_t after) {
                    const double now = strength(place, before, after, level_needs, most);
                    if (now <= most) return;
                    const std::size_t better =
                        sharpest(from, place, to, windows[before], windows[after]);
                    if (!judged(from, better, to, windows[before], windows[after])) return;
                    most = now;
                    found = better;
                };
                for (std::size_t w = 0; w < windows.size(); ++w) {
                    const std::size_t wide = std::min(3 * windows[w], longest);
                    if (windows[w] <= after_most) {
                        const auto before = window_of(std::min(wide, before_most));
                        if (before && *before >= w) offer(*before, w);
                    }
                    if (windows[w] <= before_most) {
                        const auto after = window_of(std::min(wide, after_most));
                        if (after && *after > w) offer(w, *after);
                    }
                }
            }
        }
        return found;
    }

    /// The place near this one whose nights lie closest to the levels of both sides. Distances, not
    /// their squares: one bad night does not move it.
    std::size_t sharpest(std::size_t from, std::size_t place, std::size_t to, std::size_t before,
                         std::size_t after) const {
        const std::size_t reach = std::min(before, after) / 2;
        const double left = middle(Span(scaled_).subspan(place - before, before));
        const double right = middle(Span(scaled_).subspan(place, after));
        std::size_t best = place;
        double least = 0;
        for (const int way : {-1, 1}) {
            double distance = 0;
            for (std::size_t at = place; way < 0
                                             ? at > from + least_before(from) && place - at < reach
                                             : at + least_after(to) < to && at - place < reach;) {
                distance += loss(way < 0 ? at - 1 : at, left, right) * way;
                at = way < 0 ? at - 1 : at + 1;
                if (distance >= least) continue;
                least = distance;
                best = at;
            }
        }
        return best;
    }

    /// How much farther a night is from the level before a place than from the one after it.
    double loss(std::size_t night, double left, double right) const {
        return std::abs(scaled_[night] - left) - std::abs(scaled_[night] - right);
    }

    /// Few nights that end again are no change, unless they are the last.
    static std::size_t least_before(std::size_t from) {
        return from == 0 ? least_nights : least_between;
    }
    std::size_t least_after(std::size_t to) const {
        return to == count() ? least_nights : least_between;
    }

    /// The longest windows lie before one place and after another, and are asked for again after
    /// each place that is accepted.
    double deviation(std::size_t first, std::size_t last) {
        double other = 0;
        double& known = last - first == longest ? deviations_[first] : other;
        if (known == 0) {
            const Span values = Span(scaled_).subspan(first, last - first);
            known = std::max(least_spread(values), deviation_without_outliers(values));
        }
        return known;
    }

    Place uncertain(std::size_t from, std::size_t place, std::size_t to) {
        from = std::max(from, place > longest ? place - longest : 0);
        to = std::min(to, place + longest);
        const double left = middle(Span(scaled_).subspan(from, place - from));
        const double right = middle(Span(scaled_).subspan(place, to - place));
        const double most = as_good * std::min(deviation(from, place), deviation(place, to));
        Place found{place, place, place};
        double distance = 0;
        while (found.first > from + 1 && place - found.first < least_nights &&
               (distance -= loss(found.first - 1, left, right)) <= most) {
            --found.first;
        }
        distance = 0;
        while (found.last + 1 < to && found.last - place < least_nights &&
               (distance += loss(found.last, left, right)) <= most) {
            ++found.last;
        }
        return found;
    }

    /// The exact test and the gate's rule, each night one process, with no change allowed.
    bool judged(std::size_t from, std::size_t place, std::size_t to, std::size_t before,
                std::size_t after) const {
        if (place - from < least_before(from) || to - place < least_after(to)) return false;
        // The shorter side as it was seen, of the longer one as much as there is.
        if (before >= after) before = nights_of_rank_test;
        if (after >= before) after = nights_of_rank_test;
        before = std::min(before, place - from);
        after = std::min(after, to - place);
        const Span left = Span(centres_).subspan(place - before, before);
        const Span right = Span(centres_).subspan(place, after);
        const bool rises = middle(right) > middle(left);
        const double probability =
            rises ? stats::rank_sum_greater(left, right) : stats::rank_sum_greater(right, left);
        return probability <= rank_level && gate_says_so(left.last(std::min(before, longest)),
                                                         right.first(std::min(after, longest)));
    }

    bool gate_says_so(Span left, Span right) const {
        const auto series = [&](Span values) {
            model::MetricSeries made;
            made.unit = definition_.unit;
            for (const double value : values) {
                model::Batch batch;
                batch.process = static_cast<std::int64_t>(made.batches.size());
                batch.samples = {value};
                made.batches.push_back(std::move(batch));
            }
            made.value = middle(values);
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

    /// Bad nights that happen to be near each other are no level: between changes that are close,
    /// every night is nearer to its own.
    bool is_level(std::size_t from, std::size_t place, std::size_t to) const {
        if (to == count() || to - place >= 2 * least_between) return true;
        from = std::max(from, place > longest ? place - longest : 0);
        const double left = middle(Span(scaled_).subspan(from, place - from));
        const double right = middle(Span(scaled_).subspan(place, to - place));
        for (std::size_t night = place; night < to; ++night) {
            if (loss(night, left, right) <= 0) return false;
        }
        return true;
    }

    /// Removes places, the one with the smallest change first, that the nights up to their
    /// neighbours no longer show.
    void merge() {
        while (true) {
            const std::vector<std::size_t> ends = borders();
            std::optional<std::size_t> weakest;
            double least = 0;
            for (std::size_t i = 0; i < places_.size(); ++i) {
                const std::size_t from = ends[i], place = ends[i + 1], to = ends[i + 2];
                if (is_level(from, place, to) &&
                    judged(from, place, to, place - from, to - place)) {
                    continue;
                }
                const double size = std::abs(middle(Span(scaled_).subspan(place, to - place)) -
                                             middle(Span(scaled_).subspan(from, place - from)));
                if (weakest && size >= least) continue;
                weakest = i;
                least = size;
            }
            if (!weakest) return;
            places_.erase(places_.begin() + static_cast<std::ptrdiff_t>(*weakest));
        }
    }

    model::MetricDefinition definition_;
    std::vector<double> centres_;
    bool logarithmic_ = false;
    std::vector<double> scaled_;
    std::vector<double> deviations_;            ///< by the first night; 0: not yet
    std::vector<std::vector<double>> middles_;  ///< by window and its first night
    std::vector<std::size_t> places_;
    std::vector<double> quantiles_, quantiles_elsewhere_;  ///< by degrees of freedom; 0: not yet
};

/// An exact metric repeats to the digit: one other night after three equal ones is a change.
std::vector<Place> exact_places(const std::vector<double>& values) {
    std::vector<Place> places;
    std::size_t equal = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i > 0 && values[i] != values[i - 1]) {
            if (equal >= least_nights) places.push_back({i, i, i});
            equal = 0;
        }
        ++equal;
    }
    return places;
}

}  // namespace

std::vector<double> centres(const Series& series) {
    std::vector<double> found;
    found.reserve(series.nights.size());
    for (const Night& night : series.nights) {
        found.push_back(stats::trimmed_mean(night.values, gate::trimmed_processes));
    }
    return found;
}

std::vector<Place> change_places(const Series& series) {
    if (series.metric_class == model::MetricClass::exact) return exact_places(centres(series));
    if (series.nights.size() < 2 * least_nights) return {};
    return Search(series).places();
}

}  // namespace perfgate::history
