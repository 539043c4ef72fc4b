// SPDX-License-Identifier: Apache-2.0
#include "render_backward/scene.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <optional>
#include <utility>

#include "common/parallel.hpp"
#include "common/random.hpp"

namespace render_backward {
namespace {

using Vector = std::array<double, 3>;  // x ahead, y left, z up, from the sensor, in metres

constexpr double kPi = std::numbers::pi;
constexpr double kGround = -1.8;
constexpr double kNearest = 1.0;
constexpr double kFarthest = 80.0;
// The lidar's beams, from top to bottom.
constexpr double kTopElevation = 15.0 * kPi / 180.0;
constexpr double kBottomElevation = -25.0 * kPi / 180.0;
// Variance that pixels and beams add by being as wide as they are.
constexpr double kPixelVariance = 0.3;

enum Operand : std::uint64_t { kWorld = 1, kCameraCotangent, kLidarCotangent };

// Numbers in [0, 1), one after the other, that belong to one Gaussian.
class Draw {
  public:
    Draw(std::uint64_t key, std::uint64_t index) : key_(common::random_bits(key, index)) {}
    double operator()() { return 0.5 * (common::uniform(key_, next_++) + 1.0); }
    double between(double low, double high) { return low + (high - low) * (*this)(); }
    double log_between(double low, double high) {
        return low * std::exp(std::log(high / low) * (*this)());
    }

  private:
    std::uint64_t key_;
    std::uint64_t next_ = 0;
};

struct Gaussian {
    Vector mean;
    std::array<Vector, 3> axes;  // each as long as the standard deviation along it
    double opacity;
    double color[3];
    double intensity, ray_drop;
};

Vector place(Draw& draw) {
    const double kind = draw();
    if (kind < 0.45) {  // the ground, as thick with Gaussians near by as far off
        const double range = draw.log_between(3.0, kFarthest);
        const double azimuth = draw.between(-kPi, kPi);
        return {range * std::cos(azimuth), range * std::sin(azimuth),
                kGround + draw.between(-0.05, 0.05)};
    }
    if (kind < 0.85) {  // the fronts of houses on both sides
        const double side = draw() < 0.5 ? -1.0 : 1.0;
        const double along = draw.log_between(0.5, kFarthest) * (draw() < 0.5 ? -1.0 : 1.0);
        return {along, side * draw.between(11.5, 12.5), draw.between(kGround, 9.0)};
    }
    // Things in the street, at places that are the same for all seeds.
    constexpr int kThings = 48;
    const int thing = static_cast<int>(draw() * kThings);
    Draw at(common::stream_key(0, kWorld), static_cast<std::uint64_t>(thing));
    const double x = at.between(-60.0, 60.0);
    const double y = (at() < 0.5 ? -1.0 : 1.0) * at.between(2.5, 9.0);
    return {x + draw.between(-1.5, 1.5), y + draw.between(-0.9, 0.9),
            draw.between(kGround, kGround + 1.6)};
}

// Three orthogonal directions from a random quaternion.
std::array<Vector, 3> directions(Draw& draw) {
    double q[4];
    double norm = 0.0;
    for (double& value : q) {
        value = draw.between(-1.0, 1.0);
        norm += value * value;
    }
    norm = std::sqrt(std::max(norm, 1e-12));
    const double w = q[0] / norm;
    const double x = q[1] / norm;
    const double y = q[2] / norm;
    const double z = q[3] / norm;
    return {{{1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)},
             {2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)},
             {2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)}}};
}

