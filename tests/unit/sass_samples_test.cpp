// SPDX-License-Identifier: Apache-2.0
#include "sass/samples.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "sass/text.hpp"

namespace perfgate::sass {
namespace {

constexpr const char* memory = "long_scoreboard";

/// The samples of a line: as many in each half of the launches, or `of_half` in one.
struct At {
    std::int64_t line = 0, samples = 0;
    std::string reason = memory;
    std::int64_t of_half = -1;
};

/// One instruction for each line, none of which waits for another; `code` differs where the last
/// one does.
model::KernelCode kernel(const std::vector<At>& lines, std::int64_t launches = 10,
                         const std::string& last = "EXIT") {
    model::KernelCode code{"reduce", "code of " + last, {}, launches};
    const std::vector<std::string> texts{"LDG.E R2, desc[UR4][R4.64]", "FADD R5, R6, R3",
                                         "FMUL R7, R6, R6", "STG.E desc[UR4][R4.64], R6"};
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const At& at = lines[i];
        model::Instruction instruction{
            static_cast<std::int64_t>(16 * i), texts.at(i), {"reduce.cu", at.line}};
        if (at.line == 0) instruction.place = {};
        if (at.samples > 0) instruction.samples.reasons[at.reason] = at.samples;
        instruction.samples.of_half = at.of_half < 0 ? at.samples / 2 : at.of_half;
        code.listing.instructions.push_back(std::move(instruction));
    }
    code.listing.instructions.push_back({static_cast<std::int64_t>(16 * lines.size()), last});
    return code;
}

WhereTimeWent went(const model::KernelCode& before, const model::KernelCode& after) {
    return where_time_went(before, after, difference(before.listing, after.listing).lines).value();
}

TEST(Samples, TheLineThatGotTheAddedOnesIsNamedWithItsReason) {
    const WhereTimeWent found = went(kernel({{7, 4000}, {8, 3000, "wait"}, {9, 3000}}),
                                     kernel({{7, 4100}, {8, 3000, "wait"}, {9, 6700}}));
    EXPECT_EQ(found.place, (model::SourcePlace{"reduce.cu", 9}));
    EXPECT_EQ(found.sentence, "97 % of the added samples are at reduce.cu:9, waiting for memory");
    EXPECT_DOUBLE_EQ(found.added, 380);
}

TEST(Samples, ALineWhoseResultsOthersWaitForIsNamedForTheirs) {
    // The FADD of line 8 waits for the load of line 7.
    model::KernelCode before = kernel({{7, 1000, "selected"}, {8, 4000}}),
                      after = kernel({{7, 1000, "selected"}, {8, 9000}});
    for (model::KernelCode* each : {&before, &after}) {
        each->listing.instructions[1].text = "FADD R5, R2, R3";
    }
    const WhereTimeWent found = went(before, after);
    EXPECT_EQ(found.place, (model::SourcePlace{"reduce.cu", 7}));
    EXPECT_EQ(found.sentence,
              "100 % of the added samples are due to reduce.cu:7, waiting for memory");
    EXPECT_EQ(where_time_goes(after).value().sentence,
              "100 % of the samples are due to reduce.cu:7, waiting for memory");
}

TEST(Samples, AreCountedByLaunch) {
    // Ten times the launches, and no more samples in each.
    const WhereTimeWent found =
        went(kernel({{7, 1000}, {8, 1000}}, 10), kernel({{7, 10000}, {8, 10000}}, 100));
    EXPECT_EQ(found.place.line, 0);
    EXPECT_DOUBLE_EQ(found.added, 0);
    EXPECT_NE(found.sentence.find("not shown to have more samples"), std::string::npos);
}

TEST(Samples, LessThanWhatProcessesDifferByNamesNoLine) {
    EXPECT_EQ(
        went(kernel({{7, 500000}, {8, 500000}}), kernel({{7, 500000}, {8, 515000}})).place.line, 0);
    EXPECT_EQ(
        went(kernel({{7, 500000}, {8, 500000}}), kernel({{7, 500000}, {8, 525000}})).place.line, 8);
}

TEST(Samples, ALineIsFollowedWhereItMoved) {
    const WhereTimeWent found =
        went(kernel({{7, 4000}, {8, 3000}}), kernel({{17, 4000}, {18, 6000}}));
    EXPECT_EQ(found.place, (model::SourcePlace{"reduce.cu", 18}));
}

TEST(Samples, WhatIsSpreadOverLinesIsOfTheKernel) {
    const WhereTimeWent found = went(kernel({{7, 3000}, {18, 3000}, {29, 3000}}),
                                     kernel({{7, 4000}, {18, 4000}, {29, 4000}}));
    EXPECT_EQ(found.place.line, 0);
    EXPECT_EQ(found.sentence,
              "+33 % samples in reduce, mostly waiting for memory; no line has half of them");
}

TEST(Samples, NeighbouringLinesThatShareTheAddedOnesAreNamedTogether) {
    const WhereTimeWent found = went(kernel({{7, 3000}, {30, 3000}, {31, 3000}, {33, 3000}}),
                                     kernel({{7, 3100}, {30, 4000}, {31, 4400}, {33, 4000}}));
    EXPECT_EQ(found.place, (model::SourcePlace{"reduce.cu", 31}));
    EXPECT_EQ(found.sentence,
              "97 % of the added samples are at reduce.cu:30-33, waiting for memory");
    // The shortest range with three quarters of them.
    EXPECT_NE(went(kernel({{30, 3000}, {31, 3000}, {32, 3000}, {33, 3000}}),
                   kernel({{30, 3200}, {31, 4000}, {32, 4000}, {33, 3100}}))
                  .sentence.find("at reduce.cu:31-32"),
              std::string::npos);
}

TEST(Samples, ARangeIsNotOfSeveralFiles) {
    model::KernelCode before = kernel({{7, 3000}, {8, 3000}, {9, 3000}}),
                      after = kernel({{7, 4000}, {8, 4000}, {9, 4000}});
    for (model::KernelCode* each : {&before, &after}) {
        for (std::size_t i = 0; i < 3; ++i) {
            each->listing.instructions[i].place.file = "part" + std::to_string(i);
        }
    }
    EXPECT_EQ(went(before, after).place.line, 0);
}

TEST(Samples, WhatTheHalvesDisagreeAboutNamesNoLine) {
    // The same counts as in the first test, but half of the launches had nearly all of them.
    const WhereTimeWent found =
        went(kernel({{7, 4000, memory, 3600}, {8, 3000, memory, 200}, {9, 3000, memory, 2700}}),
             kernel({{7, 4100, memory, 400}, {8, 3000, memory, 2800}, {9, 6700, memory, 800}}));
    EXPECT_EQ(found.place.line, 0) << found.sentence;
}

TEST(Samples, FewOfThemNameNoLine) {
    EXPECT_EQ(went(kernel({{7, 4}, {8, 3}}), kernel({{7, 4}, {8, 10}})).place.line, 0);
    EXPECT_EQ(went(kernel({{7, 4}, {8, 3}}), kernel({{7, 4}, {8, 100}})).place.line, 8);
}

TEST(Samples, AFasterKernelNamesNoLine) {
    // Line 8 has more, the kernel fewer.
    const WhereTimeWent found =
        went(kernel({{7, 9000}, {8, 1000}}), kernel({{7, 1000}, {8, 3000}}));
    EXPECT_EQ(found.place.line, 0);
    EXPECT_LT(found.added, 0);
}

TEST(Samples, CodeWithoutLinesSaysSo) {
    const WhereTimeWent found = went(kernel({{0, 1000}}), kernel({{0, 3000}}));
    EXPECT_EQ(found.place.line, 0);
    EXPECT_NE(found.sentence.find("-lineinfo"), std::string::npos) << found.sentence;
}

TEST(Samples, OfOneSideNameTheLineThatStandsOut) {
    const auto goes = [](const model::KernelCode& code) { return where_time_goes(code).value(); };
    WhereTimeWent found = goes(kernel({{7, 6000}, {8, 2000}, {9, 2000, "barrier"}}));
    EXPECT_EQ(found.sentence, "60 % of the samples are at reduce.cu:7, waiting for memory");
    EXPECT_EQ(found.place.line, 7);
    found = goes(kernel({{7, 2010}, {8, 2000}}));
    EXPECT_EQ(found.place.line, 0) << found.sentence;
    EXPECT_FALSE(where_time_goes(kernel({{7, 0}})).has_value());
    EXPECT_FALSE(where_time_goes(kernel({{7, 10}}, 0)).has_value());
}

TEST(Samples, AnUnknownReasonIsNamedAsItIs) {
    EXPECT_EQ(reason_words("barrier"), "waiting at a barrier");
    EXPECT_EQ(reason_words("new_one"), "stalled (new_one)");
}

model::CaseCode of_case(std::vector<model::KernelCode> kernels) {
    model::CaseCode code;
    code.suite = "s";
    code.id = "reduce/plain[n=1]";
    code.kernels = std::move(kernels);
    return code;
}

TEST(CodeFinding, SaysWhatChangedAndWhereTheTimeWent) {
    const model::CaseCode base = of_case({kernel({{7, 1000}, {8, 1000}})}),
                          head = of_case({kernel({{7, 1000}, {8, 4000}}, 10, "BRA `(.L_x_0)")});
    const model::CodeFinding found = finding_of(&base, head);
    EXPECT_EQ(found.base, "code of EXIT");
    EXPECT_EQ(found.change, "BRA 0 → 1, EXIT 1 → 0");
    EXPECT_EQ(found.time.substr(0, 6), "100 % ");
    EXPECT_EQ(found.place, (model::SourcePlace{"reduce.cu", 8}));
}

TEST(CodeFinding, SaysWhichInstructionIsExecutedMoreOften) {
    const auto counted = [](std::int64_t loads, std::int64_t additions,
                            const std::string& last = "ISETP R1, 0x9") {
        model::KernelCode code = kernel({{7, 1000}, {8, 1000}, {8, 1000}}, 10, last);
        code.listing.instructions[0].executed = loads;
        code.listing.instructions[1].executed = additions;
        return code;
    };
    const auto change = [](const model::KernelCode& before, const model::KernelCode& after) {
        const model::CaseCode base = of_case({before}), head = of_case({after});
        return finding_of(&base, head).change;
    };
    const auto is_said = [&](const model::KernelCode& before, const model::KernelCode& after) {
        return change(before, after).find("executed") != std::string::npos;
    };
    const model::KernelCode before = counted(512, 500, "ISETP R1, 0x3");
    EXPECT_NE(change(before, counted(512, 1300))
                  .find("; FADD at reduce.cu:8 is executed 2.60 times as often"),
              std::string::npos)
        << change(before, counted(512, 1300));
    EXPECT_FALSE(is_said(before, counted(512, 520))) << "less than a twentieth more";
    EXPECT_FALSE(is_said(before, counted(512, 100))) << "fewer";
    EXPECT_FALSE(is_said(counted(100000, 20, "EXIT"), counted(100000, 40)))
        << "few of the kernel's";
    EXPECT_FALSE(is_said(kernel({{7, 1000}, {8, 1000}, {8, 1000}}), counted(512, 1300)))
        << "the base is not counted";
    // Two of them in place of one, each as often: their number says it.
    model::KernelCode twice = counted(512, 500);
    twice.listing.instructions[2].text = twice.listing.instructions[1].text;
    twice.listing.instructions[2].executed = 500;
    EXPECT_FALSE(is_said(before, twice));
    // One in place of two, twice as often.
    EXPECT_FALSE(is_said(twice, counted(512, 1000, "ISETP R1, 0x3")));
}

TEST(CodeFinding, IsAboutTheKernelThatTookTheTime) {
    model::KernelCode quick = kernel({{7, 1000}}, 10, "NANOSLEEP 0x1");
    quick.name = "quick";
    model::KernelCode was = kernel({{7, 1000}});
    was.name = "quick";
    const model::CaseCode base = of_case({was, kernel({{7, 1000}, {8, 1000}})}),
                          head = of_case({quick, kernel({{7, 1000}, {8, 4000}}, 10, "BRA 0x0")});
    const model::CodeFinding found = finding_of(&base, head);
    EXPECT_NE(found.change.find(" in reduce; 1 more kernel changed"), std::string::npos)
        << found.change;
    EXPECT_EQ(found.place.line, 8);
}

TEST(CodeFinding, OfANewKernelBesideOneWithFewerParametersIsAboutTheNewOne) {
    model::KernelCode was = kernel({{7, 3000}, {8, 1000}});
    was.name = "pointwise(float*, float const*)";
    model::KernelCode now = kernel({{7, 3000}});
    now.name = "pointwise(float*)";
    now.code = "an0ther";
    model::KernelCode added = kernel({{20, 4000}});
    added.name = "bias_silu(float*)";
    added.code = "new";
    const model::CaseCode base = of_case({was}), head = of_case({now, added});
    const std::vector<KernelPair> pairs = kernel_pairs(&base, head);
    ASSERT_EQ(pairs.size(), 2U);
    EXPECT_NE(pairs[0].before, nullptr) << "its parameters are others";
    EXPECT_EQ(pairs[1].before, nullptr);
    const model::CodeFinding found = finding_of(&base, head);
    EXPECT_EQ(found.change, "bias_silu is new; 1 more kernel changed");
    EXPECT_EQ(found.place.line, 20);
    EXPECT_EQ(found.base, was.code) << "of another base it is not known";
}

TEST(CodeFinding, AKernelInPlaceOfAnotherAddsOnlyWhatItHasMore) {
    const auto named = [](model::KernelCode code, const std::string& name) {
        code.name = name;
        code.code = "code of " + name;
        return code;
    };
    // Two are merged into one that is a little quicker, and a third has more at line 8.
    const model::KernelCode was = kernel({{7, 1000}, {8, 1000}}),
                            now = kernel({{7, 1000}, {8, 2000}}, 10, "BRA 0x0"),
                            merged = named(kernel({{20, 5000}}), "merged");
    model::CaseCode base =
        of_case({named(kernel({{20, 3000}}), "first"), named(kernel({{20, 3000}}), "second"), was});
    for (const model::CaseCode& head : {of_case({merged, now}), of_case({now, merged})}) {
        const model::CodeFinding found = finding_of(&base, head);
        EXPECT_EQ(found.place.line, 8) << found.change;
        // Without samples of the base nobody knows what the merged one adds.
        model::CaseCode not_sampled = base;
        not_sampled.sampling_problem = "the device refuses";
        for (model::KernelCode& code : not_sampled.kernels) code.launches = 0;
        const model::CodeFinding unknown = finding_of(&not_sampled, head);
        EXPECT_EQ(unknown.base, was.code) << unknown.change;
        EXPECT_EQ(unknown.time, "the base is not sampled: the device refuses");
    }
    // What it takes beyond both is its own.
    const model::CodeFinding longer =
        finding_of(&base, of_case({now, named(kernel({{20, 9000}}), "merged")}));
    EXPECT_EQ(longer.place.line, 20) << longer.change;
}

TEST(CodeFinding, WithoutSamplesNoLineIsNamed) {
    model::KernelCode more = kernel({{7, 0}, {8, 0}}, 0, "MUFU.EX2 R2, R2");
    more.listing.instructions.back().place = {"reduce.cu", 9};
    const model::CaseCode base = of_case({kernel({{7, 0}, {8, 0}}, 0)});
    model::CaseCode head = of_case({more});
    head.sampling_problem = "the device refuses";
    const model::CodeFinding found = finding_of(&base, head);
    EXPECT_EQ(found.time, "not sampled: the device refuses");
    EXPECT_EQ(found.place.line, 0) << "which change costs the time is not known";
    head.sampling_problem.clear();
    model::CaseCode refused = base;
    refused.sampling_problem = "the device refuses";
    EXPECT_EQ(finding_of(&refused, head).time, "the base is not sampled: the device refuses");
}

TEST(CodeFinding, OfTheHeadAloneSaysWhyThereIsNoBase) {
    const model::CaseCode head = of_case({kernel({{7, 6000}, {8, 1000}})});
    model::CodeFinding found = finding_of(nullptr, head);
    EXPECT_EQ(found.base, "");
    EXPECT_EQ(found.change, "the base's is not at hand");
    EXPECT_EQ(found.place.line, 7);
    model::CaseCode base = of_case({});
    base.problem = "no build is kept";
    EXPECT_EQ(finding_of(&base, head).change, "no build is kept");
    model::CaseCode unknown = of_case({});
    unknown.problem = "nvdisasm was not found";
    EXPECT_EQ(finding_of(&base, unknown).change, "not known: nvdisasm was not found");
}

TEST(CodeFinding, OfOtherEncodingsAloneSaysThatTheInstructionsAreTheSame) {
    model::KernelCode renamed = kernel({{7, 1000}});
    renamed.code = "another";
    const model::CaseCode base = of_case({kernel({{7, 1000}})}), head = of_case({renamed});
    const model::CodeFinding found = finding_of(&base, head);
    EXPECT_NE(found.change.find("the same instructions"), std::string::npos);
    EXPECT_EQ(found.place.line, 0);
}

}  // namespace
}  // namespace perfgate::sass
