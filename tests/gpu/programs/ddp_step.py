# SPDX-License-Identifier: Apache-2.0
"""Steps of a data-parallel model in NVTX ranges, for torchrun: three times unchanged (step0, step1, step2), with a last rank that
computes 2 ms more (slow), with smaller buckets of gradients (buckets), and with gradients that are reduced after the
backward pass instead of during it (late)."""

import copy
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

STEPS = 40

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
torch.manual_seed(0)
layers = [layer for _ in range(6) for layer in (torch.nn.Linear(2048, 8192), torch.nn.GELU(),
                                                torch.nn.Linear(8192, 2048))]
with torch.device("cuda"):
    plain = torch.nn.Sequential(*layers).cuda().bfloat16()
data = torch.rand(8192, 2048, device="cuda", dtype=torch.bfloat16)
extra = torch.rand(4096, 4096, device="cuda")
begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
extra @ extra
begin.record()
for _ in range(10):
    extra @ extra
end.record()
torch.cuda.synchronize()
slower = round(2 / (begin.elapsed_time(end) / 10)) if rank == dist.get_world_size() - 1 else 0


def steps(name, model, products=0, reduce_late=False):
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-3)
    for number in range(STEPS):
        torch.cuda.nvtx.range_push(name if number >= 10 else "first steps")
        for _ in range(products):
            extra @ extra
        model(data).float().square().mean().backward()
        if reduce_late:
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad, op=dist.ReduceOp.AVG)
        optimiser.step()
        optimiser.zero_grad()
        torch.cuda.nvtx.range_pop()
    torch.cuda.synchronize()


wrapped = [DistributedDataParallel(copy.deepcopy(plain), device_ids=[rank], bucket_cap_mb=megabytes) for megabytes in (25, 2)]
for turn in range(3):
    steps(f"step{turn}", wrapped[0])
steps("slow", wrapped[0], products=slower)
steps("buckets", wrapped[1])
steps("late", plain, reduce_late=True)
dist.destroy_process_group()
