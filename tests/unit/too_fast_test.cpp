// SPDX-License-Identifier: Apache-2.0
#include "gate/invalid.hpp"

#include <gtest/gtest.h>

#include <string>

#include "baseline/acceptance.hpp"
#include "unit/gate_pair.hpp"
#include "unit/golden_sentence.hpp"

namespace perfgate::gate {
namespace {

using namespace pairs;

constexpr double mib = 1024 * 1024;

/// A case of 2 TB/s and 100 Tflop/s hardware with an L2 cache of 50 MiB.
Pair pair_of(const model::Work& work, double ns) {
    Pair pair;
    pair.run.environment.device.l2_bytes = std::uint64_t{50} << 20;
    pair.run.environment.ceilings = {2e12, {{"f16", 100e12}}, ""};
    pair.now().work = work;
    pair.now().metrics["gpu_time"] = series({ns});
    pair.then().metrics["gpu_time"] = series({ns});
    return pair;
}

std::string reason_of(const model::Work& work, double ns) {
    const Pair pair = pair_of(work, ns);
    return too_fast(pair.run.suites[0].cases[0], pair.run.environment);
}

TEST(TooFast, AKernelThatSkipsItsBytesIsInvalidAndSaysWhy) {
    // 250 MiB; 200 of them are beyond the L2 cache: 104.9 µs.
    const Pair pair = pair_of({0, 250 * mib, ""}, 3000);
    const VerdictDocument document = pair.judged();
    EXPECT_EQ(only_case(document).verdict, Verdict::invalid);
    EXPECT_EQ(document.exit_code, 3);
    expect_sentence(only_case(document).reason);
}

TEST(TooFast, AKernelThatSkipsItsFlopsIsInvalid) {
    EXPECT_TRUE(reason_of({1e9, 1000, "f16"}, 7000)
                    .starts_with("too fast to be true: 7.000 µs for 1.000 Gflop, which takes at "
                                 "least 10.00 µs at this run's f16 matrix rate"));
}

TEST(TooFast, TheCeilingItselfAndWhatTheCacheHoldsArePossible) {
    EXPECT_EQ(reason_of({1e9, 1000, "f16"}, 10000), "");
    EXPECT_EQ(reason_of({1e9, 1000, "f16"}, 8100), "");    // within the margin
    EXPECT_EQ(reason_of({0, 250 * mib, ""}, 105000), "");  // 119 % of copy bandwidth, by cache
    EXPECT_EQ(reason_of({0, 50 * mib, ""}, 1), "");        // all of it in the cache
    EXPECT_EQ(reason_of({1e12, 1000, "f64"}, 1), "");      // no rate of this type
}

TEST(TooFast, WithoutStatedWorkOrCeilingsNothingIsSaid) {
    Pair pair = pair_of({0, 1e12, ""}, 1);
    pair.now().work.reset();
    EXPECT_EQ(only_case(pair.judged()).verdict, Verdict::pass);
    pair = pair_of({0, 1e12, ""}, 1);
    pair.run.environment.ceilings = {};
    EXPECT_EQ(only_case(pair.judged()).verdict, Verdict::pass);
}

TEST(TooFast, ItCannotBecomeABaseline) {
    const Pair pair = pair_of({0, 250 * mib, ""}, 3000);
    EXPECT_TRUE(baseline::objection(pair.run, pair.run.suites[0].cases[0])
                    .starts_with("too fast to be true"));
}

}  // namespace
}  // namespace perfgate::gate
