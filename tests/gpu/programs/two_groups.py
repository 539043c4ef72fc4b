# SPDX-License-Identifier: Apache-2.0
"""Two process groups on one host that reduce tensors of the same size at the same time, the second twice as often. For torchrun
with an even number of ranks."""

import os

import torch
import torch.distributed as dist

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
half = dist.get_world_size() // 2
groups = [dist.new_group(list(range(half))), dist.new_group(list(range(half, 2 * half)))]
tensor = torch.ones(16 << 18, device="cuda")
for _ in range(10 if rank < half else 20):
    dist.all_reduce(tensor, group=groups[rank // half])
torch.cuda.synchronize()
dist.destroy_process_group()
