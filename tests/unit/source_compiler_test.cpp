// SPDX-License-Identifier: Apache-2.0
// Sources, good and hostile, with the machine's NVRTC; without one the tests are skipped.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "kinds/source/compiler.hpp"
#include "kinds/source/nvrtc.hpp"
#include "util/error.hpp"
#include "util/sha256.hpp"

namespace perfgate::source {
namespace {

namespace fs = std::filesystem;

constexpr const char* good_source = R"(
template <int factor>
__global__ void scale(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * in[i];
}
extern "C" __global__ void plain(const float* in, float* out, int n) {
    for (int i = 0; i < n; ++i) out[i] = in[i];
}
)";

class SourceCompiler : public testing::Test {
  protected:
    SourceCompiler()
        : folder_(fs::temp_directory_path() / ("source-test-" + std::to_string(getpid()))) {
        fs::create_directories(folder_);
    }
    ~SourceCompiler() override { fs::remove_all(folder_); }

    void SetUp() override {
        try {
            const Nvrtc nvrtc(0);
        } catch (const util::Error& error) {
            GTEST_SKIP() << error.what();
        }
    }

    CompilerOptions options(double time_limit_s = 60) const {
        CompilerOptions options;
        options.perfgate = PERFGATE_BINARY;
        options.out = folder_ / "out";
        options.architecture = "90a";
        options.time_limit_s = time_limit_s;
        options.stop = [] { return false; };
        return options;
    }

    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
    }

    model::SourceKernel kernel(const std::string& file, const std::string& name) const {
        model::SourceKernel kernel;
        kernel.file = file;
        kernel.folder = folder_.string();
        kernel.kernel = name;
        return kernel;
    }

    model::SourceCode compile(const std::string& text, const std::string& name = "k",
                              double time_limit_s = 60) const {
        write("k.cu", text);
        return Compiler(options(time_limit_s)).code_of(kernel("k.cu", name));
    }

    /// What is left beside the code: nothing.
    std::size_t files_left() const {
        std::size_t count = 0;
        for (const auto& entry : fs::directory_iterator(folder_ / "out")) {
            count += entry.path().extension() == ".cubin" ? 0 : 1;
        }
        return count;
    }

    fs::path folder_;
};

TEST_F(SourceCompiler, MakesMachineCodeWithTheSymbolsOfItsKernels) {
    write("scale.cu", good_source);
    Compiler compiler(options());
    model::SourceKernel scale = kernel("scale.cu", "scale<3>");
    scale.check = {model::SourceCheck::Kind::kernel, "plain", 0, 0};
    const model::SourceCode code = compiler.code_of(scale);
    ASSERT_EQ(code.problem, "") << code.log;
    EXPECT_EQ(code.kernel_symbol, "_Z5scaleILi3EEvPKfPfi");
    EXPECT_EQ(code.reference_symbol, "plain");
    EXPECT_EQ(util::fingerprint_of_file(code.file), code.digest);
    std::string magic(4, '\0');
    std::ifstream(code.file, std::ios::binary).read(magic.data(), 4);
    EXPECT_EQ(magic,
              "\x7f"
              "ELF");
    EXPECT_NE(compiler.compiler().find("NVRTC "), std::string::npos);
    EXPECT_EQ(files_left(), 0U);
}

TEST_F(SourceCompiler, AKernelIsNotComparedWithItself) {
    write("scale.cu", good_source);
    model::SourceKernel scale = kernel("scale.cu", "scale<3>");
    scale.check.kind = model::SourceCheck::Kind::kernel;
    for (const char* against : {"scale< 3 >", "::scale<3>", "scale<1 + 2>"}) {
        scale.check.against = against;
        EXPECT_NE(Compiler(options()).code_of(scale).problem.find("with itself"), std::string::npos)
            << against;
    }
    scale.check.against = "scale<4>";
    EXPECT_EQ(Compiler(options()).code_of(scale).problem, "");
}

