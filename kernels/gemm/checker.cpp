// SPDX-License-Identifier: Apache-2.0
#include "gemm/checker.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <mutex>
#include <numeric>
#include <tuple>
#include <vector>

#include "common/kept.hpp"
#include "common/parallel.hpp"
#include "common/tally.hpp"
#include "gemm/inputs.hpp"

namespace gemm {
namespace {

using common::default_threads;
using common::describe;
using common::Finding;
using common::kMixIncrement;
using common::mix;
using common::parallel_for;
using common::Tally;

constexpr double kFullCheckMultiplyAdds = 0x1p27;  // above: samples and Freivalds
constexpr double kCornerMultiplyAdds = 0x1p27;     // spent on tile corners at most
constexpr double kRowMultiplyAdds = 0x1p28;        // spent on whole sampled rows at most
constexpr double kFreivaldsMultiplyAdds = 0x1p30;  // caps the number of bands
constexpr int kLeastBands = 8;                     // but never below this
constexpr int kMostSampledRows = 16;
constexpr int kLeastSampledRows = 4;
constexpr int kTileGrid = 64;          // tile sizes of GEMM kernels are multiples of it
constexpr double kBandRms = 16.0;      // times the root of the band's width
constexpr double kBandTarget = 0.005;  // of the row's scale

// Two lanes are what every 64-bit CPU has; the arithmetic is vectorised without compiler flags.
using Pair = double __attribute__((vector_size(16)));
using PairBits = long long __attribute__((vector_size(16)));
constexpr int kPairs = 4;
constexpr int kPanel = 2 * kPairs;  // columns that are multiplied together

using PanelRow = std::array<Pair, kPairs>;

Pair magnitude(Pair value) {
    const PairBits mask = {0x7fffffffffffffffll, 0x7fffffffffffffffll};
    return reinterpret_cast<Pair>(reinterpret_cast<PairBits>(value) & mask);
}

struct PanelSums {
    std::array<double, kPanel> sum;        // (A B)_ij
    std::array<double, kPanel> magnitude;  // (|A| |B|)_ij
};

PanelSums multiply_panel(const float* a_row, const PanelRow* panel, int k) {
    Pair sum[kPairs] = {};
    Pair absolute[kPairs] = {};
    for (int i = 0; i < k; ++i) {
        const double scalar = static_cast<double>(a_row[i]);
        const Pair a = {scalar, scalar};
        for (int p = 0; p < kPairs; ++p) {
            const Pair product = a * panel[i][static_cast<std::size_t>(p)];
            sum[p] += product;
            absolute[p] += magnitude(product);
        }
    }
    PanelSums sums{};
    for (std::size_t j = 0; j < kPanel; ++j) {
        sums.sum[j] = sum[j / 2][j % 2];
        sums.magnitude[j] = absolute[j / 2][j % 2];
    }
    return sums;
}

// Two rows of A times a panel, sums only.
void multiply_panel_pair(const float* first, const float* second, const PanelRow* panel, int k,
                         double* first_sums, double* second_sums) {
    Pair sum0[kPairs] = {};
    Pair sum1[kPairs] = {};
    for (int i = 0; i < k; ++i) {
        const double x = static_cast<double>(first[i]);
        const double y = static_cast<double>(second[i]);
        const Pair a0 = {x, x};
        const Pair a1 = {y, y};
        for (int p = 0; p < kPairs; ++p) {
            const Pair b = panel[i][static_cast<std::size_t>(p)];
            sum0[p] += a0 * b;
            sum1[p] += a1 * b;
        }
    }
    for (int p = 0; p < kPairs; ++p) {
        for (int lane = 0; lane < 2; ++lane) {
            first_sums[2 * p + lane] = sum0[p][lane];
            second_sums[2 * p + lane] = sum1[p][lane];
        }
    }
}

std::vector<int> everything(int extent) {
    std::vector<int> indices(static_cast<std::size_t>(extent));
    std::iota(indices.begin(), indices.end(), 0);
    return indices;
}

// First and last line of every tile, for tiles of `stride` or a multiple of it.
std::vector<int> tile_edges(int extent, int stride) {
    std::vector<int> edges;
    for (int first = 0; first < extent; first += stride) {
        if (first > 0) edges.push_back(first - 1);
        edges.push_back(first);
    }
    if (edges.back() != extent - 1) edges.push_back(extent - 1);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    return edges;
}

// Elements of (A B) and (|A| |B|), row by row of those that are checked.
struct ExpectedElements {
    std::vector<double> sums, magnitudes;
};

// What C is compared with. It depends on A, B and the seed alone, so all variants share it.
struct Reference {
    std::vector<double> row_scale;
    ExpectedElements all, rows, edges, corners;  // in small problems all, in others the rest
    std::vector<double> band_sums;               // of each row's bands

