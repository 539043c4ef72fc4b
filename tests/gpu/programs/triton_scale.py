# SPDX-License-Identifier: Apache-2.0
"""A Triton kernel, launched WORK times in an NVTX range."""

import torch
import triton
import triton.language as tl

WORK = 4
SIZE = 1 << 24


@triton.jit
def scale(source, target, factor, size, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(source + places, mask=places < size)
    tl.store(target + places, values * factor, mask=places < size)


source = torch.rand(SIZE, device="cuda")
target = torch.empty_like(source)
for _ in range(30):
    torch.cuda.nvtx.range_push("step")
    for _ in range(WORK):
        scale[(triton.cdiv(SIZE, 1024),)](source, target, 2.0, SIZE, BLOCK=1024)
    torch.cuda.nvtx.range_pop()
torch.cuda.synchronize()
assert torch.equal(target, source * 2)
