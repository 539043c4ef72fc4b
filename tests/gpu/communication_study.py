# SPDX-License-Identifier: Apache-2.0
"""GPU metrics over time and communication, on real GPUs: communication_study.py [PART...]. Environment as for
profile_programs.py; PERFGATE_RANKS (2) processes communicate; PERFGATE_RUNS: what `ddp` runs, as "unchanged slow:4" with the
starts (else the usual ones) against a baseline of PERFGATE_PROCESSES (5); PERFGATE_SECONDS: no run begins that would end
later. Parts: samples, planted, cost, refusal (one GPU); collectives, suite, groups, ddp.

Prints what it finds; a part that fails ends, and the others go on. One server imports PyTorch for all processes that
communicate (programs/ranks.py).
"""

import contextlib
import csv
import io
import json
import os
import pathlib
import re
import sqlite3
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import profile_programs as tools

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
RANKS = int(os.environ.get("PERFGATE_RANKS", "2"))
TOGETHER = [sys.executable, PROGRAMS / "ranks.py", RANKS]
SERVER = "PERFGATE_RANKS_SERVER"
BEGIN, SECONDS = time.monotonic(), float(os.environ.get("PERFGATE_SECONDS", "1e6"))
ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = PROGRAMS / "sampled_work.py"
COLLECTIVES = ROOT / "suites/collectives/collectives"
# ncu's throughput is the busiest of several parts of the DRAM; what is read and written are two of them.
NCU = {"dram_bandwidth": ["dram__throughput.avg.pct_of_peak_sustained_elapsed"],
       "dram_bytes": [f"dram__bytes_{way}.sum.pct_of_peak_sustained_elapsed" for way in ("read", "write")],
       "tensor_active": ["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"]}

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
  - command: [./app]
    name: ddp
    gpus: {ranks}
    measure: {{step: {{nvtx: step, skip: 10}}}}
    tolerances:
      step.own_span: 5%
      step.exposed_communication_share: 5pt
      step.communication_calls: 0
      step.communicated_bytes: 0
"""
# The same as limits, for which one start is enough.
LIMITS = """    expect:
      step.own_span: "<= {own_span:.4f}ms"
      step.exposed_communication_share: "<= {exposed:.3f}%"