double length(const Vector& v) {
    return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

Gaussian make_gaussian(const Problem& problem, std::uint64_t key, std::uint64_t index) {
    Draw draw(key, index);
    Gaussian g;
    g.mean = place(draw);
    // The same share of the view wherever it is, as a trainer that splits what is large leaves it;
    // the fewer Gaussians, the larger.
    const double share = problem.density == Density::kDense ? 2.4 : 0.9;
    const double size = share * length(g.mean) / std::sqrt(static_cast<double>(problem.gaussians));
    g.axes = directions(draw);
    for (Vector& axis : g.axes) {
        const double deviation = size * draw.log_between(0.3, 3.0);
        for (double& component : axis) component *= deviation;
    }
    g.opacity = draw.between(0.02, 1.0) * kMostOpacity;
    for (double& value : g.color) value = draw();
    g.intensity = draw();
    g.ray_drop = draw();
    return g;
}

// Where a Gaussian lands in the image and how the image moves with it.
struct Projection {
    double x, y, depth;
    Vector by_x, by_y;  // derivatives of x and y by the mean
};

std::optional<Projection> project_camera(const Problem& problem, const Vector& p) {
    const double focal = 0.5 * problem.camera_width;  // 90 degrees across
    if (p[0] < kNearest) return {};
    const double right = -p[1] / p[0];
    const double down = -p[2] / p[0];
    // Far outside the image the linearised footprint is no longer one.
    const double highest = 1.0 * problem.camera_height / problem.camera_width;
    if (std::abs(right) > 1.3 || std::abs(down) > 1.3 * highest) return {};
    return Projection{focal * right + 0.5 * problem.camera_width,
                      focal * down + 0.5 * problem.camera_height,
                      p[0],
                      {-focal * right / p[0], -focal / p[0], 0.0},
                      {-focal * down / p[0], 0.0, -focal / p[0]}};
}

std::optional<Projection> project_lidar(const Problem& problem, const Vector& p) {
    const double range = length(p);
    const double flat = std::hypot(p[0], p[1]);
    if (range < kNearest || flat < 0.2 * range) return {};
    const double per_radian_x = -problem.lidar_columns / (2.0 * kPi);
    const double per_radian_y = -problem.lidar_beams / (kTopElevation - kBottomElevation);
    const double azimuth = std::atan2(p[1], p[0]);
    const double elevation = std::asin(p[2] / range);
    const double by = per_radian_y / (range * range * flat);
    return Projection{
        0.5 * problem.lidar_columns + per_radian_x * azimuth,
        per_radian_y * (elevation - kTopElevation),
        range,
        {-per_radian_x * p[1] / (flat * flat), per_radian_x * p[0] / (flat * flat), 0.0},
        {-by * p[2] * p[0], -by * p[2] * p[1], by * flat * flat}};
}

double dot(const Vector& a, const Vector& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// A range of tiles, both ends included; empty by default.
struct Span {
    int first = 0;
    int last = -1;
    int size() const { return last - first + 1; }
};

Span tiles_of(int first_pixel, int last_pixel) {
    if (first_pixel > last_pixel) return {};
    return {first_pixel / kTile, last_pixel / kTile};
}

// The tiles that a splat touches: in a lidar's image they may go on beyond the seam.
struct Touched {
    Span columns, beyond, rows;
    int count() const { return (columns.size() + beyond.size()) * rows.size(); }
};

Touched touched(const Scene& scene, double x, double y, double reach_x, double reach_y) {
    const auto row = [&](double at) {
        return static_cast<int>(std::lower_bound(scene.row_y.begin(), scene.row_y.end(), at) -
                                scene.row_y.begin());
    };
    Touched tiles;
    tiles.rows = tiles_of(row(y - reach_y), row(y + reach_y) - 1);
    const int first = static_cast<int>(std::floor(x - reach_x));
    const int last = static_cast<int>(std::ceil(x + reach_x));
    const int end = scene.width - 1;
    if (scene.sensor == Sensor::kLidar && last - first >= end) {
        tiles.columns = tiles_of(0, end);
        return tiles;
    }
    tiles.columns = tiles_of(std::max(first, 0), std::min(last, end));
    if (scene.sensor == Sensor::kLidar && first < 0) {
        tiles.beyond = tiles_of(std::min(first, 0) + scene.width, end);
        tiles.beyond.first = std::max(tiles.beyond.first, tiles.columns.last + 1);
    } else if (scene.sensor == Sensor::kLidar && last > end) {
        tiles.beyond = tiles_of(0, last - scene.width);
        tiles.beyond.last = std::min(tiles.beyond.last, tiles.columns.first - 1);
    }
    return tiles;
}

struct Seen {
    Splat splat;
    Touched tiles;
};

std::optional<Seen> see(const Problem& problem, const Scene& scene, std::uint64_t key,
                        std::uint32_t index) {
    const Gaussian g = make_gaussian(problem, key, index);
    const bool camera = scene.sensor == Sensor::kCamera;
    const auto at = camera ? project_camera(problem, g.mean) : project_lidar(problem, g.mean);
    if (!at) return {};
    double xx = kPixelVariance;
    double xy = 0.0;
    double yy = kPixelVariance;
    for (const Vector& axis : g.axes) {
        const double x = dot(at->by_x, axis);
        const double y = dot(at->by_y, axis);
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    const double determinant = xx * yy - xy * xy;
    Splat splat{};
    splat.mean_x = static_cast<float>(at->x);
    splat.mean_y = static_cast<float>(at->y);
    splat.conic_xx = static_cast<float>(yy / determinant);
    splat.conic_xy = static_cast<float>(-xy / determinant);
    splat.conic_yy = static_cast<float>(xx / determinant);
    splat.opacity = static_cast<float>(g.opacity);
    splat.lowest_power = std::log(kLeastAlpha / splat.opacity);
    splat.depth = static_cast<float>(at->depth);
    for (int i = 0; i < kFeatures; ++i) splat.feature[i] = static_cast<float>(g.color[i]);
    if (!camera) {
        splat.feature[0] = splat.depth;
        splat.feature[1] = static_cast<float>(g.intensity);
        splat.feature[2] = static_cast<float>(g.ray_drop);
    }
    splat.gaussian = index;
    if (!(splat.lowest_power < 0.0f)) return {};
    const double reach = std::sqrt(-2.0 * splat.lowest_power);
    const Touched tiles =
        touched(scene, at->x, at->y, reach * std::sqrt(xx), reach * std::sqrt(yy));
    if (tiles.count() == 0) return {};
    return Seen{splat, tiles};
}

// One part per task; joined, they are in the order of the Gaussians.
using SeenParts = std::vector<std::vector<Seen>>;

SeenParts see_all(const Problem& problem, const Scene& scene, std::uint64_t seed,
                  unsigned threads) {
    constexpr std::size_t kPerTask = 1 << 14;
    const auto count = static_cast<std::size_t>(problem.gaussians);
    const std::uint64_t key = common::stream_key(seed, kWorld);
    SeenParts parts((count + kPerTask - 1) / kPerTask);
    common::parallel_for(parts.size(), threads, [&](std::size_t task) {
        const std::size_t end = std::min(count, (task + 1) * kPerTask);
        for (std::size_t i = task * kPerTask; i < end; ++i) {
            if (const auto seen = see(problem, scene, key, static_cast<std::uint32_t>(i))) {
                parts[task].push_back(*seen);
            }
        }
    });
    return parts;
}

template <class Visit>
void for_each_tile(const Scene& scene, const Touched& tiles, Visit&& visit) {
    const int across = tiles_over(scene.width);
    for (int row = tiles.rows.first; row <= tiles.rows.last; ++row) {
        for (const Span& columns : {tiles.columns, tiles.beyond}) {
            for (int column = columns.first; column <= columns.last; ++column) {
                visit(row * across + column);
            }
        }
    }
}

// A splat's depth and number.
using Depth = std::pair<float, std::uint32_t>;

// Sorts shares by themselves, then merges neighbours.
void sort_by_depth(std::vector<Depth>& values, std::size_t shares, unsigned threads) {
    const auto begin_of = [&](std::size_t share) {
        return values.begin() +
               static_cast<std::ptrdiff_t>(values.size() * std::min(share, shares) / shares);
    };
    common::parallel_for(shares, threads, [&](std::size_t share) {
        std::sort(begin_of(share), begin_of(share + 1));
    });
    for (std::size_t width = 1; width < shares; width *= 2) {
        common::parallel_for((shares + 2 * width - 1) / (2 * width), threads, [&](std::size_t i) {
            const std::size_t first = 2 * width * i;
            std::inplace_merge(begin_of(first), begin_of(first + width),
                               begin_of(first + 2 * width));
        });
    }
}

// Fills splats, order and tile_begin.
void bin(Scene& scene, const SeenParts& parts, unsigned threads) {
    std::vector<std::size_t> begin{0};
    for (const auto& part : parts) begin.push_back(begin.back() + part.size());
    scene.splats.resize(begin.back());
    std::vector<Touched> touched(begin.back());
    std::vector<Depth> by_depth(begin.back());
    common::parallel_for(parts.size(), threads, [&](std::size_t task) {
        std::size_t at = begin[task];
        for (const Seen& seen : parts[task]) {
            scene.splats[at] = seen.splat;
            touched[at] = seen.tiles;
            by_depth[at] = {seen.splat.depth, static_cast<std::uint32_t>(at)};
            ++at;
        }
    });
    constexpr std::size_t kShares = 32;
    sort_by_depth(by_depth, kShares, threads);

    // In the order of depth, splats reach every tile's list in that order. Each share counts its
    // own, so that it knows where they go.
    const auto tiles = static_cast<std::size_t>(tiles_over(scene.width)) * tiles_over(scene.height);
    std::vector<std::vector<std::uint32_t>> next(kShares);
    const auto visit_share = [&](std::size_t share, auto&& visit) {
        const std::size_t end = by_depth.size() * (share + 1) / kShares;
        for (std::size_t i = by_depth.size() * share / kShares; i < end; ++i) {
            const std::uint32_t splat = by_depth[i].second;
            for_each_tile(scene, touched[splat], [&](int tile) { visit(tile, splat); });
        }
    };
    common::parallel_for(kShares, threads, [&](std::size_t share) {
        next[share].assign(tiles, 0);
        visit_share(share, [&](int tile, std::uint32_t) { ++next[share][tile]; });
    });
    scene.tile_begin.assign(tiles + 1, 0);
    std::uint32_t entries = 0;
    for (std::size_t tile = 0; tile < tiles; ++tile) {
        for (auto& of_share : next) entries += std::exchange(of_share[tile], entries);
        scene.tile_begin[tile + 1] = entries;
    }
    scene.order.resize(entries);
    common::parallel_for(kShares, threads, [&](std::size_t share) {
        visit_share(share, [&](int tile, std::uint32_t splat) {
            scene.order[next[share][tile]++] = splat;
        });
    });
}

}  // namespace

Scene make_scene(const Problem& problem, Sensor sensor, std::uint64_t seed, unsigned threads) {
    const bool camera = sensor == Sensor::kCamera;
    Scene scene;
    scene.sensor = sensor;
    scene.width = camera ? problem.camera_width : problem.lidar_columns;
    scene.height = camera ? problem.camera_height : problem.lidar_beams;
    scene.row_y.resize(static_cast<std::size_t>(scene.height));
    for (int row = 0; row < scene.height; ++row) {
        // Lidars have their beams closer together about the horizon, the upper third here.
        const double share = (row + 0.5) / scene.height;
        const double bend = camera ? 0.0 : 0.08 * std::sin(2.0 * kPi * (share - 0.1));
        scene.row_y[row] = static_cast<float>(scene.height * (share + bend));
    }
    scene.light.resize(scene.pixels());
    scene.range.resize(camera ? 0 : scene.pixels());
    scene.walked.resize(scene.pixels());

    // A loss that pulls every output somewhere; metres count less than colours.
    const std::uint64_t key = common::stream_key(seed, camera ? kCameraCotangent : kLidarCotangent);
    scene.cotangent.resize(kFeatures * scene.pixels());
    common::parallel_for(kFeatures, threads, [&](std::size_t feature) {
        const float scale = !camera && feature == 0 ? 0.125f : 1.0f;
        const std::size_t end = (feature + 1) * scene.pixels();
        for (std::size_t i = feature * scene.pixels(); i < end; ++i) {
            scene.cotangent[i] = common::uniform(key, i) * scale;
        }
    });
    bin(scene, see_all(problem, scene, seed, threads), threads);
    return scene;
}

}  // namespace render_backward
