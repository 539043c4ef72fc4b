# SPDX-License-Identifier: Apache-2.0
"""Steps of a data-parallel model in NVTX ranges, for torchrun: ddp_step.py [slow|buckets|late]. slow: the last rank computes
2 ms more; buckets: smaller buckets of gradients; late: gradients are reduced after the backward pass instead of during it."""

import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

STEPS = 40

change = sys.argv[1] if len(sys.argv) > 1 else ""
rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
torch.manual_seed(0)
with torch.device("cuda"):
    # A layer's gradients have 19 MB: a usual bucket takes those of two layers.
    plain = torch.nn.Sequential(*(layer for _ in range(16) for layer in (
        torch.nn.Linear(3072, 3072), torch.nn.GELU()))).bfloat16()
# Enough work that the host is ahead, also if it submits slowly.
data = torch.rand(9216, 3072, device="cuda", dtype=torch.bfloat16)
model = plain if change == "late" else DistributedDataParallel(
    plain, device_ids=[rank], bucket_cap_mb=2 if change == "buckets" else 25)
optimiser = torch.optim.SGD(model.parameters(), lr=1e-3)
extra = torch.rand(4096, 4096, device="cuda")
begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
extra @ extra
begin.record()
for _ in range(10):
    extra @ extra
end.record()
torch.cuda.synchronize()
slow = change == "slow" and rank == dist.get_world_size() - 1
products = round(2 / (begin.elapsed_time(end) / 10)) if slow else 0

for _ in range(STEPS):
    with torch.cuda.nvtx.range("step"):
        for _ in range(products):
            extra @ extra
        model(data).float().square().mean().backward()
        if change == "late":
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad, op=dist.ReduceOp.AVG)
        optimiser.step()
        optimiser.zero_grad()
torch.cuda.synchronize()
dist.destroy_process_group()
