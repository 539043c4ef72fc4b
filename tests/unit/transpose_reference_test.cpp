// SPDX-License-Identifier: Apache-2.0
#include "transpose/reference.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "common/inputs.hpp"

namespace {

using common::Dtype;
using transpose::Problem;

constexpr std::uint64_t kSeed = 11;

// Sizes that divide by no tile, one line, one column, a single element.
const std::vector<Problem> kProblems = {
    {64, 128, Dtype::kF32}, {33, 65, Dtype::kF32}, {1, 77, Dtype::kF32},
    {77, 1, Dtype::kF16},   {1, 1, Dtype::kF32},   {127, 31, Dtype::kF16},
};

std::vector<unsigned char> input(const Problem& p) {
    std::vector<unsigned char> in(p.bytes());
    common::fill_host(in.data(), p.dtype, transpose::kInput, kSeed, 0, p.count());
    return in;
}

std::vector<unsigned char> transposed(const Problem& p, const std::vector<unsigned char>& in) {
    std::vector<unsigned char> out(p.bytes(), 0xff);
    transpose::transpose_reference(p, in.data(), out.data());
    return out;
}

TEST(Transpose, PutsEachElementWhereRowAndColumnAreSwapped) {
    const Problem p{2, 3, Dtype::kF32};
    const std::vector<float> in = {1, 2, 3, 4, 5, 6};
    std::vector<float> out(6);
    transpose::transpose_reference(p, in.data(), out.data());
    EXPECT_EQ(out, (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST(Transpose, TwiceIsTheIdentity) {
    for (const Problem& p : kProblems) {
        const auto in = input(p);
        EXPECT_EQ(transposed({p.cols, p.rows, p.dtype}, transposed(p, in)), in)
            << p.rows << " x " << p.cols;
    }
}

TEST(TransposeCheck, AcceptsTheReferenceAndTheCopy) {
    for (const Problem& p : kProblems) {
        const auto in = input(p);
        EXPECT_TRUE(transpose::check_transposed(p, kSeed, transposed(p, in).data()).passed);
        EXPECT_TRUE(transpose::check_copied(p, kSeed, in.data()).passed);
    }
}

TEST(TransposeCheck, TellsATransposeFromACopy) {
    const Problem p{33, 65, Dtype::kF32};
    const auto in = input(p);
    EXPECT_FALSE(transpose::check_transposed(p, kSeed, in.data()).passed);
    EXPECT_FALSE(transpose::check_copied(p, kSeed, transposed(p, in).data()).passed);
}

TEST(TransposeCheck, FindsOneWrongBitAndNamesTheElement) {
    for (const Dtype dtype : {Dtype::kF32, Dtype::kF16}) {
        const Problem p{33, 65, dtype};
        auto out = transposed(p, input(p));
        const std::size_t element = 40 * 33 + 7;  // out is 65 x 33
        out[element * common::element_bytes(dtype)] ^= 1;
        const auto report = transpose::check_transposed(p, kSeed, out.data());
        EXPECT_FALSE(report.passed);
        EXPECT_NE(report.detail.find("out[40, 7] is "), std::string::npos) << report.detail;
    }
}

TEST(TransposeCheck, FindsWhatWasNeverWritten) {
    const Problem p{33, 65, Dtype::kF32};
    auto out = transposed(p, input(p));
    std::memset(out.data() + out.size() - 4, 0xff, 4);  // the last element keeps its poison
    const auto report = transpose::check_transposed(p, kSeed, out.data());
    EXPECT_FALSE(report.passed);
    EXPECT_NE(report.detail.find("out[64, 32] is"), std::string::npos) << report.detail;
}

TEST(TransposeCheck, KnowsTheSeed) {
    const Problem p{16, 16, Dtype::kF32};
    EXPECT_FALSE(transpose::check_transposed(p, kSeed + 1, transposed(p, input(p)).data()).passed);
}

}  // namespace
