# SPDX-License-Identifier: Apache-2.0
"""Ranges of known work: a copy that only DRAM limits, matrix products in the tensor pipe, three layers of a model, nothing.
If `lost` is set, the second layer's product is in float32, without tensor cores."""

import time

import torch

torch.backends.cuda.matmul.allow_tf32 = False
source = torch.empty(1 << 28, dtype=torch.float32, device="cuda")
target = torch.empty_like(source)
left, right = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
inputs = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
weights = [torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16) / 64 for _ in range(3)]
lost = False


def copy():
    torch.neg(source, out=target)  # a kernel: copy_ is a memcpy, which ncu does not measure


def product(layer, x):
    if lost and layer == 1:
        return (x.float() @ weights[layer].float()).bfloat16()
    return x @ weights[layer]


copy()
left @ right
for each in range(3):
    product(each, inputs)
torch.cuda.synchronize()
for turn in range(12):
    for name, work in (("copy", lambda: [copy() for _ in range(8)]),
                       ("product", lambda: [left @ right for _ in range(4)])):
        with torch.cuda.nvtx.range(name):
            work()
            torch.cuda.synchronize()
    x = inputs
    for layer in range(3):
        with torch.cuda.nvtx.range(f"layer{layer}"):
            for _ in range(16):
                y = product(layer, x)
            torch.cuda.synchronize()
        x = y
    with torch.cuda.nvtx.range("idle"):
        time.sleep(0.005)
        torch.cuda.synchronize()
