// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "render_backward/checker.hpp"
#include "render_backward/reference.hpp"
#include "render_backward/scene.hpp"

namespace {

using namespace render_backward;

constexpr std::uint64_t kSeed = 7;

// Neither image divides by the size of a tile.
Problem small(Density density = Density::kDense) {
    return {.gaussians = 3000,
            .density = density,
            .camera_width = 75,
            .camera_height = 50,
            .lidar_columns = 101,
            .lidar_beams = 21};
}

// A scene after the forward pass, and the float64 gradients.
struct Solved {
    explicit Solved(Sensor sensor, const Problem& problem = small(), std::uint64_t seed = kSeed)
        : scene(make_scene(problem, sensor, seed)),
          gradients(static_cast<std::size_t>(problem.gaussians) * kFields) {
        forward_reference(scene);
        backward_reference(scene.view(), gradients);
    }
    std::size_t gaussians() const { return gradients.size() / kFields; }
    std::vector<float> rounded() const { return {gradients.begin(), gradients.end()}; }
    CheckReport check(const std::vector<float>& values, double evaluations = kEvaluations,
                      unsigned threads = 0) const {
        return check_gradients(make_reference(scene.view(), gaussians(), 99, evaluations, threads),
                               values.data());
    }

    Scene scene;
    std::vector<double> gradients;
};

class RenderBackward : public testing::TestWithParam<Sensor> {};

INSTANTIATE_TEST_SUITE_P(, RenderBackward, testing::Values(Sensor::kCamera, Sensor::kLidar),
                         [](const auto& test) {
                             return std::string(test.param == Sensor::kCamera ? "Camera" : "Lidar");
                         });

TEST_P(RenderBackward, GradientsAgreeWithFiniteDifferences) {
    for (const Density density : {Density::kDense, Density::kSparse}) {
        const Solved solved(GetParam(), small(density));
        const CheckReport report = check_by_differences(solved.scene.view(), solved.gaussians(),
                                                        solved.gradients.data(), 1, 60);
        EXPECT_TRUE(report.passed) << report.detail;
    }
}

TEST_P(RenderBackward, FiniteDifferencesFindEachFieldThatIsWrong) {
    const Solved solved(GetParam());
    for (std::size_t field = 0; field < kFields; ++field) {
        std::vector<double> wrong = solved.gradients;
        for (std::size_t i = field; i < wrong.size(); i += kFields) wrong[i] *= 1.001;
        EXPECT_FALSE(
            check_by_differences(solved.scene.view(), solved.gaussians(), wrong.data(), 1, 10)
                .passed)
            << field;
    }
}

TEST_P(RenderBackward, RightGradientsPass) {
    const Solved solved(GetParam());
    const CheckReport report = solved.check(solved.rounded());
    EXPECT_TRUE(report.passed) << report.detail;
}

TEST_P(RenderBackward, AWrongGradientIsFoundByName) {
    const Solved solved(GetParam());
    std::vector<float> wrong = solved.rounded();
    std::size_t at = kMeanX;
    for (std::size_t i = kMeanX; i < wrong.size(); i += kFields) {
        if (std::abs(wrong[i]) > std::abs(wrong[at])) at = i;
    }
    wrong[at] *= 1.1f;
    const CheckReport report = solved.check(wrong);
    EXPECT_FALSE(report.passed);
    EXPECT_NE(report.detail.find("Gaussian " + std::to_string(at / kFields) + " by mean_x"),
              std::string::npos)
        << report.detail;
}

TEST_P(RenderBackward, AnElementThatWasNeverWrittenIsFound) {
    const Solved solved(GetParam());
    std::vector<float> wrong = solved.rounded();
    wrong.back() = std::numeric_limits<float>::quiet_NaN();
    EXPECT_NE(solved.check(wrong).detail.find("nan"), std::string::npos);
}

TEST_P(RenderBackward, AGaussianOutOfSightHasNoGradient) {
    const Solved solved(GetParam());
    std::set<std::uint32_t> listed;
    for (const std::uint32_t index : solved.scene.order) {
        listed.insert(solved.scene.splats[index].gaussian);
    }
    std::size_t hidden = 0;
    while (listed.count(static_cast<std::uint32_t>(hidden)) != 0) ++hidden;
    ASSERT_LT(hidden, solved.gaussians());
    std::vector<float> wrong = solved.rounded();
    wrong[hidden * kFields + kOpacity] = 1e-9f;
    EXPECT_NE(solved.check(wrong).detail.find("no tile lists it"), std::string::npos);
}

// With an allowance that few tiles fit, what is not compared is still added up.
TEST_P(RenderBackward, ASampleStillSeesASumThatIsWrong) {
    const Solved solved(GetParam());
    constexpr double kFewTiles = 1.0;
    EXPECT_TRUE(solved.check(solved.rounded(), kFewTiles).passed)
        << solved.check(solved.rounded(), kFewTiles).detail;
    std::vector<float> wrong = solved.rounded();
    for (std::size_t i = 1; i < wrong.size(); i += kFields) wrong[i] *= 1.001f;
    EXPECT_FALSE(solved.check(wrong, kFewTiles).passed);
}

TEST_P(RenderBackward, AForwardPassThatStoppedEarlyIsFound) {
    Solved solved(GetParam());
    auto& walked = solved.scene.walked;
    const auto longest = std::max_element(walked.begin(), walked.end());
    *longest /= 2;
    EXPECT_NE(solved.check(solved.rounded()).detail.find("the forward pass"), std::string::npos);
}

TEST_P(RenderBackward, VerdictAndSceneDoNotDependOnTheThreads) {
    const Solved solved(GetParam());
    const Scene one = make_scene(small(), GetParam(), kSeed, 1);
    const Scene many = make_scene(small(), GetParam(), kSeed, 5);
    EXPECT_EQ(one.order, many.order);
    EXPECT_EQ(one.tile_begin, many.tile_begin);
    EXPECT_EQ(solved.check(solved.rounded(), kEvaluations, 1).detail,
              solved.check(solved.rounded(), kEvaluations, 5).detail);
}

TEST_P(RenderBackward, ListsAreSortedByDepthAndNameASplatOnce) {
    const Scene scene = make_scene(small(), GetParam(), kSeed);
    const View view = scene.view();
    for (int tile = 0; tile < tile_count(view); ++tile) {
        std::set<std::uint32_t> seen;
        float depth = 0.0f;
        for (std::uint32_t i = view.tile_begin[tile]; i < view.tile_begin[tile + 1]; ++i) {
            EXPECT_TRUE(seen.insert(view.order[i]).second);
            EXPECT_LE(depth, view.splats[view.order[i]].depth);
            depth = view.splats[view.order[i]].depth;
        }
    }
}

// Binning is an approximation of nothing: a pixel that a splat reaches is in a tile that lists it.
TEST_P(RenderBackward, EveryTileListsWhatReachesItsPixels) {
    const Scene scene = make_scene(small(), GetParam(), kSeed);
    const View view = scene.view();
    const int across = tiles_over(view.width);
    std::vector<std::set<std::uint32_t>> listed(static_cast<std::size_t>(tile_count(view)));
    for (std::size_t tile = 0; tile < listed.size(); ++tile) {
        listed[tile].insert(view.order + view.tile_begin[tile],
                            view.order + view.tile_begin[tile + 1]);
    }
    for (std::uint32_t i = 0; i < scene.splats.size(); ++i) {
        const Splat& splat = scene.splats[i];
        for (int row = 0; row < view.height; ++row) {
            for (int column = 0; column < view.width; ++column) {
                const float dx = offset_x(view.sensor, splat.mean_x,
                                          static_cast<float>(column) + 0.5f, view.width);
                const float dy = splat.mean_y - view.row_y[row];
                if (!reaches(splat, power_at(splat, dx, dy))) continue;
                const auto tile = static_cast<std::size_t>(row / kTile * across + column / kTile);
                ASSERT_EQ(listed[tile].count(i), 1u)
                    << "splat " << i << " at column " << column << ", row " << row;
            }
        }
    }
}

TEST_P(RenderBackward, LightAndWeightsAddUpToOne) {
    const Solved solved(GetParam());
    for (std::size_t at = 0; at < solved.scene.pixels(); ++at) {
        EXPECT_GE(solved.scene.light[at], kLeastLight * 0.999f);
        EXPECT_LE(solved.scene.light[at], 1.0f);
    }
    // Some pixels are opaque, some empty, or the scene tests nothing.
    const auto [least, most] =
        std::minmax_element(solved.scene.light.begin(), solved.scene.light.end());
    EXPECT_LT(*least, 2e-3f);
    EXPECT_GT(*most, 0.5f);
}

TEST_P(RenderBackward, OneGaussianAndOnePixelAreAScene) {
    Problem tiny = small();
    tiny.camera_width = tiny.camera_height = tiny.lidar_columns = tiny.lidar_beams = 1;
    for (const int gaussians : {1, 50}) {
        tiny.gaussians = gaussians;
        const Solved solved(GetParam(), tiny);
        const CheckReport report = solved.check(solved.rounded());
        EXPECT_TRUE(report.passed) << report.detail;
    }
}

TEST(RenderBackwardLidar, SplatsAreSeenAcrossTheSeam) {
    const Scene scene = make_scene(small(), Sensor::kLidar, kSeed);
    const View view = scene.view();
    const int across = tiles_over(view.width);
    bool found = false;
    for (int tile = 0; tile < tile_count(view); tile += across) {  // the first column of tiles
        for (std::uint32_t i = view.tile_begin[tile]; i < view.tile_begin[tile + 1]; ++i) {
            found |= view.splats[view.order[i]].mean_x > 0.9f * static_cast<float>(view.width);
        }
    }
    EXPECT_TRUE(found);
}

}  // namespace
