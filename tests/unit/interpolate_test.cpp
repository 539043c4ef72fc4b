// SPDX-License-Identifier: Apache-2.0
// What holds of any interpolation between key frames, and what the check must find.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "interpolate/problem.hpp"
#include "interpolate/reference.hpp"

namespace interpolate {
namespace {

// About the x axis.
Quaternion turn(double angle) {
    return {std::cos(angle / 2), std::sin(angle / 2), 0.0, 0.0};
}

double length(const Quaternion& q) {
    return std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}

Quaternion negated(Quaternion q) {
    for (double& element : q) element = -element;
    return q;
}

void expect_near(const Quaternion& a, const Quaternion& b, double within) {
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(a[i], b[i], within) << "element " << i;
}

const Quaternion kTilted{0.5, -0.5, 0.5, 0.5};

TEST(Slerp, BeginsAndEndsAtItsEnds) {
    expect_near(slerp(turn(0.3), kTilted, 0.0), turn(0.3), 1e-15);
    expect_near(slerp(turn(0.3), kTilted, 1.0), kTilted, 1e-15);
}

TEST(Slerp, TurnsAtConstantSpeed) {
    for (const double along : {0.0, 0.1, 0.25, 0.5, 0.9, 1.0}) {
        expect_near(slerp(turn(0.2), turn(1.7), along), turn(0.2 + 1.5 * along), 1e-14);
    }
}

TEST(Slerp, KeepsLengthOne) {
    for (const double along : {0.0, 0.3, 0.5, 0.99}) {
        EXPECT_NEAR(length(slerp(turn(2.9), kTilted, along)), 1.0, 1e-15);
    }
}

TEST(Slerp, TakesTheShorterWay) {
    // -q is the same rotation as q; going there directly would turn the long way round.
    expect_near(slerp(turn(0.2), negated(turn(1.0)), 0.5), turn(0.6), 1e-14);
}

TEST(Slerp, IsSymmetric) {
    expect_near(slerp(turn(0.4), turn(1.9), 0.3), slerp(turn(1.9), turn(0.4), 0.7), 1e-14);
}

TEST(Slerp, BetweenEqualRotationsStaysThere) {
    for (const double along : {0.0, 0.5, 1.0}) {
        expect_near(slerp(kTilted, kTilted, along), kTilted, 1e-15);
        expect_near(slerp(kTilted, negated(kTilted), along), kTilted, 1e-15);
    }
}

TEST(Slerp, BetweenNearlyEqualRotationsIsExact) {
    expect_near(slerp(turn(0.5), turn(0.5 + 1e-7), 0.5), turn(0.5 + 0.5e-7), 1e-15);
}

TEST(Locate, FindsTheStretchAndTheShareOfTheWay) {
    const std::vector<float> times{1.0f, 2.0f, 4.0f};
    const auto expect_place = [&](float time, int left, double along) {
        const Place place = locate(times, time);
        EXPECT_EQ(place.left, left) << "at " << time;
        EXPECT_DOUBLE_EQ(place.along, along) << "at " << time;
    };
    expect_place(1.0f, 0, 0.0);
    expect_place(1.5f, 0, 0.5);
    expect_place(2.0f, 1, 0.0);
    expect_place(3.0f, 1, 0.5);
    expect_place(4.0f, 1, 1.0);
    expect_place(0.5f, 0, -0.5);
    expect_place(5.0f, 1, 1.5);
}

TEST(Finish, BringsValuesIntoTheirRange) {
    EXPECT_DOUBLE_EQ(finish(Finish::kExp, 0.0), 1.0);
    EXPECT_DOUBLE_EQ(finish(Finish::kSigmoid, 0.0), 0.5);
    EXPECT_DOUBLE_EQ(finish(Finish::kSigmoid, 2.0) + finish(Finish::kSigmoid, -2.0), 1.0);
    EXPECT_DOUBLE_EQ(finish(Finish::kClamp, -0.1), 0.0);
    EXPECT_DOUBLE_EQ(finish(Finish::kClamp, 1.1), 1.0);
    EXPECT_DOUBLE_EQ(finish(Finish::kClamp, 0.4), 0.4);
    EXPECT_DOUBLE_EQ(finish(Finish::kNone, -7.0), -7.0);
}

constexpr Problem kProblem{517, 3, 5};

TEST(Scene, IsAFunctionOfItsSeed) {
    const Scene a = make_scene(kProblem, 4);
    const Scene b = make_scene(kProblem, 4);
    EXPECT_EQ(a.frames, b.frames);
    EXPECT_EQ(a.time, b.time);
    EXPECT_NE(a.frames, make_scene(kProblem, 5).frames);
}

TEST(Scene, HasAscendingTimesAndIsWantedWithinThem) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const Scene scene = make_scene({1, 1, 7}, seed);
        for (std::size_t i = 1; i < scene.times.size(); ++i) {
            EXPECT_LT(scene.times[i - 1], scene.times[i]);
        }
        EXPECT_GE(scene.time, scene.times.front());
        EXPECT_LE(scene.time, scene.times.back());
    }
}

