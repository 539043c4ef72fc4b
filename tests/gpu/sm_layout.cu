// SPDX-License-Identifier: Apache-2.0
// Prints how this board's SMs are spread over its GPCs, which differs from board to board of one
// model: the blocks of a cluster run in one GPC, so SMs that ever share a cluster share a GPC. Also
// prints how many clusters of each size fit at a time. Hopper and newer.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <numeric>
#include <vector>

namespace {

// 8 is the largest that every device with clusters allows. Not every SM takes part in large ones.
constexpr int cluster_sizes[] = {8, 4, 2};
constexpr int rounds = 50;
constexpr int threads = 32;

bool failed(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return false;
    std::fprintf(stderr, "sm_layout: %s: %s\n", what, cudaGetErrorString(error));
    return true;
}

__global__ void where_am_i(int* sms) {
    extern __shared__ char fills_the_sm[];
    fills_the_sm[threadIdx.x] = 0;
    cooperative_groups::this_cluster().sync();
    if (threadIdx.x != 0) return;
    int sm = 0;
    asm("mov.u32 %0, %%smid;" : "=r"(sm));
    sms[blockIdx.x] = sm;
}

struct Launch {
    explicit Launch(int blocks, int cluster, int shared_bytes) {
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
        config.gridDim = dim3(static_cast<unsigned>(blocks));
        config.blockDim = dim3(threads);
        config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
        config.attrs = &attribute;
        config.numAttrs = 1;
    }
    cudaLaunchAttribute attribute{};
    cudaLaunchConfig_t config{};
};

/// A representative of each SM's group; SMs that shared a cluster have the same.
class Groups {
  public:
    explicit Groups(int size) : parent_(static_cast<std::size_t>(size)) {
        std::iota(parent_.begin(), parent_.end(), 0);
    }
    int of(int sm) {
        int& parent = parent_.at(static_cast<std::size_t>(sm));
        return parent == sm ? sm : parent = of(parent);
    }
    void join(int left, int right) { parent_.at(static_cast<std::size_t>(of(left))) = of(right); }

  private:
    std::vector<int> parent_;
};

/// Joins the SMs that ran blocks of one cluster.
bool join_clusters(int sm_count, int cluster, int shared_bytes, Groups& groups) {
    std::vector<int> on_host(static_cast<std::size_t>(4 * sm_count / cluster * cluster));
    int* sms = nullptr;
    if (failed(cudaMalloc(&sms, on_host.size() * sizeof(int)), "memory")) return false;
    bool ran = true;
    for (int round = 0; ran && round < rounds; ++round) {
        const Launch launch(static_cast<int>(on_host.size()), cluster, shared_bytes);
        ran = !failed(cudaLaunchKernelEx(&launch.config, where_am_i, sms), "launch") &&
              !failed(cudaMemcpy(on_host.data(), sms, on_host.size() * sizeof(int),
                                 cudaMemcpyDeviceToHost),
                      "result");
        const auto size = static_cast<std::size_t>(cluster);
        for (std::size_t i = 0; ran && i < on_host.size(); ++i) {
            groups.join(on_host[i], on_host[i / size * size]);
        }
    }
    cudaFree(sms);
    return ran;
}

int print_layout() {
    int sm_count = 0;
    int shared_bytes = 0;
    if (failed(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, 0), "SMs") ||
        failed(cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0),
               "shared memory") ||
        failed(cudaFuncSetAttribute(where_am_i, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    shared_bytes),
               "shared memory")) {
        return 1;
    }

    Groups groups(sm_count);
    for (const int cluster : cluster_sizes) {
        if (!join_clusters(sm_count, cluster, shared_bytes, groups)) return 1;
    }

    std::map<int, int> sizes;
    for (int sm = 0; sm < sm_count; ++sm) ++sizes[groups.of(sm)];
    std::vector<int> gpcs;
    for (const auto& [group, size] : sizes) gpcs.push_back(size);
    std::sort(gpcs.begin(), gpcs.end(), std::greater<>());
    std::printf("SMs per GPC:");
    for (const int size : gpcs) std::printf(" %d", size);
    std::printf("\nclusters that fit at a time, one block per SM:");
    for (const int size : cluster_sizes) {
        const Launch launch(sm_count / size * size, size, shared_bytes);
        int fit = 0;
        if (failed(cudaOccupancyMaxActiveClusters(&fit, where_am_i, &launch.config), "occupancy")) {
            return 1;
        }
        std::printf(" %d of %d", fit, size);
    }
    std::printf("\n");
    return 0;
}

}  // namespace

int main() {
    return print_layout();
}
