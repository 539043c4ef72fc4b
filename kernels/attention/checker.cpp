// SPDX-License-Identifier: Apache-2.0
#include "attention/checker.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "attention/reference.hpp"
#include "common/inputs.hpp"
#include "common/kept.hpp"
#include "common/parallel.hpp"
#include "common/random.hpp"
#include "common/tally.hpp"

namespace attention {
namespace {

constexpr double kBf16Rounding = 0x1p-8;
constexpr double kElementSpreads = 6.0;
constexpr double kSizeSpreads = 4.0;
// Up to this many multiply-adds every row is computed: a tenth of a second on a few cores.
constexpr double kExhaustive = 0x1p29;
constexpr int kSampledRows = 16;
// Values lie in [-1, 1), and so does any mean of them: 1 + 2^-7 leaves room for rounded weights.
constexpr std::uint16_t kLargestMagnitude = 0x3f81;

// Rows of one head: the first, the last, and one of each equal share of the others.
std::vector<int> rows_to_check(const Problem& p, std::uint64_t seed, int head) {
    std::vector<int> rows;
    if (2.0 * p.pairs() * p.head_size <= kExhaustive || p.sequence <= kSampledRows) {
        for (int row = 0; row < p.sequence; ++row) rows.push_back(row);
        return rows;
    }
    rows.push_back(0);
    const int shares = kSampledRows - 2;
    const std::uint64_t key = common::stream_key(seed, ~static_cast<std::uint64_t>(head));
    for (int i = 0; i < shares; ++i) {
        const auto middle = static_cast<std::int64_t>(p.sequence) - 2;
        const std::int64_t first = 1 + middle * i / shares;
        const std::int64_t end = 1 + middle * (i + 1) / shares;
        const std::uint64_t bits = common::random_bits(key, static_cast<std::uint64_t>(i));
        const auto within =
            static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(end - first));
        rows.push_back(static_cast<int>(first + within));
    }
    rows.push_back(p.sequence - 1);
    return rows;
}

// A query's attention and what rounding moves it by. `scores`, which counts only where scores are
// rounded, is apart from `weights`, because variants hold scores in different types.
struct RowReference {
    int row = 0;
    std::vector<double> output;
    // Of weights and of scores: sum_i c_i v_i^2 of each element, sum_i c_i, and sum_i c'_i
    // (checker.hpp) with u and r left out.
    struct Spread {
        std::vector<double> squares;
        double coefficients = 0.0;
        double product_variance = 0.0;
    };
    Spread weights, scores;
};
using HeadReference = std::vector<RowReference>;

class HeadOperands {
  public:
    HeadOperands(const Problem& p, std::uint64_t seed, int head)
        : p_(p),
          seed_(seed),
          head_(head),
          keys_(operand(kKey, 0, p_.sequence)),
          values_(operand(kValue, 0, p_.sequence)) {}

    HeadReference reference() {
        HeadReference rows;
        for (const int row : rows_to_check(p_, seed_, head_)) rows.push_back(reference_of(row));
        return rows;
    }

  private:
    std::vector<float> operand(Operand which, int first_row, int rows) const {
        const auto size = static_cast<std::size_t>(p_.head_size);
        std::vector<float> values(static_cast<std::size_t>(rows) * size);
        common::fill_host_widened(values.data(), common::Dtype::kBf16, which, seed_,
                                  static_cast<std::size_t>(head_) * p_.head_elements() +
                                      static_cast<std::size_t>(first_row) * size,
                                  values.size());
        return values;
    }