    std::size_t bytes() const {
        std::size_t count = row_scale.size() + band_sums.size();
        for (const ExpectedElements* each : {&all, &rows, &edges, &corners}) {
            count += each->sums.size() + each->magnitudes.size();
        }
        return count * sizeof(double);
    }
};

// The bundled suite's problems take up to 5 MB each.
constexpr std::size_t kMostKept = std::size_t{1} << 28;
// The most elements whose expected values are held at a time.
constexpr std::size_t kMostExpected = std::size_t{1} << 21;

class Checker {
  public:
    // With a and b, the reference is made. Without them, it was made before.
    Checker(const Problem& problem, const float* a, const float* b, const float* c,
            std::uint64_t seed, unsigned threads, Reference& reference)
        : p_(problem),
          a_(a),
          b_(b),
          c_(c),
          seed_(seed),
          threads_(threads ? threads : default_threads()),
          tolerance_(tolerance(problem.dtype)),
          error_(accumulation_error(problem.dtype, problem.k)),
          reference_(reference) {
        if (makes()) scale_rows();
    }

    CheckReport run() {
        return p_.multiply_adds() <= kFullCheckMultiplyAdds ? check_all() : check_samples();
    }

    // Whether a reference can hold all that is expected of the problem.
    static bool has_reference(const Problem& p) {
        return p.multiply_adds() > kFullCheckMultiplyAdds || p.c_count() <= kMostExpected;
    }

  private:
    bool makes() const { return a_ != nullptr; }
    const float* a_row(int row) const { return a_ + static_cast<std::size_t>(row) * width(p_.k); }
    const float* b_row(int row) const { return b_ + static_cast<std::size_t>(row) * width(p_.n); }
    const float* c_row(int row) const { return c_ + static_cast<std::size_t>(row) * width(p_.n); }
    static std::size_t width(int extent) { return static_cast<std::size_t>(extent); }

    void scale_rows() {
        const auto squares = [](const float* values, int count) {
            double sum = 0.0;
            for (int i = 0; i < count; ++i) sum += static_cast<double>(values[i]) * values[i];
            return sum;
        };
        std::vector<double> b_squares(width(p_.k));
        parallel_for(width(p_.k), threads_, [&](std::size_t row) {
            b_squares[row] = squares(b_row(static_cast<int>(row)), p_.n);
        });
        const double b_rms = std::sqrt(std::accumulate(b_squares.begin(), b_squares.end(), 0.0) /
                                       static_cast<double>(p_.b_count()));
        reference_.row_scale.resize(width(p_.m));
        parallel_for(width(p_.m), threads_, [&](std::size_t row) {
            reference_.row_scale[row] =
                std::sqrt(squares(a_row(static_cast<int>(row)), p_.k)) * b_rms;
        });
    }

    double expected_rms(int row) const {
        return error_ * reference_.row_scale[static_cast<std::size_t>(row)];
    }

    // Never below an element's: what fails a band alone then also fails as an element.
    static double band_rms(int columns) {
        return std::max(kBandRms * std::sqrt(1.0 * columns), kElementRms);
    }

    // Every element at the crossing of the rows and the columns, against the float64 product.
    Tally check_elements(const std::vector<int>& rows, const std::vector<int>& cols,
                         ExpectedElements& expected) const {
        if (makes()) multiply(rows, cols, expected);
        return compare(rows, cols, expected);
    }

    Tally compare(const std::vector<int>& rows, const std::vector<int>& cols,
                  const ExpectedElements& expected) const {
        std::mutex mutex;
        Tally total;
        parallel_for(rows.size(), threads_, [&](std::size_t r) {
            const int row = rows[r];
            const double allowed = kElementRms * expected_rms(row);
            Tally tally;
            for (std::size_t j = 0; j < cols.size(); ++j) {
                const std::size_t at = r * cols.size() + j;
                tally.element(row, cols[j], static_cast<double>(c_row(row)[cols[j]]),
                              expected.sums[at],
                              std::min(tolerance_ * expected.magnitudes[at], allowed));
            }
            const std::lock_guard lock(mutex);
            total.merge(tally);
        });
        return total;
    }

