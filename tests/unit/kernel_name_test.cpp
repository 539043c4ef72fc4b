// SPDX-License-Identifier: Apache-2.0
#include "model/kernel_name.hpp"

#include <gtest/gtest.h>

#include <string>

namespace perfgate::model {
namespace {

const std::string add_bf16 =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, "
    "3ul>)";
const std::string add_float =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)";

TEST(KernelName, TheBriefNameIsWhatPeopleSay) {
    EXPECT_EQ(brief_kernel_name("my_kernel"), "my_kernel");
    EXPECT_EQ(brief_kernel_name(add_bf16), "vectorized_elementwise_kernel");
    EXPECT_EQ(brief_kernel_name("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, "
                                "128>, true>(Flash_fwd_params)"),
              "flash_fwd_kernel");
    EXPECT_EQ(brief_kernel_name("camera::(anonymous namespace)::blend_tiles(int (*)(int))"),
              "blend_tiles");
    EXPECT_EQ(brief_kernel_name("gemm::Tiled<a::b<c>>::run_it<d::e>(int)"), "run_it<d::e>");
}

TEST(KernelName, AGeneralNameKeepsItsArguments) {
    EXPECT_EQ(brief_kernel_name("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm>(P)"),
              "Kernel2<cutlass_80_tensorop_bf16_s16816gemm>");
}

TEST(KernelName, WhatIsNoNameStaysAsItIs) {
    for (const std::string text : {"", ")", "(a))", "<", ">", "a>", "::", "operator<", "x<y"}) {
        EXPECT_EQ(brief_kernel_name(text), text == "::" ? "::" : text);
        EXPECT_EQ(short_kernel_name(text), text);
    }
    EXPECT_EQ(brief_kernel_name("a\033[31m"), "a?[31m");
    EXPECT_LE(brief_kernel_name(std::string(1000, 'x')).size(), 63U);
}

TEST(KernelName, NamesThatLookAlikeShowWhereTheyDiffer) {
    EXPECT_EQ(distinct_kernel_name(add_bf16, "softmax"), "vectorized_elementwise_kernel");
    EXPECT_EQ(distinct_kernel_name(add_bf16, add_bf16), "vectorized_elementwise_kernel");
    EXPECT_EQ(distinct_kernel_name("void reduce_rows<float>(int)", "void reduce_rows<half>(int)"),
              "reduce_rows<…float…>");
    EXPECT_EQ(distinct_kernel_name("reduce_rows<4, 128>", "reduce_rows<4, 256>"),
              "reduce_rows<…128…>");
    const std::string was = distinct_kernel_name(add_bf16, add_float);
    EXPECT_TRUE(was.starts_with("vectorized_elementwise_kernel<…c10::BFloat16")) << was;
    EXPECT_NE(was, distinct_kernel_name(add_float, add_bf16));
}

}  // namespace
}  // namespace perfgate::model
