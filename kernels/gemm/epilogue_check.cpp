// SPDX-License-Identifier: Apache-2.0
#include "gemm/epilogue_check.hpp"

#include <cmath>
#include <mutex>
#include <vector>

#include "common/tally.hpp"
#include "gemm/epilogue.hpp"
#include "gemm/inputs.hpp"

namespace gemm {
namespace {

constexpr double kSteepest = 1.13;  // slope of GELU
constexpr double kRounding = 4e-6;  // of the epilogue in f32, relative to its argument

// Of an element of the product: that of two accumulations in different order.
double accumulation_allowance(const Problem& p) {
    if (p.dtype == Dtype::kE4m3) return 0.0;          // one kernel makes both
    const double scale = std::sqrt(1.0 * p.k) / 3.0;  // rms over inputs uniform in [-1, 1)
    return 2.0 * kElementRms * accumulation_error(p.dtype, p.k) * scale;
}

}  // namespace

CheckReport check_epilogue_of_seed(const Problem& p, std::uint64_t input_seed, const float* product,
                                   const float* c, unsigned threads) {
    CheckReport report = check_product_of_seed(p, input_seed, product, threads);
    if (!report.passed || p.epilogue == Epilogue::kNone) return report;

    const auto cols = static_cast<std::size_t>(p.n);
    const common::UnfilledVector<float> bias =
        common::widened_inputs(Dtype::kF32, Operand::kBias, input_seed, cols, threads);
    const double from_accumulation = kSteepest * accumulation_allowance(p);
    std::mutex mutex;
    common::Tally total;
    common::parallel_for(static_cast<std::size_t>(p.m), threads, [&](std::size_t row) {
        common::Tally tally;
        for (std::size_t j = 0; j < cols; ++j) {
            const double value = static_cast<double>(product[row * cols + j]);
            const double add = static_cast<double>(bias[j]);
            tally.element(static_cast<int>(row), static_cast<int>(j),
                          static_cast<double>(c[row * cols + j]), finish(p.epilogue, value, add),
                          from_accumulation + kRounding * (std::abs(value) + std::abs(add)));
        }
        const std::lock_guard lock(mutex);
        total.merge(tally);
    });
    if (total.finding.found()) {
        report.passed = false;
        report.detail =
            describe_finding("c", total.finding) + " of the product's " +
            common::describe(
                "%.9g",
                static_cast<double>(product[static_cast<std::size_t>(total.finding.row) * cols +
                                            static_cast<std::size_t>(total.finding.col)]));
        return report;
    }
    report.detail += "; the epilogue of every element";
    return report;
}

}  // namespace gemm