    void multiply(const std::vector<int>& rows, const std::vector<int>& cols,
                  ExpectedElements& products) const {
        constexpr std::size_t kRowsPerTask = 256;  // amortises packing the panel of B
        const std::size_t panels = (cols.size() + kPanel - 1) / kPanel;
        const std::size_t row_blocks = (rows.size() + kRowsPerTask - 1) / kRowsPerTask;
        products.sums.resize(rows.size() * cols.size());
        products.magnitudes.resize(rows.size() * cols.size());
        parallel_for(panels * row_blocks, threads_, [&](std::size_t task) {
            const std::size_t first_col = task % panels * kPanel;
            const std::size_t count = std::min<std::size_t>(kPanel, cols.size() - first_col);
            thread_local std::vector<PanelRow> panel;  // kept from task to task
            panel.assign(width(p_.k), PanelRow{});
            for (int i = 0; i < p_.k; ++i) {
                PanelRow& line = panel[static_cast<std::size_t>(i)];
                const float* source = b_row(i);
                for (std::size_t j = 0; j < count; ++j) {
                    line[j / 2][j % 2] = static_cast<double>(source[cols[first_col + j]]);
                }
            }
            const std::size_t first_row = task / panels * kRowsPerTask;
            const std::size_t end_row = std::min(first_row + kRowsPerTask, rows.size());
            for (std::size_t r = first_row; r < end_row; ++r) {
                const PanelSums sums = multiply_panel(a_row(rows[r]), panel.data(), p_.k);
                const std::size_t at = r * cols.size() + first_col;
                std::copy_n(sums.sum.begin(), count, products.sums.data() + at);
                std::copy_n(sums.magnitude.begin(), count, products.magnitudes.data() + at);
            }
        });
    }

    CheckReport check_all() const {
        Tally tally;
        if (has_reference(p_)) {
            tally = check_elements(everything(p_.m), everything(p_.n), reference_.all);
        } else {
            const int share = std::max(1, static_cast<int>(kMostExpected) / p_.n);
            for (int first = 0; first < p_.m; first += share) {
                std::vector<int> rows(width(std::min(share, p_.m - first)));
                std::iota(rows.begin(), rows.end(), first);
                ExpectedElements expected;
                tally.merge(check_elements(rows, everything(p_.n), expected));
            }
        }
        CheckReport report;
        report.surely_found = 2.0 * error_ * kElementRms;
        fill_report(report, tally, tally.relative_error());
        if (report.passed) {
            report.detail = describe("all %zu elements within tolerance, relative error %.2g",
                                     p_.c_count(), report.relative_error);
        }
        return report;
    }

    CheckReport check_samples() const {
        int stride = kTileGrid;
        const auto corners = [&] { return 4.0 * p_.m / stride * p_.n / stride * p_.k; };
        while (corners() > kCornerMultiplyAdds) stride *= 2;
        const std::vector<int> rows = sampled_rows();
        Tally elements = check_elements(rows, everything(p_.n), reference_.rows);
        elements.merge(check_elements(everything(p_.m), tile_edges(p_.n, p_.n), reference_.edges));
        elements.merge(
            check_elements(tile_edges(p_.m, stride), tile_edges(p_.n, stride), reference_.corners));

        const int bands = band_count();
        const int band_width = (p_.n + bands - 1) / bands;
        Tally sums = check_bands(bands, band_width);

        CheckReport report;
        report.surely_found = 2.0 * error_ * band_rms(band_width);
        if (sums.finding.found()) sums.finding = locate(sums.finding, band_width);
        Tally worst = elements;
        worst.merge(sums);
        // Sums with random signs have the mean square of what they sum: this estimates the error
        // of all elements, not of the sampled ones.
        fill_report(report, worst, sums.relative_error());
        if (report.passed) {
            report.detail = describe(
                "%zu rows, the matrix's edges and the corners of all %d x %d tiles element by "
                "element; every element in %d random sums a row, which find one wrong by %.2g of "
                "its row's scale; relative error %.2g",
                rows.size(), stride, stride, bands, report.surely_found, report.relative_error);
        }
        return report;
    }

