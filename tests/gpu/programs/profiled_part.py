# SPDX-License-Identifier: Apache-2.0
"""Kernels of which the profiler is started for some: 30 in three ranges and 10 more of about 60."""

import torch


def kernels(total, count):
    for _ in range(count):
        total += 1
    torch.cuda.synchronize()


def main():
    total = torch.zeros(1024, device="cuda")
    kernels(total, 5)
    torch.cuda.nvtx.range_push("partly")
    torch.cuda.profiler.start()
    torch.cuda.nvtx.range_pop()
    for _ in range(3):
        with torch.cuda.nvtx.range("profiled"):
            kernels(total, 10)
    torch.cuda.profiler.stop()
    kernels(total, 7)
    with torch.cuda.profiler.profile():
        kernels(total, 10)
    kernels(total, 9)


main()
