// SPDX-License-Identifier: Apache-2.0
#include "interpolate/reference.hpp"

#include <algorithm>
#include <cmath>

#include "common/parallel.hpp"
#include "common/tally.hpp"

namespace interpolate {
namespace {

// Rounding of f32 arithmetic, of a few operations each; exp doubles its argument's error at most
// e^2 times over the range of the inputs.
constexpr double kAllowed = 1e-5;

double dot(const Quaternion& a, const Quaternion& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

Quaternion quaternion(const float* q) {
    return {static_cast<double>(q[0]), static_cast<double>(q[1]), static_cast<double>(q[2]),
            static_cast<double>(q[3])};
}

// Calls result(element, value) for elements first to end, whole rotations, of a field.
template <class Visit>
void interpolate_field(const Field& field, std::size_t per_frame, const std::vector<float>& frames,
                       const Place& place, std::size_t first, std::size_t end, Visit&& result) {
    const float* a = frames.data() + static_cast<std::size_t>(place.left) * per_frame;
    const float* b = a + per_frame;
    if (field.finish == Finish::kUnit) {
        for (std::size_t i = first; i < end; i += 4) {
            const Quaternion q = slerp(quaternion(a + i), quaternion(b + i), place.along);
            for (std::size_t d = 0; d < 4; ++d) result(i + d, q[d]);
        }
        return;
    }
    for (std::size_t i = first; i < end; ++i) {
        const double from = static_cast<double>(a[i]);
        const double to = static_cast<double>(b[i]);
        result(i, finish(field.finish, from + (to - from) * place.along));
    }
}

}  // namespace

Place locate(const std::vector<float>& times, float time) {
    const auto after = std::upper_bound(times.begin(), times.end(), time) - times.begin();
    const auto right =
        std::clamp<std::ptrdiff_t>(after, 1, static_cast<std::ptrdiff_t>(times.size()) - 1);
    const double begin = static_cast<double>(times[static_cast<std::size_t>(right - 1)]);
    const double end = static_cast<double>(times[static_cast<std::size_t>(right)]);
    return {static_cast<int>(right - 1), (static_cast<double>(time) - begin) / (end - begin)};
}

Quaternion slerp(const Quaternion& a, Quaternion b, double along) {
    double cosine = dot(a, b);
    if (cosine < 0.0) {
        for (double& element : b) element = -element;
        cosine = -cosine;
    }
    double from = 1.0 - along;
    double to = along;
    const double angle = std::acos(std::min(cosine, 1.0));
    // Below, sines are their arguments to double's last digit.
    if (angle > 1e-8) {
        from = std::sin(from * angle) / std::sin(angle);
        to = std::sin(to * angle) / std::sin(angle);
    }
    Quaternion q;
    for (std::size_t i = 0; i < 4; ++i) q[i] = from * a[i] + to * b[i];
    const double length = std::sqrt(dot(q, q));
    for (double& element : q) element /= length;
    return q;
}

double finish(Finish what, double value) {
    switch (what) {
        case Finish::kExp:
            return std::exp(value);
        case Finish::kSigmoid:
            return 1.0 / (1.0 + std::exp(-value));
        case Finish::kClamp:
            return std::clamp(value, 0.0, 1.0);
        case Finish::kNone:
        case Finish::kUnit:
            break;
    }
    return value;
}

Result interpolate_scene(const Problem& p, const Scene& scene) {
    const Place place = locate(scene.times, scene.time);
    Result result;
    for (std::size_t f = 0; f < kFields; ++f) {
        const std::size_t elements = p.elements(kAllFields[f]);
        result[f].resize(elements);
        interpolate_field(
            kAllFields[f], elements, scene.frames[f], place, 0, elements,
            [&](std::size_t i, double value) { result[f][i] = static_cast<float>(value); });
    }
    return result;
}

CheckReport check_result(const Problem& p, const Scene& scene, const Result& result) {
    const Place place = locate(scene.times, scene.time);
    common::Tally all;
    for (std::size_t f = 0; f < kFields; ++f) {
        const Field& field = kAllFields[f];
        const std::size_t elements = p.elements(field);
        if (result[f].size() != elements) {
            return {false, common::describe("%s has %zu elements, not %zu", field.name,
                                            result[f].size(), elements)};
        }
        constexpr std::size_t kPerTask = 1 << 16;  // whole rotations
        std::vector<common::Tally> tallies((elements + kPerTask - 1) / kPerTask);
        common::parallel_for(tallies.size(), 0, [&](std::size_t task) {
            const auto width = static_cast<std::size_t>(field.width);
            interpolate_field(
                field, elements, scene.frames[f], place, task * kPerTask,
                std::min(elements, (task + 1) * kPerTask), [&](std::size_t i, double expected) {
                    tallies[task].element(static_cast<int>(i / width), static_cast<int>(i % width),
                                          static_cast<double>(result[f][i]), expected,
                                          kAllowed * std::max(1.0, std::abs(expected)));
                });
        });
        for (const common::Tally& tally : tallies) all.merge(tally);
        if (all.finding.found()) {
            return {false, common::describe_finding(field.name, all.finding)};
        }
    }
    return {true,
            common::describe("all %zu elements of %d fields: relative error %.2g, largest "
                             "error %.0f %% of what is allowed",
                             p.elements(), kFields, all.relative_error(), 100.0 * all.worst_share)};
}

}  // namespace interpolate