    RowReference reference_of(int row) {
        const auto size = static_cast<std::size_t>(p_.head_size);
        const std::vector<float> query = operand(kQuery, row, 1);
        const int key_count = p_.keys_of(row);
        attend(query.data(), keys_.data(), values_.data(), key_count, p_.head_size,
               static_cast<double>(p_.scale()), attended_);
        RowReference made;
        made.row = row;
        made.output = attended_.output;
        made.weights.squares.assign(size, 0.0);
        made.scores.squares.assign(size, 0.0);
        double squared_output = 0.0;
        for (const double o : made.output) squared_output += o * o;
        double* const by_weights = made.weights.squares.data();
        double* const by_scores = made.scores.squares.data();
        for (int i = 0; i < key_count; ++i) {
            const double weight = attended_.weights[static_cast<std::size_t>(i)];
            const double score = attended_.scores[static_cast<std::size_t>(i)];
            const double of_weight = weight * weight;
            const double of_score = of_weight * score * score;
            made.weights.coefficients += of_weight;
            made.scores.coefficients += of_score;
            const float* value = values_.data() + static_cast<std::size_t>(i) * size;
            double along = 0.0;  // the value's share in the output's direction
            for (std::size_t d = 0; d < size; ++d) {
                const double square = static_cast<double>(value[d]) * value[d];
                by_weights[d] += of_weight * square;
                by_scores[d] += of_score * square;
                along += static_cast<double>(value[d]) * made.output[d];
            }
            const double by_weight = weight * along;
            const double by_score = score * weight * (along - squared_output);
            made.weights.product_variance += by_weight * by_weight;
            made.scores.product_variance += by_score * by_score;
        }
        return made;
    }

    const Problem& p_;
    std::uint64_t seed_;
    int head_;
    std::vector<float> keys_, values_;
    Attended attended_;
};

using ProblemReference = std::vector<HeadReference>;  // of each head
using ProblemKey = std::tuple<int, int, int, int, bool, std::uint64_t>;

// All problems of the bundled suite need a third of it.
constexpr std::size_t kMostKept = std::size_t{1} << 28;

common::Kept<ProblemKey, ProblemReference>& kept_references() {
    static common::Kept<ProblemKey, ProblemReference> kept(kMostKept);
    return kept;
}

std::size_t reference_bytes(const Problem& p, std::size_t rows) {
    const std::size_t row =
        sizeof(RowReference) + 3 * static_cast<std::size_t>(p.head_size) * sizeof(double);
    return static_cast<std::size_t>(p.head_count()) * rows * row;
}

// What one head's check found; rows are counted over all heads, head * sequence + row.
struct HeadTally {
    common::Tally elements;
    common::Finding row;            // col -1: the row as a whole
    double product = 0.0;           // of output and reference
    double product_variance = 0.0;  // of what rounding adds to it
    std::size_t rows = 0;
    void merge(const HeadTally& other) {
        elements.merge(other.elements);
        if (other.row.before(row)) row = other.row;
        product += other.product;
        product_variance += other.product_variance;
        rows += other.rows;
    }
};

class HeadCheck {
  public:
    HeadCheck(const Problem& p, double score_rounding, int head)
        : p_(p), score_rounding_(score_rounding), head_(head) {}

    HeadTally run(const HeadReference& reference, const std::uint16_t* output) {
        find_impossible(output);
        for (const RowReference& row : reference) check_row(row, output);
        return tally_;
    }

  private:
    void find_impossible(const std::uint16_t* output) {
        const std::size_t count = p_.head_elements();
        for (std::size_t i = 0; i < count; ++i) {
            if ((output[i] & 0x7fff) <= kLargestMagnitude) continue;
            const auto size = static_cast<std::size_t>(p_.head_size);
            tally_.elements.element(place(static_cast<int>(i / size)), static_cast<int>(i % size),
                                    static_cast<double>(common::float_from_bf16(output[i])), 0.0,
                                    1.0);
            return;
        }
    }

