// SPDX-License-Identifier: Apache-2.0
#include "transpose/reference.hpp"

#include <algorithm>
#include <concepts>
#include <mutex>

#include "common/inputs.hpp"
#include "common/tally.hpp"

namespace transpose {
namespace {

constexpr int kBlock = 32;  // of rows and columns: both sides' lines stay in the first-level cache

template <class T>
void transpose_blocks(int rows, int cols, const T* in, T* out) {
    for (int row0 = 0; row0 < rows; row0 += kBlock) {
        const int row_end = std::min(row0 + kBlock, rows);
        for (int col0 = 0; col0 < cols; col0 += kBlock) {
            const int col_end = std::min(col0 + kBlock, cols);
            for (int col = col0; col < col_end; ++col) {
                T* line = out + static_cast<std::size_t>(col) * static_cast<std::size_t>(rows);
                for (int row = row0; row < row_end; ++row) {
                    line[row] = in[static_cast<std::size_t>(row) * static_cast<std::size_t>(cols) +
                                   static_cast<std::size_t>(col)];
                }
            }
        }
    }
}

// A NaN equals itself, and -0 is not 0.
bool same_bits(float left, float right) {
    return common::float_bits(left) == common::float_bits(right);
}
template <std::unsigned_integral Bits>
bool same_bits(Bits left, Bits right) {
    return left == right;
}

// Compares out, of `lines` lines of `width`, with the input's elements that index_of(line, at)
// names.
template <class IndexOf>
CheckReport check(const Problem& problem, std::uint64_t seed, const void* out, int lines, int width,
                  IndexOf index_of) {
    const std::uint64_t key = common::stream_key(seed, kInput);
    std::mutex mutex;
    common::Finding first;
    common::with_element(problem.dtype, [&](auto element) {
        using E = decltype(element);
        const auto* values = static_cast<const typename E::Storage*>(out);
        common::parallel_for(static_cast<std::size_t>(lines), 0, [&](std::size_t line) {
            const auto* got = values + line * static_cast<std::size_t>(width);
            for (std::size_t at = 0; at < static_cast<std::size_t>(width); ++at) {
                const auto expected = E::from(common::uniform(key, index_of(line, at)));
                if (same_bits(got[at], expected)) continue;
                const common::Finding here{static_cast<int>(line), static_cast<int>(at),
                                           static_cast<double>(E::widen(got[at])),
                                           static_cast<double>(E::widen(expected)), 0.0};
                const std::lock_guard lock(mutex);
                if (here.before(first)) first = here;
                return;
            }
        });
    });
    if (first.found()) return {false, common::describe_finding("out", first)};
    return {true, common::describe("all %zu elements, bit for bit", problem.count())};
}

}  // namespace

void transpose_reference(const Problem& problem, const void* in, void* out) {
    common::with_element(problem.dtype, [&](auto element) {
        using T = typename decltype(element)::Storage;
        transpose_blocks(problem.rows, problem.cols, static_cast<const T*>(in),
                         static_cast<T*>(out));
    });
}

CheckReport check_transposed(const Problem& problem, std::uint64_t seed, const void* out) {
    return check(problem, seed, out, problem.cols, problem.rows,
                 [cols = static_cast<std::size_t>(problem.cols)](std::size_t line, std::size_t at) {
                     return at * cols + line;
                 });
}

CheckReport check_copied(const Problem& problem, std::uint64_t seed, const void* out) {
    return check(problem, seed, out, problem.rows, problem.cols,
                 [cols = static_cast<std::size_t>(problem.cols)](std::size_t line, std::size_t at) {
                     return line * cols + at;
                 });
}

}  // namespace transpose
