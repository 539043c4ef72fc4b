// SPDX-License-Identifier: Apache-2.0
// The machine code of a program's kernels from the modules and samples of two of its processes.
#include "kinds/command/program_code.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "elf/cubin.hpp"
#include "temporary_folder.hpp"
#include "util/error.hpp"

namespace perfgate::command {
namespace program_code_test {

using activity::Recording;

std::string module(const std::string& name) {
    return (
               std::ostringstream()
               << std::ifstream(PERFGATE_CUBIN_DIR "/" + name + ".cubin", std::ios::binary).rdbuf())
        .str();
}

std::string fingerprint(const std::string& module) {
    return elf::machine_code(elf::ElfImage(module)).at("scale").fingerprint;
}

std::string listing(const std::string&) {
    return "\t.section\t.text.scale,\"ax\",@progbits\n"
           "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n"
           "        /*0010*/                   LDG.E R0, desc[UR4][R2.64] ;\n"
           "        /*0020*/                   EXIT ;\n";
}

class ProgramCode : public testing::Test {
  protected:
    void SetUp() override {
        if (base_.empty()) GTEST_SKIP() << "built without CUDA";
        model::Kernel& kernel = result_.kernels.emplace_back();
        kernel.name = "scale(float*, int)";
        kernel.code = fingerprint(base_);
    }

    /// A process that loaded the code as `scale`, with so many samples at its second instruction.
    static std::vector<Recording> process(const std::string& code, std::uint32_t samples) {
        Recording recording;
        recording.strings = {"", "scale", code, "long_scoreboard", "other"};
        recording.records.function_codes = {{1, 2}};
        recording.records.pc_samples = {{16, 1, 3, samples, 0}, {16, 4, 3, 1000, 0}};
        return {recording};
    }

    model::CaseCode code(const std::vector<std::vector<Recording>>& processes) {
        return code_of(result_, {"no module", module("lines"), base_}, processes, &listing);
    }

    const std::string base_ = module("base");
    model::CaseResult result_;
};

TEST_F(ProgramCode, IsFoundByItsFingerprintAndHasTheSamplesOfBothProcesses) {
    const std::string fingerprint = result_.kernels[0].code;
    const model::CaseCode found = code({process(fingerprint, 70), process(fingerprint, 74)});
    EXPECT_EQ(found.problem, "");
    EXPECT_EQ(found.sampling_problem, "");
    ASSERT_EQ(found.kernels.size(), 1u);
    EXPECT_EQ(found.kernels[0].name, "scale(float*, int)");
    EXPECT_EQ(found.kernels[0].launches, 2);
    const model::Samples& samples = found.kernels[0].listing.instructions.at(1).samples;
    EXPECT_EQ(samples.reasons, (std::map<std::string, std::int64_t>{{"long_scoreboard", 144}}));
    EXPECT_EQ(samples.of_half, 70);
    EXPECT_TRUE(found.kernels[0].listing.instructions.at(0).samples.reasons.empty());
}

TEST_F(ProgramCode, OfTwoModulesWithOneSymbolIsNotSampled) {
    const std::string fingerprint = result_.kernels[0].code;
    std::vector<Recording> two = process(fingerprint, 70);
    two[0].strings.push_back("another");
    two[0].records.function_codes.push_back({1, 5});
    const model::CaseCode found = code({process(fingerprint, 70), two});
    ASSERT_EQ(found.kernels.size(), 1u);
    EXPECT_EQ(found.kernels[0].launches, 0);
    EXPECT_EQ(found.kernels[0].listing.instructions.at(1).samples.all(), 0);
    EXPECT_EQ(found.sampling_problem, "two kernels have the symbol of scale(float*, int)");
}

TEST_F(ProgramCode, OfTwoSymbolsHasTheSamplesOfBoth) {
    std::string renamed = base_;
    for (std::size_t at = 0; (at = renamed.find("scale", at)) != std::string::npos;) {
        renamed.replace(at, 5, "scalf");
    }
    ASSERT_EQ(elf::machine_code(elf::ElfImage(renamed)).at("scalf").fingerprint,
              fingerprint(base_));
    std::vector<Recording> other = process(fingerprint(base_), 74);
    other[0].strings[1] = "scalf";
    const model::CaseCode found =
        code_of(result_, {base_, renamed}, {process(fingerprint(base_), 70), other}, &listing);
    ASSERT_EQ(found.kernels.size(), 1u);
    EXPECT_EQ(found.kernels[0].listing.instructions.at(1).samples.all(), 144);
    other[0].strings[2] = "another";
    EXPECT_EQ(code_of(result_, {base_, renamed}, {other}, &listing).sampling_problem,
              "two kernels have the symbol of scale(float*, int)");
}

TEST(KeptModules, AreReadUpToABudgetAndEachOnce) {
    const TemporaryFolder folder;
    for (const auto& [name, content] : {std::pair{"a.0.cubin", "12345"},
                                        {"b.0.cubin", "12345"},
                                        {"c.0.cubin", "123456"},
                                        {"d.0.cubin", "1234"},
                                        {"e.activity", "1"}}) {
        std::ofstream(folder.path() / name) << content;
    }
    const KeptModules kept = modules_in(folder.path(), 10);
    EXPECT_EQ(kept.modules, (Modules{"12345", "1234"}));
    EXPECT_EQ(kept.left_out, 1u);
}

TEST_F(ProgramCode, ThatIsInNoModuleIsAReason) {
    result_.kernels[0].code = fingerprint(module("changed"));
    const model::CaseCode found = code({process("x", 1), process("x", 1)});
    EXPECT_TRUE(found.kernels.empty());
    EXPECT_EQ(found.problem, "scale(float*, int) was not loaded again");
    std::vector<Recording> old = process("x", 1);
    old[0].incomplete = {"CUPTI 12.4 has no counters"};
    EXPECT_EQ(code({old}).problem,
              "scale(float*, int) was not loaded again; CUPTI 12.4 has no counters");
    result_.kernels.clear();
    EXPECT_EQ(code({}).problem, "the code of its kernels is not known");
}

TEST_F(ProgramCode, WithoutSamplesOrWithPartOfThemSaysSo) {
    const std::string fingerprint = result_.kernels[0].code;
    std::vector<Recording> killed = process(fingerprint, 70);
    killed[0].incomplete = {"the recording has no end"};
    EXPECT_EQ(code({process(fingerprint, 70), killed}).sampling_problem,
              "the recording has no end");
    EXPECT_EQ(code({process(fingerprint, 0)}).sampling_problem, "no sample is of its kernels");
}

TEST_F(ProgramCode, ThatCannotBeListedIsAReason) {
    const auto fails = [](const std::string&) -> std::string { throw util::Error("no nvdisasm"); };
    const model::CaseCode found = code_of(result_, {base_}, {}, fails);
    EXPECT_TRUE(found.kernels.empty());
    EXPECT_EQ(found.problem, "no nvdisasm");
}

}  // namespace program_code_test
}  // namespace perfgate::command
