// SPDX-License-Identifier: Apache-2.0
#include "history/store.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "unit/temporary_folder.hpp"
#include "util/error.hpp"

namespace perfgate::history {
namespace {

StoredRun run(const std::string& fingerprint, const std::string& started, std::int64_t ordered,
              std::size_t cases = 2) {
    StoredRun made{.fingerprint = fingerprint,
                   .origin = {.device = "gpu",
                              .board = "b",
                              .driver = "580",
                              .toolkit = "13.0",
                              .tool = "1.0",
                              .revision = "abc",
                              .started = started,
                              .ordered = ordered},
                   .series = {}};
    for (std::size_t i = 0; i < cases; ++i) {
        made.series.push_back({.device = "gpu",
                               .suite = "s",
                               .id = "w/v" + std::to_string(i),
                               .metric = "gpu_time",
                               .unit = "ns",
                               .tolerance = 0.04,
                               .nights = {{.run = 0,
                                           .code = "code",
                                           .inputs = "in",
                                           .method = "activity/cold",
                                           .verdict = "pass",
                                           .clock_mhz = 1980,
                                           .values = {1, 2.5, static_cast<double>(ordered)}}}});
    }
    return made;
}

std::vector<Series> series_of(const Store& store, const std::string& suite, const std::string& id) {
    std::vector<Series> all;
    store.each_case(suite, id, [&](const std::vector<Series>& of_case) {
        all.insert(all.end(), of_case.begin(), of_case.end());
    });
    return all;
}

constexpr const char* latest = "2027-01-01T00:00:00Z";

class Stores : public ::testing::Test {
  protected:
    std::filesystem::path file(const char* name) const { return folder_.path() / name; }
    std::size_t add(const char* name, const std::vector<StoredRun>& runs,
                    std::optional<std::int64_t> keep = {}) const {
        return Store(file(name), Store::Access::write).add(runs, {}, keep, latest).added;
    }
    std::size_t runs_in(const char* name) const {
        return Store(file(name), Store::Access::read).origins().size();
    }

