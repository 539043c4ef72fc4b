// SPDX-License-Identifier: Apache-2.0
// Which tile of C a block computes. Consecutive blocks walk down a band of a few tile rows before
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
// leave more than a quarter of the processors idle.
template <int kTileM, int kTileN>
bool fills(const Problem& problem, const DeviceLimits& device) {
    return 4 * raster_blocks<kTileM, kTileN>(problem.m, problem.n) >=
           3 * static_cast<unsigned>(device.multiprocessors);
}

template <int kTileM, int kTileN>
__device__ __forceinline__ TileOrigin raster_tile(int m, int n) {
    const int tile_rows = (m + kTileM - 1) / kTileM;
    const int tile_cols = (n + kTileN - 1) / kTileN;
    const int block = static_cast<int>(blockIdx.x);
    const int band = block / (kRasterBand * tile_cols);
    const int band_rows = min(kRasterBand, tile_rows - band * kRasterBand);
    const int in_band = block - band * kRasterBand * tile_cols;
    return {(band * kRasterBand + in_band % band_rows) * kTileM, in_band / band_rows * kTileN};
}

}  // namespace gemm
