// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "runner/reports.hpp"
#include "unit/temporary_folder.hpp"

namespace perfgate::runner {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<fs::path>;

TEST(Outputs, VerbsThatMeasureOrMergeStoreRuns) {
    EXPECT_EQ(stored_runs("run", "out"), (Paths{"out/run.json"}));
    EXPECT_EQ(stored_runs("merge", "out"), (Paths{"out/run.json"}));
    EXPECT_EQ(stored_runs("ab", "out"), (Paths{"out/run.json", "out/base/run.json"}));
    EXPECT_EQ(stored_runs("compare", "out"), Paths());
    EXPECT_EQ(stored_runs("run", ""), Paths());
}

TEST(Outputs, ASelfTestStoresARunOfItsBaseAndOfEachTrial) {
    const TemporaryFolder temporary;
    const fs::path& out = temporary.path();
    for (const char* folder : {"base", "trial-1", "trial-2", "notes"}) {
        fs::create_directory(out / folder);
    }
    Paths runs = stored_runs("selftest", out);
    std::sort(runs.begin(), runs.end());
    EXPECT_EQ(runs,
              (Paths{out / "base/run.json", out / "trial-1/run.json", out / "trial-2/run.json"}));
    fs::remove_all(out);
    EXPECT_EQ(stored_runs("selftest", out), Paths());
}

}  // namespace
}  // namespace perfgate::runner
