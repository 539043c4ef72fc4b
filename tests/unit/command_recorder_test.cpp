// SPDX-License-Identifier: Apache-2.0
// What else watches the GPU, so that programs cannot be recorded.
#include "kinds/benchmark/batch.hpp"
#include "kinds/command/recorder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "kinds/command/measurement.hpp"
#include "util/error.hpp"

namespace perfgate::command {
namespace {

class RequireRecorder : public testing::Test {
  protected:
    ~RequireRecorder() override {
        for (const char* name : {"CUDA_MPS_PIPE_DIRECTORY", "CUDA_INJECTION64_PATH"})
            unsetenv(name);
    }

    /// The message; empty if programs can be recorded.
    static std::string refusal(const std::string& library = "/proc/self/exe") {
        try {
            require_recorder(library);
            return {};
        } catch (const util::InputError& error) {
            return error.what();
        }
    }
};

TEST_F(RequireRecorder, AcceptsAProcessOfItsOwn) {
    EXPECT_EQ("", refusal());
}

TEST_F(RequireRecorder, RefusesMps) {
    setenv("CUDA_MPS_PIPE_DIRECTORY", "/somewhere/mps", 1);
    EXPECT_EQ(
        "an MPS server is in use, so other programs may share the GPU: stop it (echo quit | "
        "nvidia-cuda-mps-control), or unset CUDA_MPS_PIPE_DIRECTORY",
        refusal());
}

TEST_F(RequireRecorder, RefusesAnotherProfiler) {
    setenv("CUDA_INJECTION64_PATH", "/other.so", 1);
    EXPECT_EQ("CUDA_INJECTION64_PATH is set, so another profiler would be loaded as well: unset it",
              refusal());
}

TEST_F(RequireRecorder, WhatIsOnlyRunIsToRunAloneToo) {
    EXPECT_NO_THROW(benchmark::Measurement{kinds::Machine{}});
    for (const char* name : {"CUDA_MPS_PIPE_DIRECTORY", "CUDA_INJECTION64_PATH"}) {
        setenv(name, "/somewhere", 1);
        EXPECT_THROW(benchmark::Measurement{kinds::Machine{}}, util::InputError) << name;
        unsetenv(name);
    }
}

TEST_F(RequireRecorder, NamesALibraryThatIsMissing) {
    EXPECT_THROW(require_recorder("/no/such/library.so"), util::Error);
}

}  // namespace
}  // namespace perfgate::command
