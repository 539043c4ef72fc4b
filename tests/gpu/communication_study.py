# SPDX-License-Identifier: Apache-2.0
"""GPU metrics over time and communication, on real GPUs: communication_study.py [PART...]. Environment as for
profile_programs.py; PERFGATE_RANKS (2) processes communicate; PERFGATE_RUNS (10) unchanged runs of `ddp`. Parts: samples,
ncu, planted, cost (one GPU); collectives, groups, ddp.

Prints what it finds; a part that fails ends, and the others go on.
"""

import concurrent.futures
import csv
import io
import json
import os
import pathlib
import re
import sqlite3
import statistics
import sys
import tempfile
import time

import profile_programs as tools

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
RANKS = int(os.environ.get("PERFGATE_RANKS", "2"))
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={RANKS}"]
WORK = PROGRAMS / "sampled_work.py"
COLLECTIVES = pathlib.Path(__file__).resolve().parents[2] / "suites/collectives/collectives.py"
NCU = {"dram_bandwidth": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
       "tensor_active": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"}

SAMPLED = """
name: sampled
workloads:
  - command: [{python}, work.py]
    name: work
    max_overhead: 10000%
    measure:
      layer0: {{nvtx: layer0, skip: 2}}
      layer1: {{nvtx: layer1, skip: 2}}
      layer2: {{nvtx: layer2, skip: 2}}
    tolerances: {{layer0.tensor_active: 10%, layer1.tensor_active: 10%, layer2.tensor_active: 10%,
                 layer1.sm_active: 10%}}
"""

DDP = """
name: ddp
workloads:
  - command: [python3, ddp_step.py]
    name: ddp
    gpus: {ranks}
    measure: {{step: {{nvtx: step, skip: 10}}}}
    tolerances: {{step.communicated_bytes: 0, step.communication_calls: 0, step.own_span: 5%,
                 step.exposed_communication_share: 5pt}}
"""
STEP_METRICS = ("gpu_time", "span", "own_span", "communication_time", "exposed_communication_share", "communication_skew",
                "bus_bandwidth", "communicated_bytes", "communication_calls")


def document(program, *options, level="samples"):
    processes, done = tools.profile(program, *options, level=level, codes=(0, 3))
    for process in processes:
        if process["incomplete"]:
            tools.say(f"  incomplete: {process['incomplete'][:3]}")
    return processes, done


def part_samples():
    """Samples beside ncu's figures, and their clock beside the kernels'."""
    with tempfile.TemporaryDirectory() as folder:
        store = pathlib.Path(folder) / "run.sqlite"
        processes, _ = document([sys.executable, WORK], "--report", f"sqlite:{store}")
        ranges = {each["name"]: each for each in processes[0]["ranges"]}
        for name, found in ranges.items():
            shown = {key: round(value["mean"], 1) if value["mean"] < 1000 else f"{value['mean']:.3g}"
                     for key, value in found.get("sampled", {}).items()}
            tools.say(f"  {name}: {shown}")

        base = sqlite3.connect(store)
        samples = base.execute("SELECT start_ns, end_ns, sm_active_pct, dram_read_pct FROM device_samples "
                               "ORDER BY start_ns").fetchall()
        lengths = [end - begin for begin, end, *_ in samples]
        if not samples:
            return
        tools.say(f"  {len(samples)} samples, length median {statistics.median(lengths)} ns, largest {max(lengths)}; "
                  f"gaps over 1 us: {sum(b[0] - a[1] > 1000 for a, b in zip(samples, samples[1:]))}")
        kernels = base.execute("SELECT start_ns, end_ns FROM kernel_records ORDER BY start_ns").fetchall()
        # After an idle time of 3 ms the first busy sample has the first kernel's begin in it.
        errors = []
        for (_, before), (begin, _) in zip(kernels, kernels[1:]):
            if begin - before < 3_000_000:
                continue
            first = next((s for s in samples if s[1] > begin - 1_000_000 and s[2] is not None and s[2] > 3), None)
            if first is not None:
                errors.append((first[0] + first[1]) // 2 - begin)
        tools.say(f"  first busy sample's middle after the kernel's begin, ns: {sorted(errors)}")


def part_ncu():
    """Samples of a copy and of matrix products within five points of ncu's figures of their kernels."""
    included = [word for name in ("copy", "product", "layer1") for word in ("--nvtx-include", f"{name}/")]
    done = tools.run(["ncu", "--csv", "--clock-control", "none", "--cache-control", "none", "--metrics", ",".join(NCU.values()),
                      "--nvtx", *included, "--launch-count", "16", sys.executable, WORK], codes=(0, 1, 9))
    launches = {}
    for row in csv.DictReader(io.StringIO(done.stdout[max(done.stdout.find('"ID"'), 0):])):
        if row.get("Metric Value"):
            launches.setdefault(int(row["ID"]), {"name": row["Kernel Name"]})[row["Metric Name"]] = float(row["Metric Value"])
    launches = [launches[each] for each in sorted(launches)]  # 4 of copy, 4 of product, 8 of layer1
    processes, _ = document([sys.executable, WORK])
    ranges = {each["name"]: each["sampled"] for each in processes[0]["ranges"]}
    for name, own, metric in (("copy", launches[:4], "dram_bandwidth"), ("product", launches[4:8], "tensor_active"),
                              ("layer1", launches[8:], "tensor_active")):
        theirs = statistics.median(each[NCU[metric]] for each in own)
        sampled = ranges[name][metric]["mean"]
        tools.say(f"  {'ok' if abs(sampled - theirs) < 5 else 'FAILED'}: {name} ({own[0]['name'][:40]}): {metric} "
                  f"{sampled:.1f} sampled, {theirs:.1f} by ncu, {sampled - theirs:+.1f} points")


def cases_of(document):
    return [case for suite in json.loads(document.read_text())["suites"] for case in suite["cases"]]


def part_planted():
    """Tensor cores lost in one layer."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        program = WORK.read_text()
        (root / "work.py").write_text(program)
        (root / "suite.yaml").write_text(SAMPLED.format(python=sys.executable))
        suite = [root / "suite.yaml", "--baselines", root / "baselines", "--processes", "1"]
        tools.run([tools.PERFGATE, "baseline", "refresh", *suite], codes=(0, 1, 3))
        for name, text in (("unchanged", program), ("lost", program.replace("lost = False", "lost = True"))):
            (root / "work.py").write_text(text)
            done = tools.run([tools.PERFGATE, "run", *suite, "--out", root / "out"], codes=(0, 1, 3, 4))
            tools.say(f"  {name}: exit {done.returncode}")
            for case in cases_of(root / "out/verdict.json"):
                tools.say(f"    {case['id']}: {case['verdict']} {case.get('reason', '')[:300]}")
                for metric in case["metrics"]:
                    tools.say(f"      {metric['verdict']}: {metric['sentence'][:150]}")


def part_cost():
    for level in ("callbacks", "samples", "callbacks", "samples"):
        begin = time.monotonic()
        processes, _ = document([sys.executable, WORK], level=level)
        work = sum(each["work"]["gpu_time_ns"] for each in processes[0]["ranges"]) / 1e6
        host = sum(each["total_ns"] for each in processes[0]["ranges"]) / 1e6
        tools.say(f"  {level}: {time.monotonic() - begin:.2f} s in all, ranges' GPU time {work:.2f} ms, host {host:.2f} ms")


def part_collectives():
    processes, done = document([*TORCHRUN, COLLECTIVES], level="callbacks")
    for line in done.stdout.splitlines():
        if re.match(r"[A-Z][A-Za-z+]+ \d+ ", line):
            tools.say(f"  torch: {line}")
    first = next(each for each in processes if each["recording"].get("rank") == "0")
    for row in sorted(first.get("communication", []), key=lambda row: (row["name"], row["bytes"])):
        tools.say(f"  perfgate: {row['name']} {row['bytes'] >> 20} MiB x {row['calls']} bus "
                  f"{row['bus_bytes_per_s'] / 1e9:.1f} GB/s own median {row['median_ns']} transfer "
                  f"{row.get('transfer_ns')} last {row.get('last')} waited {row.get('wait_ns')} ranks {row['ranks']} comm "
                  f"{row['communicator'][:6]}")


def part_groups():
    """Two process groups on one host."""
    processes, _ = document([*TORCHRUN, PROGRAMS / "two_groups.py"], level="callbacks")
    for process in processes:
        for row in process.get("communication", []):
            tools.say(f"  rank {process['recording'].get('rank')}: {row['name']} {row['bytes'] >> 20} MiB x {row['calls']} of "
                      f"{row['ranks']} ranks, comm {row['communicator'][:6]}, last {row.get('last')} of {row.get('compared')}, "
                      f"waited {row.get('wait_ns')} ns, bus {row['bus_bytes_per_s'] / 1e9:.1f} GB/s")


def recorded(folder, change, devices):
    tools.run([tools.PERFGATE, "profile", "--out", folder, "--", *TORCHRUN, PROGRAMS / "ddp_step.py", *change],
              env={"CUDA_VISIBLE_DEVICES": devices})


def part_ddp():
    """Unchanged runs and changed ones, each judged by three others."""
    gpus = len(tools.run(["nvidia-smi", "-L"]).stdout.splitlines())
    lanes = [",".join(map(str, range(first, first + RANKS))) for first in range(0, gpus - RANKS + 1, RANKS)]
    runs = int(os.environ.get("PERFGATE_RUNS", "10"))
    changes = {f"base{i}": [] for i in range(3)} | {f"unchanged{i}": [] for i in range(runs)} | {
        change: [change] for change in ("slow", "buckets", "late")}
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        with concurrent.futures.ThreadPoolExecutor(len(lanes)) as pool:
            each = list(changes.items())
            list(pool.map(lambda lane: [recorded(root / name, change, lanes[lane]) for name, change in
                                        each[lane::len(lanes)]], range(len(lanes))))
        (root / "suite.yaml").write_text(DDP.format(ranks=RANKS))
        for name in changes:
            done = tools.run([tools.PERFGATE, "compare", "--suite", root / "suite.yaml", "--base",
                              *(root / f"base{i}" for i in range(3)), "--head", root / name, "--out", root / "out"],
                             codes=(0, 1, 3, 4))
            tools.say(f"  {name}: exit {done.returncode}")
            for case in cases_of(root / "out/verdict.json"):
                for metric in case["metrics"]:
                    if metric["verdict"] != "pass":
                        tools.say(f"    {metric['verdict']}: {metric['sentence'][:200]}")
            for case in cases_of(root / "out/run.json"):
                found = {metric: f"{case['metrics'][metric]['value']:.5g}" for metric in STEP_METRICS
                         if metric in case["metrics"]}
                tools.say(f"    {case['status']} {case.get('reason', '')[:200]} {found} "
                          f"{case['metrics'].get('own_span', {}).get('detail', '')}")


if __name__ == "__main__":
    for part in sys.argv[1:] or ["samples", "ncu", "planted", "cost", "collectives", "groups", "ddp"]:
        tools.say(part)
        begun = time.monotonic()
        try:
            globals()[f"part_{part}"]()
        except Exception as error:  # noqa: BLE001: the others go on
            tools.say(f"  FAILED: {str(error)[-1500:]}")
        tools.say(f"  {part}: {time.monotonic() - begun:.1f} s")
