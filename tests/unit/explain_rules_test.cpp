// SPDX-License-Identifier: Apache-2.0
// Every rule with what it must catch and what it must leave alone: values on both sides of each of
// its thresholds.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "explain/evidence.hpp"
#include "explain/rules.hpp"
#include "explain_documents.hpp"
#include "metrics/catalogue.hpp"

namespace perfgate::explain {
namespace {

using documents::Changes;
using documents::faster;
using documents::find;
using documents::slower;
using documents::swapped;
using documents::why;

constexpr double kib = 1024.0;
constexpr double mib = 1024.0 * kib;

struct Example {
    std::string rule;
    Changes enough;               ///< just what the rule asks for
    std::vector<Changes> little;  ///< a little less, of one thing each
};

std::vector<Example> examples() {
    return {
        {"spills",
         {{"spill_sectors", {1000, 1050}}},
         {{{"spill_sectors", {1000, 1049}}}, {{"spill_sectors", {1000, 1000}}}}},
        {"spills", {{"spill_sectors", {0, 1}}}, {{{"spill_sectors", {0, 0}}}}},
        {"spills", {{"local_bytes", {0, 8}}}, {{{"local_bytes", {8, 8}}}}},
        {"registers",
         {{"registers", {96, 97}}, {"theoretical_occupancy", {50, 49}}},
         {{{"registers", {96, 96}}, {"theoretical_occupancy", {50, 49}}},
          {{"registers", {96, 97}}, {"theoretical_occupancy", {50, 49.1}}}}},
        {"shared_memory",
         {{"dynamic_smem", {1024, 1025}}, {"theoretical_occupancy", {50, 49}}},
         {{{"dynamic_smem", {1024, 1024}}, {"theoretical_occupancy", {50, 49}}},
          {{"dynamic_smem", {1024, 1025}}, {"theoretical_occupancy", {50, 49.1}}}}},
        {"shared_memory",
         {{"static_smem", {1024, 1025}}, {"theoretical_occupancy", {50, 49}}},
         {{{"static_smem", {1024, 1025}}, {"theoretical_occupancy", {50, 50}}}}},
        {"occupancy",
         {{"theoretical_occupancy", {50, 49}}},
         {{{"theoretical_occupancy", {50, 49.1}}},
          // Told as what made it fall.
          {{"theoretical_occupancy", {50, 25}}, {"registers", {96, 200}}},
          {{"theoretical_occupancy", {50, 25}}, {"static_smem", {0, 99999}}}}},
        {"links",
         {{"pcie_bytes", {1 * mib, 1.1 * mib}}},
         {{{"pcie_bytes", {1 * mib, 1.09 * mib}}}, {{"pcie_bytes", {1 * kib, 64 * kib}}}}},
        {"links",
         {{"nvlink_bytes", {1 * mib, 1.1 * mib}}},
         {{{"nvlink_bytes", {1 * mib, 1.09 * mib}}}, {{"nvlink_bytes", {1 * kib, 64 * kib}}}}},
        // From two full rounds to a third for a few blocks.
        {"tail",
         {{"waves", {2, 2.01}}, {"sm_active", {98, 93}}},
         {{{"waves", {2, 2.01}}, {"sm_active", {98, 93.1}}},
          {{"waves", {2.01, 2.9}}, {"sm_active", {98, 70}}},  // the same round
          {{"waves", {2, 2.01}}}}},
        {"residency",
         {{"occupancy", {50, 45}}, {"theoretical_occupancy", {50, 50}}},
         {{{"occupancy", {50, 45.1}}, {"theoretical_occupancy", {50, 50}}},
          {{"occupancy", {60, 54.5}}, {"theoretical_occupancy", {60, 60}}},  // 9 %, 5.5 points
          {{"occupancy", {50, 45}}, {"theoretical_occupancy", {50, 45}}},
          {{"occupancy", {50, 45}}}}},
        {"fusion",
         {{"launches", {1, 2}}, {"dram_bytes", {10 * mib, 11 * mib}}},
         {{{"launches", {1, 1}}, {"dram_bytes", {10 * mib, 11 * mib}}},
          {{"launches", {1, 2}}, {"dram_bytes", {11 * mib, 12 * mib}}},    // 9 %
          {{"launches", {1, 2}}, {"dram_bytes", {1 * mib, 1.9 * mib}}}}},  // 0.9 MiB
        {"launches",
         {{"launches", {1, 2}}},
         {{{"launches", {2, 2}}}, {{"launches", {1, 2}}, {"dram_bytes", {10 * mib, 20 * mib}}}}},
        {"launch_gap",
         {{"gpu_span", {104000, 126300}}},   // 4 µs beyond gpu_time, then 6.3 µs
         {{{"gpu_span", {104000, 126000}}},  // 9 % of the span's change
          {{"gpu_span", {110000, 132480}}}}},
        // 110 % of a gpu_time of 100 µs, then 115 % of 120 µs.
        {"submission",
         {{"submit_time", {110000, 138000}}},
         {{{"submit_time", {110000, 137900}}},
          {{"submit_time", {50000, 119000}}},  // less than the kernel
          {{"submit_time", {150000, 170000}}}}},
        {"instruction_cache",
         {{"stall_no_instruction", {1, 1.5}}, {"code_size", {40 * kib, 44 * kib}}},
         {{{"stall_no_instruction", {1, 1.4}}, {"code_size", {40 * kib, 44 * kib}}},
          {{"stall_no_instruction", {1, 3}}, {"code_size", {41 * kib, 45 * kib}}},  // 9.8 %
          {{"stall_no_instruction", {1, 3}}, {"code_size", {4 * kib, 12 * kib}}},   // it fits
          {{"stall_no_instruction", {1, 3}}}}},
        {"submit_time",
         {{"submit_time", {20000, 30000}}},
         {{{"submit_time", {20000, 29900}}},
          {{"submit_time", {1000, 1990}}},
          // Told as what it does to the time.
          {{"submit_time", {110000, 170000}}}}},
        {"api_calls",
         {{"api_calls", {4, 5}}},
         {{{"api_calls", {4, 4}}},
          // Told as what they submit.
          {{"api_calls", {4, 5}}, {"launches", {1, 2}}},
          {{"api_calls", {4, 5}}, {"gpu_span", {104000, 126300}}}}},
        {"leak", {{"leak", {0, 2 * mib}}}, {{{"leak", {2 * mib, 2 * mib}}}}},
        {"memory_peak",
         {{"memory_peak", {64 * mib, 66 * mib}}},
         {{{"memory_peak", {64 * mib, 64 * mib}}},
          // What leaks is held.
          {{"memory_peak", {64 * mib, 96 * mib}}, {"leak", {0, 32 * mib}}}}},
        {"stack",
         {{"stack", {0, 8}}},
         {{{"stack", {8, 8}}},
          // Told as spills.
          {{"stack", {0, 8}}, {"local_bytes", {0, 8}}}}},
        {"code_size",
         {{"code_size", {4096, 4224}}},
         {{{"code_size", {4096, 4096}}},
          {{"code_size", {40 * kib, 44 * kib}}, {"stall_no_instruction", {1, 1.5}}}}},
        {"waiting",
         {{"real_time", {1000, 1060}}, {"cpu_time", {1000, 1010}}},
         {{{"real_time", {1000, 1040}}, {"cpu_time", {1000, 1000}}},
          // It computes more.
          {{"real_time", {1000, 1060}}, {"cpu_time", {1000, 1060}}},
          {{"real_time", {1000, 1060}}}}},
        {"graphs",
         {{"graph_launches", {1, 0}}, {"host_launches", {1, 40}}},
         {{{"graph_launches", {1, 1}}, {"host_launches", {1, 40}}},
          {{"graph_launches", {1, 0}}, {"host_launches", {40, 40}}}}},
        {"synchronisation", {{"syncs", {1, 1.5}}}, {{{"syncs", {1, 1.4}}}}},
        {"communication",
         {{"communication_time", {100'000, 110'000}}},
         {{{"communication_time", {100'000, 109'900}}},
          {{"communication_time", {10'000, 19'900}}}}},
        {"exposed_communication",
         {{"exposed_communication_share", {10, 15}}, {"communication_time", {100'000, 100'000}}},
         {{{"exposed_communication_share", {10, 14.9}}, {"communication_time", {100'000, 100'000}}},
          // More communication is the cause.
          {{"exposed_communication_share", {10, 15}}, {"communication_time", {100'000, 120'000}}}}},
        {"uncapturable_calls",
         {{"uncapturable_calls", {0, 0.5}}},
         {{{"uncapturable_calls", {0, 0.4}}},
          // Told as waiting.
          {{"uncapturable_calls", {0, 1}}, {"syncs", {0, 1}}}}},
        {"pageable_copies",
         {{"pageable_copies", {0, 0.5}}},
         {{{"pageable_copies", {0, 0.4}}}, {{"pageable_copies", {100, 100.9}}}}},
        {"copies",
         {{"copied_bytes", {4096, 8192}}},
         {{{"copied_bytes", {4096, 4100}}},
          // Told as what they are.
          {{"copied_bytes", {4096, 8192}}, {"pageable_copies", {1, 2}}}}},
        {"narrow_accesses",
         {{"sectors_per_request_load", {16, 12.8}}, {"instructions", {1000, 1050}}},
         {{{"sectors_per_request_load", {16, 12.9}}, {"instructions", {1000, 1050}}},
          {{"sectors_per_request_load", {16, 12.8}}, {"instructions", {1000, 1049}}},
          {{"sectors_per_request_load", {0.4, 0.31}}, {"instructions", {1000, 1050}}},
          // From scattered to coalesced.
          {{"sectors_per_request_load", {16.1, 4}}, {"instructions", {1000, 1050}}}}},
        {"narrow_accesses",
         {{"sectors_per_request_store", {16, 12.8}}, {"instructions", {1000, 1050}}},
         {{{"sectors_per_request_store", {16, 12.9}}, {"instructions", {1000, 1050}}}}},
        {"coalescing",
         {{"sectors_per_request_load", {4, 4.2}}, {"instructions", {1000, 951}}},
         {{{"sectors_per_request_load", {4, 4.19}}, {"instructions", {1000, 1000}}},
          {{"sectors_per_request_load", {1, 1.09}}, {"instructions", {1000, 1000}}},
          // Wider loads: fewer of them for the same data.
          {{"sectors_per_request_load", {4, 16}}, {"instructions", {1000, 950}}},
          // Another algorithm.
          {{"sectors_per_request_load", {4, 16}}, {"instructions", {1000, 1050}}},
          {{"sectors_per_request_load", {4, 16}}}}},
        // A transposed matrix, written without shared memory: few instructions, each scattered.
        {"coalescing",
         {{"sectors_per_request_store", {4, 32}}, {"instructions", {1000, 400}}},
         {{{"sectors_per_request_store", {4, 16}}, {"instructions", {1000, 400}}}}},
        {"coalescing",
         {{"sectors_per_request_load", {4, 16.1}}},
         // There were no loads at all.
         {{{"sectors_per_request_load", {0, 16.1}}}}},
        {"coalescing",
         {{"sectors_per_request_store", {4, 4.5}}, {"instructions", {1000, 1049}}},
         {{{"sectors_per_request_store", {4, 4.39}}, {"instructions", {1000, 1000}}}}},
        {"exposed_copies",
         {{"exposed_copy_share", {10, 15}}, {"copy_time", {100'000, 100'000}}},
         {{{"exposed_copy_share", {10, 14.9}}, {"copy_time", {100'000, 100'000}}},
          // More copying is the cause.
          {{"exposed_copy_share", {10, 15}}, {"copy_time", {100'000, 120'000}}}}},
        {"asynchronous_copies",
         {{"tma_bytes", {1 * mib, 0.5 * mib}}, {"load_bytes", {100 * kib, 105 * kib}}},
         {{{"tma_bytes", {1 * mib, 0.51 * mib}}, {"load_bytes", {0, 1 * mib}}},
          {{"tma_bytes", {1 * mib, 0}}, {"load_bytes", {100 * kib, 104 * kib}}},
          {{"tma_bytes", {1 * mib, 0}}, {"load_bytes", {0, 3 * kib}}},
          {{"tma_bytes", {3 * kib, 0}}, {"load_bytes", {0, 1 * mib}}},
          // Less work.
          {{"tma_bytes", {1 * mib, 0}}, {"load_bytes", {0, 0}}},
          {{"tma_bytes", {1 * mib, 0}}}}},
        {"asynchronous_copies",
         {{"async_copy_bytes", {1 * mib, 0}}, {"load_bytes", {0, 1 * mib}}},
         {{{"async_copy_bytes", {1 * mib, 0.6 * mib}}, {"load_bytes", {0, 1 * mib}}},
          // From the copies of threads to those of the TMA.
          {{"async_copy_bytes", {1 * mib, 0}},
           {"tma_bytes", {0, 1 * mib}},
           {"load_bytes", {0, 0}}}}},
        {"bank_conflicts",
         {{"bank_conflicts_load", {50, 90}},
          {"bank_conflicts_store", {30, 10}},
          {"instructions", {1000, 1000}}},
         {{{"bank_conflicts_load", {50, 79}},
           {"bank_conflicts_store", {30, 20}},
           {"instructions", {1000, 1000}}},
          {{"bank_conflicts_load", {0, 19}},
           {"bank_conflicts_store", {0, 0}},
           {"instructions", {1000, 1000}}},
          {{"bank_conflicts_load", {50, 90}}, {"instructions", {1000, 1000}}}}},
        {"dram",
         {{"dram_bytes", {10 * mib, 11 * mib}}},
         {{{"dram_bytes", {11 * mib, 12 * mib}}},
          {{"dram_bytes", {1 * mib, 1.9 * mib}}},
          {{"dram_bytes", {10 * mib, 20 * mib}}, {"launches", {1, 2}}}}},
        {"cache",
         {{"l1_hit_rate", {60, 48}}},
         {{{"l1_hit_rate", {60, 48.1}}},
          {{"l1_hit_rate", {60, 10}}, {"dram_bytes", {10 * mib, 11 * mib}}}}},
        {"cache", {{"l2_hit_rate", {60, 45}}}, {{{"l2_hit_rate", {60, 45.1}}}}},
        {"tensor_pipe",
         {{"tensor_instructions", {1000, 500}},
          {"tensor_active", {40, 20}},
          {"instructions", {1000, 1050}}},
         {{{"tensor_instructions", {1000, 501}},
           {"tensor_active", {40, 20}},
           {"instructions", {1000, 1050}}},
          {{"tensor_instructions", {1000, 500}},
           {"tensor_active", {40, 20.1}},
           {"instructions", {1000, 1050}}},
          {{"tensor_instructions", {1000, 500}},
           {"tensor_active", {1.9, 0.95}},
           {"instructions", {1000, 1050}}},
          // Larger matrix instructions: fewer of both.
          {{"tensor_instructions", {1000, 500}},
           {"tensor_active", {40, 20}},
           {"instructions", {1000, 1049}}}}},
        {"divergence", {{"warp_efficiency", {100, 99}}}, {{{"warp_efficiency", {100, 99.1}}}}},
        {"instructions",
         {{"instructions", {1000, 1020}}},
         {{{"instructions", {1000, 1019}}},
          {{"instructions", {1000, 1500}}, {"spill_sectors", {0, 100}}},
          {{"instructions", {1000, 1500}}, {"sectors_per_request_load", {16, 4}}},
          {{"instructions", {1000, 1500}}, {"tma_bytes", {mib, 0}}, {"load_bytes", {0, mib}}}}},
        {"stall",
         {{"stall_barrier", {2, 3}}},
         {{{"stall_barrier", {2, 2.9}}}, {{"stall_barrier", {2.2, 3.2}}}}},
    };
}

std::string described(const Example& example, const Changes& changes) {
    std::string text = example.rule + ':';
    for (const auto& [name, change] : changes) {
        text +=
            ' ' + name + ' ' + std::to_string(change.before) + " → " + std::to_string(change.after);
    }
    return text;
}

bool is_of_time(std::string_view name) {
    const auto row = std::find_if(rules().begin(), rules().end(),
                                  [&](const Rule& rule) { return rule.name == name; });
    return row != rules().end() && row->of_time;
}

TEST(Rules, TellWhatPassesTheirThresholds) {
    for (const Example& example : examples()) {
        const auto causes = why(slower(example.enough));
        const model::Cause* cause = find(causes, example.rule);
        ASSERT_NE(cause, nullptr) << described(example, example.enough);
        EXPECT_FALSE(cause->sentence.starts_with("but ")) << cause->sentence;
        // The example's time is gpu_time, which leaves the gaps out.
        EXPECT_EQ(find(causes, "unexplained") == nullptr,
                  is_of_time(example.rule) && example.rule != std::string_view("launch_gap"));
    }
}

TEST(Rules, LeaveAloneWhatDoesNot) {
    for (const Example& example : examples()) {
        for (const Changes& little : example.little) {
            EXPECT_EQ(find(why(slower(little)), example.rule), nullptr)
                << described(example, little);
        }
    }
}

// What made a case slower makes it faster where it is undone: at the same values.
TEST(Rules, TellTheSameOfTheWayBack) {
    for (const Example& example : examples()) {
        Changes back = swapped(example.enough);
        // Times are the case's own.
        const auto causes = why(faster(back));
        const model::Cause* cause = find(causes, example.rule);
        ASSERT_NE(cause, nullptr) << described(example, back);
        EXPECT_FALSE(cause->sentence.starts_with("but ")) << cause->sentence;
        for (const Changes& little : example.little) {
            EXPECT_EQ(find(why(faster(swapped(little))), example.rule), nullptr)
                << described(example, swapped(little));
        }
    }
}

TEST(Rules, SayWhatMovedTheOtherWayAfterTheRest) {
    const auto causes = why(slower({{"instructions", {1000, 1500}}, {"dram_bytes", {5e7, 1e7}}}));
    ASSERT_EQ(causes.size(), 2U);
    EXPECT_EQ(causes[0].rule, "instructions");
    EXPECT_EQ(causes[1].sentence,
              "but less traffic to memory for the same work: dram_bytes 47.68 MiB → 9.537 MiB "
              "(-80.0 %)");
}

documents::Case clocked(double before_mhz, double after_mhz, documents::Change cycles) {
    // 25 % slower.
    documents::Case made =
        documents::timed(model::Verdict::inconclusive, {1e5, 1.25e5}, {{"cycles", cycles}});
    made.verdict.metrics[0].baseline_clock_mhz = before_mhz;
    made.verdict.metrics[0].measured_clock_mhz = after_mhz;
    return made;
}

// 80 % of a change from 1 to 1.25, as logarithms: 1.25^0.8 is 1.1954; 20 % of it is 1.0456.
TEST(Rules, BlameTheClockForMostOfTheTimeAndNoMoreCycles) {
    EXPECT_NE(find(why(clocked(2000, 2000 / 1.1955, {1000, 1045})), "clock"), nullptr);
    EXPECT_EQ(find(why(clocked(2000, 2000 / 1.1953, {1000, 1045})), "clock"), nullptr);
    EXPECT_EQ(find(why(clocked(2000, 2000 / 1.1955, {1000, 1046})), "clock"), nullptr);
    EXPECT_EQ(find(why(clocked(2000, 2000, {1000, 1000})), "clock"), nullptr);
    documents::Case unknown = clocked(2000, 1500, {1000, 1000});
    unknown.verdict.metrics[0].baseline_clock_mhz.reset();
    EXPECT_EQ(find(why(unknown), "clock"), nullptr);
    EXPECT_NE(find(why(unknown), "unexplained"), nullptr);
}

/// The readings of a run whose batches have no clock: so many under the power cap at this clock,
/// and others.
documents::Case capped(double before_mhz, double capped_mhz, int under_cap, int others,
                       documents::Change cycles) {
    documents::Case made = clocked(before_mhz, 0, cycles);
    made.verdict.metrics[0].measured_clock_mhz.reset();
    for (int i = 0; i < under_cap + others; ++i) {
        model::Reading& reading = made.result.readings.emplace_back();
        reading.state.sm_clock_mhz = capped_mhz;
        if (i < under_cap) reading.state.throttle_reasons = {"power cap"};
    }
    return made;
}

TEST(Rules, ALowerClockAtThePowerLimitIsNamedAsSuch) {
    const auto is = [](const documents::Case& made) {
        return find(why(made), "power_limit") != nullptr;
    };
    EXPECT_TRUE(is(capped(2000, 2000 / 1.1955, 3, 2, {1000, 1045})));
    EXPECT_FALSE(is(capped(2000, 2000 / 1.1953, 3, 2, {1000, 1045}))) << "too little";
    EXPECT_FALSE(is(capped(2000, 2000 / 1.1955, 3, 2, {1000, 1046}))) << "more cycles";
    EXPECT_FALSE(is(capped(2000, 1600, 2, 2, {1000, 1000}))) << "not most of the readings";
    EXPECT_FALSE(is(capped(2000, 1600, 0, 4, {1000, 1000}))) << "another limit";
    EXPECT_FALSE(is(clocked(2000, 1600, {1000, 1000}))) << "the clock is known";
    documents::Case before = capped(2000, 1600, 4, 0, {1000, 1000});
    before.verdict.metrics[0].baseline_clock_mhz.reset();
    EXPECT_FALSE(is(before)) << "the baseline may have been at the limit, too";
    const auto causes = why(capped(2000, 1600, 4, 0, {1000, 1000}));
    ASSERT_FALSE(causes.empty());
    EXPECT_TRUE(
        causes[0].sentence.starts_with("the clock alone, at the power limit: "
                                       "capped_sm_clock 2.000 GHz → 1.600 GHz (-20.0 %)"))
        << causes[0].sentence;
}

documents::Case energetic(documents::Change energy, documents::Change time, Changes others = {}) {
    others["energy"] = energy;
    documents::Case made = documents::timed(model::Verdict::pass, time, others);
    made.verdict.verdict = model::Verdict::regressed;
    return made;
}

TEST(Rules, MoreEnergyInTheSameTimeIsWorkThatTheTimeDoesNotWaitFor) {
    const auto is = [](const documents::Case& made) {
        return find(why(made), "energy") != nullptr;
    };
    EXPECT_TRUE(is(energetic({0.4, 0.412}, {1e5, 1.0099e5})));
    EXPECT_FALSE(is(energetic({0.4, 0.4119}, {1e5, 1e5})));
    EXPECT_FALSE(is(energetic({0.4, 0.42}, {1e5, 1.01e5}))) << "the time rose with it";
    EXPECT_FALSE(is(energetic({0.4, 0.42}, {1e5, 0.98e5}))) << "faster for it";
    const auto causes = why(energetic({0.4, 0.44}, {1e5, 1e5},
                                      {{"power", {400, 440}}, {"instructions", {1000, 2000}}}));
    const model::Cause* cause = find(causes, "energy");
    ASSERT_NE(cause, nullptr);
    EXPECT_EQ(cause->sentence,
              "more energy in the same time: energy 400.0 mJ → 440.0 mJ (+10.0 %), gpu_time 100.0 "
              "µs → 100.0 µs (0.0 %), power 400 W → 440 W (+10.0 %), instructions 1000 → 2000 "
              "(+100.0 %); units do work that does not take longer: look for arithmetic or "
              "traffic that the result does not need");
    // Less is told likewise.
    EXPECT_TRUE(is(energetic({0.44, 0.4}, {1e5, 1e5})));
}

TEST(Rules, LessWorkPerJouleIsToldWhereASuiteAsksForNoEnergy) {
    const auto is = [](const char* metric, documents::Change change, documents::Change time,
                       Changes others = {}) {
        others[metric] = change;
        documents::Case made = documents::timed(model::Verdict::pass, time, others);
        made.verdict.verdict = model::Verdict::regressed;
        return find(why(made), metric) != nullptr;
    };
    for (const char* metric : {"efficiency", "bytes_per_joule"}) {
        EXPECT_TRUE(is(metric, {1e9, 0.97e9}, {1e5, 1.0099e5}));
        EXPECT_FALSE(is(metric, {1e9, 0.971e9}, {1e5, 1e5}));
        EXPECT_FALSE(is(metric, {1e9, 0.9e9}, {1e5, 1.01e5})) << "slower";
        EXPECT_FALSE(is(metric, {1e9, 0.9e9}, {1e5, 0.98e5})) << "faster";
        EXPECT_FALSE(is(metric, {1e9, 0.9e9}, {1e5, 1e5}, {{"energy", {0.4, 0.44}}}));
    }
}

// Of each: with a time that did not move, it is all there is to report.
TEST(Rules, WhatIsWorseBesidesTheTimeHasAReasonOfItsOwn) {
    const auto alone = [](const char* metric, documents::Change change) {
        documents::Case made = documents::unmoved({{metric, change}});
        made.verdict.verdict = model::Verdict::regressed;
        const auto causes = why(made);
        return causes.size() == 1 ? causes[0].sentence : "";
    };
    EXPECT_EQ(alone("memory_peak", {64 * mib, 96 * mib}),
              "more device memory held: memory_peak 64.00 MiB → 96.00 MiB (+50.0 %); look for "
              "buffers that grew, are new, or are kept longer than they are needed");
    EXPECT_EQ(alone("leak", {0, 4 * mib}),
              "more device memory lost from launch to launch: leak 0 B → 4.000 MiB; a launch "
              "allocates what it does not free, or a pool keeps growing");
    EXPECT_EQ(alone("stack", {0, 1024}),
              "more stack per thread: stack 0 B → 1.000 KiB; look for arrays with an index unknown "
              "at compile time, spilled registers, and functions that are no longer inlined: the "
              "stack lies in local memory");
    EXPECT_EQ(alone("code_size", {8 * kib, 16 * kib}),
              "larger machine code: code_size 8.000 KiB → 16.00 KiB (+100.0 %); look for more "
              "unrolling, inlining and instances of templates: what outgrows the instruction cache "
              "costs time");
    EXPECT_EQ(alone("api_calls", {4, 7}),
              "more API calls per launch: api_calls 4 → 7 (+75.0 %); each costs host time, and "
              "calls that allocate, free or synchronise make the device wait");
}

TEST(Rules, WhatIsWorseBesidesTheTimeComesAfterItsCauses) {
    auto causes = why(slower({{"code_size", {4096, 8192}}, {"instructions", {1000, 1500}}}));
    ASSERT_EQ(causes.size(), 2U);
    EXPECT_EQ(causes[0].rule, "instructions");
    EXPECT_EQ(causes[1].rule, "code_size");
    causes = why(slower({{"memory_peak", {64 * mib, 32 * mib}}, {"cycles", {1000, 1200}}}));
    ASSERT_EQ(causes.size(), 2U);
    EXPECT_EQ(causes[0].rule, "unexplained");
    EXPECT_EQ(causes[1].sentence,
              "but less device memory held: memory_peak 64.00 MiB → 32.00 MiB (-50.0 %)");
}

TEST(Rules, TheClockHasNothingToSayWhereTheTimeDidNotMove) {
    documents::Case made = clocked(2000, 1500, {1000, 1000});
    made.verdict.verdict = made.verdict.metrics[0].verdict = model::Verdict::pass;
    EXPECT_EQ(find(why(made), "clock"), nullptr);
}

// Ten warps more in one reason are more than two in another, whatever they started from.
TEST(Rules, OfTheStallReasonsTheOneThatGrewMostIsTold) {
    const auto causes = why(slower({{"stall_barrier", {0.1, 2.1}},
                                    {"stall_long_scoreboard", {4, 14}},
                                    {"stall_wait", {1, 2.5}}}));
    ASSERT_EQ(causes.size(), 1U);
    EXPECT_EQ(causes[0].sentence,
              "more waiting for memory: stall_long_scoreboard 4 → 14 (+250.0 %); loads come later "
              "or there are fewer of them in flight");
}

TEST(Rules, EveryRowHasItsMetricsInTheCatalogue) {
    const std::set<std::string_view> derived = {
        timed_sm_clock,  launch_gap,       conflicts_per_instruction, rounds_of_blocks,
        capped_sm_clock, submission_share, threads_per_block,         blocks_per_grid};
    for (const Rule& rule : rules()) {
        ASSERT_FALSE(rule.when.empty()) << rule.name;
        EXPECT_FALSE(rule.worse.empty()) << rule.name;
        EXPECT_FALSE(rule.better.empty()) << rule.name;
        std::vector<Condition> conditions = rule.when;
        conditions.insert(conditions.end(), rule.also.begin(), rule.also.end());
        for (const Condition& condition : conditions) {
            EXPECT_TRUE(derived.contains(condition.metric) ||
                        metrics::find_metric(condition.metric))
                << rule.name << ' ' << condition.metric;
        }
    }
}

TEST(Rules, EveryStallReasonThatTheCatalogueCallsBadHasARow) {
    // What code cannot help or the hardware does not name.
    const std::set<std::string> left_out = {"stall_dispatch_stall", "stall_misc", "stall_sleeping"};
    std::set<std::string> told;
    for (const Rule& rule : rules()) {
        if (rule.name == "stall") told.insert(std::string(rule.when.front().metric));
    }
    for (const metrics::Metric& metric : metrics::catalogue()) {
        const std::string& name = metric.definition.name;
        if (!name.starts_with("stall_") || left_out.contains(name) ||
            metric.definition.direction == model::Direction::none) {
            continue;
        }
        EXPECT_TRUE(told.contains(name)) << name;
    }
}

TEST(Rules, EveryRuleHasAnExample) {
    std::set<std::string> shown = {"clock", "power_limit", "energy", "efficiency",
                                   "bytes_per_joule"};
    for (const Example& example : examples()) shown.insert(example.rule);
    for (const Rule& rule : rules()) EXPECT_TRUE(shown.contains(std::string(rule.name)));
}

TEST(Rules, ARuleThatSilencesAnotherStandsBeforeIt) {
    std::set<std::string_view> before;
    for (const Rule& rule : rules()) {
        for (const std::string_view other : rule.unless) {
            EXPECT_TRUE(before.contains(other)) << rule.name << " unless " << other;
        }
        before.insert(rule.name);
    }
}

}  // namespace
}  // namespace perfgate::explain