"""


def document(program, *options, level="samples"):
    processes, done = tools.profile(program, *options, level=level, codes=(0, 3))
    for process in processes:
        if process["incomplete"]:
            tools.say(f"  incomplete: {process['incomplete'][:3]}")
    return processes, done


def samples_in(samples, windows, column):
    """The mean of the samples that lie in one of the windows."""
    values = [sample[column] for sample in samples
              if any(begin <= sample[0] and sample[1] <= end for begin, end in windows)]
    return statistics.fmean(values) if values else float("nan")


def part_samples():
    """Samples beside ncu's figures, and their clock beside the kernels'."""
    with tempfile.TemporaryDirectory() as folder:
        store = pathlib.Path(folder) / "run.sqlite"
        processes, _ = document([sys.executable, WORK], "--report", f"sqlite:{store}")
        base = sqlite3.connect(store)
        samples = base.execute("SELECT start_ns, end_ns, dram_read_pct + dram_write_pct, tensor_active_pct, sm_active_pct "
                               "FROM device_samples ORDER BY start_ns").fetchall()
        kernels = base.execute("SELECT start_ns, end_ns, range_name FROM kernels ORDER BY start_ns").fetchall()
        peak, = base.execute("SELECT max(memory_bandwidth_bytes_per_s) FROM devices").fetchone()
        base.close()
    ranges = {each["name"]: each for each in processes[0]["ranges"]}
    for name, found in ranges.items():
        shown = {key: round(value["mean"], 1) if value["mean"] < 1000 else f"{value['mean']:.3g}"
                 for key, value in found.get("sampled", {}).items()}
        tools.say(f"  {name}: {shown}")
    lengths = [end - begin for begin, end, *_ in samples]
    tools.say(f"  {len(samples)} samples, length median {statistics.median(lengths)} ns, largest {max(lengths)}; "
              f"gaps over 1 us: {sum(b[0] - a[1] > 1000 for a, b in zip(samples, samples[1:]))}")
    # After an idle time of 3 ms the first busy sample is busy from the kernel's begin on.
    errors = []
    for (_, before, _), (begin, *_) in zip(kernels, kernels[1:]):
        busy = [sample for sample in samples if begin - 400_000 < sample[1] < begin + 1_200_000 and (sample[4] or 0) > 3]
        if begin - before > 3_000_000 and len(busy) > 2:
            start, end, *_, share = busy[0]
            errors.append(round((end - (end - start) * min(1, share / busy[1][4]) - begin) / 1000))
    tools.say(f"  kernels begin by the samples after they begin by the records, us: {sorted(errors)}")

    copies = [end - begin for begin, end, within in kernels if within == "copy"]
    if peak:
        share = 8 * (1 << 28) / (statistics.fmean(copies) / 1e9) / peak
        tools.say(f"  copy by its kernels' times: {share:.1%} of {peak / 1e9:.0f} GB/s")

    launches = ncu_launches()
    for name, own, metric in (("copy", launches[:8], "dram_bandwidth"), ("copy", launches[:8], "dram_bytes"),
                              ("product", launches[8:12], "tensor_active"), ("layer1", launches[12:], "tensor_active")):
        values = [sum(each[part] for part in NCU[metric]) for each in own if all(part in each for part in NCU[metric])]
        if not values:
            continue
        theirs = statistics.fmean(values)
        sampled = ranges[name]["sampled"][metric.replace("bytes", "bandwidth")]["mean"]
        alone = samples_in(samples, [(begin, end) for begin, end, within in kernels if within == name],
                           3 if metric == "tensor_active" else 2)
        busy = ranges[name]["work"]["gpu_time_ns"] / ranges[name]["work"]["span_ns"]
        tools.say(f"  {'ok' if abs(sampled - theirs) < 5 else 'FAILED'}: {name} ({own[0]['name'][:40]}): {metric} "
                  f"{sampled:.1f} sampled, {theirs:.1f} by ncu (of {len(values)} kernels), {sampled - theirs:+.1f} points; "
                  f"samples that lie in one kernel: {alone:.1f}; kernels fill {busy:.1%} of the span")


def ncu_launches():
    """8 of copy, 4 of product, 8 of layer1, by ncu."""
    included = [word for name in ("copy", "product", "layer1") for word in ("--nvtx-include", f"{name}/")]
    metrics = ",".join(part for parts in NCU.values() for part in parts)
    done = tools.run(["ncu", "--csv", "--clock-control", "none", "--cache-control", "none", "--metrics", metrics,
                      "--nvtx", *included, "--launch-count", "20", sys.executable, WORK], codes=(0, 1, 9))
    launches = {}
    for row in csv.DictReader(io.StringIO(done.stdout[max(done.stdout.find('"ID"'), 0):])):
        if row.get("Metric Value"):
            launches.setdefault(int(row["ID"]), {"name": row["Kernel Name"]})[row["Metric Name"]] = float(row["Metric Value"])
    if len(launches) != 20:
        raise tools.Failure(f"ncu measured {len(launches)} kernels:\n{done.stdout[-800:]}\n{done.stderr[-800:]}")
    return [launches[each] for each in sorted(launches)]


def cases_of(document):
    return [case for suite in json.loads(document.read_text())["suites"] for case in suite["cases"]]


def show_verdict(out):
    for case in cases_of(out / "verdict.json"):
        tools.say(f"    {case['id']}: {case['verdict']} {case.get('reason', '')[:300]} "
                  f"{' '.join(each['sentence'] for each in case.get('why', []))[:900]}")
        for metric in case["metrics"]:
            tools.say(f"      {metric['verdict']}: {metric['sentence'][:200]}")
    for suite in json.loads((out / "verdict.json").read_text())["suites"]:
        for relation in suite.get("relations", []):
            tools.say(f"      {relation['verdict']}: {relation['sentence'][:250]}")


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
            tools.say(f"  {name}: exit {done.returncode}: {done.stdout.splitlines()[0]}")
            show_verdict(root / "out")


def part_cost():
    for level in ("callbacks", "samples", "callbacks", "samples"):
        begin = time.monotonic()
        processes, _ = document([sys.executable, WORK], level=level)
        work = {each["name"]: round(each["work"]["gpu_time_ns"] / 1e6, 2) for each in processes[0]["ranges"]}
        host = sum(each["total_ns"] for each in processes[0]["ranges"]) / 1e6
        tools.say(f"  {level}: {time.monotonic() - begin:.2f} s in all, GPU time in ms {work}, ranges on the host {host:.2f} ms")


@contextlib.contextmanager
def ranks_server():
    """If it does not start, each program imports for itself."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "ranks"
        server = subprocess.Popen([sys.executable, PROGRAMS / "ranks.py", "serve", path], start_new_session=True)
        try:
            while server.poll() is None and not path.exists():
                time.sleep(0.1)
            if path.exists():
                os.environ[SERVER] = str(path)
            tools.say(f"  {RANKS} ranks; imports {time.monotonic() - BEGIN:.1f} s")
            yield
        finally:
            os.environ.pop(SERVER, None)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def part_collectives():
    processes, done = document([*TOGETHER, COLLECTIVES.with_suffix(".py")], level="callbacks")
    theirs = {(kind, int(mib)): float(rate) for kind, mib, rate in
              re.findall(r"^([A-Z][A-Za-z+]+) (\d+) ([\d.]+)$", done.stdout, re.M)}
    first = next(each for each in processes if each["recording"].get("rank") == "0")
    for row in sorted(first.get("communication", []), key=lambda row: (row["name"], row["bytes"])):
        torch, own = theirs.get((row["name"], row["bytes"] >> 20)), row["bus_bytes_per_s"] / 1e9
        beside = f"torch {torch:.1f}, {100 * (own / torch - 1):+.1f} %" if torch else "not timed"
        tools.say(f"  {row['name']} {row['bytes'] >> 20} MiB x {row['calls']}: {own:.1f} GB/s, {beside}; own median "
                  f"{row['median_ns']} transfer {row.get('transfer_ns')} last {row.get('last')} waited {row.get('wait_ns')} "
                  f"ranks {row['ranks']} comm {row['communicator'][:6]}")