    TemporaryFolder folder_;
};

TEST_F(Stores, WhatWasAddedIsReadInTheOrderOfRevisions) {
    EXPECT_EQ(
        2u, add("h", {run("b", "2026-01-01T00:00:00Z", 20), run("a", "2026-01-02T00:00:00Z", 10)}));
    const Store store(file("h"), Store::Access::read);
    const std::vector<Series> series = series_of(store, "s", "w/v1");
    ASSERT_EQ(1u, series.size());
    ASSERT_EQ(2u, series[0].nights.size());
    EXPECT_EQ((std::vector<double>{1, 2.5, 10}), series[0].nights[0].values);
    EXPECT_EQ((std::vector<double>{1, 2.5, 20}), series[0].nights[1].values);
    EXPECT_EQ("pass", series[0].nights[0].verdict);
    EXPECT_EQ(run("b", "2026-01-01T00:00:00Z", 20).origin,
              store.origins().at(series[0].nights[1].run));
    EXPECT_EQ(2u, series_of(store, "", "").size());
    EXPECT_TRUE(series_of(store, "other", "").empty());
}

TEST_F(Stores, ARunIsAddedOnce) {
    EXPECT_EQ(1u,
              add("h", {run("a", "2026-01-01T00:00:00Z", 1), run("a", "2026-01-01T00:00:00Z", 1)}));
    EXPECT_EQ(0u, add("h", {run("a", "2026-01-01T00:00:00Z", 1)}));
    EXPECT_EQ(1u, runs_in("h"));
}

TEST_F(Stores, AStoreIsAddedToAnotherOnce) {
    add("h", {run("a", "2026-01-01T00:00:00Z", 1), run("b", "2026-01-02T00:00:00Z", 2)});
    add("g", {run("b", "2026-01-02T00:00:00Z", 2), run("c", "2026-01-03T00:00:00Z", 3, 5)});
    const std::vector<std::filesystem::path> others{file("g")};
    EXPECT_EQ(1u, Store(file("h"), Store::Access::write).add({}, others, {}, latest).added);
    EXPECT_EQ(0u, Store(file("h"), Store::Access::write).add({}, others, {}, latest).added);
    const Store store(file("h"), Store::Access::read);
    EXPECT_EQ(3u, store.origins().size());
    const std::vector<Series> series = series_of(store, "", "");
    ASSERT_EQ(5u, series.size());
    EXPECT_EQ(3u, series[0].nights.size());
    EXPECT_EQ(1u, series[4].nights.size());
    EXPECT_EQ((std::vector<double>{1, 2.5, 3}), series[4].nights[0].values);
}

TEST_F(Stores, OldRunsAreRemovedOnRequest) {
    add("h", {run("a", "2026-01-01T00:00:00Z", 1), run("b", "2026-02-01T00:00:00Z", 2)});
    add("h", {run("c", "2026-02-02T00:00:00Z", 3)}, 10);
    EXPECT_EQ(2u, runs_in("h"));
    EXPECT_EQ(2u,
              series_of(Store(file("h"), Store::Access::read), "s", "w/v0").at(0).nights.size());
}

TEST_F(Stores, ARunOfTheFutureIsRefusedOrLeftOutAndMakesNoOtherOld) {
    const std::vector<StoredRun> one{run("a", "2026-01-01T00:00:00Z", 1)};
    const std::vector<StoredRun> two{run("b", "2026-02-01T00:00:00Z", 2)};
    const std::vector<StoredRun> future{run("f", "2099-01-01T00:00:00Z", 3)};
    EXPECT_THROW(add("h", future, 10), util::InputError);
    EXPECT_EQ(0u, runs_in("h"));
    Store(file("g"), Store::Access::write).add(future, {}, {}, "2100");
    const std::vector<std::filesystem::path> others{file("g")};
    add("h", one);
    EXPECT_EQ((Store::Change{0, 0, 1}),
              Store(file("h"), Store::Access::write).add({}, others, 10, latest));
    EXPECT_EQ((Store::Change{2, 0, 0}),
              Store(file("both"), Store::Access::write).add(one, others, {}, "2100"));
    EXPECT_EQ(
        (std::vector<double>{1, 2.5, 1}),
        series_of(Store(file("h"), Store::Access::read), "s", "w/v0").at(0).nights.at(0).values);
    EXPECT_EQ(1u, runs_in("h"));
    Store with_one(file("g"), Store::Access::write);
    EXPECT_EQ((Store::Change{1, 0, 0}), with_one.add(one, {}, 10, latest));
    EXPECT_EQ((Store::Change{1, 1, 0}), with_one.add(two, {}, 10, latest));
    EXPECT_EQ(2u, runs_in("g")) << "the one that was there is left, and counts for nothing";
}

TEST_F(Stores, TwoWritersLoseNothing) {
    constexpr int writers = 3, each = 8;
    std::vector<pid_t> children;
    for (int writer = 0; writer < writers; ++writer) {
        children.push_back(fork());
        if (children.back() != 0) continue;
        for (int i = 0; i < each; ++i) {
            add("h",
                {run(std::to_string(writer) + "-" + std::to_string(i), "2026-01-01T00:00:00Z", i)});
        }
        _exit(0);
    }
    for (const pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_EQ(0, status);
    }
    EXPECT_EQ(std::size_t{writers * each}, runs_in("h"));
}

TEST_F(Stores, AWriterThatIsKilledLosesNothingAndLeavesNothingHalf) {
    add("h", {run("first", "2026-01-01T00:00:00Z", 1)});
    for (int delay_us : {500, 2000, 8000, 30000}) {
        const pid_t child = fork();
        if (child == 0) {
            for (int i = 0;; ++i) {
                add("h", {run(std::to_string(delay_us) + "-" + std::to_string(i),
                              "2026-01-01T00:00:00Z", i, 300)});
            }
        }
        usleep(static_cast<useconds_t>(delay_us));
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        const Store store(file("h"), Store::Access::write);
        const std::size_t runs = store.origins().size();
        std::size_t nights = 0;
        for (const Series& series : series_of(store, "", "")) nights += series.nights.size();
        EXPECT_EQ(2 + (runs - 1) * 300, nights);
    }
    EXPECT_EQ(1u, add("h", {run("last", "2026-01-01T00:00:00Z", 9)}));
}

TEST_F(Stores, WhatIsNotAHistoryIsRefused) {
    std::ofstream(file("text")) << std::string(5000, 'x');
    std::ofstream(file("empty"));
    std::filesystem::create_directory(file("folder"));
    EXPECT_THROW(runs_in("text"), util::InputError);
    EXPECT_THROW(runs_in("empty"), util::InputError);
    EXPECT_THROW(runs_in("folder"), util::InputError);
    EXPECT_THROW(runs_in("absent"), util::InputError);
    EXPECT_FALSE(std::filesystem::exists(file("absent")));
    EXPECT_THROW(add("text", {}), util::InputError);
    EXPECT_THROW(add("folder", {}), util::InputError);
    EXPECT_EQ(0u, add("empty", {}));  // an empty file, as mktemp makes it, becomes one
}

TEST_F(Stores, AHistoryIsKnownByTheBeginningOfItsFile) {
    add("h", {run("first", "2026-01-01T00:00:00Z", 1)});
    std::ofstream(file("text")) << std::string(5000, 'x');
    std::ofstream(file("short")) << "SQLite";
    EXPECT_TRUE(is_store(file("h")));
    EXPECT_FALSE(is_store(file("text")));
    EXPECT_FALSE(is_store(file("short")));
    EXPECT_FALSE(is_store(file("absent")));
}

TEST_F(Stores, ADamagedOneIsRefusedOrReadButNeverCrashes) {
    std::vector<StoredRun> many;
    for (int i = 0; i < 20; ++i) {
        many.push_back(run(std::to_string(i), "2026-01-01T00:00:00Z", i, 40));
    }
    add("h", many);
    std::ifstream stream(file("h"), std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(stream)), {});
    std::size_t refused = 0;
    for (std::size_t at = 100; at < whole.size(); at += whole.size() / 97) {
        std::string damaged = whole;
        for (std::size_t i = at; i < std::min(at + 64, damaged.size()); ++i) damaged[i] ^= 0x5a;
        std::ofstream(file("d"), std::ios::binary) << damaged;
        try {
            const Store store(file("d"), Store::Access::read);
            store.origins();
            series_of(store, "", "");
        } catch (const util::Error& error) {
            ++refused;
            EXPECT_NE(nullptr, dynamic_cast<const util::InputError*>(&error)) << error.what();
            EXPECT_NE(std::string::npos, std::string(error.what()).find(file("d"))) << error.what();
        }
        try {
            const std::vector<std::filesystem::path> others{file("d")};
            Store(file("m"), Store::Access::write).add({}, others, {}, latest);
        } catch (const util::Error& error) {
            EXPECT_NE(std::string::npos, std::string(error.what()).find(file("d"))) << error.what();
        }
    }
    EXPECT_GT(refused, 5u);
    EXPECT_NO_THROW(runs_in("m"));
}

}  // namespace
}  // namespace perfgate::history
