// SPDX-License-Identifier: Apache-2.0
#include "interpolate/chain.hpp"

namespace interpolate {
namespace {

// Where slerp is as good as a straight line, and its quotient of sines is not.
constexpr float kNearlyEqual = 0.9995f;

Tensor slerp(const Tensor& a, const Tensor& other, const Tensor& along) {
    const Tensor signed_cosine = sum(a * other);
    const Tensor b = where(signed_cosine < 0.0f, -other, other);
    const Tensor cosine = clamp(abs(signed_cosine), 0.0f, 1.0f);
    const Tensor angle = acos(cosine);
    const Tensor sine = sin(angle);
    const Tensor near = cosine > kNearlyEqual;
    const Tensor rest = 1.0f - along;
    const Tensor from = where(near, rest, sin(rest * angle) / sine);
    const Tensor to = where(near, along, sin(along * angle) / sine);
    const Tensor q = from * a + to * b;
    return q / norm(q);
}

Tensor finished(const Tensor& x, Finish what) {
    switch (what) {
        case Finish::kExp:
            return exp(x);
        case Finish::kSigmoid:
            return sigmoid(x);
        case Finish::kClamp:
            return clamp(x, 0.0f, 1.0f);
        case Finish::kNone:
        case Finish::kUnit:
            break;
    }
    return x;
}

}  // namespace

std::array<Tensor, kFields> interpolate_chain(Context& context, const Problem& p,
                                              const DeviceScene& scene, const float* time) {
    const Tensor now = context.upload(time);
    const Tensor right =
        clamp(count_up_to(scene.times, now), 1.0f, static_cast<float>(p.frames - 1));
    const Tensor left = right - 1.0f;
    const Tensor begin = select_row(scene.times, left);
    const Tensor end = select_row(scene.times, right);
    const Tensor along = (now - begin) / (end - begin);

    std::array<Tensor, kFields> result;
    for (std::size_t f = 0; f < kFields; ++f) {
        const Field& field = kAllFields[f];
        const int rows = p.rows(field);
        const Tensor a = select_row(scene.frames[f], left).reshaped(rows, field.width);
        const Tensor b = select_row(scene.frames[f], right).reshaped(rows, field.width);
        result[f] = field.finish == Finish::kUnit ? slerp(a, b, along)
                                                  : finished(a + (b - a) * along, field.finish);
    }
    return result;
}

}  // namespace interpolate
