#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""chain.cpp in PyTorch, operation by operation: counts what it launches and times it as the suite
times ours (L2 flushed before each launch, an event pair around it, the median). Needs a GPU and
PyTorch.

    kernels/interpolate/pytorch.py [--gaussians N ...]
"""
import argparse
import statistics

import torch

OBJECTS, FRAMES = 64, 8


def slerp(a, b, along):
    signed_cosine = (a * b).sum(-1, keepdim=True)
    b = torch.where(signed_cosine < 0, -b, b)
    cosine = signed_cosine.abs().clamp(0, 1)
    angle = torch.acos(cosine)
    sine = torch.sin(angle)
    near = cosine > 0.9995
    rest = 1 - along
    start = torch.where(near, rest, torch.sin(rest * angle) / sine)
    to = torch.where(near, along, torch.sin(along * angle) / sine)
    q = start * a + to * b
    return q / torch.linalg.vector_norm(q, dim=-1, keepdim=True)


def interpolate(times, fields, time):
    now = torch.tensor([time], device="cuda")
    right = torch.searchsorted(times, now, right=True).clamp(1, FRAMES - 1)
    left = right - 1
    begin, end = times.index_select(0, left), times.index_select(0, right)
    along = (now - begin) / (end - begin)
    result = []
    for frames, finish in fields:
        a, b = frames.index_select(0, left)[0], frames.index_select(0, right)[0]
        result.append(slerp(a, b, along) if finish == "unit" else finish(a + (b - a) * along))
    return result


def scene(gaussians):
    times = torch.arange(FRAMES, device="cuda", dtype=torch.float32)

    def values(rows, width):
        return torch.rand(FRAMES, rows, width, device="cuda") * 4 - 2

    def rotations(rows):
        return torch.nn.functional.normalize(values(rows, 4), dim=-1)

    def keep(x):
        return x

    return times, [
        (rotations(OBJECTS), "unit"),
        (values(OBJECTS, 3), keep),
        (values(gaussians, 3), keep),
        (values(gaussians, 3), torch.exp),
        (rotations(gaussians), "unit"),
        (values(gaussians, 1), torch.sigmoid),
        (values(gaussians, 3), lambda x: x.clamp(0, 1)),
    ]


def span_us(work, launches=40):
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    for _ in range(10):
        work()
    spans = []
    for _ in range(launches):
        flush.fill_(1)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        end.synchronize()
        spans.append(begin.elapsed_time(end) * 1e3)
    return statistics.median(spans)


def device_records(work):
    work()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        work()
        torch.cuda.synchronize()
    cuda = torch.autograd.DeviceType.CUDA
    records = [e for e in profile.events() if e.device_type == cuda]
    copies = [e for e in records if e.name.startswith(("Memcpy", "Memset"))]
    busy_us = sum(e.time_range.elapsed_us() for e in records)
    return len(records) - len(copies), len(copies), busy_us


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gaussians", type=int, nargs="+", default=[10000, 100000])
    options = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    print("gaussians  kernels  copies  busy us  span us")
    spans, works = [], []
    for gaussians in options.gaussians:
        times, fields = scene(gaussians)

        def work(times=times, fields=fields):
            return interpolate(times, fields, 3.3)

        spans.append(span_us(work))
        works.append(work)
    # Afterwards: a profiler that was once on leaves launches slower.
    for gaussians, span, work in zip(options.gaussians, spans, works):
        kernels, copies, busy_us = device_records(work)
        print(f"{gaussians:9} {kernels:8} {copies:7} {busy_us:8.1f} {span:8.1f}")


if __name__ == "__main__":
    main()