def part_suite():
    """suites/collectives on all GPUs that are visible, started by the server instead of torchrun."""
    with tempfile.TemporaryDirectory() as folder:
        out, none, suite = (pathlib.Path(folder) / name for name in ("out", "none", "suite.yaml"))
        none.mkdir()
        together = json.dumps([str(word) for word in (*TOGETHER, COLLECTIVES.with_suffix(".py"))])
        suite.write_text(re.sub(r"command: .*", f"command: {together}", COLLECTIVES.with_suffix(".yaml").read_text()))
        words = [tools.PERFGATE, "run", suite, "--baselines", none, "--out", out, "--processes", "1"]
        done = tools.run(words, codes=(0, 1, 2, 3, 4))
        tools.say(f"  exit {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-1500:]}")
        shares = {case["id"]: f"{case.get('ceiling_share', 0):.0%} of {case.get('ceiling', 'no ceiling')}"
                  for case in cases_of(out / "verdict.json")}
        for case in cases_of(out / "run.json"):
            bus = case["metrics"].get("bus_bandwidth", {})
            tools.say(f"    {case['id']}: {case['status']} {case.get('reason', '')[:200]} bus "
                      f"{bus.get('value', 0) / 1e9:.1f} GB/s, {shares[case['id']]} {case.get('not_collected', [])}")
        run = json.loads((out / "run.json").read_text())
        tools.say(f"    device {run['environment']['device']['key']}, ceilings {run['environment'].get('ceilings')}")


def part_refusal():
    """The same of one GPU."""
    one = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    with tempfile.TemporaryDirectory() as folder:
        done = tools.run([tools.PERFGATE, "run", COLLECTIVES.with_suffix(".yaml"), "--out", folder], codes=(0, 1, 2, 3, 4),
                         env={"CUDA_VISIBLE_DEVICES": one})
        tools.say(f"  exit {done.returncode}: {done.stdout[-300:]} {done.stderr[-300:]}")


def part_groups():
    """Two process groups on one host."""
    processes, _ = document([*TOGETHER, PROGRAMS / "two_groups.py"], level="callbacks")
    for process in processes:
        for row in process.get("communication", []):
            tools.say(f"  rank {process['recording'].get('rank')}: {row['name']} {row['bytes'] >> 20} MiB x {row['calls']} of "
                      f"{row['ranks']} ranks, comm {row['communicator'][:6]}, last {row.get('last')} of {row.get('compared')}, "
                      f"waited {row.get('wait_ns')} ns, bus {row['bus_bytes_per_s'] / 1e9:.1f} GB/s")


