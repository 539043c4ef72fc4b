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

TEST(Outputs, VerbsThatMeasureStoreRuns) {
    EXPECT_EQ(stored_runs("run", "out"), (Paths{"run.json"}));
    EXPECT_EQ(stored_runs("ab", "out"), (Paths{"run.json", "base/run.json"}));
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
    EXPECT_EQ(runs, (Paths{"base/run.json", "trial-1/run.json", "trial-2/run.json"}));
    fs::remove_all(out);
    EXPECT_EQ(stored_runs("selftest", out), Paths());
}

}  // namespace
}  // namespace perfgate::runner
