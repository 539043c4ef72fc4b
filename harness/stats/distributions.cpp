// SPDX-License-Identifier: Apache-2.0
#include "stats/distributions.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace perfgate::stats {

namespace {

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

void require_probability(double probability) {
    require(probability > 0 && probability < 1, "a probability is not in (0, 1)");
}

/// The continued fraction of the incomplete beta function by Lentz's method; converges fast for
/// x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
    constexpr double tiny = 1e-300;
    constexpr int most_steps = 10000;
    const auto not_zero = [](double value) { return std::fabs(value) < tiny ? tiny : value; };
    double c = 1;
    double d = 1 / not_zero(1 - (a + b) * x / (a + 1));
    double result = d;
    for (int step = 1; step <= most_steps; ++step) {
        const auto m = static_cast<double>(step);
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / not_zero(1 + even * d);
        c = not_zero(1 + even / c);
        result *= d * c;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / not_zero(1 + odd * d);
        c = not_zero(1 + odd / c);
        result *= d * c;
        if (std::fabs(d * c - 1) < 4 * std::numeric_limits<double>::epsilon()) break;
    }
    return result;
}

/// I_x(a, b), given y = 1 - x as well, so that neither end loses its digits.
double incomplete_beta(double a, double b, double x, double y) {
    if (x <= 0) return 0;
    if (y <= 0) return 1;
    const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                  a * std::log(x) + b * std::log(y));
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, y) / b;
}

/// The x >= 0 at which the falling function `tail` is `probability`: Newton's steps on its
/// logarithm, which is nearly straight far out, halving where a step leaves the bracket.
template <typename Tail, typename Density>
double upper_quantile(double probability, const Tail& tail, const Density& density) {
    double low = 0;
    double high = std::numeric_limits<double>::infinity();
    double x = 1;
    for (;;) {
        const double there = tail(x);
        (there > probability ? low : high) = x;
        double next = x + std::log(there / probability) * there / density(x);
        if (!(next > low && next < high)) {
            next = std::isinf(high) ? 2 * low : low + (high - low) / 2;
        }
        require(std::isfinite(next), "no finite quantile");
        const double step = std::fabs(next - x);
        x = next;
        if (step <= 4 * std::numeric_limits<double>::epsilon() * x || x <= low || x >= high) {
            return x;
        }
    }
}

double student_density(double t, double df) {
    return std::exp(std::lgamma((df + 1) / 2) - std::lgamma(df / 2) -
                    (df + 1) / 2 * std::log1p(t * t / df)) /
           std::sqrt(df * std::numbers::pi);
}

}  // namespace

double normal_upper_tail(double z) {
    require(!std::isnan(z), "not a number");
    return 0.5 * std::erfc(z / std::numbers::sqrt2);
}

double normal_upper_quantile(double probability) {
    require_probability(probability);
    if (probability == 0.5) return 0;
    if (probability > 0.5) return -normal_upper_quantile(1 - probability);
    return upper_quantile(probability, normal_upper_tail, [](double z) {
        return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    });
}

double student_upper_tail(double t, double df) {
    require(!std::isnan(t) && df > 0, "Student's distribution: expected a number, and df > 0");
    if (t < 0) return 1 - student_upper_tail(-t, df);
    if (std::isinf(t)) return 0;
    const double square = t * t;
    return 0.5 * incomplete_beta(df / 2, 0.5, df / (df + square), square / (df + square));
}

double student_upper_quantile(double probability, double df) {
    require_probability(probability);
    require(df > 0, "Student's distribution: expected df > 0");
    if (probability == 0.5) return 0;
    if (probability > 0.5) return -student_upper_quantile(1 - probability, df);
    return upper_quantile(
        probability, [df](double t) { return student_upper_tail(t, df); },
        [df](double t) { return student_density(t, df); });
}

double fisher_upper_tail(double f, double df_numerator, double df_denominator) {
    require(f >= 0 && df_numerator > 0 && df_denominator > 0,
            "Fisher's distribution: expected f >= 0 and df > 0");
    if (std::isinf(f)) return 0;
    const double scaled = df_numerator * f;
    const double sum = df_denominator + scaled;
    return incomplete_beta(df_denominator / 2, df_numerator / 2, df_denominator / sum,
                           scaled / sum);
}

double binomial_lower_tail(std::size_t successes, std::size_t trials, double probability) {
    require_probability(probability);
    if (successes >= trials) return 1;
    const auto most = static_cast<double>(successes);
    return incomplete_beta(static_cast<double>(trials) - most, most + 1, 1 - probability,
                           probability);
}

}  // namespace perfgate::stats