    // The first and the last row and others at random.
    std::vector<int> sampled_rows() const {
        const double affordable = kRowMultiplyAdds / (1.0 * p_.k * p_.n);
        const int count = static_cast<int>(
            std::clamp(affordable, 1.0 * kLeastSampledRows, 1.0 * kMostSampledRows));
        std::vector<int> rows{0, p_.m - 1};
        for (int i = 2; i < count; ++i) {
            rows.push_back(static_cast<int>(mix(seed_ + static_cast<std::uint64_t>(i)) %
                                            static_cast<std::uint64_t>(p_.m)));
        }
        std::sort(rows.begin(), rows.end());
        rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
        return rows;
    }

    // As few as keep the threshold below the target, as many as the budget allows.
    int band_count() const {
        const double root = kBandTarget / (kBandRms * error_);
        const double widest = std::clamp(root * root, 1.0, 1.0 * p_.n);
        const double affordable =
            std::max(1.0 * kLeastBands, kFreivaldsMultiplyAdds / (1.0 * p_.m * p_.k));
        return static_cast<int>(
            std::clamp(std::ceil(p_.n / widest), 1.0, std::min(affordable, 1.0 * p_.n)));
    }

    // Freivalds: C r against A (B r) for the columns of each band. Columns in a finding are the
    // band's first.
    Tally check_bands(int bands, int band_width) const {
        std::vector<float> signs(width(p_.n));
        for (std::size_t j = 0; j < signs.size(); ++j) {
            signs[j] = mix(seed_ ^ (j * kMixIncrement)) >> 63 ? 1.0f : -1.0f;
        }
        const auto signed_sum = [&](const float* row, int band) {
            const int first = band * band_width;
            const int end = std::min(first + band_width, p_.n);
            // Several sums, or the additions would wait for one another.
            Pair sum[4] = {};
            int j = first;
            for (; j + 8 <= end; j += 8) {
                for (int lane = 0; lane < 4; ++lane) {
                    const int at = j + 2 * lane;
                    sum[lane] += Pair{static_cast<double>(row[at] * signs[width(at)]),
                                      static_cast<double>(row[at + 1] * signs[width(at + 1)])};
                }
            }
            for (; j < end; ++j) sum[0][0] += static_cast<double>(row[j] * signs[width(j)]);
            const Pair all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
            return all[0] + all[1];
        };

        if (makes()) sum_bands(bands, signed_sum);
        std::mutex mutex;
        Tally total;
        parallel_for(width(p_.m), threads_, [&](std::size_t r) {
            const int row = static_cast<int>(r);
            Tally tally;
            for (int band = 0; band < bands; ++band) {
                const int first_col = band * band_width;
                if (first_col >= p_.n) break;  // rounding up left none for the last
                tally.element(row, first_col, signed_sum(c_row(row), band),
                              reference_.band_sums[r * width(bands) + width(band)],
                              expected_rms(row) * band_rms(std::min(band_width, p_.n - first_col)));
            }
            const std::lock_guard lock(mutex);
            total.merge(tally);
        });
        return total;
    }

    // A (B r) of each row and band.
    template <class SignedSum>
    void sum_bands(int bands, const SignedSum& signed_sum) const {
        const int panels = (bands + kPanel - 1) / kPanel;
        std::vector<PanelRow> b_sums(width(panels) * width(p_.k));
        parallel_for(width(p_.k), threads_, [&](std::size_t i) {
            for (int band = 0; band < bands; ++band) {
                PanelRow& line = b_sums[width(band / kPanel) * width(p_.k) + i];
                line[width(band % kPanel / 2)][band % 2] =
                    signed_sum(b_row(static_cast<int>(i)), band);
            }
        });
        reference_.band_sums.resize(width(p_.m) * width(bands));
        parallel_for(width((p_.m + 1) / 2), threads_, [&](std::size_t task) {
            const int row = 2 * static_cast<int>(task);
            const int second = std::min(row + 1, p_.m - 1);
            for (int panel = 0; panel < panels; ++panel) {
                double sums[2][kPanel];
                multiply_panel_pair(a_row(row), a_row(second), &b_sums[width(panel) * width(p_.k)],
                                    p_.k, sums[0], sums[1]);
                const int count = std::min(kPanel, bands - panel * kPanel);
                for (int r = row; r <= second; ++r) {
                    std::copy_n(
                        sums[r - row], count,
                        &reference_.band_sums[width(r) * width(bands) + width(panel * kPanel)]);
                }
            }
        });
    }

