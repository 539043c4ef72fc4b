# SPDX-License-Identifier: Apache-2.0
"""Collectives of several sizes, with torch's own time and bus bandwidth of each on rank 0. For torchrun."""

import os

import torch
import torch.distributed as dist

ROUNDS = 20

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
ranks = dist.get_world_size()


def send_and_receive(tensor, other):
    for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, tensor, (rank + 1) % ranks),
                                        dist.P2POp(dist.irecv, other, (rank - 1) % ranks)]):
        work.wait()


def own_part(tensor):
    return tensor.view(ranks, -1)[rank]


KINDS = {
    "AllReduce": (lambda tensor, _: dist.all_reduce(tensor), lambda n: 2 * (n - 1) / n),
    "AllGather": (lambda tensor, other: dist.all_gather_into_tensor(other, own_part(tensor)), lambda n: (n - 1) / n),
    "ReduceScatter": (lambda tensor, other: dist.reduce_scatter_tensor(own_part(other), tensor), lambda n: (n - 1) / n),
    "Recv+Send": (send_and_receive, lambda n: 1),
}
square = torch.ones((8192, 8192), device="cuda")
for name, (call, share) in KINDS.items():
    for mib in (1, 16, 256):
        tensor = torch.ones((mib << 18) // ranks * ranks, device="cuda")
        other = torch.empty_like(tensor)
        for _ in range(5):
            call(tensor, other)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        dist.barrier()
        # The host submits all calls while the GPU multiplies; the first of them brings the ranks together.
        square @ square
        call(tensor, other)
        begin.record()
        with torch.cuda.nvtx.range(f"{name} {mib}"):
            for _ in range(ROUNDS):
                call(tensor, other)
        end.record()
        torch.cuda.synchronize()
        seconds = begin.elapsed_time(end) / 1e3 / ROUNDS
        if rank == 0:
            print(f"{name} {mib} {(mib << 20) * share(ranks) / seconds / 1e9:.1f}", flush=True)
dist.destroy_process_group()
