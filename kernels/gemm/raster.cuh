// SPDX-License-Identifier: Apache-2.0
// Which tile of C a block computes. Consecutive tiles walk down a band of a few tile rows before
// they move to the next column, so that the blocks in flight at one time share rows of A and
// columns of B in the L2 cache.
#pragma once

#include "gemm/launchers.hpp"

namespace gemm {

struct TileOrigin {
    int row;
    int col;
};

inline constexpr int kRasterBand = 8;

template <int kTileM, int kTileN>
unsigned raster_blocks(int m, int n) {
    return static_cast<unsigned>((m + kTileM - 1) / kTileM) *
           static_cast<unsigned>((n + kTileN - 1) / kTileN);
}

// Large tiles use each loaded element more often; small ones are for a C of which large tiles would
// leave more than a quarter of the SMs idle.
template <int kTileM, int kTileN>
bool fills(const Problem& problem, const DeviceLimits& device) {
    return 4 * raster_blocks<kTileM, kTileN>(problem.m, problem.n) >=
           3 * static_cast<unsigned>(device.multiprocessors);
}

template <int kTileM, int kTileN, int kBand = kRasterBand>
__device__ __forceinline__ TileOrigin raster_tile(int m, int n, int index) {
    const int tile_rows = (m + kTileM - 1) / kTileM;
    const int tile_cols = (n + kTileN - 1) / kTileN;
    const int band = index / (kBand * tile_cols);
    const int band_rows = min(kBand, tile_rows - band * kBand);
    const int in_band = index - band * kBand * tile_cols;
    return {(band * kBand + in_band % band_rows) * kTileM, in_band / band_rows * kTileN};
}

// The tile of a block that computes one.
template <int kTileM, int kTileN>
__device__ __forceinline__ TileOrigin raster_tile(int m, int n) {
    return raster_tile<kTileM, kTileN>(m, n, static_cast<int>(blockIdx.x));
}

}  // namespace gemm
