#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Searches of `perfgate bisect` on a GPU, in histories made here: bisect_gpu.py PERFGATE [SEED...] [OPTION...]. A small library of kernels
has 24 commits. One commit makes `scan` 4 % slower, while its times differ by 5 % from process to process; the commit in the
middle cannot be built, and of the one before it some processes take twice the time. The seed says which commit is the culprit;
0: none is. Prints what was found, the steps and the seconds. Needs nvcc and git."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

COMMITS, BROKEN, FLAKY = 24, 12, 11

KERNELS = """// Revision %(revision)s
#pragma once
constexpr int kScanPasses = %(passes)d;
constexpr bool kSometimesTwice = %(flaky)s;
__global__ void scan(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = in[i];
  for (int pass = 0; pass < kScanPasses * 40; ++pass) sum = sum * 0.999f + 0.25f;
  out[i] = sum;
}
__global__ void scale(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}
"""

BENCH = """// Each process has inputs of another size.
#include <algorithm>
#include <cstdio>
#include <vector>
#include "kernels.cuh"
using Kernel = void (*)(const float*, float*, int);
static float median_ns(Kernel kernel, const float* in, float* out, int n, int launches) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  std::vector<float> times;
  for (int i = 0; i < launches; ++i) {
    float ms = 0;
    cudaEventRecord(begin);
    kernel<<<(n + 255) / 256, 256>>>(in, out, n);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    times.push_back(ms * 1e6f);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}
int main() {
  unsigned chance[2] = {0, 0};
  FILE* random = fopen("/dev/urandom", "rb");
  if (!random || fread(chance, sizeof chance, 1, random) != 1) return 1;
  const double factor = 1 + 0.05 * (chance[0] / 4294967296.0 - 0.5);
  const int n = int(3e6 * factor) * (kSometimesTwice && chance[1] % 2 ? 2 : 1);
  float *in = nullptr, *out = nullptr;
  if (cudaMalloc(&in, 8000000 * sizeof(float)) || cudaMalloc(&out, 8000000 * sizeof(float))) return 1;
  cudaMemset(in, 0, 8000000 * sizeof(float));
  median_ns(scan, in, out, n, 60);  // until the clocks are up
  const float scanned = median_ns(scan, in, out, n, 25), scaled = median_ns(scale, in, out, n, 25);
  if (cudaDeviceSynchronize()) return 1;
  printf("name,ns\\nscan,%.0f\\nscale,%.0f\\n", scanned, scaled);
}
"""

SUITE = """name: kernels
workloads:
  - benchmark: [./bench]
    name: k
    format: csv
    case: name
    values: {real_time: {from: ns, unit: ns}}
    tolerances: {real_time: 1%}
"""


def git(repo, *words):
    return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words], cwd=repo, check=True,
                          capture_output=True, text=True).stdout.strip()


def history(repo, culprit):
    git(repo, "init", "-q", "-b", "main", ".")
    (repo / "kernels.yaml").write_text(SUITE)
    (repo / "bench.cu").write_text(BENCH)
    (repo / ".gitignore").write_text("perfgate-out\nbench\n")
    for number in range(COMMITS + 1):
        slow = culprit is not None and number >= culprit
        text = KERNELS % {"revision": number, "passes": 26 if slow else 25, "flaky": "true" if number == FLAKY else "false"}
        (repo / "kernels.cuh").write_text(text.replace("float sum", "flaot sum") if number == BROKEN else text)
        git(repo, "add", "-A")
        git(repo, "commit", "-q", "-m", f"c{number}")


def search(perfgate, seed, words):
    with tempfile.TemporaryDirectory() as folder:
        repo = pathlib.Path(folder)
        culprit = random.Random(seed).choice([*range(2, FLAKY), *range(BROKEN + 2, COMMITS)]) if seed else None
        history(repo, culprit)
        begin = time.monotonic()
        done = subprocess.run([perfgate, "bisect", f"main~{COMMITS}", "main", "kernels.yaml", "--backend", "cuda", "--devices", "0",
                               "--set", "build=nvcc -O3 -arch=native -o bench bench.cu", *words],
                              cwd=repo, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        took = time.monotonic() - begin
        try:
            found = json.loads((repo / "perfgate-out/bisect.json").read_text())
        except FileNotFoundError:
            sys.exit(f"seed {seed}: no result: {done.stderr}")
        name = {git(repo, "log", "-1", "--format=%H", f"main~{COMMITS - number}"): f"c{number}" for number in range(COMMITS + 1)}
        planted = f"c{culprit}" if culprit is not None else "none"
        commits = ", ".join(name[commit] for commit in found.get("commits", []))
        steps = "; ".join(f"{name[step['commit']]} {step['decision']}" +
                          (f" ({step['pairs']} pairs, {step.get('change', 0):+.1%}, {step['wall_s']:.0f} s)"
                           if step.get("pairs") else "") for step in found["steps"])
        print(f"seed {seed}: culprit {planted}; {found['outcome']} {commits}; exit {done.returncode}; {len(found['steps'])} steps, "
              f"{took:.0f} s: {steps}", flush=True)
        print("\n".join(line for line in done.stderr.splitlines() if "rror" in line)[:600], end="", file=sys.stderr)
        return (found["outcome"], commits) == (("found", planted) if culprit is not None else ("not shown", ""))


signal.signal(signal.SIGTERM, lambda *_: None)  # of `timeout`, which perfgate gets, too: its steps are printed
perfgate = os.path.abspath(sys.argv[1])
count = next((i for i, word in enumerate(sys.argv[2:]) if word.startswith("-")), len(sys.argv) - 2)
seeds = [int(seed) for seed in sys.argv[2:2 + count]] or [1, 2, 3, 0]
sys.exit(not all([search(perfgate, seed, sys.argv[2 + count:]) for seed in seeds]))
