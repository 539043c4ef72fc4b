// SPDX-License-Identifier: Apache-2.0
#include "history/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "history/places.hpp"
#include "stats/quantiles.hpp"
#include "stats/spread.hpp"
#include "util/text.hpp"

namespace perfgate::history {

namespace {

/// As many cases as this that change in one run without a known cause are the machine's change.
constexpr std::size_t least_cases_of_machine = 3;
constexpr double least_share_of_machine = 0.2;
constexpr double trimmed_nights = 0.2;
constexpr double least_change_of_clock = 0.01;
constexpr std::size_t clock_nights = 5;

struct Evidence {
    CauseClass cause;
    std::string words;
};

/// All that differs between two nights, in the order of the classes.
std::vector<Evidence> differences(const Night& before, const Night& after, const Origin& earlier,
                                  const Origin& later) {
    std::vector<Evidence> found;
    const auto changed = [&](CauseClass cause, std::string_view what, const std::string& old,
                             const std::string& now) {
        if (old == now) return;
        found.push_back({cause, fmt::format("{} changed: {} → {}", what, util::printable(old),
                                            util::printable(now))});
    };
    changed(CauseClass::method, "the method", before.method, after.method);
    if (before.inputs != after.inputs) {
        found.push_back({CauseClass::inputs, "the launches or the command line changed"});
    }
    if (!before.code.empty() && !after.code.empty() && before.code != after.code) {
        found.push_back(
            {CauseClass::code,
             fmt::format("the code's fingerprint changed between {:.12} and {:.12}",
                         earlier.revision.empty() ? "?" : util::printable(earlier.revision),
                         later.revision.empty() ? "?" : util::printable(later.revision))});
    }
    changed(CauseClass::driver, "the driver", earlier.driver, later.driver);
    changed(CauseClass::driver, "the CUDA toolkit", earlier.toolkit, later.toolkit);
    changed(CauseClass::machine, "the board", earlier.board, later.board);
    // A new version measures as before unless nothing else explains the change.
    if (found.empty()) changed(CauseClass::method, "perfgate", earlier.tool, later.tool);
    return found;
}

/// What the SM clock did from the nights before a place to those after it, where they all have one.
std::vector<Evidence> clock_difference(std::span<const Night> before,
                                       std::span<const Night> after) {
    const auto median = [](std::span<const Night> nights) -> std::optional<double> {
        std::vector<double> clocks;
        for (const Night& night : nights) {
            if (!night.clock_mhz) return std::nullopt;
            clocks.push_back(*night.clock_mhz);
        }
        return stats::median(clocks);
    };
    const std::optional<double> old = median(before), now = median(after);
    if (!old || !now || std::abs(*now - *old) <= least_change_of_clock * *old) return {};
    return {{CauseClass::machine,
             fmt::format("the SM clock changed: {:.0f} → {:.0f} MHz", *old, *now)}};
}

}  // namespace

std::string_view to_text(CauseClass cause) {
    return util::word_of<CauseClass::unexplained>(
        cause, {"method", "inputs", "code", "driver or toolkit", "machine", "unexplained"});
}

std::vector<std::size_t> Changes::add(const Series& series) {
    const auto count = [&](std::map<Place, Cases>& cases, std::int64_t run) {
        Cases& of_run = cases[{series.device, run}];
        if (of_run.last != cases_) ++of_run.count;
        of_run.last = cases_;
    };
    const auto key = std::tuple(series.device, series.suite, series.id);
    if (cases_ == 0 || key != last_case_) ++cases_;
    last_case_ = key;
    const std::size_t index = series_++;
    for (const Night& night : series.nights) count(measured_, night.run);
    const std::vector<history::Place> places = change_places(series);
    std::vector<std::size_t> changed;
    if (places.empty()) return changed;
    const std::vector<double> values = centres(series);
    const auto differ_at = [&](std::size_t night) {
        const Night &before = series.nights[night - 1], &after = series.nights[night];
        return differences(before, after, origin_of(origins_, before.run),
                           origin_of(origins_, after.run));
    };
    for (std::size_t i = 0; i < places.size(); ++i) {
        const std::size_t from = i == 0 ? 0 : places[i - 1].night;
        const bool last = i + 1 == places.size();
        const std::size_t to = last ? values.size() : places[i + 1].night;
        ChangePoint point;
        point.series = index;
        point.night = places[i].night;
        // A night that may as well be the first different one and has a cause is the likelier.
        std::vector<Evidence> evidence = differ_at(point.night);
        for (std::size_t off = 1; evidence.empty() && off <= least_nights; ++off) {
            for (const std::size_t at : {places[i].night - off, places[i].night + off}) {
                if (at < places[i].first || at > places[i].last || !evidence.empty()) continue;
                evidence = differ_at(at);
                if (!evidence.empty()) point.night = at;
            }
        }
        if (evidence.empty()) {
            const std::span<const Night> all = series.nights;
            evidence = clock_difference(
                all.subspan(from, point.night - from)
                    .last(std::min(clock_nights, point.night - from)),
                all.subspan(point.night, std::min(clock_nights, to - point.night)));
        }
        const std::span<const double> nights = values;
        point.before =
            stats::trimmed_mean(nights.subspan(from, point.night - from), trimmed_nights);
        point.after =
            stats::trimmed_mean(nights.subspan(point.night, to - point.night), trimmed_nights);
        if (point.before != 0) {
            point.change = (point.after - point.before) / std::abs(point.before);
        }
        point.worse = series.direction != model::Direction::none &&
                      (point.after > point.before) == (series.direction == model::Direction::lower);
        point.open = last;
        point.run = series.nights[point.night].run;
        for (const Evidence& each : evidence) {
            if (point.evidence.empty()) point.cause = each.cause;
            point.evidence += (point.evidence.empty() ? "" : "; ") + each.words;
        }
        if (evidence.empty()) count(moved_, point.run);
        seen_.push_back({series.device, !series.nights[point.night].code.empty() &&
                                            !series.nights[point.night - 1].code.empty()});
        changed.push_back(point.night);
        points_.push_back(std::move(point));
    }
    return changed;
}

std::vector<ChangePoint> Changes::points() const {
    std::vector<ChangePoint> points = points_;
    for (std::size_t i = 0; i < points.size(); ++i) {
        ChangePoint& point = points[i];
        if (!point.evidence.empty()) continue;
        const auto key = Place(seen_[i].device, point.run);
        const std::size_t cases = moved_.at(key).count, of = measured_.at(key).count;
        if (cases >= least_cases_of_machine &&
            static_cast<double>(cases) >= least_share_of_machine * static_cast<double>(of)) {
            point.cause = CauseClass::machine;
            point.evidence = fmt::format(
                "{} of {} cases of this device changed in the same run; code, driver and board did "
                "not, as far as they are known",
                cases, of);
        } else {
            point.evidence = seen_[i].code_known ? "code, method, driver and board are the same"
                                                 : "whether the code changed is not known";
        }
    }
    return points;
}

std::vector<Finding> Changes::findings() const {
    std::map<std::tuple<std::string, std::int64_t, CauseClass, std::string>, Finding> found;
    std::vector<ChangePoint> points = this->points();
    for (std::size_t i = 0; i < points.size(); ++i) {
        ChangePoint& point = points[i];
        const std::string& device = seen_[i].device;
        Finding& finding = found[{device, point.run, point.cause, point.evidence}];
        finding.device = device;
        finding.run = point.run;
        finding.cause = point.cause;
        finding.evidence = point.evidence;
        finding.worse = finding.worse || point.worse;
        finding.open = finding.open || point.open;
        finding.points.push_back(std::move(point));
    }
    std::vector<Finding> all;
    for (auto& [key, finding] : found) {
        std::ranges::stable_sort(finding.points, {}, [](const ChangePoint& point) {
            return std::tuple(!point.worse, -std::abs(point.change));
        });
        all.push_back(std::move(finding));
    }
    std::ranges::stable_sort(all, {}, [](const Finding& finding) {
        return std::tuple(finding.device, !finding.open, !finding.worse,
                          -std::abs(finding.points.front().change));
    });
    return all;
}

}  // namespace perfgate::history
