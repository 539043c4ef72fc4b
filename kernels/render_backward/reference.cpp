// SPDX-License-Identifier: Apache-2.0
#include "render_backward/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace render_backward {
namespace {

// One splat in one pixel.
struct Contribution {
    std::uint32_t entry;
    double dx, dy;
    double alpha;
};

struct Place {
    float x, y;
    std::size_t index;  // among the image's pixels
};

// Calls visit(place, number in the tile) for the pixels of a tile that are in the image.
template <class Visit>
void for_each_pixel(const View& view, int tile, Visit&& visit) {
    const int across = tiles_over(view.width);
    for (int i = 0; i < kTilePixels; ++i) {
        const int column = tile % across * kTile + i % kTile;
        const int row = tile / across * kTile + i / kTile;
        if (column >= view.width || row >= view.height) continue;
        const std::size_t index =
            static_cast<std::size_t>(row) * static_cast<std::size_t>(view.width) +
            static_cast<std::size_t>(column);
        visit(Place{static_cast<float>(column) + 0.5f, view.row_y[row], index}, i);
    }
}

const Splat& splat_of(const View& view, int tile, std::uint32_t entry) {
    return view.splats[view.order[view.tile_begin[tile] + entry]];
}

double alpha_at(const Fields& fields, double dx, double dy) {
    return fields[kOpacity] *
           std::exp(-0.5 * (fields[kConicXx] * dx * dx + 2.0 * fields[kConicXy] * dx * dy +
                            fields[kConicYy] * dy * dy));
}

// Whether the entry reaches the pixel, and if so how far it is away, unrounded.
bool offset_of(const View& view, const Splat& splat, const Place& at, double* dx, double* dy) {
    const float rounded_dx = offset_x(view.sensor, splat.mean_x, at.x, view.width);
    const float rounded_dy = splat.mean_y - at.y;
    if (!reaches(splat, power_at(splat, rounded_dx, rounded_dy))) return false;
    *dx = static_cast<double>(splat.mean_x) - at.x;
    if (std::abs(*dx - rounded_dx) > 0.5) *dx += rounded_dx < *dx ? -view.width : view.width;
    *dy = static_cast<double>(splat.mean_y) - at.y;
    return true;
}

PixelCotangent<double> cotangent_at(const View& view, const Place& at, double light, double range) {
    const std::size_t plane =
        static_cast<std::size_t>(view.width) * static_cast<std::size_t>(view.height);
    const float* cotangent = view.cotangent + at.index;
    return pixel_cotangent<double>(view.sensor, cotangent[0], cotangent[plane],
                                   cotangent[2 * plane], light, range);
}

}  // namespace

Fields fields_of(const Splat& splat) {
    return {splat.feature[0], splat.feature[1], splat.feature[2], splat.opacity, splat.mean_x,
            splat.mean_y,     splat.conic_xx,   splat.conic_xy,   splat.conic_yy};
}

TileOutput forward_tile(const View& view, int tile) {
    TileOutput out;
    const std::uint32_t entries = tile_entries(view, tile);
    for_each_pixel(view, tile, [&](const Place& at, int i) {
        PixelOutput& pixel = out[static_cast<std::size_t>(i)];
        double range = 0.0;
        for (std::uint32_t entry = 0; entry < entries; ++entry) {
            const Splat& splat = splat_of(view, tile, entry);
            double dx = 0.0;
            double dy = 0.0;
            if (!offset_of(view, splat, at, &dx, &dy)) continue;
            const double alpha = alpha_at(fields_of(splat), dx, dy);
            const double light = pixel.light * (1.0 - alpha);
            if (light < kLeastLight) break;
            range += alpha * pixel.light * splat.feature[0];
            pixel.light = light;
            pixel.walked = entry + 1;
        }
        if (pixel.walked > 0) pixel.range = range / (1.0 - pixel.light);
    });
    return out;
}

void forward_reference(Scene& scene) {
    const View view = scene.view();
    for (int tile = 0; tile < tile_count(view); ++tile) {
        const TileOutput out = forward_tile(view, tile);
        for_each_pixel(view, tile, [&](const Place& at, int i) {
            const PixelOutput& pixel = out[static_cast<std::size_t>(i)];
            scene.light[at.index] = static_cast<float>(pixel.light);
            scene.walked[at.index] = pixel.walked;
            if (scene.sensor == Sensor::kLidar) {
                scene.range[at.index] = static_cast<float>(pixel.range);
            }
        });
    }
}

