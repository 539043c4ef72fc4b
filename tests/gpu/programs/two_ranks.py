# SPDX-License-Identifier: Apache-2.0
"""Two ranks that add up a gradient: a matrix product and WORK all-reduces in an NVTX range. For torchrun."""

import os

import torch
import torch.distributed as dist

WORK = 1

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
weights = torch.rand(4096, 4096, device="cuda")
gradient = torch.rand(1 << 24, device="cuda")
for _ in range(30):
    torch.cuda.nvtx.range_push("step")
    weights @ weights
    for _ in range(WORK):
        dist.all_reduce(gradient, op=dist.ReduceOp.AVG)
    torch.cuda.nvtx.range_pop()
torch.cuda.synchronize()
dist.destroy_process_group()
