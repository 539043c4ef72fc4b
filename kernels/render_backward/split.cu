// SPDX-License-Identifier: Apache-2.0
// A kernel per sensor: the sensor is a constant, and shape, launch bounds and shared memory are its
// own.
#include "render_backward/backward.cuh"
#include "render_backward/launchers.hpp"

namespace render_backward {
namespace {

// What was measured to be fastest for each. A camera's splats cover pixels enough for two to a
// lane; a lidar's pixels are far apart and its tiles few, so that more warps are worth more than
// less adding up. kBlocksPerSm, what registers are cut to, fills half of an SM for either.
template <Sensor kSensor>
struct SplitShape;
template <>
struct SplitShape<Sensor::kCamera> : Shape<2, 128> {
    static constexpr int kBlocksPerSm = 8;
};
template <>
struct SplitShape<Sensor::kLidar> : Shape<1, 128> {
    static constexpr int kBlocksPerSm = 4;
};

template <Sensor kSensor>
__global__ void __launch_bounds__(SplitShape<kSensor>::kThreads, SplitShape<kSensor>::kBlocksPerSm)
    render_backward_split(View view, float* __restrict__ gradients) {
    using S = SplitShape<kSensor>;
    __shared__ Shared<S> shared;
    backward_tile(kSensor, view, gradients, shared);
}

// As much shared memory as the blocks on an SM use; the rest of the array is L1 cache, where
// the next splats come from.
template <Sensor kSensor>
void prefer_carveout() {
    const int most = common::device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    int blocks = 0;
    common::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                      &blocks, render_backward_split<kSensor>, SplitShape<kSensor>::kThreads, 0),
                  "asking for the blocks on an SM");
    // Each block also costs what the system keeps for itself.
    constexpr int kSystemBytes = 1024;
    const int bytes =
        blocks * (static_cast<int>(sizeof(Shared<SplitShape<kSensor>>)) + kSystemBytes);
    common::check(cudaFuncSetAttribute(render_backward_split<kSensor>,
                                       cudaFuncAttributePreferredSharedMemoryCarveout,
                                       (100 * bytes + most - 1) / most),
                  "dividing shared memory and cache");
}

template <Sensor kSensor>
common::Launch prepare(const View& view, float* gradients) {
    prefer_carveout<kSensor>();
    return [=](cudaStream_t stream) {
        render_backward_split<kSensor>
            <<<static_cast<unsigned>(tile_count(view)), SplitShape<kSensor>::kThreads, 0, stream>>>(
                view, gradients);
        common::check(cudaGetLastError(), "launch");
    };
}

}  // namespace

common::Launch prepare_split(const View& view, float* gradients) {
    return view.sensor == Sensor::kCamera ? prepare<Sensor::kCamera>(view, gradients)
                                          : prepare<Sensor::kLidar>(view, gradients);
}

}  // namespace render_backward
