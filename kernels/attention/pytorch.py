#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times PyTorch's fused attention as the suite times ours: L2 flushed before each launch, an event
pair around it, the median. Needs a GPU and PyTorch.

    kernels/attention/pytorch.py [--backend flash|cudnn|math] [--sequence N ...]
"""
import argparse
import statistics

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

BACKENDS = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "math": SDPBackend.MATH,
}


def median_us(work, launches=15):
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    for _ in range(3):
        work()
    times = []
    for _ in range(launches):
        flush.fill_(1)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", choices=BACKENDS, default="flash")
    parser.add_argument("--sequence", type=int, nargs="+", default=[512, 1024, 2048, 4096, 8192])
    options = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {options.backend}")
    print("head_size causal sequence       us  TFLOP/s")
    for head_size in (64, 128):
        for causal in (False, True):
            for sequence in options.sequence:
                # As kernels/attention makes them: uniform in [-1, 1), scaled by 6 / sqrt(head_size).
                q, k, v = (
                    torch.rand(4, 16, sequence, head_size, device="cuda").mul_(2).sub_(1).bfloat16()
                    for _ in range(3)
                )
                with sdpa_kernel(BACKENDS[options.backend]):
                    us = median_us(
                        lambda: torch.nn.functional.scaled_dot_product_attention(
                            q, k, v, is_causal=causal, scale=6 / head_size**0.5
                        )
                    )
                pairs = sequence * (sequence + 1) / 2 if causal else sequence**2
                tflops = 4 * 64 * pairs * head_size / us / 1e6
                print(f"{head_size:9} {str(causal).lower():>6} {sequence:8} {us:8.1f} {tflops:8.1f}")


if __name__ == "__main__":
    main()
