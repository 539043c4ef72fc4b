# SPDX-License-Identifier: Apache-2.0
"""Trains a data-parallel model with two ranks, which it starts itself: each step is an NVTX range `step`. It does without
torch.optim and DistributedDataParallel, which import what takes as long as torch itself."""

import argparse
import os
import socket
import subprocess
import sys

STEPS = 40


def start_ranks():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        common = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1]), "WORLD_SIZE": "2"}
    ranks = [subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, **common, "RANK": str(rank)}) for rank in (0, 1)]
    sys.exit(max(abs(rank.wait()) for rank in ranks))


def train(options):
    import torch
    import torch.distributed as dist

    rank = int(os.environ["RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    torch.manual_seed(1)
    dtype = getattr(torch, options.dtype)
    with torch.device("cuda"):
        layers = [layer for _ in range(6) for layer in (torch.nn.Linear(2048, 8192), torch.nn.GELU(), torch.nn.Linear(8192, 2048))]
        model = torch.nn.Sequential(*layers).to(dtype)
        data = torch.rand(options.rows, 2048, dtype=dtype)
    for _ in range(STEPS):
        with torch.cuda.nvtx.range("step"):
            loss = model(data).float().square().mean()
            loss.backward()
            with torch.no_grad():
                for parameter in model.parameters():
                    dist.all_reduce(parameter.grad, op=dist.ReduceOp.AVG)
                    parameter.sub_(parameter.grad, alpha=1e-3)
                    parameter.grad = None
            if options.item:
                loss.item()
    torch.cuda.synchronize()
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=8192)
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--item", action="store_true", help="read the loss after each step")
    chosen = parser.parse_args()
    train(chosen) if "RANK" in os.environ else start_ranks()