void backward_tile(const View& view, int tile, Derivatives* out) {
    std::vector<Contribution> contributions;
    for_each_pixel(view, tile, [&](const Place& at, int) {
        contributions.clear();
        double light = 1.0;
        double range = 0.0;
        for (std::uint32_t entry = 0; entry < view.walked[at.index]; ++entry) {
            const Splat& splat = splat_of(view, tile, entry);
            Contribution c{entry, 0.0, 0.0, 0.0};
            if (!offset_of(view, splat, at, &c.dx, &c.dy)) continue;
            c.alpha = alpha_at(fields_of(splat), c.dx, c.dy);
            contributions.push_back(c);
            range += c.alpha * light * splat.feature[0];
            light *= 1.0 - c.alpha;
        }
        if (contributions.empty()) return;
        const auto g = cotangent_at(view, at, light, range / (1.0 - light));
        double behind = g.light * light;
        double behind_magnitude = std::abs(behind);
        for (std::size_t i = contributions.size(); i-- > 0;) {
            const auto& [entry, dx, dy, alpha] = contributions[i];
            const Fields f = fields_of(splat_of(view, tile, entry));
            light /= 1.0 - alpha;
            const double weight = alpha * light;
            double gain = 0.0;
            double gain_magnitude = 0.0;
            const auto add = [&d = out[entry]](int field, double value, double magnitude) {
                d.value[field] += value;
                d.magnitude[field] += magnitude;
            };
            for (int k = 0; k < kFeatures; ++k) {
                const double term = g.feature[k] * f[kFeature + k];
                gain += term;
                gain_magnitude += std::abs(term);
                add(kFeature + k, weight * g.feature[k], std::abs(weight * g.feature[k]));
            }
            const double by_alpha = light * gain - behind / (1.0 - alpha);
            const double by_alpha_magnitude =
                light * gain_magnitude + behind_magnitude / (1.0 - alpha);
            behind += weight * gain;
            behind_magnitude += weight * gain_magnitude;
            const double by_power = by_alpha * alpha;
            const double by_power_magnitude = by_alpha_magnitude * alpha;
            const auto add_power = [&](int field, double value, double magnitude) {
                add(field, by_power * value, by_power_magnitude * std::abs(magnitude));
            };
            const double xx = f[kConicXx];
            const double xy = f[kConicXy];
            const double yy = f[kConicYy];
            add_power(kOpacity, 1.0 / f[kOpacity], 1.0 / f[kOpacity]);
            add_power(kMeanX, -(xx * dx + xy * dy), std::abs(xx * dx) + std::abs(xy * dy));
            add_power(kMeanY, -(xy * dx + yy * dy), std::abs(xy * dx) + std::abs(yy * dy));
            add_power(kConicXx, -0.5 * dx * dx, 0.5 * dx * dx);
            add_power(kConicXy, -dx * dy, dx * dy);
            add_power(kConicYy, -0.5 * dy * dy, 0.5 * dy * dy);
        }
    });
}

void backward_reference(const View& view, std::vector<double>& gradients) {
    std::fill(gradients.begin(), gradients.end(), 0.0);
    std::vector<Derivatives> part;
    for (int tile = 0; tile < tile_count(view); ++tile) {
        part.assign(tile_entries(view, tile), {});
        backward_tile(view, tile, part.data());
        for (std::uint32_t entry = 0; entry < part.size(); ++entry) {
            double* to = &gradients[std::size_t{splat_of(view, tile, entry).gaussian} * kFields];
            for (std::size_t k = 0; k < kFields; ++k) to[k] += part[entry].value[k];
        }
    }
}

double tile_loss(const View& view, int tile, std::uint32_t changed, const Fields& fields) {
    double loss = 0.0;
    const std::size_t plane =
        static_cast<std::size_t>(view.width) * static_cast<std::size_t>(view.height);
    for_each_pixel(view, tile, [&](const Place& at, int) {
        double dx = 0.0;
        double dy = 0.0;
        if (changed >= view.walked[at.index] ||
            !offset_of(view, splat_of(view, tile, changed), at, &dx, &dy)) {
            return;
        }
        double light = 1.0;
        double sums[kFeatures] = {};
        for (std::uint32_t entry = 0; entry < view.walked[at.index]; ++entry) {
            const Splat& splat = splat_of(view, tile, entry);
            if (!offset_of(view, splat, at, &dx, &dy)) continue;
            Fields f = fields_of(splat);
            if (entry == changed) {
                dx += fields[kMeanX] - f[kMeanX];
                dy += fields[kMeanY] - f[kMeanY];
                f = fields;
            }
            const double alpha = alpha_at(f, dx, dy);
            for (std::size_t k = 0; k < kFeatures; ++k) sums[k] += alpha * light * f[kFeature + k];
            light *= 1.0 - alpha;
        }
        // The outputs, spelt out: the derivatives by the sums (pixel_cotangent) are checked too.
        const float* cotangent = view.cotangent + at.index;
        if (view.sensor == Sensor::kCamera) {
            const Sky sky;
            loss += cotangent[0] * (sums[0] + light * sky.red) +
                    cotangent[plane] * (sums[1] + light * sky.green) +
                    cotangent[2 * plane] * (sums[2] + light * sky.blue);
        } else {
            const double range = light < 1.0 ? sums[0] / (1.0 - light) : 0.0;
            loss += cotangent[0] * range + cotangent[plane] * sums[1] +
                    cotangent[2 * plane] * (sums[2] + light);
        }
    });
    return loss;
}

}  // namespace render_backward
