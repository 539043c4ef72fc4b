// SPDX-License-Identifier: Apache-2.0
// The stages of the camera pipeline as both states of the pull request offer them: each enqueues
// its work on the stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "shapes.hpp"

namespace camera {

/// out[plane][i] = curves[plane][raw[plane][i]]
cudaError_t tone_curve(const std::uint16_t* raw, const float* curves, float* out,
                       std::int64_t pixels, cudaStream_t stream);

/// out[i] = (a[i] * weight + b[i] * (256 - weight) + 128) / 256; weight is at most 256.
cudaError_t blend(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* out, std::int64_t n,
                  unsigned weight, cudaStream_t stream);

/// out[f][x] = sum over t of signal[x + t] * taps[t][f]; the signal has kTaps - 1 values more than
/// a filter's output, n is a multiple of kFilterTile.
cudaError_t filter_bank(const float* signal, const float* taps, float* out, std::int64_t n,
                        cudaStream_t stream);

/// out[p][j] = silu(bias[j] + sum over k of x[p][k] * weights[k][j]); pixels is a multiple of
/// kPixelTile.
cudaError_t pointwise(const float* x, const float* weights, const float* bias, float* out,
                      std::int64_t pixels, cudaStream_t stream);

/// out[r][c] = sum of in[r][0..c]; cols is a multiple of kScanTile.
cudaError_t row_scan(const float* in, float* out, int rows, int cols, cudaStream_t stream);

/// out[r] = sum of in[r]
cudaError_t row_sum(const float* in, float* out, int rows, int cols, cudaStream_t stream);

/// out[i] = (in[i] - mean) * inverse_deviation; n is a multiple of 4.
cudaError_t normalize(const float* in, float* out, std::int64_t n, float mean,
                      float inverse_deviation, cudaStream_t stream);

/// Inputs that are no floating-point numbers: random bits below a power of two.
cudaError_t fill_codes(std::uint16_t* out, std::int64_t n, unsigned mask, std::uint64_t key,
                       cudaStream_t stream);
cudaError_t fill_bytes(std::uint8_t* out, std::int64_t n, std::uint64_t key, cudaStream_t stream);

}  // namespace camera
