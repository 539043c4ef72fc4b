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

std::string where_text(const std::map<std::int64_t, Origin>& origins, std::int64_t run) {
    const Origin origin = origin_of(origins, run);
    return fmt::format("{} {:.12}", util::printable(origin.started.substr(0, 10)),
                       origin.revision.empty() ? "no revision" : util::printable(origin.revision));
}

/// Nothing where no run was judged.
std::string record_text(const std::vector<Month>& months) {
    std::string text;
    const auto known = [](const std::optional<std::int64_t>& count) {
        return count ? fmt::to_string(*count) : std::string("?");
    };
    for (const Month& month : months) {
        if (month.judged == 0) continue;
        text += fmt::format(
            "{}: {}, {} ({} false), {} acknowledged, {} accepted, {} measured again\n", month.month,
            util::counted(static_cast<std::size_t>(month.judged), "verdict"),
            util::counted(static_cast<std::size_t>(month.alarms), "alarm"), month.false_alarms,
            known(month.acknowledged), known(month.accepted),
            util::counted(static_cast<std::size_t>(month.reran), "run"));
    }
    return text;
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

Console::Console(const std::map<std::int64_t, Origin>& origins, bool all)
    : origins_(origins), all_(all), changes_(origins), record_(origins) {}

void Console::add(const std::vector<Series>& of_case) {
    std::vector<std::vector<std::size_t>> changed;
    for (const Series& series : of_case) {
        changed.push_back(changes_.add(series));
        const std::size_t number = series_++;
        if (!all_ && changed.back().empty()) continue;
        const std::vector<double> values = centres(series);
        shown_.push_back(
            {number, series.device, series.unit,
             fmt::format("  {}: {} {}  {}  {}\n    {}\n", util::printable(series.suite),
                         util::printable(series.id), util::printable(series.metric),
                         model::quantity_text(values.back(), series.unit),
                         util::counted(values.size(), "night"),
                         sparkline(values, sparkline_width))});
    }
    record_.add(of_case, changed);
}

std::string Console::finish(const std::optional<std::vector<model::Ledger>>& ledgers) {
    const std::vector<Finding> found = changes_.findings();
    std::map<std::size_t, std::vector<const ChangePoint*>> by_series;
    for (const Finding& finding : found) {
        for (const ChangePoint& point : finding.points) by_series[point.series].push_back(&point);
    }
    std::map<std::size_t, std::string> units;
    for (const Shown& shown : shown_) units[shown.series] = shown.unit;
    for (auto& [series, points] : by_series) std::ranges::sort(points, {}, &ChangePoint::night);
    std::ranges::stable_sort(shown_, {}, [&](const Shown& shown) {
        const auto points = by_series.find(shown.series);
        const ChangePoint* last = points == by_series.end() ? nullptr : points->second.back();
        return std::tuple(shown.device, last == nullptr, last != nullptr && !last->worse,
                          last == nullptr ? 0 : -std::abs(last->change));
    });
    const std::size_t changed = by_series.size();
    std::string text, device;
    const auto cause = [](const auto& of) {
        return fmt::format("{}: {}", to_text(of.cause), of.evidence);
    };
    for (const Shown& shown : shown_) {
        if (shown.device != device) {
            device = shown.device;
            text += fmt::format("{}{}\n", text.empty() ? "" : "\n", util::printable(device));
            for (const Finding& finding : found) {
                if (finding.device != device || finding.points.size() == 1) continue;
                const ChangePoint& largest = finding.points.front();
                const std::string moved =
                    model::moved_text(largest.before, largest.after, units.at(largest.series));
                text += fmt::format("  {}  {} series changed together{}  {}\n",
                                    where_text(origins_, finding.run), finding.points.size(),
                                    moved.empty() ? "" : fmt::format(", the largest {}", moved),
                                    cause(finding));
            }
        }
        text += shown.text;
        for (const ChangePoint* point : by_series[shown.series]) {
            const model::QuantityTexts values =
                model::quantity_texts(point->before, point->after, shown.unit);
            const std::string moved = model::moved_text(point->before, point->after, shown.unit);
            text += fmt::format("    {}  {} → {}{}  {}\n", where_text(origins_, point->run),
                                values.before, values.after,
                                moved.empty() ? "" : fmt::format(" ({})", moved), cause(*point));
        }
    }
    text += fmt::format("{}{} of {} series changed\n", text.empty() ? "" : "\n", changed, series_);
    if (ledgers) record_.add(*ledgers);
    return text + record_text(record_.months());
}

}  // namespace perfgate::history