TEST_F(SourceCompiler, TheSameFileIsTheSameCode) {
    const std::string digest = compile(good_source, "plain").digest;
    EXPECT_EQ(Compiler(options()).code_of(kernel("k.cu", "plain")).digest, digest);
    EXPECT_NE(Compiler(options()).code_of(kernel("k.cu", "scale<4>")).digest, digest);
}

TEST_F(SourceCompiler, EachCombinationIsCompiledOnce) {
    write("scale.cu", good_source);
    int compiled = 0;
    CompilerOptions counted = options();
    counted.compiling = [&](const std::string&) { ++compiled; };
    Compiler compiler(counted);
    compiler.code_of(kernel("scale.cu", "scale<3>"));
    compiler.code_of(kernel("scale.cu", "scale<3>"));
    compiler.code_of(kernel("scale.cu", "plain"));
    EXPECT_EQ(compiled, 2);
}

TEST_F(SourceCompiler, OnlyTheLastRunsMachineCodeIsKept) {
    const std::string earlier = compile("extern \"C\" __global__ void k(int* a) { *a = 1; }").file;
    const std::string digest(32, 'a');
    for (const std::string& name :
         {digest + ".cubin", digest + ".txt", std::string("mine.cubin")}) {
        write("out/" + name, "");
    }
    fs::create_directory(folder_ / "out" / (std::string(32, 'b') + ".cubin"));
    write("k.cu", "extern \"C\" __global__ void k(int* a) { *a = 2; }");
    Compiler compiler(options());
    const std::string own = compiler.code_of(kernel("k.cu", "k")).file;
    ASSERT_TRUE(fs::exists(earlier) && fs::exists(own));
    EXPECT_NE(earlier, own);
    compiler.prune();
    EXPECT_TRUE(fs::exists(own));
    EXPECT_FALSE(fs::exists(earlier));
    EXPECT_FALSE(fs::exists(folder_ / "out" / (digest + ".cubin")));
    EXPECT_TRUE(fs::exists(folder_ / "out" / (digest + ".txt"))) << "a user's";
    EXPECT_TRUE(fs::exists(folder_ / "out/mine.cubin"));
    EXPECT_TRUE(fs::exists(folder_ / "out" / (std::string(32, 'b') + ".cubin"))) << "a folder";
    // Where nothing was compiled there is nothing to remove.
    CompilerOptions none = options();
    none.out = folder_ / "none";
    Compiler(none).prune();
    EXPECT_FALSE(fs::exists(folder_ / "none"));
}

TEST_F(SourceCompiler, OptionsReachTheCompiler) {
    fs::create_directories(folder_ / "my headers");
    write("my headers/factor.cuh", "#pragma once\nconstexpr int header_factor = FACTOR;\n");
    write("k.cu",
          "#include <factor.cuh>\n#include \"beside.cuh\"\n#include <cuda_fp16.h>\n"
          "static_assert(header_factor == 7 && beside == 1 && __cplusplus >= 202002L);\n"
          "__global__ void k(float* a) { a[0] = header_factor; }\n");
    write("beside.cuh", "constexpr int beside = 1;\n");
    model::SourceKernel with = kernel("k.cu", "k");
    with.options.include = {"my headers"};
    with.options.defines = {{"FACTOR", "7"}};
    with.options.standard = "c++20";
    with.options.fast_math = true;
    const model::SourceCode code = Compiler(options()).code_of(with);
    EXPECT_EQ(code.problem, "") << code.log;
    with.options.defines = {{"FACTOR", "8"}};
    EXPECT_NE(Compiler(options()).code_of(with).problem, "");
}

TEST_F(SourceCompiler, AnErrorHasItsLine) {
    const model::SourceCode code = compile("__global__ void k(float* a) {\n  a[0] = b;\n}\n");
    EXPECT_EQ(code.problem,
              "k.cu does not compile for sm_90a: k.cu(2): error: identifier \"b\" is undefined");
    EXPECT_NE(code.log.find("a[0] = b;"), std::string::npos);
    EXPECT_EQ(code.log.find(folder_.string()), std::string::npos);
    EXPECT_TRUE(code.file.empty());
    EXPECT_EQ(files_left(), 0U);
}

