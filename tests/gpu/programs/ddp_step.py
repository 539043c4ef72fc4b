# SPDX-License-Identifier: Apache-2.0
"""Steps of a data-parallel model, each in an NVTX range. For torchrun: ddp_step.py [STEPS] [--slow MS] [--buckets MB]
[--no-overlap]

--slow: what the last rank computes more in each step. --buckets: the largest bucket of gradients. --no-overlap: the gradients
are reduced after the backward pass instead of during it.
"""

import argparse
import os

import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("steps", type=int, nargs="?", default=40)
parser.add_argument("--slow", type=float, default=0)
parser.add_argument("--buckets", type=float, default=25)
parser.add_argument("--no-overlap", action="store_true")
options = parser.parse_args()

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
torch.manual_seed(0)
layers = [layer for _ in range(8) for layer in (torch.nn.Linear(2048, 8192), torch.nn.GELU(),
                                                torch.nn.Linear(8192, 2048))]
plain = torch.nn.Sequential(*layers).cuda().bfloat16()
model = plain if options.no_overlap else torch.nn.parallel.DistributedDataParallel(
    plain, device_ids=[rank], bucket_cap_mb=options.buckets)
optimiser = torch.optim.SGD(model.parameters(), lr=1e-3)
data = torch.rand(4096, 2048, device="cuda", dtype=torch.bfloat16)
extra = torch.rand(4096, 4096, device="cuda")
slow = options.slow if rank == dist.get_world_size() - 1 else 0
begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
extra @ extra
begin.record()
for _ in range(10):
    extra @ extra
end.record()
torch.cuda.synchronize()
products = round(slow / (begin.elapsed_time(end) / 10))

for _ in range(options.steps):
    torch.cuda.nvtx.range_push("step")
    for _ in range(products):
        extra @ extra
    model(data).float().square().mean().backward()
    if options.no_overlap:
        for parameter in plain.parameters():
            dist.all_reduce(parameter.grad, op=dist.ReduceOp.AVG)
    optimiser.step()
    optimiser.zero_grad()
    torch.cuda.nvtx.range_pop()
torch.cuda.synchronize()
dist.destroy_process_group()
