# SPDX-License-Identifier: Apache-2.0
"""A CuPy kernel, launched WORK times in an NVTX range."""

import cupy

WORK = 4

scale = cupy.ElementwiseKernel("float32 x", "float32 y", "y = 2 * x", "scale")
source = cupy.random.rand(1 << 24, dtype=cupy.float32)
target = cupy.empty_like(source)
for _ in range(30):
    cupy.cuda.nvtx.RangePush("step")
    for _ in range(WORK):
        scale(source, target)
    cupy.cuda.nvtx.RangePop()
cupy.cuda.Device().synchronize()
assert bool((target == 2 * source).all())
