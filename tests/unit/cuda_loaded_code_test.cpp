// SPDX-License-Identifier: Apache-2.0
// Which image a launched function is from, where several have functions of its name.
#include "backend/cuda/loaded_code.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace perfgate::backend::cuda {
namespace {

std::vector<char> image(const std::string& name) {
    std::ifstream stream(PERFGATE_CUBIN_DIR "/" + name + ".cubin", std::ios::binary);
    EXPECT_TRUE(stream.is_open()) << name;
    return {std::istreambuf_iterator<char>(stream), {}};
}

CUmodule module_number(std::uintptr_t number) {
    return reinterpret_cast<CUmodule>(number);
}

void load(LoadedCode& code, const std::string& name, CUmodule module) {
    code.begin_module();
    code.add(image(name));
    code.end_module(module);
}

std::string alone(const std::string& name) {
    LoadedCode code;
    code.add(image(name));
    return code.of("scale").fingerprint;
}

TEST(LoadedCode, OfOneNameInTwoModulesIsToldApartByTheModule) {
    LoadedCode code;
    load(code, "base", module_number(1));
    load(code, "changed", module_number(2));
    ASSERT_NE(alone("base"), "");
    ASSERT_NE(alone("base"), alone("changed"));
    EXPECT_EQ(code.of("scale").fingerprint, "") << "ambiguous";
    EXPECT_EQ(code.of("scale", module_number(1)).fingerprint, alone("base"));
    EXPECT_EQ(code.of("scale", module_number(2)).fingerprint, alone("changed"));
    EXPECT_EQ(code.of("scale", module_number(3)).fingerprint, "") << "not known";
    EXPECT_EQ(code.of("scale", nullptr).fingerprint, "");
    EXPECT_EQ(code.of("absent", module_number(1)).fingerprint, "");
}

TEST(LoadedCode, OfAnUnloadedModuleIsForgotten) {
    LoadedCode code;
    load(code, "base", module_number(1));
    code.forget_module(module_number(1));
    load(code, "changed", module_number(2));
    EXPECT_EQ(code.of("scale", module_number(1)).fingerprint, "");
    load(code, "changed", module_number(1));
    EXPECT_EQ(code.of("scale", module_number(1)).fingerprint, alone("changed"));
}

TEST(LoadedCode, OutsideOfALoadBelongsToNoModule) {
    LoadedCode code;
    code.add(image("base"));
    code.begin_module();
    code.end_module(module_number(1));
    code.add(image("changed"));
    code.end_module(module_number(2));
    EXPECT_EQ(code.of("scale", module_number(1)).fingerprint, "");
    EXPECT_EQ(code.of("scale", module_number(2)).fingerprint, "");
    code.begin_module();
    code.add(image("base"));
    code.end_module(nullptr);  // it failed
    EXPECT_EQ(code.of("scale", nullptr).fingerprint, "");
}

TEST(LoadedCode, IsThatOfTheThreadThatLoadsTheModule) {
    LoadedCode code;
    code.begin_module();
    std::thread([&] { load(code, "changed", module_number(2)); }).join();
    code.add(image("base"));
    code.end_module(module_number(1));
    EXPECT_EQ(code.of("scale", module_number(1)).fingerprint, alone("base"));
    EXPECT_EQ(code.of("scale", module_number(2)).fingerprint, alone("changed"));
}

TEST(LoadedCode, OfALookUpKeepsWhatTheModuleWasLoadedWith) {
    LoadedCode code;
    load(code, "base", module_number(1));
    code.begin_module();
    code.end_module(module_number(1));  // a function is looked up
    load(code, "changed", module_number(2));
    EXPECT_EQ(code.of("scale", module_number(1)).fingerprint, alone("base"));
}

}  // namespace
}  // namespace perfgate::backend::cuda
