# SPDX-License-Identifier: Apache-2.0
"""Ways for a program to end: ends.py exit|leave|terminate|workers."""

import os
import signal
import sys
import time

import torch


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        return torch.full((1024,), float(index))


def main():
    way = sys.argv[1]
    total = torch.zeros(1024, device="cuda")
    torch.cuda.synchronize()
    if way == "workers":
        # Their processes are forked from one that uses CUDA.
        for batch in torch.utils.data.DataLoader(Data(), batch_size=4, num_workers=2):
            total += batch.cuda().sum(0)
    for _ in range(100):
        total += 1
    torch.cuda.synchronize()
    time.sleep(2.5)  # the flush comes each second
    if way == "leave":
        os._exit(0)
    if way == "terminate":
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(30)


main()