TEST_F(SourceCompiler, AKernelThatIsNotThereIsNamed) {
    EXPECT_EQ(compile(good_source, "scael<3>").problem,
              "k.cu has no kernel 'scael<3>'; expected one of plain, scale; did you mean 'scale'?");
}

TEST_F(SourceCompiler, AKernelInANamespaceIsNamedWithIt) {
    const std::string text = "namespace mine { __global__ void k(float* a) { a[0] = 1; } }\n";
    EXPECT_EQ(compile(text, "k").problem,
              "k.cu has no kernel 'k' outside of namespaces: name it with its own");
    EXPECT_EQ(compile(text, "mine::kk").problem,
              "k.cu has no kernel 'mine::kk'; expected one of k, each with its namespace; did you "
              "mean 'k'?");
    EXPECT_EQ(compile(text, "mine::k").problem, "");
    EXPECT_EQ(compile("using namespace std;\n__global__ void k() {}\n", "kk").problem,
              "k.cu has no kernel 'kk'; expected one of k; did you mean 'k'?");
}

TEST_F(SourceCompiler, HostCodeHasTheRemedyThatKeepsTheFile) {
    const std::string kernel = "namespace mine { __global__ void k(float* a) { a[0] = 1; } }\n";
    const std::string launch = "void go(float* a) { mine::k<<<1, 1>>>(a); }\n";
    for (const std::string& host : {std::string("#include <cstdio>\n"), launch,
                                    "__host__ " + launch, std::string("#include <stdlib.h>\n")}) {
        const std::string problem = compile(kernel + host, "mine::k").problem;
        EXPECT_NE(problem.find("#ifndef __CUDACC_RTC__"), std::string::npos) << problem;
        EXPECT_EQ(problem.find("-default-device"), std::string::npos) << problem;
        EXPECT_EQ(
            compile(kernel + "#ifndef __CUDACC_RTC__\n" + host + "#endif\n", "mine::k").problem,
            "");
    }
    const std::string both = compile("#include <cstdint>\n" + kernel, "mine::k").problem;
    EXPECT_NE(both.find("include <cuda/std/cstdint>"), std::string::npos) << both;
    EXPECT_EQ(both.find("__CUDACC_RTC__"), std::string::npos) << both;
    const std::string other = compile("#include \"absent.cuh\"\n" + kernel, "mine::k").problem;
    EXPECT_EQ(other.find("__CUDACC_RTC__"), std::string::npos) << other;
    EXPECT_NE(other.find("'include' names folders"), std::string::npos) << other;
}

TEST_F(SourceCompiler, HeadersOfAToolkitElsewhereAreSearched) {
    const Nvrtc nvrtc(0);
    const fs::path include = folder_ / "toolkit/include";
    fs::create_directories(include);
    const auto first = [&](int cuda) {
        write("toolkit/include/cuda_fp16.h", "");
        write("toolkit/include/cuda_runtime_api.h",
              "#define CUDART_VERSION  " + std::to_string(cuda * 1000 + 10) + "\n");
        setenv("CUDA_HOME", (folder_ / "toolkit").c_str(), 1);
        const std::vector<fs::path> folders = nvrtc.include_folders();
        unsetenv("CUDA_HOME");
        return folders.empty() ? fs::path() : folders.front();
    };
    const fs::path beside = nvrtc.file().parent_path().parent_path() / "include";
    const bool own = fs::exists(beside / "cuda_runtime_api.h");
    EXPECT_EQ(first(nvrtc.version().major), own ? beside : include);
    EXPECT_NE(first(nvrtc.version().major - 1), include) << "of another CUDA";
}

TEST_F(SourceCompiler, AnUnknownArchitectureIsAnError) {
    write("k.cu", good_source);
    CompilerOptions other = options();
    other.architecture = "12";
    const model::SourceCode code = Compiler(other).code_of(kernel("k.cu", "plain"));
    EXPECT_NE(code.problem.find("was not compiled for sm_12"), std::string::npos) << code.problem;
}

