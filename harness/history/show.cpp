// SPDX-License-Identifier: Apache-2.0
#include "history/show.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>

#include "history/places.hpp"
#include "model/quantity.hpp"
#include "stats/quantiles.hpp"
#include "util/text.hpp"

namespace perfgate::history {

namespace {

constexpr std::size_t sparkline_width = 60;

std::string where_text(const Origin& origin) {
    return fmt::format("{} {:.12}", util::printable(origin.started.substr(0, 10)),
                       origin.revision.empty() ? "no revision" : util::printable(origin.revision));
}

/// A line for several series that changed together.
std::string finding_text(const std::vector<Series>& series, const Finding& finding,
                         const std::map<std::int64_t, Origin>& origins) {
    const ChangePoint& largest = finding.points.front();
    const Series& one = series[largest.series];
    const std::string moved = model::moved_text(largest.before, largest.after, one.unit);
    return fmt::format("  {}  {} series changed together{}  {}: {}\n",
                       where_text(origin_of(origins, one.nights[largest.night])),
                       finding.points.size(),
                       moved.empty() ? "" : fmt::format(", the largest {}", moved),
                       to_text(finding.cause), finding.evidence);
}

std::string point_text(const Series& series, const ChangePoint& point,
                       const std::map<std::int64_t, Origin>& origins) {
    const Origin origin = origin_of(origins, series.nights[point.night]);
    const model::QuantityTexts values =
        model::quantity_texts(point.before, point.after, series.unit);
    const std::string moved = model::moved_text(point.before, point.after, series.unit);
    return fmt::format("    {}  {} → {}{}  {}: {}\n", where_text(origin), values.before,
                       values.after, moved.empty() ? "" : fmt::format(" ({})", moved),
                       to_text(point.cause), point.evidence);
}

}  // namespace

std::string sparkline(std::span<const double> values, std::size_t width) {
    static constexpr std::string_view bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    if (values.empty()) return {};
    width = std::min(width, values.size());
    std::vector<double> heights;
    for (std::size_t i = 0; i < width; ++i) {
        const std::size_t from = i * values.size() / width, to = (i + 1) * values.size() / width;
        heights.push_back(stats::median(values.subspan(from, to - from)));
    }
    const auto [low, high] = std::ranges::minmax(heights);
    std::string text;
    for (const double height : heights) {
        const double share = high > low ? (height - low) / (high - low) : 0;
        text += bars[static_cast<std::size_t>(std::clamp(std::lround(share * 7), 0L, 7L))];
    }
    return text;
}

std::string write_console(const std::vector<Series>& series,
                          const std::map<std::int64_t, Origin>& origins, bool all) {
    Changes changes(origins);
    for (const Series& each : series) changes.add(each);
    const std::vector<Finding> found = changes.findings();
    std::vector<std::vector<const ChangePoint*>> by_series(series.size());
    for (const Finding& finding : found) {
        for (const ChangePoint& point : finding.points) by_series[point.series].push_back(&point);
    }
    for (std::vector<const ChangePoint*>& points : by_series) {
        std::ranges::sort(points, {}, &ChangePoint::night);
    }
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < series.size(); ++i) {
        if (all || !by_series[i].empty()) order.push_back(i);
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
        const ChangePoint* last = by_series[i].empty() ? nullptr : by_series[i].back();
        return std::tuple(series[i].device, last == nullptr, last != nullptr && !last->worse,
                          last == nullptr ? 0 : -std::abs(last->change));
    });
    std::string text;
    std::string device;
    for (const std::size_t i : order) {
        const Series& one = series[i];
        if (one.device != device) {
            device = one.device;
            text += fmt::format("{}{}\n", text.empty() ? "" : "\n", util::printable(device));
            for (const Finding& finding : found) {
                if (finding.device == device && finding.points.size() > 1) {
                    text += finding_text(series, finding, origins);
                }
            }
        }
        const std::vector<double> values = centres(one);
        text += fmt::format("  {}: {} {}  {}  {}\n", util::printable(one.suite),
                            util::printable(one.id), util::printable(one.metric),
                            model::quantity_text(values.back(), one.unit),
                            util::counted(values.size(), "night"));
        text += fmt::format("    {}\n", sparkline(values, sparkline_width));
        for (const ChangePoint* point : by_series[i]) text += point_text(one, *point, origins);
    }
    std::size_t changed = 0;
    for (const auto& points : by_series) changed += points.empty() ? 0 : 1;
    text += fmt::format("{}{} of {} series changed\n", text.empty() ? "" : "\n", changed,
                        series.size());
    return text;
}

}  // namespace perfgate::history