    void check_row(const RowReference& reference, const std::uint16_t* output) {
        const auto size = static_cast<std::size_t>(p_.head_size);
        const int row = reference.row;
        const auto both = [this](double of_weights, double of_scores) {
            return kBf16Rounding * kBf16Rounding * of_weights +
                   score_rounding_ * score_rounding_ * of_scores;
        };
        const RowReference::Spread& weights = reference.weights;
        const RowReference::Spread& scores = reference.scores;
        const double coefficients = both(weights.coefficients, scores.coefficients);
        tally_.product_variance += both(weights.product_variance, scores.product_variance);

        const std::uint16_t* got = output + static_cast<std::size_t>(row) * size;
        double squared_error = 0.0;
        double squared_allowed = 0.0;
        for (std::size_t d = 0; d < size; ++d) {
            const double expected = reference.output[d];
            const double squares = both(weights.squares[d], scores.squares[d]);
            const double squared_spread = 2.0 * (squares + expected * expected * coefficients);
            const double rounding = kBf16Rounding * std::abs(expected);
            const auto value = static_cast<double>(common::float_from_bf16(got[d]));
            tally_.elements.element(place(row), static_cast<int>(d), value, expected,
                                    rounding + kElementSpreads * std::sqrt(squared_spread));
            tally_.product += value * expected;
            tally_.product_variance += rounding * rounding * expected * expected;
            squared_error += (value - expected) * (value - expected);
            squared_allowed += rounding * rounding + squared_spread;
        }
        ++tally_.rows;
        if (squared_error <= squared_allowed || tally_.row.found()) return;  // NaN: found above
        tally_.row = {place(row), -1, std::sqrt(squared_error), 0.0, std::sqrt(squared_allowed)};
    }

    int place(int row) const { return head_ * p_.sequence + row; }

    const Problem& p_;
    double score_rounding_;
    int head_;
    HeadTally tally_;
};

std::string describe_place(const Problem& p, int place) {
    const int head = place / p.sequence;
    return common::describe("batch %d, head %d, query %d", head / p.heads, head % p.heads,
                            place % p.sequence);
}

}  // namespace

CheckReport check_output(const Problem& p, std::uint64_t seed, const std::uint16_t* output,
                         double score_rounding, unsigned threads) {
    const auto heads = static_cast<std::size_t>(p.head_count());
    std::vector<HeadTally> tallies(heads);
    const ProblemKey key{p.batch, p.heads, p.sequence, p.head_size, p.causal, seed};
    const std::shared_ptr<const ProblemReference> known = kept_references().find(key);
    const std::size_t bytes = reference_bytes(p, rows_to_check(p, seed, 0).size());
    const bool keep = known == nullptr && bytes <= kMostKept;
    const auto made = std::make_shared<ProblemReference>(keep ? heads : 0);
    common::parallel_for(heads, threads, [&](std::size_t head) {
        HeadReference own;
        if (known == nullptr) own = HeadOperands(p, seed, static_cast<int>(head)).reference();
        tallies[head] =
            HeadCheck(p, score_rounding, static_cast<int>(head))
                .run(known == nullptr ? own : (*known)[head], output + head * p.head_elements());
        if (keep) (*made)[head] = std::move(own);
    });
    if (keep) kept_references().keep(key, made, bytes);
    HeadTally all;
    for (const HeadTally& tally : tallies) all.merge(tally);

    if (const common::Finding& at = all.elements.finding; at.found()) {
        return {false, common::describe("O at %s, element %d is %.6g, expected %.6g within %.2g",
                                        describe_place(p, at.row).c_str(), at.col, at.got,
                                        at.expected, at.allowed)};
    }
    if (const common::Finding& at = all.row; at.found()) {
        return {false, common::describe("O at %s is %.3g off (Euclidean norm), allowed %.3g",
                                        describe_place(p, at.row).c_str(), at.got, at.allowed)};
    }
    const double size = all.product / all.elements.squared_reference;
    const double size_allowed =
        kSizeSpreads * std::sqrt(all.product_variance) / all.elements.squared_reference;
    if (!(std::abs(size - 1.0) <= size_allowed)) {
        return {false, common::describe("O as a whole is %.6f times what it should be, allowed "
                                        "1 +- %.2g: do all rows see too many keys, or too few?",
                                        size, size_allowed)};
    }
    const double total = static_cast<double>(heads) * p.sequence;
    return {true, common::describe("%zu of %.0f rows within rounding: relative error %.2g, largest "
                                   "error %.0f %% of what is allowed",
                                   all.rows, total, all.elements.relative_error(),
                                   100.0 * all.elements.worst_share)};
}

}  // namespace attention
