// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "kinds/command/command.hpp"
#include "kinds/command/program_runs.hpp"
#include "unit/temporary_folder.hpp"

namespace perfgate::command {
namespace {

TEST(Thinned, ManySamplesAreOneOfEachEqualPart) {
    std::vector<double> values;
    for (int i = 0; i < 2500; ++i) values.push_back(i);
    const std::vector<double> kept = thinned(values);
    ASSERT_EQ(kept.size(), 1000U);
    for (std::size_t i = 0; i < kept.size(); ++i) {
        EXPECT_GE(kept[i], static_cast<double>(i * 2500 / 1000));
        EXPECT_LT(kept[i], static_cast<double>((i + 1) * 2500 / 1000));
    }
    EXPECT_EQ(thinned(values), kept) << "the same ones each time";
    values.resize(1000);
    EXPECT_EQ(thinned(values), values);
}

TEST(Thinned, WhatIsSlowInEachFewInstancesIsKeptInProportion) {
    for (const std::size_t period : {2, 3, 4, 5, 8, 10}) {
        for (const std::size_t periods : {1000, 1500, 10000}) {
            std::vector<double> slow(period * periods);
            for (std::size_t i = period - 1; i < slow.size(); i += period) slow[i] = 1;
            const std::vector<double> kept = thinned(slow);
            const auto number = static_cast<double>(std::count(kept.begin(), kept.end(), 1));
            EXPECT_NEAR(number, 1000.0 / static_cast<double>(period), 60) << period;
        }
    }
}

/// What is said of both sides, in folders of their own, of a command of these words.
std::string same_in(const std::filesystem::path& folder, const std::vector<std::string>& words) {
    const auto side = [&](const std::string& name) {
        Command command;
        command.words = words;
        command.folder = folder / name;
        command.environment = {{"PATH", folder / "bin"}};
        return Program(std::make_shared<const Command>(command), Piece());
    };
    return side("head").same_as(side("base"));
}

TEST(Same, AProgramOfPathIsThatOfBothSidesUnlessItRunsWhatTheFolderHas) {
    const TemporaryFolder folder;
    for (const char* name : {"bin", "head", "base"}) {
        std::filesystem::create_directory(folder.path() / name);
    }
    for (const char* name : {"bin/bench", "bin/make", "head/bench", "base/bench"}) {
        std::ofstream(folder.path() / name) << "#!/bin/sh\necho " << name << '\n';
        std::filesystem::permissions(folder.path() / name, std::filesystem::perms::owner_all);
    }
    EXPECT_NE(same_in(folder.path(), {"bench", "--size=4"}).find("run the same file"),
              std::string::npos);
    EXPECT_EQ(same_in(folder.path(), {"./bench", "--size=4"}), "") << "each side has its own";
    EXPECT_EQ(same_in(folder.path(), {"make", "run"}), "");
    EXPECT_EQ(same_in(folder.path(), {"nowhere"}), "");
}

}  // namespace
}  // namespace perfgate::command
