// SPDX-License-Identifier: Apache-2.0
// The backward pass over one tile, for both variants: what differs between them is what they pass
// in, the sensor as a constant or as a value, and the shape.
#pragma once

#include <cuda_runtime_api.h>

#include "render_backward/splat.hpp"
#include "render_backward/warp_sum.cuh"

namespace render_backward {

// A warp is 8 x 4 lanes, each with a column of kPixels pixels: their sums are added up in registers
// before the warp adds its own, which is most of the work where a splat covers many pixels.
template <int kPixels_, int kBatch_>
struct Shape {
    static constexpr int kPixels = kPixels_;
    static constexpr int kBatch = kBatch_;  // splats in shared memory at a time
    static constexpr int kThreads = kTilePixels / kPixels;
    static constexpr int kLaneColumns = 8;
    static constexpr int kWarpRows = 32 / kLaneColumns * kPixels;
    static_assert(kWarpRows <= kTile);
};

template <class S>
struct Shared {
    Splat batch[S::kBatch];
    int walked;  // by the pixel of the tile that saw farthest
};

struct Pixel {
    float y;
    float feature[kFeatures];  // PixelCotangent
    float light;               // in front of the splat that was handled last
    float behind;              // what the loss owes to all behind it, through this pixel
    int walked;
};

__device__ __forceinline__ Pixel load_pixel(Sensor sensor, const View& view, int column, int row) {
    if (column >= view.width || row >= view.height) return {};
    const int at = row * view.width + column;
    const int plane = view.width * view.height;
    const float light = view.light[at];
    const float range = sensor == Sensor::kLidar ? view.range[at] : 0.0f;
    const PixelCotangent<float> cotangent =
        pixel_cotangent(sensor, view.cotangent[at], view.cotangent[plane + at],
                        view.cotangent[2 * plane + at], light, range);
    Pixel pixel;
    pixel.y = view.row_y[row];
    for (int f = 0; f < kFeatures; ++f) pixel.feature[f] = cotangent.feature[f];
    pixel.light = light;
    pixel.behind = cotangent.light * light;
    pixel.walked = static_cast<int>(view.walked[at]);
    return pixel;
}

// The warp's pixels, as a box about their centres.
struct Box {
    float x, y;
    float half_width, half_height;