class Training:
    """The suite of the data-parallel step, in a folder."""

    def __init__(self, folder):
        self.root, self.longest = pathlib.Path(folder), 0
        (self.root / "suite.yaml").write_text(DDP.format(ranks=RANKS))

    def call(self, change, *words):
        app, starts = self.root / "app", self.root / "starts"
        starts.write_text("")
        step = shlex.join(map(str, [*TOGETHER, PROGRAMS / "ddp_step.py", *([change] if change else [])]))
        app.write_text(f"#!/bin/sh\necho >>{starts}\nexec {step}\n")
        app.chmod(0o755)
        begin = time.monotonic()
        done = tools.run([tools.PERFGATE, *words, "--baselines", self.root / "baselines", "--quiet"], codes=range(128))
        seconds, count = time.monotonic() - begin, len(starts.read_text())
        if count:
            self.longest = max(self.longest, seconds / count)
        tools.say(f"  {time.monotonic() - BEGIN:.0f} s: {change or words[0]}: exit {done.returncode}, {count} starts, "
                  f"{seconds:.1f} s")
        return done

    def baseline(self):
        suite, out = self.root / "suite.yaml", self.root / "out"
        processes = os.environ.get("PERFGATE_PROCESSES", 5)
        done = self.call("", "baseline", "refresh", suite, "--out", out, "--processes", processes)
        tools.say(f"{done.stdout[-1500:]}{done.stderr[-1500:]}")
        metrics = cases_of(out / "run.json")[0]["metrics"]
        limits = LIMITS.format(own_span=1.05 * metrics["own_span"]["value"] / 1e6,
                               exposed=5 + metrics["exposed_communication_share"]["value"])
        suite.write_text(suite.read_text() + limits)

    def judged(self, change, starts):
        # What fails a time is started once more, with samples of the host.
        if time.monotonic() - BEGIN + self.longest * (int(starts or 5) + bool(change)) > SECONDS:
            return tools.say(f"  {change or 'unchanged'}: no time is left")
        out = self.root / "out"
        done = self.call(change, "run", self.root / "suite.yaml", "--set", "canary=false", "--out", out,
                         # The first look decides: rounds take minutes.
                         "--set", "rounds=0", *(["--processes", starts] if starts else []))
        if done.returncode not in (0, 1, 3, 4):
            tools.say(f"{done.stdout[-1000:]}{done.stderr[-1500:]}")
            return
        show_verdict(out)
        if not change and all(case["verdict"] == "pass" for case in cases_of(out / "verdict.json")):
            self.call("", "baseline", "refresh", out / "run.json")  # its processes join the baseline
        for case in cases_of(out / "run.json"):
            batches = {name: [batch["samples"] for batch in series["batches"]] for name, series in case["metrics"].items()
                       if name in ("own_span", "span", "gpu_time", "exposed_communication_share", "communication_skew")
                       and "batches" in series}
            medians = {name: [float(f"{statistics.median(batch):.4g}") for batch in each] for name, each in batches.items()}
            tools.say(f"    {medians} {case['metrics'].get('own_span', {}).get('detail', '')}")
            for batch in batches.get("own_span", []):
                slow = {i: float(f"{each:.4g}") for i, each in enumerate(batch) if each > 1.05 * statistics.median(batch)}
                if slow:
                    tools.say(f"    instances with a longer own span: {slow}")


def part_ddp():
    """Unchanged runs, and one for each change, against a baseline."""
    usual = "unchanged " * 10 + "slow:4 late:4 buckets:1"
    with tempfile.TemporaryDirectory() as folder:
        training = Training(folder)
        training.baseline()
        for words in os.environ.get("PERFGATE_RUNS", usual).split():
            change, _, starts = words.partition(":")
            training.judged("" if change == "unchanged" else change, starts)


def run_part(name):
    tools.say(name)
    begun = time.monotonic()
    try:
        globals()[f"part_{name}"]()
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001: the others go on
        tools.say(f"  FAILED: {type(error).__name__}: {str(error)[-1500:]}")
    tools.say(f"  {name}: {time.monotonic() - begun:.1f} s")


if __name__ == "__main__":
    chosen = sys.argv[1:] or ["samples", "planted", "cost", "refusal", "collectives", "suite", "groups", "ddp"]
    together = {"collectives", "suite", "groups", "ddp"}
    for part in chosen:
        if part not in together:
            run_part(part)
    if together & {*chosen}:
        with ranks_server():
            for part in chosen:
                if part in together:
                    run_part(part)