TEST(Scene, HasRotationsOfLengthOneEqualOnesAndBothSigns) {
    const Scene scene = make_scene(kProblem, 9);
    const std::vector<float>& rotations = scene.frames[kRotation];
    const std::size_t frame = kProblem.elements(kAllFields[kRotation]);
    int equal = 0;
    int opposite = 0;
    for (std::size_t i = 0; i < rotations.size(); i += 4) {
        double squares = 0.0;
        for (std::size_t d = 0; d < 4; ++d) {
            squares +=
                static_cast<double>(rotations[i + d]) * static_cast<double>(rotations[i + d]);
        }
        EXPECT_NEAR(squares, 1.0, 1e-6);
        if (i < frame) continue;
        double cosine = 0.0;
        for (std::size_t d = 0; d < 4; ++d) {
            cosine += static_cast<double>(rotations[i + d]) *
                      static_cast<double>(rotations[i + d - frame]);
        }
        // Far from a right angle, where the shorter way is a matter of rounding.
        EXPECT_GT(std::abs(cosine), 0.1);
        equal += std::abs(cosine) > 1.0 - 1e-6;
        opposite += cosine < 0.0;
    }
    EXPECT_GT(equal, 100);
    EXPECT_GT(opposite, 500);
}

class Check : public testing::Test {
  protected:
    Scene scene = make_scene(kProblem, 2);
    Result result = interpolate_scene(kProblem, scene);
    CheckReport check() const { return check_result(kProblem, scene, result); }
};

TEST_F(Check, AcceptsTheReference) {
    EXPECT_TRUE(check().passed) << check().detail;
}

TEST_F(Check, ResultAtAKeyFrameIsThatFrame) {
    scene.time = scene.times[2];
    result = interpolate_scene(kProblem, scene);
    const std::size_t means = kProblem.elements(kAllFields[kMean]);
    for (std::size_t i = 0; i < means; ++i) {
        EXPECT_EQ(result[kMean][i], scene.frames[kMean][2 * means + i]);
    }
}

TEST_F(Check, FindsAnElementThatWasNeverWrittenInEveryField) {
    for (std::size_t f = 0; f < kFields; ++f) {
        result = interpolate_scene(kProblem, scene);
        result[f].back() = std::numeric_limits<float>::quiet_NaN();
        EXPECT_FALSE(check().passed);
        EXPECT_NE(check().detail.find(kAllFields[f].name), std::string::npos) << check().detail;
    }
}

TEST_F(Check, FindsTheOtherFrameAndTheOtherWayRound) {
    Scene other = scene;
    other.time = scene.times[1] + scene.times[2] - scene.time;
    result = interpolate_scene(kProblem, other);
    EXPECT_FALSE(check().passed);

    result = interpolate_scene(kProblem, scene);
    for (std::size_t d = 0; d < 4; ++d) result[kRotation][400 + d] *= -1.0f;
    EXPECT_FALSE(check().passed);
}

TEST_F(Check, FindsARotationThatIsNotOfLengthOne) {
    for (std::size_t d = 0; d < 4; ++d) result[kRotation][8 + d] *= 1.0001f;
    EXPECT_FALSE(check().passed);
    EXPECT_NE(check().detail.find("rotation[2, "), std::string::npos) << check().detail;
}

TEST_F(Check, FindsAFieldOfTheWrongSize) {
    result[kColour].pop_back();
    EXPECT_FALSE(check().passed);
}

}  // namespace
}  // namespace interpolate
