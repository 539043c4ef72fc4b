# SPDX-License-Identifier: Apache-2.0
"""A jitted JAX function, called WORK times in an NVTX range. JAX itself opens no NVTX ranges: CuPy does."""

from cupy.cuda import nvtx
import jax
import numpy

WORK = 4

scale = jax.jit(lambda x: 2 * x)
source = jax.random.uniform(jax.random.key(1), (1 << 24,))
target = scale(source).block_until_ready()
for _ in range(30):
    nvtx.RangePush("step")
    for _ in range(WORK):
        target = scale(source)
    target.block_until_ready()
    nvtx.RangePop()
assert (numpy.asarray(target) == 2 * numpy.asarray(source)).all()  # on the host: launches nothing
