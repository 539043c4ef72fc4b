// SPDX-License-Identifier: Apache-2.0
// The forward and the backward pass in float64, tile by tile. Which splats reach a pixel is decided
// as the kernels decide it, in float32, so that results can be compared.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "render_backward/scene.hpp"
#include "render_backward/splat.hpp"

namespace render_backward {

// A splat's differentiable fields, by Field.
using Fields = std::array<double, kFields>;
Fields fields_of(const Splat&);

// Derivatives, and the sums of their terms' magnitudes, which rounding errors are relative to.
struct Derivatives {
    Fields value{};
    Fields magnitude{};
};

// What the forward pass leaves of a pixel.
struct PixelOutput {
    double light = 1.0;
    double range = 0.0;
    std::uint32_t walked = 0;
};

// Pixels of a tile, row by row; those outside the image stay as they are.
using TileOutput = std::array<PixelOutput, kTilePixels>;
TileOutput forward_tile(const View&, int tile);

// Entries of the tile's list.
inline std::uint32_t tile_entries(const View& view, int tile) {
    return view.tile_begin[tile + 1] - view.tile_begin[tile];
}

// The same for a whole image, into the scene.
void forward_reference(Scene&);

// Adds what the tile contributes to each entry of its list; out has tile_entries elements. The
// forward pass's `walked` is the view's; light and range are computed again.
void backward_tile(const View&, int tile, Derivatives* out);

// The gradients of all Gaussians, kFields each, on one thread.
void backward_reference(const View&, std::vector<double>& gradients);

// The loss that those pixels of a tile make which entry `changed` of its list reaches, if it had
// other fields. Which splats reach a pixel is as the view has it, whatever the fields: it is
// this function, without jumps, that the gradients are derivatives of.
double tile_loss(const View&, int tile, std::uint32_t changed, const Fields& fields);

}  // namespace render_backward
