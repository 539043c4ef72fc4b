// SPDX-License-Identifier: Apache-2.0
// One kernel for both sensors, as a first version is written: the camera came first, the shape is
// the fastest one for its image, and the lidar is a branch.
#include "render_backward/backward.cuh"
#include "render_backward/launchers.hpp"

namespace render_backward {
namespace {

using OneShape = Shape<2, 256>;

__global__ void __launch_bounds__(OneShape::kThreads)
    render_backward_monolithic(View view, float* __restrict__ gradients) {
    __shared__ Shared<OneShape> shared;
    backward_tile(view.sensor, view, gradients, shared);
}

}  // namespace

common::Launch prepare_monolithic(const View& view, float* gradients) {
    return [=](cudaStream_t stream) {
        render_backward_monolithic<<<static_cast<unsigned>(tile_count(view)), OneShape::kThreads, 0,
                                     stream>>>(view, gradients);
        common::check(cudaGetLastError(), "launch");
    };
}

}  // namespace render_backward
