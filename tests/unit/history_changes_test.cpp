// SPDX-License-Identifier: Apache-2.0
#include "history/changes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "history/places.hpp"
#include "history/show.hpp"
#include "unit/simulated.hpp"

namespace perfgate::history {
namespace {

using simulated::Random;

constexpr std::size_t year = 365;

/// Five processes a night, spread by 0.3 %, around `level(night)`; a night itself is off by 0.2 %.
Series nights(Random& random, std::size_t count, const std::function<double(std::size_t)>& level,
              const simulated::Shape& shape = simulated::normal) {
    Series series{.device = "gpu",
                  .suite = "s",
                  .id = "w/v",
                  .metric = "gpu_time",
                  .unit = "ns",
                  .tolerance = 0.04,
                  .nights = {}};
    for (std::size_t i = 0; i < count; ++i) {
        Night night{.run = static_cast<std::int64_t>(i),
                    .code = "c",
                    .inputs = "i",
                    .method = "m",
                    .verdict = {},
                    .clock_mhz = {},
                    .values = {}};
        const double off = 0.002 * random.normal();
        for (int process = 0; process < 5; ++process) {
            night.values.push_back(1000 * level(i) * std::exp(off + 0.003 * shape(random)));
        }
        series.nights.push_back(std::move(night));
    }
    return series;
}

double steady(std::size_t) {
    return 1;
}

std::function<double(std::size_t)> step(std::size_t at, double size) {
    return [=](std::size_t night) { return night < at ? 1.0 : 1 + size; };
}

std::map<std::int64_t, Origin> origins(std::size_t count) {
    std::map<std::int64_t, Origin> found;
    for (std::size_t i = 0; i < count; ++i) {
        found[static_cast<std::int64_t>(i)] = {.device = "gpu",
                                               .board = "b",
                                               .driver = "1",
                                               .toolkit = "13.0",
                                               .tool = "1",
                                               .revision = "r" + std::to_string(i),
                                               .started = "2026-01-01T00:00:00Z",
                                               .ordered = static_cast<std::int64_t>(i)};
    }
    return found;
}

Changes changes(const std::vector<Series>& series, const std::map<std::int64_t, Origin>& where) {
    Changes found(where);
    for (const Series& each : series) found.add(each);
    return found;
}

std::size_t false_points(int years, const simulated::Shape& shape,
                         const std::function<double(std::size_t)>& level = steady) {
    Random random(7);
    std::size_t found = 0;
    for (int i = 0; i < years; ++i)
        found += change_places(nights(random, year, level, shape)).size();
    return found;
}

TEST(ChangePoints, UnchangedNightsOfEveryShapeHaveAtMostOneInTenThousand) {
    constexpr int years = 55;  // 20,075 nights of each shape
    EXPECT_LE(false_points(years, simulated::normal), 2u);
    EXPECT_LE(false_points(years, simulated::skewed), 2u);
    EXPECT_LE(false_points(years, simulated::bimodal), 2u);
    EXPECT_LE(false_points(years, simulated::seldom_fast), 2u);
    EXPECT_LE(false_points(years, simulated::heavy_tailed), 2u);
}

/// As large as the spread of nights.
std::function<double(std::size_t)> wave(double nights_of_turn) {
    return [=](std::size_t night) {
        const double turn = static_cast<double>(night) / nights_of_turn;
        return 1 + 0.0025 * std::sin(2 * std::numbers::pi * turn);
    };
}

TEST(ChangePoints, WeeksAndSeasonsAreNoSteps) {
    EXPECT_LE(false_points(28, simulated::normal, wave(7)), 1u);
    EXPECT_LE(false_points(28, simulated::normal, wave(60)), 1u);
    EXPECT_LE(false_points(28, simulated::normal, wave(120)), 1u);
    EXPECT_LE(false_points(28, simulated::normal, wave(365)), 1u);
}

TEST(ChangePoints, ADriftIsNoStep) {
    EXPECT_LE(
        false_points(28, simulated::normal,
                     [](std::size_t night) { return 1 + 0.00003 * static_cast<double>(night); }),
        1u);
}

TEST(ChangePoints, AStepIsFoundAtItsNight) {
    Random random(3);
    int found = 0, exact = 0;
    for (int i = 0; i < 50; ++i) {
        const std::vector<Place> places = change_places(nights(random, 120, step(60, 0.02)));
        found += places.size() == 1;
        exact += places.size() == 1 && places[0].night == 60;
    }
    EXPECT_GE(found, 48);
    EXPECT_GE(exact, 46);
}

TEST(ChangePoints, AStepOfOnePercentIsFoundWithinSixNights) {
    Random random(4);
    int found = 0;
    for (int i = 0; i < 50; ++i)
        found += !change_places(nights(random, 66, step(60, 0.01))).empty();
    EXPECT_GE(found, 40);
}

TEST(ChangePoints, OneNightThatIsOffIsNoChange) {
    Random random(5);
    for (int i = 0; i < 20; ++i) {
        const Series series = nights(
            random, 100, [](std::size_t night) { return night == 50 || night == 99 ? 1.5 : 1.0; });
        EXPECT_TRUE(change_places(series).empty());
    }
}

TEST(ChangePoints, ShortSeriesAbstain) {
    Random random(6);
    EXPECT_TRUE(change_places(nights(random, 0, steady)).empty());
    EXPECT_TRUE(change_places(nights(random, 1, steady)).empty());
    EXPECT_TRUE(change_places(nights(random, 6, step(3, 0.5))).empty());
}

TEST(ChangePoints, AnExactMetricChangesInOneNight) {
    Random random(8);
    Series series = nights(random, 10, steady);
    series.metric_class = model::MetricClass::exact;
    for (std::size_t i = 0; i < 10; ++i) series.nights[i].values = {i < 9 ? 4096.0 : 4097.0};
    EXPECT_EQ((std::vector<Place>{{9, 9, 9}}), change_places(series));
}

TEST(ChangePoints, TheSameInputGivesTheSameAnswer) {
    Random random(9);
    const std::vector<Series> series{nights(random, 200, step(100, 0.03))};
    const auto where = origins(200);
    EXPECT_EQ(changes(series, where).points(), changes(series, where).points());
}

/// The one change of a series that is 10 % slower from night 30 on.
ChangePoint one_change(
    const std::function<void(Series&, std::map<std::int64_t, Origin>&)>& change) {
    Random random(10);
    std::vector<Series> series{nights(random, 60, step(30, 0.1))};
    std::map<std::int64_t, Origin> where = origins(60);
    change(series[0], where);
    const std::vector<ChangePoint> points = changes(series, where).points();
    EXPECT_EQ(1u, points.size());
    return points.empty() ? ChangePoint() : points[0];
}

TEST(Causes, EachIsSaidByItsEvidence) {
    const auto after = [](auto what) {
        return [=](Series& series, std::map<std::int64_t, Origin>& where) {
            for (std::size_t i = 30; i < 60; ++i)
                what(series.nights[i], where[static_cast<int>(i)]);
        };
    };
    using N = Night;
    using O = Origin;
    EXPECT_EQ(CauseClass::unexplained, one_change([](auto&, auto&) {}).cause);
    EXPECT_EQ(CauseClass::code, one_change(after([](N& n, O&) { n.code = "d"; })).cause);
    EXPECT_EQ(CauseClass::method, one_change(after([](N& n, O&) { n.method = "x"; })).cause);
    EXPECT_EQ(CauseClass::inputs, one_change(after([](N& n, O&) { n.inputs = "x"; })).cause);
    EXPECT_EQ(CauseClass::driver, one_change(after([](N&, O& o) { o.driver = "2"; })).cause);
    EXPECT_EQ(CauseClass::driver, one_change(after([](N&, O& o) { o.toolkit = "13.1"; })).cause);
    EXPECT_EQ(CauseClass::machine, one_change(after([](N&, O& o) { o.board = "c"; })).cause);
    const auto clocks = [](double before, double now) {
        return [=](Series& series, auto&) {
            for (std::size_t i = 0; i < 60; ++i) series.nights[i].clock_mhz = i < 30 ? before : now;
        };
    };
    EXPECT_EQ(CauseClass::machine, one_change(clocks(1980, 1755)).cause);
    EXPECT_EQ("the SM clock changed: 1980 → 1755 MHz", one_change(clocks(1980, 1755)).evidence);
    EXPECT_EQ(CauseClass::unexplained, one_change(clocks(1980, 1970)).cause);
    const ChangePoint slower = one_change([](auto&, auto&) {});
    EXPECT_TRUE(slower.worse);
    EXPECT_TRUE(slower.open);
    EXPECT_NEAR(0.1, slower.change, 0.005);
}

TEST(Causes, AnUncertainNightIsPlacedWhereTheCodeChanged) {
    const ChangePoint point = one_change([](Series& series, auto&) {
        // Between both levels: night 30 may belong to either side.
        for (double& value : series.nights[30].values) value = 1050;
        for (std::size_t i = 31; i < 60; ++i) series.nights[i].code = "d";
    });
    EXPECT_EQ(31u, point.night);
    EXPECT_EQ(CauseClass::code, point.cause);
}

TEST(Causes, TwoThatChangeInOneNightAreBothNamed) {
    const ChangePoint point = one_change([](Series& series, auto& where) {
        for (std::size_t i = 30; i < 60; ++i) {
            series.nights[i].code = "d";
            where[static_cast<int>(i)].driver = "2";
        }
    });
    EXPECT_EQ(CauseClass::code, point.cause);
    EXPECT_NE(std::string::npos, point.evidence.find("the driver changed: 1 → 2"));
}

TEST(ChangePoints, ThreeNightsThatEndAgainAreNoChange) {
    Random random(12);
    EXPECT_TRUE(change_places(nights(random, 120, [](std::size_t night) {
                    return night >= 60 && night < 63 ? 1.2 : 1.0;
                })).empty());
}

TEST(ChangePoints, ChangesNearEachOtherDoNotHideEachOther) {
    Random random(5);
    for (const std::size_t each : {12, 30}) {
        for (const double first : {0.5, 0.95}) {
            const auto level = [&](std::size_t night) {
                return night < each ? 1.0 : night < 2 * each ? first : (1 + 4 * first) / 5 + 0.02;
            };
            const std::vector<Place> found = change_places(nights(random, 3 * each, level));
            ASSERT_EQ(2u, found.size()) << each << ' ' << first;
            EXPECT_NEAR(static_cast<double>(each), static_cast<double>(found[0].night), 1);
            EXPECT_NEAR(static_cast<double>(2 * each), static_cast<double>(found[1].night), 1);
        }
    }
}

TEST(ChangePoints, FortyNightsHaveAsManyPlacesElsewhereAsWindowsOfSixNeed) {
    for (const std::uint64_t seed : {12, 21}) {
        Random random(seed);
        EXPECT_EQ(1u, change_places(nights(random, 40, step(20, 0.014))).size()) << seed;
    }
}

TEST(ChangePoints, NoiseBeforeAnotherChangeDoesNotHideAChange) {
    Random random(8), noise(9);
    std::vector<double> levels;
    for (std::size_t night = 0; night < 1500; ++night) {
        const double noisy = night >= 1400 && night < 1440 ? 0.05 * noise.normal() : 0;
        levels.push_back(night < 1440 ? 1 + noisy : night < 1455 ? 0.5 : 0.504);
    }
    const std::vector<Place> found =
        change_places(nights(random, 1500, [&](std::size_t night) { return levels[night]; }));
    EXPECT_TRUE(std::ranges::any_of(
        found, [](const Place& place) { return place.night >= 1453 && place.night <= 1457; }));
}

TEST(ChangePoints, BadNightsNearEachOtherAreNoLevel) {
    Random random(13);
    EXPECT_TRUE(change_places(nights(random, 200, [](std::size_t night) {
                    return night == 100 || night == 101 || night == 103 || night == 104 ? 1.05
                                                                                        : 1.0;
                })).empty());
    EXPECT_EQ(2u, change_places(nights(random, 200,
                                       [](std::size_t night) {
                                           return night >= 100 && night < 106 ? 1.05 : 1.0;
                                       }))
                      .size())
        << "six nights in a row are one";
}

TEST(ChangePoints, ARandomWalkHasAtMostOneInTenThousand) {
    std::size_t found = 0;
    for (std::uint64_t i = 0; i < 55; ++i) {
        Random random(100 + i);
        std::vector<double> level(year, 1);
        for (std::size_t night = 1; night < year; ++night) {
            level[night] = level[night - 1] * (1 + 0.00024 * random.normal());
        }
        const auto walk = [&](std::size_t night) { return level[night]; };
        found += change_places(nights(random, year, walk)).size();
    }
    EXPECT_LE(found, 2u);
}

TEST(Causes, ManyCasesAtOnceWithTheSameCodeAreTheMachine) {
    Random random(11);
    std::vector<Series> series;
    for (int i = 0; i < 5; ++i) {
        series.push_back(nights(random, 60, i < 3 ? step(30, 0.1) : steady));
        series.back().id = "w/v" + std::to_string(i);
    }
    const auto where = origins(60);
    const std::vector<ChangePoint> points = changes(series, where).points();
    ASSERT_EQ(3u, points.size());
    for (const ChangePoint& point : points) EXPECT_EQ(CauseClass::machine, point.cause);
    const std::vector<Finding> found = changes(series, where).findings();
    ASSERT_EQ(1u, found.size());
    EXPECT_EQ(3u, found[0].points.size());
    EXPECT_TRUE(found[0].worse);
    EXPECT_TRUE(found[0].open);
    series.resize(2);
    for (const ChangePoint& point : changes(series, where).points()) {
        EXPECT_EQ(CauseClass::unexplained, point.cause);
    }
}

TEST(Sparkline, ShowsMediansOfAsManyValues) {
    EXPECT_EQ("", sparkline({}, 10));
    EXPECT_EQ("▁▁▁", sparkline(std::vector<double>{2, 2, 2}, 10));
    EXPECT_EQ("▁█", sparkline(std::vector<double>{1, 1, 9, 2, 2, 2}, 2));
}

}  // namespace
}  // namespace perfgate::history
