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
    static constexpr int kLaneColumns = kPixels == 8 ? 16 : 8;
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

        for (int i = min(end, walked) - 1; i >= begin; --i) {
            const Splat splat = shared.batch[i - begin];
            const float dx = offset_x(sensor, splat.mean_x, x, view.width);
            float feature[kFeatures] = {};
            float by_power = 0.0f, by_power_y = 0.0f, by_power_yy = 0.0f;
            bool reached = false;
#pragma unroll
            for (int p = 0; p < S::kPixels; ++p) {
                Pixel& pixel = pixels[p];
                const float dy = splat.mean_y - pixel.y;
                const float power = power_at(splat, dx, dy);
                if (i >= pixel.walked || !reaches(splat, power)) continue;
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
            if (!__any_sync(0xffffffffu, reached)) continue;

            // In the order of Field. A lane's pixels share dx, so it comes in last.
            const float by_power_x = by_power * dx;
            float sums[kFields] = {feature[0],
                                   feature[1],
                                   feature[2],
                                   __fdividef(by_power, splat.opacity),
                                   -fmaf(splat.conic_xx, by_power_x, splat.conic_xy * by_power_y),
                                   -fmaf(splat.conic_xy, by_power_x, splat.conic_yy * by_power_y),
                                   -0.5f * by_power_x * dx,
                                   -by_power_y * dx,
                                   -0.5f * by_power_yy};
            fold_lanes<kFields>(sums);
            if (field >= 0) {
                atomicAdd(gradients + std::size_t{splat.gaussian} * kFields + field, sums[0]);
            }
        }
    }
}

}  // namespace render_backward
