// SPDX-License-Identifier: Apache-2.0
// NVRTC against nvcc: a kernel as a source is the kernel that a build has.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "elf/cubin.hpp"
#include "kinds/source/compiler.hpp"
#include "kinds/source/nvrtc.hpp"
#include "util/error.hpp"

namespace perfgate::elf {
namespace {

std::vector<char> content_of(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    EXPECT_TRUE(stream.is_open()) << file;
    return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(SourceCode, IsThatOfABuild) {
    try {
        const source::Nvrtc nvrtc(0);
    } catch (const util::Error& error) {
        GTEST_SKIP() << error.what();
    }
    const auto folder =
        std::filesystem::temp_directory_path() / ("source-code-" + std::to_string(getpid()));
    source::CompilerOptions options;
    options.perfgate = PERFGATE_BINARY;
    options.out = folder;
    options.architecture = "90";
    options.stop = [] { return false; };
    source::Compiler compiler(options);
    const auto built = machine_code(ElfImage(content_of(PERFGATE_CUBIN_DIR "/base.cubin")));
    for (const char* name : {"scale", "through_helper"}) {
        model::SourceKernel kernel;
        kernel.folder = PERFGATE_CUBIN_SOURCES;
        kernel.file = "cubin_kernels.cu";
        kernel.kernel = name;
        kernel.options.standard = "c++20";
        const model::SourceCode code = compiler.code_of(kernel);
        ASSERT_EQ(code.problem, "") << code.log;
        const auto compiled = machine_code(ElfImage(content_of(code.file)));
        EXPECT_EQ(compiled.at(code.kernel_symbol).fingerprint, built.at(name).fingerprint) << name;
        kernel.options.defines = {{"FACTOR", "3"}, {"HELPER_FACTOR", "6"}};
        const auto other = machine_code(ElfImage(content_of(compiler.code_of(kernel).file)));
        EXPECT_NE(other.at(name).fingerprint, built.at(name).fingerprint) << name;
    }
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace perfgate::elf
