# SPDX-License-Identifier: Apache-2.0
"""Not speed: verdicts of the host's times on a machine that other work keeps busy: busy_host.py [OPTION...].

A baseline of a Google Benchmark program and of a script that times its loop is measured alone. Then each load runs beside
--runs runs of the same, of a real change of +30 %, and of a script whose own processes now share the processors. Each run
is judged twice: as it is, and with what it knows of others' work left out. --processors N: all of it on the first N.
--nice -20: all of it before what else the machine does. Environment: PERFGATE, PERFGATE_BUILD_DIR."""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

PERFGATE = pathlib.Path(os.environ["PERFGATE"]).resolve()
EXAMPLE = pathlib.Path(os.environ["PERFGATE_BUILD_DIR"]).resolve() / "bin" / "example_benchmark"

# One process is 0.3 s. SPIN: so many of its own processes run beside its loop.
SCRIPT = """
import json, os, sys, time
steps = int(float(os.environ.get("WORK", "1")) * 300000)
children = []
for _ in range(int(os.environ.get("SPIN", "0"))):
    child = os.fork()
    if child == 0:
        until = time.monotonic() + 60
        while time.monotonic() < until: pass
        os._exit(0)
    children.append(child)
times = []
for _ in range(10):
    began = time.monotonic()
    value = 1
    for i in range(steps): value = (value * 3 + i) & 0xffff
    times.append(time.monotonic() - began)
for child in children:
    os.kill(child, 9)
    os.waitpid(child, 0)
json.dump({"results": [{"name": "loop", "times": times}]}, open(sys.argv[1], "w"))
"""
SUITE = """
name: busy
workloads:
  - benchmark: [{example}, --benchmark_repetitions=15, "--benchmark_out={{out}}"]
    name: mix
    format: google-benchmark
    tolerances: {{real_time: 10%}}
  - benchmark: [{python}, -ES, {script}, "{{out}}"]
    name: script
    format: json
    rows: /results/*
    case: /name
    values: {{real_time: {{from: /times/*, unit: s}}}}
    tolerances: {{real_time: 10%}}
"""
SPIN = "while True: pass"
MEMORY = "b = bytearray(1 << 26)\nwhile True: b[:] = bytes(1 << 26)"
BURSTS = """import time
while True:
    until = time.monotonic() + 1.5
    while time.monotonic() < until: pass
    time.sleep(1.5)"""
# Name, what runs beside, how often, and how much nicer.
LOADS = (("nothing", None, 0, 0), ("1 loop", SPIN, 1, 0), ("2 loops", SPIN, 2, 0), ("4 loops", SPIN, 4, 0),
         ("4 loops, nice 10", SPIN, 4, 10), ("2 loops over 64 MB", MEMORY, 2, 0), ("2 loops, 1.5 s of 3", BURSTS, 2, 0))
CHANGES = (("unchanged", {}), ("+30 %", {"WORK": "1.3"}), ("3 own threads", {"SPIN": "3"}))


def perfgate(*words, env=None, codes=(0, 1, 3, 4)):
    done = subprocess.run([PERFGATE, *map(str, words)], capture_output=True, text=True, env={**os.environ, **(env or {})},
                          timeout=600)
    if done.returncode not in codes:
        raise RuntimeError(f"{words}: exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done


def without_other_work(value):
    if isinstance(value, list):
        return [without_other_work(one) for one in value]
    if isinstance(value, dict):
        return {key: without_other_work(one) for key, one in value.items()
                if key not in ("other_work", "waited", "others_busy")}
    return value


def verdicts(folder, run, out, strip):
    """By case: the verdict, or why it is inconclusive."""
    document = json.loads(pathlib.Path(run).read_text())
    baselines = folder / ("before" if strip else "baselines")
    stored = folder / f"judged-{out}.json"
    stored.write_text(json.dumps(without_other_work(document) if strip else document))
    perfgate("compare", stored, "--baselines", baselines, "--out", folder / out)
    found = json.loads((folder / out / "verdict.json").read_text())
    return {case["id"]: case.get("reason_code") or case["verdict"] for suite in found["suites"] for case in suite["cases"]}


def seen(run):
    """Means over all processes of what is known of others' work."""
    shares = []
    for case in json.loads(pathlib.Path(run).read_text())["suites"][0]["cases"]:
        for batch in case["metrics"]["real_time"]["batches"]:
            shares.append(batch.get("other_work", {"waited": float("nan"), "busy": float("nan")}))
    return [sum(share[key] for share in shares) / len(shares) for key in ("waited", "busy")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--loads", nargs="*", default=[load[0] for load in LOADS])
    parser.add_argument("--changes", nargs="*", default=[change[0] for change in CHANGES])
    parser.add_argument("--processors", type=int)
    parser.add_argument("--nice", type=int, default=0)
    options = parser.parse_args()
    os.nice(options.nice)
    if options.processors:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.processors])
    folder = pathlib.Path(tempfile.mkdtemp(prefix="busy-host-"))
    os.chdir(folder)
    pathlib.Path("script.py").write_text(SCRIPT)
    suite = SUITE.format(example=EXAMPLE, python=sys.executable, script=folder / "script.py")
    if subprocess.run([EXAMPLE, "--benchmark_list_tests"], capture_output=True, check=False).returncode != 0:
        print("Google Benchmark's program does not run here: the script alone", flush=True)
        head, entries = suite.split("workloads:\n")
        suite = head + "workloads:\n  - benchmark" + entries.split("  - benchmark")[2]
    pathlib.Path("busy.yaml").write_text(suite)
    common = ("busy.yaml", "--backend", "host", "--quiet")
    perfgate("baseline", "refresh", *common, "--processes", 12)
    for file in (folder / "baselines").rglob("*.json"):
        copy = folder / "before" / file.relative_to(folder / "baselines")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(json.dumps(without_other_work(json.loads(file.read_text()))))
    print(f"{len(os.sched_getaffinity(0))} of {os.cpu_count()} processors, load average {os.getloadavg()[0]:.1f}", flush=True)
    for name, program, count, niceness in LOADS:
        if name not in options.loads:
            continue
        beside = [subprocess.Popen(["nice", "-n", str(niceness), sys.executable, "-ES", "-c", program])
                  for _ in range(count)]
        try:
            time.sleep(0.5)
            for change, env in CHANGES:
                if change not in options.changes:
                    continue
                counts = {"before": collections.Counter(), "after": collections.Counter()}
                began, shares = time.monotonic(), []
                for _ in range(options.runs):
                    perfgate("run", *common, "--out", "run", env=env)
                    shares.append(seen("run/run.json"))
                    for when in counts:
                        for case, verdict in verdicts(folder, "run/run.json", when, when == "before").items():
                            if change != "3 own threads" or case.startswith("script"):
                                counts[when][verdict] += 1
                waited, busy = (100 * sum(each) / len(each) for each in zip(*shares))
                print(f"{name:20} {change:14} waited {waited:3.0f} %, others {busy:3.0f} %, "
                      f"{(time.monotonic() - began) / options.runs:5.1f} s a run: "
                      f"{dict(counts['before'])} -> {dict(counts['after'])}", flush=True)
        finally:
            for process in beside:
                process.kill()
                process.wait()


if __name__ == "__main__":
    main()
