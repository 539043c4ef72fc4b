# SPDX-License-Identifier: Apache-2.0
"""On a GPU: energy, power and efficiency of eight kernels, from nearly idle to the power limit, over several
processes. Prints a table.

    energy_study.py [--processes 10] [--keep FOLDER]"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

PERFGATE = os.environ.get("PERFGATE", "perfgate")

SUITE = """
name: energy_study
defaults:
  metrics: [%s]
  tolerances: {gpu_time: 100%%}
  cache: hot
  time_budget: 10ms
workloads:
  - {workload: launch, variants: [stream_sync], params: {kernels: 1000, elements: 4096}}
  - {workload: transpose, variants: [naive, swizzled], params: {rows: 8192, cols: 4096}}
  - {workload: softmax, variants: [online], params: {rows: 4096, width: 8192}}
  - {workload: gemm, variants: [naive], params: {dtype: f32, m: 2048, n: 2048, k: 2048}}
  - {workload: gemm, variants: [tiled], params: {dtype: f32, m: 4096, n: 4096, k: 4096}}
  - {workload: gemm, variants: [hopper], params: {dtype: bf16, m: 4096, n: 4096, k: 4096}}
  - {workload: gemm, variants: [cublas], params: {dtype: bf16, m: 8192, n: 8192, k: 8192}}
"""


def measured(folder, name, metrics, processes):
    """The cases of a run into a folder of its own, and the seconds it took, printed as it ends."""
    (folder / "study.yaml").write_text(SUITE % metrics)
    start = time.monotonic()
    done = subprocess.run([PERFGATE, "run", "study.yaml", "--backend", "cuda", "--quiet", "--processes", str(processes),
                           "--out", name], cwd=folder, text=True, capture_output=True)
    seconds = time.monotonic() - start
    print(f"{name}: {metrics}, processes: {processes}, {seconds:.1f} s, exit {done.returncode}, {folder / name}", flush=True)
    if done.returncode not in (0, 3, 4):
        sys.exit(done.stdout + done.stderr)
    run = json.loads((folder / name / "run.json").read_text())
    return run["suites"][0]["cases"], seconds


def values_of(case, metric):
    series = case["metrics"][metric]
    if "batches" not in series:  # a single value of one process
        return [series["value"]]
    return [value for batch in series["batches"] for value in batch["samples"]]


def name_of(case):
    params = case.get("params", {})
    return f"{case['workload']}/{case['variant']}[{','.join(f'{k}={v}' for k, v in params.items())}]"


def spread(values):
    """Standard deviation and range, in per cent of the mean."""
    mean = statistics.mean(values)
    deviation = statistics.stdev(values) if len(values) > 1 else 0
    return 100 * deviation / mean, 100 * (max(values) - min(values)) / mean


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--processes", type=int, default=10)
    options.add_argument("--keep", help="folder for the documents")
    chosen = options.parse_args()
    if not os.path.exists("/dev/nvidiactl"):
        print("skipped: no NVIDIA GPU on this machine (/dev/nvidiactl is absent)")
        sys.exit(77)
    folder = pathlib.Path(chosen.keep or tempfile.mkdtemp(prefix="perfgate-"))
    folder.mkdir(parents=True, exist_ok=True)

    print_table(measured(folder, "all", "gpu_time, energy, efficiency", chosen.processes)[0])


def print_table(cases):
    print("| kernel | gpu_time, µs | energy, mJ | deviation | range | power, W | deviation | range | Gflop/J | clock, MHz | "
          "note |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|")
    for case in cases:
        if "energy" not in case["metrics"]:
            missing = case.get("not_collected", [])
            why = missing[0]["reason"] if missing else case.get("reason", case["status"])
            print(f"| {name_of(case)} | not collected: {why} |")
            continue
        energy, power = values_of(case, "energy"), values_of(case, "power")
        # A case that states no operations has none.
        efficiency = f"{case['metrics']['efficiency']['value'] / 1e9:.4g}" if "efficiency" in case["metrics"] else ""
        batches = case["metrics"]["energy"].get("batches", [])
        clocks = [batch["sm_clock_mhz"] for batch in batches if "sm_clock_mhz" in batch]
        clock = f"{min(clocks):.0f} to {max(clocks):.0f}" if clocks else "at the power limit"
        print("| %s | %.1f | %.4g | %.2f %% | %.2f %% | %.1f | %.2f %% | %.2f %% | %s | %s | %s |" % (
            name_of(case), case["metrics"]["gpu_time"]["value"] / 1000, 1000 * statistics.mean(energy),
            *spread(energy), statistics.mean(power), *spread(power), efficiency, clock, "; ".join(case.get("notes", []))))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
