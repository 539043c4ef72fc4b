// SPDX-License-Identifier: Apache-2.0
// What `validate` finds about sources without a compiler.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kinds/source/preparing.hpp"
#include "kinds/source/source.hpp"
#include "util/temporary_folder.hpp"

namespace perfgate::source {
namespace {

/// Of suites beside which there are k.cu and k.fatbin, without architectures.
kinds::Findings check(const std::vector<std::pair<std::string, std::string>>& place_and_file) {
    const util::TemporaryFolder folder;
    std::ofstream(folder.path() / "k.cu") << "__global__ void k() {}";
    std::ofstream(folder.path() / "k.fatbin") << "ELF";
    std::vector<kinds::SuiteCase> cases;
    for (const auto& [place, file] : place_and_file) {
        model::SourceKernel kernel;
        kernel.folder = folder.path().string();
        kernel.file = file;
        cases.push_back({place, std::make_shared<const Source>(std::move(kernel))});
    }
    return check_sources({}, cases, {});
}

TEST(SourceChecks, AFileThatIsThereIsNotCompiledWithoutAnArchitecture) {
    const kinds::Findings found = check({{"s.yaml:3:5", "k.cu"}, {"s.yaml:9:5", "k.fatbin"}});
    EXPECT_TRUE(found.problems.empty());
    EXPECT_TRUE(found.done.empty());
    ASSERT_EQ(found.warnings.size(), 2u);
    EXPECT_NE(found.warnings[0].find("k.cu: not compiled: name architectures"), std::string::npos);
    EXPECT_NE(found.warnings[1].find("k.fatbin: not compiled, and not loaded"), std::string::npos);
}

TEST(SourceChecks, AFileThatIsAbsentIsAProblemWithTheSuitesPlace) {
    const kinds::Findings found = check({{"s.yaml:3:5", "gone.cu"}, {"s.yaml:9:5", "gone.cubin"}});
    EXPECT_TRUE(found.warnings.empty());
    ASSERT_EQ(found.problems.size(), 2u);
    EXPECT_EQ(found.problems[0].find("s.yaml:3:5: "), 0u);
    EXPECT_NE(found.problems[1].find("gone.cubin: no such file"), std::string::npos);
}

TEST(SourceChecks, AnAbsentFileIsNamedWhereItWasLookedFor) {
    const kinds::Findings found = check({{"s.yaml:3:5", "a/../../up/k.cu"}, {"s", "/gone/k.cu"}});
    ASSERT_EQ(found.problems.size(), 2u);
    const std::string up = (std::filesystem::temp_directory_path() / "up/k.cu").string();
    EXPECT_EQ(found.problems[0],
              "s.yaml:3:5: " + up + ": no such file; the suite names it as a/../../up/k.cu");
    EXPECT_EQ(found.problems[1], "s: /gone/k.cu: no such file; the suite names it as /gone/k.cu");
}

TEST(SourceChecks, WhatIsSaidOfSeveralCasesIsSaidOnce) {
    EXPECT_EQ(check({{"s.yaml:3:5", "k.cu"}, {"s.yaml:9:5", "k.cu"}}).warnings.size(), 1u);
    EXPECT_EQ(check({{"s.yaml:3:5", "gone.cu"}, {"s.yaml:3:5", "gone.cu"}}).problems.size(), 1u);
}

}  // namespace
}  // namespace perfgate::source