    // Whether a splat may reach a pixel in the box; right where it says no. Along one axis a
    // Gaussian falls off by conic determinant over the conic of the other.
    __device__ __forceinline__ bool meets(Sensor sensor, const Splat& splat, int width) const {
        const float dx = fmaxf(fabsf(offset_x(sensor, splat.mean_x, x, width)) - half_width, 0.0f);
        const float dy = fmaxf(fabsf(splat.mean_y - y) - half_height, 0.0f);
        constexpr float kRounding = 0.98f;  // the determinant is a difference
        const float determinant =
            kRounding * (splat.conic_xx * splat.conic_yy - splat.conic_xy * splat.conic_xy);
        const float most = -2.0f * splat.lowest_power;
        return dx * dx * determinant <= most * splat.conic_yy &&
               dy * dy * determinant <= most * splat.conic_xx;
    }
};

template <class S>
__device__ __forceinline__ Box box_of(const View& view, int column, int row, int lane) {
    const int left = column - lane % S::kLaneColumns;
    const int top = min(row - lane / S::kLaneColumns * S::kPixels, view.height - 1);
    const int bottom = min(top + S::kWarpRows, view.height) - 1;
    const float y_top = view.row_y[top];
    const float y_bottom = view.row_y[bottom];
    return {static_cast<float>(left) + 0.5f * S::kLaneColumns, 0.5f * (y_top + y_bottom),
            0.5f * (S::kLaneColumns - 1), 0.5f * (y_bottom - y_top)};
}

// Takes entry `entry` of the list out of a lane's pixels. Says whether it reached any, and what
// they add to its gradients, in the order of Field.
template <class S>
__device__ __forceinline__ bool blend_back(Sensor sensor, const Splat& splat, int width, float x,
                                           int entry, Pixel* pixels, float* sums) {
    const float dx = offset_x(sensor, splat.mean_x, x, width);
    float feature[kFeatures] = {};
    float by_power = 0.0f, by_power_y = 0.0f, by_power_yy = 0.0f;
    bool reached = false;
#pragma unroll
    for (int p = 0; p < S::kPixels; ++p) {
        Pixel& pixel = pixels[p];
        const float dy = splat.mean_y - pixel.y;
        const float power = power_at(splat, dx, dy);
        if (entry >= pixel.walked || !reaches(splat, power)) continue;
        reached = true;
        const float alpha = splat.opacity * __expf(power);
        const float passed = __fdividef(1.0f, 1.0f - alpha);
        pixel.light *= passed;
        const float weight = alpha * pixel.light;
        float gain = 0.0f;
#pragma unroll
        for (int f = 0; f < kFeatures; ++f) {
            gain = fmaf(pixel.feature[f], splat.feature[f], gain);
            feature[f] = fmaf(weight, pixel.feature[f], feature[f]);
        }
        const float by_alpha = pixel.light * gain - pixel.behind * passed;
        pixel.behind = fmaf(weight, gain, pixel.behind);
        const float d = by_alpha * alpha;
        by_power += d;
        by_power_y = fmaf(d, dy, by_power_y);
        by_power_yy = fmaf(d * dy, dy, by_power_yy);
    }
    // A lane's pixels share dx, so it comes in last.
    const float by_power_x = by_power * dx;
    for (int f = 0; f < kFeatures; ++f) sums[kFeature + f] = feature[f];
    sums[kOpacity] = __fdividef(by_power, splat.opacity);
    sums[kMeanX] = -fmaf(splat.conic_xx, by_power_x, splat.conic_xy * by_power_y);
    sums[kMeanY] = -fmaf(splat.conic_xy, by_power_x, splat.conic_yy * by_power_y);
    sums[kConicXx] = -0.5f * by_power_x * dx;
    sums[kConicXy] = -by_power_y * dx;
    sums[kConicYy] = -0.5f * by_power_yy;
    return reached;
}

template <class S>
__device__ __forceinline__ void backward_tile(Sensor sensor, const View& view,
                                              float* __restrict__ gradients, Shared<S>& shared) {
    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread % 32;
    const int warp = thread / 32;
    const int across = tiles_over(view.width);
    const int tile = static_cast<int>(blockIdx.x);
    constexpr int kWarpsAcross = kTile / S::kLaneColumns;
    const int column =
        tile % across * kTile + warp % kWarpsAcross * S::kLaneColumns + lane % S::kLaneColumns;
    const int row = tile / across * kTile + warp / kWarpsAcross * S::kWarpRows +
                    lane / S::kLaneColumns * S::kPixels;
    const float x = static_cast<float>(column) + 0.5f;

    Pixel pixels[S::kPixels];
    int walked = 0;
#pragma unroll
    for (int p = 0; p < S::kPixels; ++p) {
        pixels[p] = load_pixel(sensor, view, column, row + p);
        walked = max(walked, pixels[p].walked);
    }
#pragma unroll
    for (int stride = 16; stride > 0; stride /= 2) {
        walked = max(walked, __shfl_xor_sync(0xffffffffu, walked, stride));
    }
    if (thread == 0) shared.walked = 0;
    __syncthreads();
    if (lane == 0) atomicMax(&shared.walked, walked);
    __syncthreads();

    const Box box = box_of<S>(view, column, row, lane);
    const std::uint32_t* order = view.order + view.tile_begin[tile];
    const int field = folded_value<kFields>();
    for (int end = shared.walked; end > 0; end -= S::kBatch) {
        const int begin = max(end - S::kBatch, 0);
        __syncthreads();  // the last batch has been read
        for (int i = thread; i < end - begin; i += S::kThreads) {
            const auto* from = reinterpret_cast<const float4*>(view.splats + order[begin + i]);
            auto* to = reinterpret_cast<float4*>(shared.batch + i);
            to[0] = __ldg(from + 0), to[1] = __ldg(from + 1), to[2] = __ldg(from + 2);
        }
        __syncthreads();

        // Each lane looks at one of 32 splats; then all work on those that the warp's pixels see.
        for (int last = min(end, walked) - begin; last > 0; last -= 32) {
            const int first = max(last - 32, 0);
            const bool seen =
                first + lane < last && box.meets(sensor, shared.batch[first + lane], view.width);
            unsigned left = __ballot_sync(0xffffffffu, seen);
            while (left != 0) {
                const int bit = 31 - __clz(static_cast<int>(left));
                left ^= 1u << bit;
                const Splat splat = shared.batch[first + bit];
                float sums[kFields];
                const bool reached =
                    blend_back<S>(sensor, splat, view.width, x, begin + first + bit, pixels, sums);
                if (!__any_sync(0xffffffffu, reached)) continue;
                fold_lanes<kFields>(sums);
                if (field >= 0) {
                    atomicAdd(gradients + std::size_t{splat.gaussian} * kFields + field, sums[0]);
                }
            }
        }
    }
}

}  // namespace render_backward
