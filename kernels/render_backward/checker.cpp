// SPDX-License-Identifier: Apache-2.0
#include "render_backward/checker.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>
#include <vector>

#include "common/parallel.hpp"
#include "common/random.hpp"
#include "common/tally.hpp"
#include "render_backward/reference.hpp"

namespace render_backward {
namespace {

// Of the sum of a gradient's terms' magnitudes. A pixel's light is divided by 1 - alpha at every
// splat that it passes; alpha, at most kMostOpacity, is known to some 2^-22, so each division can
// cost 50 times that.
constexpr double kTolerance = 2e-4;
// Of sums over all Gaussians, where errors cancel.
constexpr double kSumTolerance = 2e-6;
// Of what the forward pass left.
constexpr double kForwardTolerance = 1e-3;
constexpr int kBlock = 4;  // tiles on a side of a block that is drawn

const char* name_of(Sensor sensor) {
    return sensor == Sensor::kCamera ? "camera" : "lidar";
}

const char* name_of(Sensor sensor, int field) {
    constexpr const char* kCameraFields[kFields] = {
        "red", "green", "blue", "opacity", "mean_x", "mean_y", "conic_xx", "conic_xy", "conic_yy"};
    constexpr const char* kLidarFeatures[kFeatures] = {"range", "intensity", "ray_drop"};
    return sensor == Sensor::kLidar && field < kFeatures ? kLidarFeatures[field]
                                                         : kCameraFields[field];
}

std::size_t pixel_count(const View& view) {
    return static_cast<std::size_t>(view.width) * static_cast<std::size_t>(view.height);
}

std::size_t entry_count(const View& view) {
    return view.tile_begin[tile_count(view)];
}

// Evaluations that the backward pass of a tile needs.
double tile_cost(const View& view, int tile) {
    const int across = tiles_over(view.width);
    double cost = kTilePixels;
    for (int y = tile / across * kTile; y < std::min((tile / across + 1) * kTile, view.height);
         ++y) {
        for (int x = tile % across * kTile; x < std::min((tile % across + 1) * kTile, view.width);
             ++x) {
            cost += view.walked[static_cast<std::size_t>(y) * static_cast<std::size_t>(view.width) +
                                static_cast<std::size_t>(x)];
        }
    }
    return cost;
}

// Tiles to evaluate: blocks in random order, as many as are allowed; at least one.
std::vector<int> draw_tiles(const View& view, std::uint64_t seed, double evaluations) {
    const int across = tiles_over(view.width);
    const int down = tiles_over(view.height);
    const int blocks_across = (across + kBlock - 1) / kBlock;
    const int blocks = blocks_across * ((down + kBlock - 1) / kBlock);
    std::vector<std::pair<std::uint64_t, int>> order;
    order.reserve(static_cast<std::size_t>(blocks));
    for (int block = 0; block < blocks; ++block) {
        order.emplace_back(common::random_bits(seed, static_cast<std::uint64_t>(block)), block);
    }
    std::sort(order.begin(), order.end());
    std::vector<int> tiles;
    for (const auto& [random, block] : order) {
        double cost = 0.0;
        std::vector<int> inside;
        for (int i = 0; i < kBlock * kBlock; ++i) {
            const int column = block % blocks_across * kBlock + i % kBlock;
            const int row = block / blocks_across * kBlock + i / kBlock;
            if (column >= across || row >= down) continue;
            inside.push_back(row * across + column);
            cost += tile_cost(view, inside.back());
        }
        if (cost > evaluations && !tiles.empty()) continue;  // a smaller block may still fit
        evaluations -= cost;
        tiles.insert(tiles.end(), inside.begin(), inside.end());
    }
    return tiles;
}

// Says what is wrong with the forward pass's outputs of a tile, or nothing. Where light is within
// rounding of kLeastLight, a ray may end one splat sooner or later.
std::string forward_fault(const View& view, int tile) {
    const TileOutput expected = forward_tile(view, tile);
    const int across = tiles_over(view.width);
    const auto close = [](double got, double want) {
        return std::abs(got - want) <= kForwardTolerance * want;
    };
    for (int i = 0; i < kTilePixels; ++i) {
        const int x = tile % across * kTile + i % kTile;
        const int y = tile / across * kTile + i / kTile;
        if (x >= view.width || y >= view.height) continue;
        const auto at = static_cast<std::size_t>(y) * static_cast<std::size_t>(view.width) +
                        static_cast<std::size_t>(x);
        const PixelOutput& want = expected[static_cast<std::size_t>(i)];
        const bool at_end = close(want.light, kLeastLight) || close(view.light[at], kLeastLight);
        const bool right =
            view.walked[at] == want.walked
                ? close(view.light[at], want.light) &&
                      (view.sensor == Sensor::kCamera || close(view.range[at], want.range))
                : at_end && view.walked[at] <= tile_entries(view, tile);
        if (!right) {
            return common::describe(
                "%s: the forward pass left light %.6g after %u splats at pixel (%d, %d), "
                "expected %.6g after %u",
                name_of(view.sensor), view.light[at], view.walked[at], x, y, want.light,
                want.walked);
        }
    }
    return {};
}

// Each Gaussian's tiles in all, and among those evaluated.
struct Coverage {
    std::vector<std::uint32_t> listed, evaluated;
};

Coverage coverage_of(const View& view, std::size_t gaussians, const std::vector<int>& tiles) {
    Coverage coverage{std::vector<std::uint32_t>(gaussians), std::vector<std::uint32_t>(gaussians)};
    for (std::size_t i = 0; i < entry_count(view); ++i) {
        ++coverage.listed[view.splats[view.order[i]].gaussian];
    }
    for (const int tile : tiles) {
        for (std::uint32_t i = view.tile_begin[tile]; i < view.tile_begin[tile + 1]; ++i) {
            ++coverage.evaluated[view.splats[view.order[i]].gaussian];
        }
    }
    return coverage;
}

// A feature's gradients over all Gaussians are its weights over all pixels.
void expect_feature_sums(const View& view, GradientReference& reference) {
    const std::size_t plane = pixel_count(view);
    for (std::size_t at = 0; at < plane; ++at) {
        if (view.walked[at] == 0) continue;
        const double light = view.light[at];
        const auto cotangent =
            pixel_cotangent<double>(view.sensor, view.cotangent[at], view.cotangent[plane + at],
                                    view.cotangent[2 * plane + at], light, 0.0);
        for (std::size_t k = 0; k < kFeatures; ++k) {
            const double sum = cotangent.feature[k] * (1.0 - light);
            reference.sums[k] += sum;
            reference.sum_magnitudes[k] += std::abs(sum);
        }
    }
}

CheckReport fault(std::string detail) {
    return {false, INFINITY, std::move(detail)};
}

std::string describe_gradient(Sensor sensor, const common::Finding& at, const char* beside) {
    return common::describe("%s: the gradient of Gaussian %d by %s is %.9g, %s %.9g within %.2g",
                            name_of(sensor), at.row, name_of(sensor, at.col), at.got, beside,
                            at.expected, at.allowed);
}

}  // namespace

GradientReference make_reference(const View& view, std::size_t gaussians, std::uint64_t seed,
                                 double evaluations, unsigned threads) {
    const std::vector<int> tiles = draw_tiles(view, seed, evaluations);
    const Coverage coverage = coverage_of(view, gaussians, tiles);
    GradientReference reference;
    reference.sensor = view.sensor;
    reference.listed.resize(gaussians);
    constexpr std::uint32_t kNowhere = ~0u;
    std::vector<std::uint32_t> places(gaussians, kNowhere);  // among those that are compared
    for (std::size_t gaussian = 0; gaussian < gaussians; ++gaussian) {
        if (coverage.listed[gaussian] == 0) continue;
        reference.listed[gaussian] = true;
        if (coverage.evaluated[gaussian] < coverage.listed[gaussian]) continue;
        places[gaussian] = static_cast<std::uint32_t>(reference.compared.size());
        reference.compared.push_back(static_cast<std::uint32_t>(gaussian));
    }

    reference.expected.resize(reference.compared.size());
    std::mutex mutex;
    std::vector<std::string> faults(tiles.size());
    common::parallel_for(tiles.size(), threads, [&](std::size_t task) {
        const int tile = tiles[task];
        faults[task] = forward_fault(view, tile);
        if (!faults[task].empty()) return;
        std::vector<Derivatives> part(tile_entries(view, tile));
        backward_tile(view, tile, part.data());
        const std::lock_guard lock(mutex);
        for (std::size_t entry = 0; entry < part.size(); ++entry) {
            const std::size_t at = view.tile_begin[tile] + entry;
            const std::uint32_t place = places[view.splats[view.order[at]].gaussian];
            if (place == kNowhere) continue;
            Derivatives& sum = reference.expected[place];
            for (std::size_t k = 0; k < kFields; ++k) {
                sum.value[k] += part[entry].value[k];
                sum.magnitude[k] += part[entry].magnitude[k];
            }
        }
    });
    for (std::string& text : faults) {
        if (reference.forward_fault.empty()) reference.forward_fault = std::move(text);
    }
    expect_feature_sums(view, reference);
    return reference;
}

CheckReport check_gradients(const GradientReference& reference, const float* gradients) {
    const std::size_t gaussians = reference.listed.size();
    for (std::size_t i = 0; i < gaussians * kFields; ++i) {
        const std::size_t gaussian = i / kFields;
        const bool listed = reference.listed[gaussian];
        if (listed ? std::isfinite(gradients[i]) : gradients[i] == 0.0f) continue;
        return fault(common::describe(
            "%s: the gradient of Gaussian %zu by %s is %g, expected %s", name_of(reference.sensor),
            gaussian, name_of(reference.sensor, static_cast<int>(i % kFields)), gradients[i],
            listed ? "a finite value" : "0: no tile lists it"));
    }
    if (!reference.forward_fault.empty()) return fault(reference.forward_fault);

    common::Tally tally;
    for (std::size_t i = 0; i < reference.compared.size(); ++i) {
        const std::size_t gaussian = reference.compared[i];
        for (std::size_t k = 0; k < kFields; ++k) {
            tally.element(static_cast<int>(gaussian), static_cast<int>(k),
                          gradients[gaussian * kFields + k], reference.expected[i].value[k],
                          kTolerance * reference.expected[i].magnitude[k]);
        }
    }
    if (tally.finding.found()) {
        return fault(describe_gradient(reference.sensor, tally.finding, "expected"));
    }

    std::array<double, kFeatures> got{};
    for (std::size_t i = 0; i < gaussians; ++i) {
        for (std::size_t k = 0; k < kFeatures; ++k) got[k] += gradients[i * kFields + kFeature + k];
    }
    double worst_sum = 0.0;
    for (std::size_t k = 0; k < kFeatures; ++k) {
        const double error = std::abs(got[k] - reference.sums[k]);
        const double allowed = kSumTolerance * reference.sum_magnitudes[k];
        if (!(error <= allowed)) {
            return fault(common::describe(
                "%s: the gradients by %s add up to %.9g over all Gaussians, expected %.9g within "
                "%.2g",
                name_of(reference.sensor), name_of(reference.sensor, static_cast<int>(k)), got[k],
                reference.sums[k], allowed));
        }
        if (allowed > 0.0) worst_sum = std::max(worst_sum, error / allowed);
    }
    return {true, std::max(tally.worst_share, worst_sum),
            common::describe("%s: %zu of %td Gaussians compared, error %.2g (at most %.0f %% of "
                             "what is allowed); sums over all within %.0f %%",
                             name_of(reference.sensor), reference.compared.size(),
                             std::count(reference.listed.begin(), reference.listed.end(), true),
                             tally.relative_error(), 100.0 * tally.worst_share, 100.0 * worst_sum)};
}

CheckReport check_by_differences(const View& view, std::size_t gaussians, const double* gradients,
                                 std::uint64_t seed, int samples) {
    // A step that moves the loss well beyond rounding and its third derivative does not show.
    constexpr double kStep = 1e-4;
    constexpr double kDifferenceTolerance = 1e-6;

    std::vector<std::vector<std::pair<int, std::uint32_t>>> places(gaussians);  // tile, entry
    for (int tile = 0; tile < tile_count(view); ++tile) {
        for (std::uint32_t entry = 0; entry < tile_entries(view, tile); ++entry) {
            places[view.splats[view.order[view.tile_begin[tile] + entry]].gaussian].emplace_back(
                tile, entry);
        }
    }
    std::vector<std::size_t> listed;
    for (std::size_t i = 0; i < gaussians; ++i) {
        if (!places[i].empty()) listed.push_back(i);
    }
    if (listed.empty()) {
        return {true, 0.0, common::describe("%s: sees nothing", name_of(view.sensor))};
    }

    common::Tally tally;
    for (int sample = 0; sample < samples; ++sample) {
        const std::size_t gaussian =
            listed[common::random_bits(seed, static_cast<std::uint64_t>(sample)) % listed.size()];
        Fields magnitude{};
        for (const auto& [tile, entry] : places[gaussian]) {
            std::vector<Derivatives> part(tile_entries(view, tile));
            backward_tile(view, tile, part.data());
            for (std::size_t k = 0; k < kFields; ++k) magnitude[k] += part[entry].magnitude[k];
        }
        const auto& [tile0, entry0] = places[gaussian].front();
        const Fields at = fields_of(view.splats[view.order[view.tile_begin[tile0] + entry0]]);
        for (std::size_t k = 0; k < kFields; ++k) {
            // Means move by a share of a pixel, all else by a share of itself.
            const bool mean = k == kMeanX || k == kMeanY;
            const double step = kStep * (mean ? 1.0 : std::max(std::abs(at[k]), 1e-2));
            const auto loss = [&](double change) {
                Fields changed = at;
                changed[k] += change;
                double sum = 0.0;
                for (const auto& [tile, entry] : places[gaussian]) {
                    sum += tile_loss(view, tile, entry, changed);
                }
                return sum;
            };
            // Four points: the error is of the step's fourth order.
            const double slope =
                (8.0 * (loss(step) - loss(-step)) - (loss(2.0 * step) - loss(-2.0 * step))) /
                (12.0 * step);
            const double rounding = 1e-12 / step;
            tally.element(static_cast<int>(gaussian), static_cast<int>(k),
                          gradients[gaussian * kFields + k], slope,
                          kDifferenceTolerance * magnitude[k] + rounding);
        }
    }
    if (tally.finding.found()) {
        return fault(describe_gradient(view.sensor, tally.finding, "by differences"));
    }
    return {true, tally.worst_share,
            common::describe("%s: %d Gaussians agree with finite differences, error %.2g (at most "
                             "%.0f %% of what is allowed)",
                             name_of(view.sensor), samples, tally.relative_error(),
                             100.0 * tally.worst_share)};
}

}  // namespace render_backward
