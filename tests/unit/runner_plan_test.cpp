// SPDX-License-Identifier: Apache-2.0
#include "runner/plan.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "kinds/command/command.hpp"
#include "kinds/plugin/plugin.hpp"
#include "kinds/source/source.hpp"
#include "runner/checkout.hpp"
#include "temporary_folder.hpp"
#include "util/error.hpp"

namespace perfgate::runner {
namespace {

std::shared_ptr<const model::Subject> program_in(const std::string& folder) {
    command::Command command;
    command.folder = folder;
    return std::make_shared<const command::Program>(
        std::make_shared<const command::Command>(command), command::Piece{});
}

/// A suite in /suites with a case of a plugin and one of a program in its folder "build".
model::Plan plan() {
    model::PlannedSuite suite;
    suite.name = "s";
    suite.file = "/suites/s.yaml";
    suite.cases.resize(2);
    suite.cases[0].spec = {"gemm", "tiled", {{"m", std::int64_t{7}}}, model::Cache::cold};
    suite.cases[1].spec = {"app", "step", {}, model::Cache::cold};
    suite.cases[0].subject = std::make_shared<const plugin::Plugin>();
    suite.cases[1].subject = program_in("/suites/build");
    suite.cases[1].group = 0;
    return {{suite}};
}

std::string folder_of(const model::Plan& plan) {
    return command::command_of(*plan.suites[0].cases[1].subject).folder;
}

model::WorkloadCatalogue catalogue() {
    model::WorkloadInfo info;
    info.name = "gemm";
    info.variants.resize(1);
    info.variants[0].name = "tiled";
    info.params.resize(1);
    info.params[0].name = "m";
    return {info};
}

TEST(RunnersPlan, WhatABuildLacksIsSkippedWithTheReason) {
    const auto reason = [](auto change) {
        model::WorkloadCatalogue changed = catalogue();
        change(changed);
        const model::Plan offer = offered(plan(), changed);
        EXPECT_EQ(offer.suites[0].cases[1].skip_reason, "") << "programs are not in a build";
        return offer.suites[0].cases[0].skip_reason;
    };
    EXPECT_EQ(reason([](auto&) {}), "");
    EXPECT_NE(reason([](auto& all) { all.clear(); }).find("workload 'gemm'"), std::string::npos);
    EXPECT_NE(reason([](auto& all) { all[0].variants.clear(); }).find("variant 'tiled'"),
              std::string::npos);
    EXPECT_NE(reason([](auto& all) { all[0].variants[0].not_built = "x"; }).find("not built"),
              std::string::npos);
    EXPECT_NE(reason([](auto& all) { all[0].params[0].name = "n"; }).find("parameter 'm'"),
              std::string::npos);
    model::Plan skipped = plan();
    skipped.suites[0].cases[0].skip_reason = "too slow";
    EXPECT_EQ(offered(skipped, {}).suites[0].cases[0].skip_reason, "too slow");
}

TEST(RunnersPlan, CasesThatOnlyTheBaseReportsAreThoseOfBothSides) {
    const auto reported = [](std::vector<model::DiscoveredCase> cases) {
        model::Discovered discovered;
        discovered.cases = std::move(cases);
        return DiscoveredBySuite{{{0, discovered}}};
    };
    const auto both = [&](const DiscoveredBySuite& head) {
        return discovered_by_any(head, reported({{"copy", {}, ""}, {"sort", {}, "too slow"}}))
            .at(0)
            .at(0);
    };
    using Offered = std::vector<model::DiscoveredCase>;
    EXPECT_EQ(both(reported({{"copy", {}, "no GPU"}, {"scan", {}, ""}})).cases,
              (Offered{{"copy", {}, ""}, {"scan", {}, ""}, {"sort", {}, "too slow"}}));
    DiscoveredBySuite failed = reported({});
    failed[0][0].problem = "it crashed";
    EXPECT_TRUE(both(failed).cases.empty()) << "what the head reports is not known";
}

TEST(RunnersPlan, PathsInTheCheckoutAreWhatEveryCheckoutHas) {
    const auto portable = [](const std::string& text) {
        return without_checkout(text, "/co", "/co/suites");
    };
    EXPECT_EQ(portable("/co/suites/app"), "app");
    EXPECT_EQ(portable("python3 /co/build/app '/co/a b' --out=/co/x"),
              "python3 ../build/app '../a b' --out=../x");
    EXPECT_EQ(portable("/usr/lib:/co/lib:/co"), "/usr/lib:../lib:..");
    for (const std::string other : {"/cord/app", "/x/co/app", "./app", ""}) {
        EXPECT_EQ(portable(other), other);
    }
    EXPECT_EQ(without_checkout("/usr/bin/app", "/", "/suites"), "/usr/bin/app");
}

TEST(RunnersPlan, ACheckoutIsWhereGitIs) {
    const TemporaryFolder folder("checkout");
    std::filesystem::create_directories(folder.path() / "repository/suites");
    EXPECT_EQ(checkout_around(folder.path() / "repository/suites"),
              folder.path() / "repository/suites");
    std::filesystem::create_directory(folder.path() / "repository/.git");
    EXPECT_EQ(checkout_around(folder.path() / "repository/suites"), folder.path() / "repository");
}

TEST(RunnersPlan, InAnotherCheckoutTheProgramsFolderStaysTheSuites) {
    const auto in_root = [](const model::Plan& plan, const std::string& root) {
        return in_checkout(plan, {root});
    };
    EXPECT_EQ(folder_of(in_root(plan(), "/base")), "/base/build");
    model::Plan above = plan();
    above.suites[0].cases[1].subject = program_in("/app");
    EXPECT_EQ(folder_of(in_root(above, "/base/x")), "/base/app");
    const std::string here = (std::filesystem::current_path() / "base/build").string();
    EXPECT_EQ(folder_of(in_root(plan(), "base")), here);
}

TEST(RunnersPlan, ACheckoutOfARepositoryHasItsFolders) {
    model::Plan with = plan();
    with.suites[0].file = "/repo/suites/s.yaml";
    with.suites[0].cases[1].subject = program_in("/repo/suites/build");
    model::SourceKernel source;
    source.folder = "/repo/suites";
    with.suites[0].cases[0].subject = std::make_shared<const source::Source>(source);
    const Checkout checkout{"/tmp/base", "/repo"};
    EXPECT_EQ(folder_of(in_checkout(with, checkout)), "/tmp/base/suites/build");
    EXPECT_EQ(in_checkout(with, checkout).suites[0].cases[0].subject->kernel()->folder,
              "/tmp/base/suites");
    EXPECT_EQ(folder_of(in_checkout(with, {"/repo", "/repo"})), "/repo/suites/build");
    with.suites[0].cases[1].subject = program_in("/repo");
    EXPECT_EQ(folder_of(in_checkout(with, checkout)), "/tmp/base");
    // Both sides would run the same.
    with.suites[0].cases[1].subject = program_in("/elsewhere");
    EXPECT_THROW(in_checkout(with, checkout), util::InputError);
}

TEST(RunnersPlan, WithoutItsProgramsAPlanNeedsOtherCases) {
    const model::Plan left = without_groups(plan());
    ASSERT_EQ(left.suites[0].cases.size(), 1U);
    EXPECT_EQ(left.suites[0].cases[0].spec.workload, "gemm");
    model::Plan programs = plan();
    programs.suites[0].cases.erase(programs.suites[0].cases.begin());
    EXPECT_THROW(without_groups(programs), util::InputError);
    programs.suites.push_back(plan().suites[0]);
    EXPECT_EQ(without_groups(programs).suites.size(), 2U);
}

}  // namespace
}  // namespace perfgate::runner
