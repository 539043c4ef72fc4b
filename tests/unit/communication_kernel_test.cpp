// SPDX-License-Identifier: Apache-2.0
#include "model/communication_kernel.hpp"

#include <gtest/gtest.h>

namespace perfgate::model {
namespace {

TEST(CommunicationKernel, IsKnownByTheNamesOfNccl) {
    for (const char* symbol :
         {"_Z46ncclDevKernel_AllReduce_Sum_bf16_RING_LL24ncclDevKernelArgsStorageILm4096EE",
          "_Z38ncclKernel_AllReduce_RING_LL_Sum_floatP11ncclDevCommmP8ncclWork",
          "_Z45ncclSymDevKernel_AllReduce_AGxLL_R_sum_bf1617ncclSymDevArgs",
          "_Z45ncclSymkDevKernel_AllReduce_RSxLD_AGxST_sum_f16",
          "ncclSymkDevKernel_AllGather_LLMC(ncclSymkDevWorkArgs4K)"}) {
        EXPECT_TRUE(is_communication_kernel(symbol)) << symbol;
    }
}

TEST(CommunicationKernel, IsKnownByTheNamesOfNvshmem) {
    for (const char* symbol :
         {"_Z36barrier_on_stream_kernel_threadgroupIL13threadgroup_t2EEvii",
          "void rdxn_on_stream_kernel<float, (rdxn_ops)4>(int, float*, float const*, unsigned "
          "long)",
          "nvshmemi_signal_wait_until_on_stream_kernel(unsigned long volatile*, int, unsigned "
          "long)"}) {
        EXPECT_TRUE(is_communication_kernel(symbol)) << symbol;
    }
}

TEST(CommunicationKernel, IsNoKernelThatComputes) {
    for (const char* symbol : {"", "gemm", "void oneRankReduce<FuncPreMulSum<float>>(void*)",
                               "void broadcast_kernel<float>(float*)", "run_on_stream_kernel"}) {
        EXPECT_FALSE(is_communication_kernel(symbol)) << symbol;
    }
}

}  // namespace
}  // namespace perfgate::model
