// SPDX-License-Identifier: Apache-2.0
// The forward pass, as far as the backward pass needs it. Set-up, not measured: plain code.
#include "render_backward/launchers.hpp"

namespace render_backward {
namespace {

__global__ void __launch_bounds__(kTilePixels)
    forward(View view, float* light_out, float* range_out, std::uint32_t* walked_out) {
    const int across = tiles_over(view.width);
    const int tile = static_cast<int>(blockIdx.x);
    const int column = tile % across * kTile + static_cast<int>(threadIdx.x) % kTile;
    const int row = tile / across * kTile + static_cast<int>(threadIdx.x) / kTile;
    if (column >= view.width || row >= view.height) return;
    const float x = static_cast<float>(column) + 0.5f;
    const float y = view.row_y[row];
    const std::uint32_t* order = view.order + view.tile_begin[tile];
    const std::uint32_t entries = view.tile_begin[tile + 1] - view.tile_begin[tile];
    float light = 1.0f;
    float range = 0.0f;
    std::uint32_t walked = 0;
    for (std::uint32_t i = 0; i < entries; ++i) {
        const Splat splat = view.splats[order[i]];
        const float power =
            power_at(splat, offset_x(view.sensor, splat.mean_x, x, view.width), splat.mean_y - y);
        if (!reaches(splat, power)) continue;
        const float alpha = splat.opacity * expf(power);
        if (light * (1.0f - alpha) < kLeastLight) break;
        range += alpha * light * splat.feature[0];
        light *= 1.0f - alpha;
        walked = i + 1;
    }
    const int at = row * view.width + column;
    light_out[at] = light;
    walked_out[at] = walked;
    if (view.sensor == Sensor::kLidar) range_out[at] = walked > 0 ? range / (1.0f - light) : 0.0f;
}

}  // namespace

void render_forward(const View& view, float* light, float* range, std::uint32_t* walked) {
    forward<<<static_cast<unsigned>(tile_count(view)), kTilePixels>>>(view, light, range, walked);
    common::check(cudaGetLastError(), "the forward pass");
}

}  // namespace render_backward
