# SPDX-License-Identifier: Apache-2.0
"""What the programs share: a measured part, once as it is and once under torch.profiler.

PROGRAM [--steps N] [--torch-profiler FILE]: prints one line of JSON with the time of a step.
"""

import argparse
import contextlib
import json
import statistics
import time

import torch

BLOCKS = 10


def options(steps):
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=steps, help="in each of 10 blocks")
    parser.add_argument("--torch-profiler", metavar="FILE")
    return parser.parse_args()


def measure(step, chosen, warm_up):
    """Runs `step` to warm up, then in blocks inside the NVTX range 'measured'."""
    for _ in range(warm_up):
        step()
    torch.cuda.synchronize()
    if chosen.torch_profiler:
        activities = [torch.profiler.ProfilerActivity.CUDA]
        profiler = torch.profiler.profile(activities=activities)
    else:
        profiler = contextlib.nullcontext()
    blocks = []
    with profiler:
        torch.cuda.nvtx.range_push("measured")
        for _ in range(BLOCKS):
            begin = time.perf_counter()
            for _ in range(chosen.steps):
                torch.cuda.nvtx.range_push("step")
                step()
                torch.cuda.nvtx.range_pop()
            torch.cuda.synchronize()
            blocks.append((time.perf_counter() - begin) / chosen.steps)
        torch.cuda.nvtx.range_pop()
    if chosen.torch_profiler:
        profiler.export_chrome_trace(chosen.torch_profiler)
    print(json.dumps({"step_us": statistics.median(blocks) * 1e6,
                      "best_us": min(blocks) * 1e6,
                      "steps": chosen.steps * BLOCKS}))
