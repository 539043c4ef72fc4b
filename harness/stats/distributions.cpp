// SPDX-License-Identifier: Apache-2.0
#include "stats/distributions.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <stdexcept>

namespace perfgate::stats {

namespace {

/// Sums and quantiles stay in double: long double is slower, and no decision needs its precision.
using Policy = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
using Normal = boost::math::normal_distribution<double, Policy>;
using Student = boost::math::students_t_distribution<double, Policy>;
using Fisher = boost::math::fisher_f_distribution<double, Policy>;
using Binomial = boost::math::binomial_distribution<double, Policy>;

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

void require_probability(double probability) {
    require(probability > 0 && probability < 1, "a probability is not in (0, 1)");
}

template <typename Distribution>
double upper_tail(const Distribution& distribution, double x) {
    return boost::math::cdf(boost::math::complement(distribution, x));
}

template <typename Distribution>
double upper_quantile(const Distribution& distribution, double probability) {
    return boost::math::quantile(boost::math::complement(distribution, probability));
}

}  // namespace

double normal_upper_tail(double z) {
    require(!std::isnan(z), "not a number");
    return upper_tail(Normal(), z);
}

double normal_upper_quantile(double probability) {
    require_probability(probability);
    return upper_quantile(Normal(), probability);
}

double student_upper_tail(double t, double df) {
    require(!std::isnan(t) && df > 0, "Student's distribution: expected a number, and df > 0");
    return upper_tail(Student(df), t);
}

double student_upper_quantile(double probability, double df) {
    require_probability(probability);
    require(df > 0, "Student's distribution: expected df > 0");
    return upper_quantile(Student(df), probability);
}

double fisher_upper_quantile(double probability, double df1, double df2) {
    require_probability(probability);
    require(df1 > 0 && df2 > 0, "Fisher's distribution: expected df > 0");
    return upper_quantile(Fisher(df1, df2), probability);
}

double binomial_lower_tail(std::size_t successes, std::size_t trials, double probability) {
    require_probability(probability);
    if (successes >= trials) return 1;
    return boost::math::cdf(Binomial(static_cast<double>(trials), probability),
                            static_cast<double>(successes));
}

double binomial_lower_bound(std::size_t successes, std::size_t trials, double confidence) {
    require_probability(confidence);
    require(successes <= trials && trials > 0, "expected trials, and no more successes");
    return Binomial::find_lower_bound_on_p(static_cast<double>(trials),
                                           static_cast<double>(successes), 1 - confidence);
}

}  // namespace perfgate::stats
