// SPDX-License-Identifier: Apache-2.0
#include "gemm/reference.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "gemm/inputs.hpp"

namespace gemm {
namespace {

constexpr int kRows = 4;  // of C in registers
constexpr int kCols = 8;
constexpr int kColsPerBlock = 128;  // of B packed at a time: stays in the second-level cache

// Two lanes are what every 64-bit CPU has; the arithmetic is vectorised without compiler flags.
using Pair = double __attribute__((vector_size(16)));
using Line = std::array<Pair, kCols / 2>;  // a row of B's panel
using Column = std::array<double, kRows>;  // a column of A's panel

void multiply_block(const Column* a, const Line* b, int k, float (&out)[kRows][kCols]) {
    for (std::size_t half = 0; half < kRows; half += 2) {  // two rows at a time fit 16 registers
        Pair sum0[kCols / 2] = {};
        Pair sum1[kCols / 2] = {};
        for (int i = 0; i < k; ++i) {
            const double x = a[i][half];
            const double y = a[i][half + 1];
            const Pair a0 = {x, x};
            const Pair a1 = {y, y};
            for (std::size_t j = 0; j < kCols / 2; ++j) {
                sum0[j] += a0 * b[i][j];
                sum1[j] += a1 * b[i][j];
            }
        }
        for (int j = 0; j < kCols; ++j) {
            out[half][j] = static_cast<float>(sum0[j / 2][j % 2]);
            out[half + 1][j] = static_cast<float>(sum1[j / 2][j % 2]);
        }
    }
}

template <class E>
void multiply(const Problem& p, const typename E::Storage* a, const typename E::Storage* b,
              float* c) {
    const auto width = [](int extent) { return static_cast<std::size_t>(extent); };
    std::vector<Column> a_panel(width(p.k));
    std::vector<Line> b_panels(width(p.k) * (kColsPerBlock / kCols));
    for (int first_col = 0; first_col < p.n; first_col += kColsPerBlock) {
        const int cols = std::min(kColsPerBlock, p.n - first_col);
        std::fill(b_panels.begin(), b_panels.end(), Line{});
        for (int i = 0; i < p.k; ++i) {
            const auto* row = b + width(i) * width(p.n) + first_col;
            for (int j = 0; j < cols; ++j) {
                Line& line = b_panels[width(j / kCols) * width(p.k) + width(i)];
                line[width(j % kCols / 2)][j % 2] = static_cast<double>(E::widen(row[j]));
            }
        }
        for (int first_row = 0; first_row < p.m; first_row += kRows) {
            const int rows = std::min(kRows, p.m - first_row);
            for (int i = 0; i < p.k; ++i) {
                for (int r = 0; r < kRows; ++r) {
                    const int row = std::min(first_row + r, p.m - 1);
                    a_panel[width(i)][width(r)] =
                        static_cast<double>(E::widen(a[width(row) * width(p.k) + width(i)]));
                }
            }
            for (int j = 0; j < cols; j += kCols) {
                float block[kRows][kCols];
                multiply_block(a_panel.data(), &b_panels[width(j / kCols) * width(p.k)], p.k,
                               block);
                for (int r = 0; r < rows; ++r) {
                    std::copy_n(block[r], std::min(kCols, cols - j),
                                c + width(first_row + r) * width(p.n) + first_col + j);
                }
            }
        }
    }
}

}  // namespace

void multiply_reference(const Problem& problem, const void* a, const void* b, float* c) {
    with_element(problem.dtype, [&](auto element) {
        using E = decltype(element);
        using Storage = typename E::Storage;
        multiply<E>(problem, static_cast<const Storage*>(a), static_cast<const Storage*>(b), c);
    });
}

}  // namespace gemm
