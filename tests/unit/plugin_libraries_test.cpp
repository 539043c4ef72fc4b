// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin/libraries.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "backend/plugin/loader.hpp"
#include "unit/temporary_folder.hpp"
#include "util/sha256.hpp"

namespace perfgate::backend {
namespace {

namespace fs = std::filesystem;

TEST(PlatformLibraries, AreCLibraryCompilerDriverAndToolkit) {
    for (const char* name :
         {"libc.so.6", "ld-linux-x86-64.so.2", "libm.so.6", "libnss_files.so.2", "libstdc++.so.6",
          "libstdc++.so.6.0.30", "libgcc_s.so.1", "libcuda.so.1", "libcuda.so.580.159.04",
          "libnvidia-ptxjitcompiler.so.1", "libcudart.so.13", "libcublasLt.so.13", "libnppc.so.13",
          "libnvrtc-builtins.so.13.0", "libcupti.so.13"}) {
        EXPECT_TRUE(is_platform_library(fs::path("/usr/lib") / name, "/opt/plugins")) << name;
    }
}

TEST(PlatformLibraries, AreNotThoseWithLikeNames) {
    for (const char* name : {"libmine.so", "libcudahelper.so", "libcublas_wrapper.so",
                             "libcutlass.so", "libcudnn.so.9", "libnccl.so.2", "libcusparseLt.so.0",
                             "libgomp.so.1", "libhelper.so", "libc++.so.1", "c"}) {
        EXPECT_FALSE(is_platform_library(fs::path("/usr/lib") / name, "/opt/plugins")) << name;
    }
}

TEST(PlatformLibraries, AreNotThoseThatAPluginBringsAlong) {
    EXPECT_FALSE(is_platform_library("/opt/plugins/libcublas.so.13", "/opt/plugins"));
    EXPECT_FALSE(is_platform_library("/opt/plugins/lib/libm.so.6", "/opt/plugins"));
    EXPECT_TRUE(is_platform_library("/opt/plugins2/libm.so.6", "/opt/plugins"));
}

TEST(LibrariesOfPlugins, AreLinkedOrLoadedInALaunch) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "AddressSanitizer's dlopen does not search a plugin's RUNPATH";
#endif
    const TemporaryFolder temporary;
    const fs::path& folder = temporary.path();
    const fs::path built = PERFGATE_TEST_PLUGINS;
    for (const char* file : {"helped_pinned.so", "helpers/base/libhelper.so",
                             "helpers/base/liblater.so", "helped_pageable.so", "probe_base.so"}) {
        fs::copy_file(built / file, folder / fs::path(file).filename());
    }

    const auto load = [&](const std::vector<std::string>& files) {
        measure::BackendOptions options;
        for (const std::string& file : files) options.plugins.push_back((folder / file).string());
        return PluginSet(options);
    };
    const model::CaseSpec loads{"helped", "loaded", {{"ns", std::int64_t{1}}}, model::Cache::cold};
    const model::CaseSpec links{"helped", "linked", {{"ns", std::int64_t{1}}}, model::Cache::cold};
    const model::CaseSpec other{"probe", "host", {}, model::Cache::cold};
    const model::Libraries helper{
        {"libhelper.so", util::fingerprint_of_file(folder / "libhelper.so")}};
    {
        const PluginSet plugins = load({"probe_base.so", "helped_pinned.so"});
        EXPECT_EQ(plugins.host_code(links).libraries, helper);
        EXPECT_EQ(plugins.host_code(loads).libraries, helper);
        EXPECT_EQ(plugins.host_code(other).libraries, model::Libraries{});
        EXPECT_EQ(plugins.libraries(), helper);
        EXPECT_EQ(plugins.host_code(links).modules,
                  util::fingerprint_of_file(folder / "helped_pinned.so"));

        plugins.open(loads)->launch(nullptr);
        const std::string later = util::fingerprint_of_file(folder / "liblater.so");
        model::Libraries both = helper;
        both["liblater.so"] = later;
        EXPECT_EQ(plugins.host_code(loads).libraries, both);
        // Who loaded it cannot be told.
        EXPECT_EQ(plugins.host_code(other).libraries, (model::Libraries{{"liblater.so", later}}));
    }
    // A second plugin that links what is loaded already has it all the same.
    const PluginSet again = load({"helped_pageable.so"});
    EXPECT_TRUE(again.host_code(links).libraries->contains("libhelper.so"));

    fs::remove(folder / "libhelper.so");
    const PluginSet gone = load({"helped_pageable.so"});
    EXPECT_FALSE(gone.host_code(links).libraries.has_value()) << "what is gone is not known";
}

}  // namespace
}  // namespace perfgate::backend
