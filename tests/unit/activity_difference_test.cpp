// SPDX-License-Identifier: Apache-2.0
// What changed between two profiles: kernels matched by range, then by name, then by position; and
// documents that do not say enough for that.
#include "activity/difference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "activity/analysis.hpp"
#include "activity/outputs.hpp"
#include "recorded_program.hpp"
#include "util/error.hpp"

namespace perfgate::activity {
namespace {

using nlohmann::json;

/// Two steps that launch these kernels, each 100 ns long.
Profile steps(const std::vector<std::string>& kernels, const std::string& range = "step") {
    Program program;
    std::uint64_t now = 0;
    for (int step = 0; step < 2; ++step) {
        const std::uint64_t begin = now;
        for (const std::string& kernel : kernels) {
            program.kernel(kernel, now, {now, now + 100});
            now += 100;
        }
        program.range(range, {begin, now});
    }
    return program.profile();
}

Profile stored(const Profile& profile) {
    return parse_profiles(write_profiles({profile}), "profile.json").front();
}

/// The document of this profile, changed.
template <class Change>
Profile edited(const Profile& profile, const Change& change) {
    json document = json::parse(write_profiles({profile}));
    change(document["processes"][0]);
    return parse_profiles(document.dump(), "profile.json").front();
}

std::vector<std::string> sentences(const PieceDifference& range) {
    std::vector<std::string> all;
    for (const model::KernelChange& change : range.changes) {
        all.push_back(model::sentence_of(change, "step"));
    }
    return all;
}

const KernelDifference& kernel_named(const ProfileDifference& difference, const std::string& name) {
    for (const KernelDifference& kernel : difference.kernels) {
        if (kernel.name == name) return kernel;
    }
    throw util::Error("no kernel " + name);
}

using Texts = std::vector<std::string>;

TEST(Difference, a_replaced_kernel_is_not_removed_and_added) {
    const auto found = difference({stored(steps({"norm", "flash", "gemm"}))},
                                  {stored(steps({"norm", "scores", "softmax", "gemm", "gemm"}))});
    ASSERT_EQ(1u, found.ranges.size());
    EXPECT_EQ((Texts{"flash (1 per step, 100.0 ns) replaced by scores and 1 other (2 per step, "
                     "200.0 ns)",
                     "called more often: gemm 1 → 2 per step (100.0 ns → 200.0 ns)"}),
              sentences(found.ranges[0]));
    EXPECT_EQ("scores", kernel_named(found, "flash").counterpart);
    EXPECT_EQ(2u, kernel_named(found, "flash").counterparts);
    EXPECT_EQ("flash", kernel_named(found, "softmax").counterpart);
    EXPECT_EQ(0u, kernel_named(found, "gemm").counterparts);
    EXPECT_TRUE(found.notes.empty());
}

TEST(Difference, added_and_removed_where_the_other_side_has_nothing_there) {
    const Profile without = steps({"norm", "gemm"}), with = steps({"norm", "cast", "gemm"});
    const auto added = difference({without}, {with}), removed = difference({with}, {without});
    EXPECT_EQ(Texts{"added: cast (1 per step, 100.0 ns)"}, sentences(added.ranges[0]));
    EXPECT_EQ(Texts{"removed: cast (1 per step, 100.0 ns)"}, sentences(removed.ranges[0]));
    EXPECT_EQ(0u, kernel_named(added, "cast").counterparts);
    const auto emptied = difference({with}, {Program().range("step", {0, 10}).profile()});
    EXPECT_EQ(Texts{"removed: norm and 2 others (3 per step, 300.0 ns)"},
              sentences(emptied.ranges[0]));
}

TEST(Difference, nothing_is_said_of_the_same_kernels) {
    const Profile profile = steps({"norm", "gemm"});
    const auto found = difference({profile}, {stored(profile)});
    EXPECT_TRUE(found.ranges[0].changes.empty());
    EXPECT_TRUE(found.kernels.empty());
    EXPECT_TRUE(found.notes.empty());
}

TEST(Difference, a_kernel_of_an_anonymous_namespace_is_the_same_after_a_rebuild) {
    // nvcc puts a hash of the file into the symbol, not into the name.
    const Profile before = steps({"_ZN16_GLOBAL__N__11114spinEv"});
    const Profile after = steps({"_ZN16_GLOBAL__N__22224spinEv"});
    ASSERT_EQ("(anonymous namespace)::spin()", before.kernels[0].name);
    const auto found = difference({before}, {after});
    EXPECT_TRUE(found.kernels.empty());
    EXPECT_TRUE(found.ranges[0].changes.empty());
}

TEST(Difference, a_document_without_the_kernels_of_ranges_is_read_and_that_is_said) {
    const Profile old = edited(steps({"norm", "flash"}), [](json& process) {
        for (json& range : process["ranges"]) range.erase("kernels");
        for (json& kernel : process["kernels"]) kernel.erase("order");
    });
    const auto found = difference({old}, {steps({"norm", "softmax"})});
    EXPECT_TRUE(found.ranges[0].changes.empty());
    // Their order is not known either: nothing is called a replacement.
    EXPECT_EQ(0u, kernel_named(found, "flash").counterparts);
    EXPECT_EQ(0u, kernel_named(found, "softmax").counterparts);
    ASSERT_EQ(1u, found.notes.size());
    EXPECT_NE(std::string::npos, found.notes[0].find("kernels of 1 range changed is not known"));
}

TEST(Difference, a_range_names_no_kernel_that_is_not_there) {
    EXPECT_THROW(edited(steps({"norm"}),
                        [](json& process) { process["ranges"][0]["kernels"][0]["kernel"] = 1; }),
                 util::InputError);
}

TEST(RangeKernels, are_in_the_order_of_the_first_launches_and_refer_to_the_table) {
    Program program;
    program.range("step", {0, 100})
        .kernel("short", 10, {10, 11})
        .kernel("long", 20, {20, 90})
        .kernel("short", 90, {90, 92})
        .kernel("short", 200, {200, 201});
    const Profile profile = program.profile();
    ASSERT_EQ("long", profile.kernels[0].name);
    EXPECT_EQ(2u, profile.kernels[0].order);
    EXPECT_EQ(1u, profile.kernels[1].order);
    EXPECT_EQ((std::vector<RangeKernel>{{1, 2, 3}, {0, 1, 70}}), profile.ranges[0].kernels);
}

TEST(RangeKernels, too_many_are_not_listed) {
    const Program program = Program()
                                .range("many", {0, 100})
                                .range("few", {0, 90})
                                .kernel("a", 10, {10, 20})
                                .kernel("b", 95, {95, 99});
    const Timeline timeline(program.recording());
    for (const RangeKernelLimits& limits : {RangeKernelLimits{1, 100}, RangeKernelLimits{9, 1}}) {
        Profile profile = profile_of(timeline);
        for (RangeSummary& range : profile.ranges) range.kernels.clear();
        add_range_kernels(timeline, false, profile, limits);
        EXPECT_EQ(0u, profile.ranges[0].kernels.size());
        EXPECT_EQ(1u, profile.ranges[1].kernels.size());
        EXPECT_EQ(1u, difference({profile}, {profile}).notes.size());
    }
}

}  // namespace
}  // namespace perfgate::activity