    // The wrong element behind a band's wrong sum; without A and B the sum.
    Finding locate(const Finding& band, int band_width) const {
        if (!makes()) return band;
        std::vector<int> cols(width(std::min(band_width, p_.n - band.col)));
        std::iota(cols.begin(), cols.end(), band.col);
        ExpectedElements expected;
        multiply({band.row}, cols, expected);
        const Tally tally = compare({band.row}, cols, expected);
        return tally.finding.found() ? tally.finding : band;
    }

    void fill_report(CheckReport& report, const Tally& tally, double relative_error) const {
        report.relative_error = relative_error;
        report.worst_share = tally.worst_share;
        if (tally.finding.found()) {
            const Finding& at = tally.finding;
            report.detail = describe(
                "c[%d, %d] is %.9g, expected %.9g within %.2g (rows of this size have "
                "elements of about %.3g)",
                at.row, at.col, at.got, at.expected, at.allowed,
                reference_.row_scale[static_cast<std::size_t>(at.row)]);
            return;
        }
        if (!(relative_error < tolerance_)) {
            report.detail = describe("relative Frobenius error %.3g, allowed below %g",
                                     relative_error, tolerance_);
            return;
        }
        report.passed = true;
    }

    Problem p_;
    const float* a_;
    const float* b_;
    const float* c_;
    std::uint64_t seed_;
    unsigned threads_;
    double tolerance_;
    double error_;
    Reference& reference_;
};

// A problem without what follows the product.
using ProblemKey = std::tuple<int, int, int, Dtype, std::uint64_t>;

common::Kept<ProblemKey, Reference>& kept_references() {
    static common::Kept<ProblemKey, Reference> kept(kMostKept);
    return kept;
}

}  // namespace

double tolerance(Dtype dtype) {
    switch (dtype) {
        case Dtype::kF32:
            return 1e-5;
        case Dtype::kTf32:
            return 1e-3;
        case Dtype::kF16:
        case Dtype::kBf16:
            break;
        case Dtype::kE4m3:
            return 5e-2;
    }
    return 1e-2;
}

double accumulation_error(Dtype dtype, int k) {
    constexpr double kUnit = 0x1p-24;
    const double nearest = 1.0 + 0.28 * std::sqrt(1.0 * k);
    if (dtype == Dtype::kF32) return kUnit * nearest;
    if (dtype == Dtype::kE4m3) return kUnit * nearest + 0x1p-14 * (0.5 + 0.4 * k / 32.0);
    const double step = dtype == Dtype::kTf32 ? 4.0 : 8.0;  // products per truncated addition
    return kUnit * (nearest + 0.4 * k / step);
}

CheckReport check_product(const Problem& problem, const float* a, const float* b, const float* c,
                          std::uint64_t seed, unsigned threads) {
    Reference reference;
    return Checker(problem, a, b, c, seed, threads, reference).run();
}

CheckReport check_product_of_seed(const Problem& p, std::uint64_t input_seed, const float* c,
                                  unsigned threads) {
    const ProblemKey key{p.m, p.n, p.k, p.dtype, input_seed};
    const std::uint64_t seed = mix(input_seed);
    if (const auto known = kept_references().find(key)) {
        Reference reference = *known;
        CheckReport report = Checker(p, nullptr, nullptr, c, seed, threads, reference).run();
        if (report.passed) return report;
        // Finding the wrong element takes the inputs.
    }
    const common::UnfilledVector<float> a =
        common::widened_inputs(p.dtype, Operand::kA, input_seed, p.a_count(), threads);
    const common::UnfilledVector<float> b =
        common::widened_inputs(p.dtype, Operand::kB, input_seed, p.b_count(), threads);
    const auto reference = std::make_shared<Reference>();
    CheckReport report = Checker(p, a.data(), b.data(), c, seed, threads, *reference).run();
    if (Checker::has_reference(p)) kept_references().keep(key, reference, reference->bytes());
    return report;
}

}  // namespace gemm