TEST_F(SourceCompiler, AnInfiniteTemplateRecursionEnds) {
    const model::SourceCode code = compile(
        "template <int n> struct F { static const int v = F<n + 1>::v + F<n + 2>::v; };\n"
        "__global__ void k(float* a) { a[0] = F<0>::v; }\n");
    EXPECT_NE(code.problem.find("excessive recursion"), std::string::npos) << code.problem;
    EXPECT_LE(code.log.size(), std::size_t{64} << 10);
}

TEST_F(SourceCompiler, EndlessIncludesEnd) {
    EXPECT_NE(compile("#include </dev/zero>\n__global__ void k() {}\n").problem, "");
    EXPECT_NE(compile("#include \"k.cu\"\n__global__ void k() {}\n").problem, "");
    // A pipe that nobody writes to, and a file that grows in memory by repetition.
    ASSERT_EQ(mkfifo((folder_ / "pipe.cuh").c_str(), 0600), 0);
    EXPECT_NE(compile("#include \"pipe.cuh\"\n__global__ void k() {}\n", "k", 3).problem, "");
    std::string doubling = "#define A0 a[0] += 1;\n";
    for (int i = 1; i <= 40; ++i) {
        const std::string before = "A" + std::to_string(i - 1);
        doubling += "#define A" + std::to_string(i) + " " + before + " " + before + "\n";
    }
    const model::SourceCode code =
        compile(doubling + "__global__ void k(float* a) { A40 }\n", "k", 5);
    EXPECT_NE(code.problem.find("k.cu was not compiled: the compiler"), std::string::npos)
        << code.problem;
}

TEST_F(SourceCompiler, FilesThatAreNoSources) {
    std::ofstream(folder_ / "huge.cu").seekp(1 << 30).put('x');
    EXPECT_NE(Compiler(options()).code_of(kernel("huge.cu", "k")).problem.find("larger than"),
              std::string::npos);
    EXPECT_NE(compile(std::string("__global__ void k() {}\0\n", 24)).problem.find("zero byte"),
              std::string::npos);
    EXPECT_NE(Compiler(options()).code_of(kernel("absent.cu", "k")).problem.find("no such file"),
              std::string::npos);
    fs::create_symlink("/dev/zero", folder_ / "zero.cu");
    EXPECT_NE(Compiler(options()).code_of(kernel("zero.cu", "k")).problem, "");
    EXPECT_NE(compile("").problem, "");
}

TEST_F(SourceCompiler, MachineCodeIsTakenAsItIs) {
    write("old.ptx", ".version 8.0\n");
    const model::SourceCode code = Compiler(options()).code_of(kernel("old.ptx", "k"));
    EXPECT_EQ(code.problem, "");
    EXPECT_EQ(code.file, (folder_ / "old.ptx").string());
    EXPECT_EQ(code.kernel_symbol, "k");
    EXPECT_EQ(code.digest, util::fingerprint_of_file(folder_ / "old.ptx"));
}

TEST_F(SourceCompiler, AnInterruptionEndsIt) {
    write("k.cu", good_source);
    CompilerOptions stopped = options();
    stopped.stop = [] { return true; };
    Compiler compiler(stopped);
    EXPECT_NE(compiler.code_of(kernel("k.cu", "plain")).problem, "");
    EXPECT_TRUE(compiler.interrupted());
}

TEST(SourceArchitecture, IsThatOfTheDevice) {
    EXPECT_EQ(architecture_of("9.0"), "90a");
    EXPECT_EQ(architecture_of("8.6"), "86");
    EXPECT_EQ(architecture_of("12.0"), "120a");
    EXPECT_EQ(architecture_of(""), "");
    EXPECT_EQ(architecture_of("9"), "");
    EXPECT_EQ(architecture_of("9.x"), "");
}

TEST(SourceNvrtc, AMissingOneNamesTheRemedy) {
    try {
        const Nvrtc nvrtc(1);
        FAIL();
    } catch (const util::Error& error) {
        EXPECT_NE(std::string(error.what()).find("install the CUDA toolkit's NVRTC"),
                  std::string::npos);
    }
}

}  // namespace
}  // namespace perfgate::source
