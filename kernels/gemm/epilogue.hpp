// SPDX-License-Identifier: Apache-2.0
// What may follow the product before C is written: C = f(A * B + bias), the bias being one value a
// column. f is the identity or GELU in its tanh form, which is the one that cuBLAS fuses.
#pragma once

#include <cmath>

#include "common/host_device.hpp"
#include "gemm/problem.hpp"

namespace gemm {

inline constexpr double kGeluScale = 0.7978845608028654;  // sqrt(2 / pi)
inline constexpr double kGeluCubic = 0.044715;

// x (1 + tanh(y)) / 2 with y = kGeluScale (x + kGeluCubic x^3).
inline double gelu(double x) {
    return 0.5 * x * (1.0 + std::tanh(kGeluScale * (x + kGeluCubic * x * x * x)));
}

inline double finish(Epilogue epilogue, double value, double bias) {
    switch (epilogue) {
        case Epilogue::kBias:
            return value + bias;
        case Epilogue::kBiasGelu:
            return gelu(value + bias);
        case Epilogue::kNone:
            break;
    }
    return value;
}

#if defined(__CUDACC__)

// The same as x / (1 + exp(-2 y)): an exponential and a reciprocal of the special function unit,
// each right to some 1e-7, where the approximate tanh is off by 5e-4. Where the exponential
// overflows its reciprocal is zero and so is the result; flushing what is below f32's normal range
// spares both their special cases.
__device__ __forceinline__ float gelu_fast(float x) {
    constexpr double kToBase2 = -2.0 * 1.4426950408889634;
    const float exponent = x * fmaf(static_cast<float>(kToBase2 * kGeluScale * kGeluCubic), x * x,
                                    static_cast<float>(kToBase2 * kGeluScale));
    float power, reciprocal;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(exponent));
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(1.0f + power));
    return x * reciprocal;
}

// One visit to the special function unit instead of two. What its tanh is off by, 5e-4 of x at
// most, is no more than what the rounding of operands of 16 or fewer bits already cost.
__device__ __forceinline__ float gelu_tanh(float x) {
    const float y = x * fmaf(static_cast<float>(kGeluScale * kGeluCubic), x * x,
                             static_cast<float>(kGeluScale));
    float tanh;
    asm("tanh.approx.f32 %0, %1;" : "=f"(tanh) : "f"(y));
    const float half = 0.5f * x;
    return fmaf(half, tanh, half);
}

template <Epilogue kEpilogue>
__device__ __forceinline__ float finish(float value, float bias) {
    if constexpr (kEpilogue == Epilogue::kBias) return value + bias;
    if constexpr (kEpilogue == Epilogue::kBiasGelu) return gelu_fast(value + bias);
    return value;
}

#endif

}  // namespace gemm
