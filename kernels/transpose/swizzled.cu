// SPDX-License-Identifier: Apache-2.0
// 128 bits at a time on both sides, and no byte of padding.
//
// A chunk is 16 bytes: V elements (4 of f32, 8 of f16). A block of 256 threads turns a tile of
// 16 V x 16 V elements, 16 x 16 chunks wide. Each thread
//   1. loads V chunks, one below the other: a V x V square;
//   2. turns the square in registers;
//   3. stores V chunks, each now a piece of a row of the output, to shared memory;
//   4. after the barrier loads V chunks of one output row's piece each and stores them to global
//      memory, where 16 neighbours fill 256 bytes.
//
// A row of the tile is 256 bytes, so equal chunk numbers of all rows lie in the same banks. The
// threads that store together (step 3) hold the same chunk number of rows that are V apart; the
// exclusive or with row / V sends each eight of them to eight different groups of banks. Step 4
// reads along rows, which the exclusive or only permutes.
//
// Where a row does not begin on 16 bytes, because rows or cols is no multiple of V, a second kernel
// moves single elements through a tile that is swizzled by element.
#include <cstdint>
#include <cstring>

#include "transpose/launchers.hpp"

namespace transpose {
namespace {

constexpr int kThreads = 256;

// --- by chunks

constexpr int kChunks = 16;  // of a tile's row; squared, the threads

template <class T>
constexpr int kPerChunk = static_cast<int>(sizeof(uint4) / sizeof(T));

template <class T>
union Chunk {
    uint4 bits;
    T elements[kPerChunk<T>];
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    transpose_swizzled(int rows, int cols, const T* __restrict__ in, T* __restrict__ out) {
    constexpr int V = kPerChunk<T>;
    constexpr int kTile = kChunks * V;
    __shared__ uint4 tile[kTile][kChunks];

    const int lane = static_cast<int>(threadIdx.x) % kChunks;
    const int group = static_cast<int>(threadIdx.x) / kChunks;
    const int row0 = static_cast<int>(blockIdx.y) * kTile;
    const int col0 = static_cast<int>(blockIdx.x) * kTile;

    {
        const int row = row0 + group * V;
        const int col = col0 + lane * V;
        // V divides rows and cols: a square is in the matrix or outside, never across its edge.
        if (row < rows && col < cols) {
            const T* source = in + static_cast<std::size_t>(row) * cols + col;
            Chunk<T> square[V];
#pragma unroll
            for (int i = 0; i < V; ++i) {
                square[i].bits = *reinterpret_cast<const uint4*>(
                    source + static_cast<std::size_t>(i) * static_cast<std::size_t>(cols));
            }
#pragma unroll
            for (int j = 0; j < V; ++j) {
                Chunk<T> turned;
#pragma unroll
                for (int i = 0; i < V; ++i) turned.elements[i] = square[i].elements[j];
                tile[lane * V + j][group ^ (lane % 8)] = turned.bits;
            }
        }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < V; ++i) {
        const int line = group + i * kChunks;  // of the tile: a column of the input
        const int out_row = col0 + line;
        const int out_col = row0 + lane * V;
        if (out_row < cols && out_col < rows) {
            *reinterpret_cast<uint4*>(out + static_cast<std::size_t>(out_row) * rows + out_col) =
                tile[line][lane ^ (line / V % 8)];
        }
    }
}

// --- by elements

constexpr int kElementTile = 64;
constexpr int kWarp = 32;
constexpr int kWordBytes = 4;

template <class T>
__global__ void __launch_bounds__(kThreads)
    transpose_swizzled_elements(int rows, int cols, const T* __restrict__ in, T* __restrict__ out) {
    // A row is a whole number of turns through the banks. Reading a column, the lanes' words are
    // told apart by the exclusive or with the row, in units of a word.
    __shared__ T tile[kElementTile][kElementTile];
    constexpr int kPerWord = static_cast<int>(kWordBytes / sizeof(T));
    const auto swizzled = [](int row, int col) { return col ^ (row % kWarp * kPerWord); };

    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    const int row0 = static_cast<int>(blockIdx.y) * kElementTile;
    const int col0 = static_cast<int>(blockIdx.x) * kElementTile;

#pragma unroll
    for (int i = 0; i < kElementTile; i += kThreads / kWarp) {
#pragma unroll
        for (int j = 0; j < kElementTile; j += kWarp) {
            const int row = warp + i;
            const int col = lane + j;
            if (row0 + row < rows && col0 + col < cols) {
                tile[row][swizzled(row, col)] =
                    in[static_cast<std::size_t>(row0 + row) * cols + col0 + col];
            }
        }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kElementTile; i += kThreads / kWarp) {
#pragma unroll
        for (int j = 0; j < kElementTile; j += kWarp) {
            const int row = lane + j;
            const int col = warp + i;
            if (row0 + row < rows && col0 + col < cols) {
                out[static_cast<std::size_t>(col0 + col) * rows + row0 + row] =
                    tile[row][swizzled(row, col)];
            }
        }
    }
}

template <class T>
common::Launch prepare(const Problem& p, const void* in, void* out) {
    const bool by_chunks = p.rows % kPerChunk<T> == 0 && p.cols % kPerChunk<T> == 0;
    const int tile = by_chunks ? kChunks * kPerChunk<T> : kElementTile;
    const dim3 grid((p.cols + tile - 1) / tile, (p.rows + tile - 1) / tile);
    const auto kernel = by_chunks ? transpose_swizzled<T> : transpose_swizzled_elements<T>;
    return [=](cudaStream_t stream) {
        kernel<<<grid, kThreads, 0, stream>>>(p.rows, p.cols, static_cast<const T*>(in),
                                              static_cast<T*>(out));
        common::check(cudaGetLastError(), "launch");
    };
}

}  // namespace

common::Launch prepare_swizzled(const Problem& p, const void* in, void* out) {
    return common::element_bytes(p.dtype) == 2 ? prepare<std::uint16_t>(p, in, out)
                                               : prepare<std::uint32_t>(p, in, out);
}

}  // namespace transpose
