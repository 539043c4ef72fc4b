# SPDX-License-Identifier: Apache-2.0
"""On a GPU: what a verdict on a program that imports PyTorch costs: program_study.py PROGRAM [STEP...] [OPTION...].

PROGRAM is loader (a DataLoader with workers), decoding (with a cache) or ranks (two, which need two GPUs). First comes a
baseline, if --folder has none. Then the steps, in this order: `unchanged`, `bare`, or a planted change by its name; without
any, three unchanged runs, each change, and seven unchanged runs. The processes of the first three unchanged runs join the
baseline. Each step prints how often the program was started and at which level it was recorded, the seconds and how many
times the bare program's they are (the median of its times so far), the exit code and the verdict of each metric.
Environment: PERFGATE."""

import argparse
import collections
import json
import os
import pathlib
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import typing

HERE = pathlib.Path(__file__).resolve().parent
PERFGATE = pathlib.Path(os.environ["PERFGATE"]).resolve()
CONFIG = HERE.parents[1] / "configs/ci.yaml"
JOINING = 3  # unchanged runs whose processes join the baseline


class Program(typing.NamedTuple):
    file: str
    entry: str  # what the suite says beside the command
    changes: dict  # name -> options


PROGRAMS = {
    "loader": Program("loader_training.py", """
    measure: {step: {nvtx: step, skip: 10}, data: {nvtx: data, skip: 10}}
    tolerances: {step.gpu_time: 5%, step.syncs: 0, data.span: {worse: 50%, abs: 4ms}}
""", {"more": "--blocks 4", "workers": "--workers 0", "dtype": "--dtype float32", "item": "--item"}),
    "decoding": Program("cached_decoding.py", """
    measure: {token: {nvtx: token, skip: 10}}
    tolerances: {token.gpu_time: 3%, token.kernels: 0, token.syncs: 0}
""", {"more": "--inner 11", "eager": "--eager", "item": "--item", "dtype": "--dtype float32"}),
    "ranks": Program("ranks_training.py", """
    gpus: 2
    measure: {step: {nvtx: step, skip: 10}}
    tolerances: {step.gpu_time: 5%, step.kernels: 0, step.syncs: 0}
""", {"more": "--rows 12800", "dtype": "--dtype float32", "item": "--item"}),
}


# What a start's environment says of how it is recorded; the host's stacks are sampled once, of what failed.
LEVEL = "${PERFGATE_RECORD_LEVEL:-bare}${PERFGATE_RECORD_STACKS_US:+-stacks}"


def say(text):
    print(f"[{time.monotonic() - START:5.1f} s] {chosen.program}: {text}", flush=True)


def left():
    return chosen.seconds - (time.monotonic() - START)


def start_with(words):
    """Makes ./app the program with these options, and each start leave a line in `starts`: how it is recorded."""
    app = pathlib.Path("app")
    command = shlex.join([sys.executable, str(HERE / "programs" / program.file)])
    app.write_text(f'#!/bin/sh\necho {LEVEL} >>"{pathlib.Path.cwd()}/starts"\nexec {command} {words}\n')
    app.chmod(0o755)


def call(words):
    """Exit code, output, and starts with seconds in words; without time it is interrupted, as a user would do it."""
    starts, began = pathlib.Path("starts"), time.monotonic()
    starts.write_text("")
    with open("output", "w") as output:
        child = subprocess.Popen([str(word) for word in words], stdout=output, stderr=subprocess.STDOUT)
        try:
            child.wait(max(1, left()))
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGINT)
            child.wait()
    seconds = time.monotonic() - began
    levels = collections.Counter(starts.read_text().split())
    words = ", ".join(f"{count} {level}" for level, count in sorted(levels.items()))
    cost = f"{levels.total()} starts ({words}), {seconds:.1f} s"
    times = f", {seconds / statistics.median(bare):.1f} × bare" if bare else ""
    return child.returncode, pathlib.Path("output").read_text(), cost + times


def metrics_of(document):
    for case in document["suites"][0]["cases"]:
        label = case["id"].split("/")[1].split("[")[0]
        for metric in case["metrics"]:
            code = f" ({metric['reason_code']})" if metric.get("reason_code") else ""
            change = f" {100 * metric['change']:+.1f} %" if metric.get("change") else ""
            yield f"{label}.{metric['metric']} {metric['verdict']}{code}{change}"


def judged(name):
    file = pathlib.Path("perfgate-out/verdict.json")
    file.unlink(missing_ok=True)
    code, output, cost = call([PERFGATE, "run", "suite.yaml", "--config", CONFIG, "--set", "canary=false",
                               "--baselines", "baselines", "--quiet"])
    verdict = json.loads(file.read_text()) if file.exists() else None
    say(f"{name}: {cost}, exit code {code}; {', '.join(metrics_of(verdict)) if verdict else 'no verdict'}")
    if verdict:
        run = json.loads(pathlib.Path("perfgate-out/run.json").read_text())
        phases = {"all": run["wall_s"], **run.get("phase_s", {})}
        print(f"    {', '.join(f'{phase} {spent:.1f} s' for phase, spent in phases.items())}", flush=True)
    for case in verdict["suites"][0]["cases"] if verdict else []:
        if case["verdict"] not in ("pass", "improved"):
            print(f"    {case['id']}: {' '.join(why['sentence'] for why in case.get('why', []))[:400]}", flush=True)
    if code not in (0, 1):
        print(output[-1500:], flush=True)
    return code


def first_baseline():
    code, output, cost = call([PERFGATE, "baseline", "refresh", "suite.yaml", "--baselines", "baselines"])
    say(f"first baseline: {cost}, exit code {code}")
    print(output[-1500:], flush=True)
    if code in (2, 4) and pathlib.Path("perfgate-out/run.json").exists():
        code, output, cost = call([PERFGATE, "baseline", "refresh", "--tolerances", "perfgate-out/run.json", "suite.yaml",
                                   "--baselines", "baselines"])
        say(f"stored with --tolerances: {cost}, exit code {code}\n{output[-1000:]}\n{pathlib.Path('suite.yaml').read_text()}")


def unchanged(number):
    start_with("")
    if judged(f"unchanged {number}") == 0 and number <= JOINING:
        code, output, _ = call([PERFGATE, "baseline", "refresh", "perfgate-out/run.json", "--baselines", "baselines"])
        joined = [line for line in output.splitlines() if "accepted" in line or "join" in line]
        say(f"its processes join the baseline, exit code {code}: {' '.join(joined or [output[-300:]])}")


def run_bare():
    start_with("")
    began = time.monotonic()
    code, output, _ = call(["./app"])
    if code:
        sys.exit(f"the program exits with {code}:\n{output[-3000:]}")
    return time.monotonic() - began


def measure_bare():
    bare.append(run_bare())
    say(f"bare: {bare[-1]:.1f} s")


def main():
    pathlib.Path("suite.yaml").write_text(f"name: study\nworkloads:\n  - command: [./app]\n    name: {chosen.program}{program.entry}")
    start_with("")
    if chosen.bare:
        bare.append(chosen.bare)
    else:
        run_bare()  # it may read libraries from the disk
        measure_bare()
    if not list(pathlib.Path("baselines").glob("*/study.json")):
        first_baseline()
    number = 0
    for name in chosen.steps or [*JOINING * ["unchanged"], *program.changes, *7 * ["unchanged"]]:
        if left() < 2 * bare[0]:
            say(f"no time is left for {name}")
        elif name == "bare":
            measure_bare()
        elif name == "unchanged":
            unchanged(number := number + 1)
        else:
            start_with(program.changes[name])
            judged(f"{name} ({program.changes[name]})")
    say("done")


if __name__ == "__main__":
    START, bare = time.monotonic(), []
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("steps", nargs="*", metavar="STEP", help="unchanged, bare, more, workers, dtype, item, eager; as often as it is named")
    parser.add_argument("--seconds", type=float, default=1e6, help="interrupt what runs after this time, and begin nothing else")
    parser.add_argument("--bare", type=float, metavar="S", help="what the bare program takes, where it is known: it is not measured")
    parser.add_argument("--folder", help="work there and leave it")
    chosen = parser.parse_args()
    program = PROGRAMS[chosen.program]
    if unknown := set(chosen.steps) - {"unchanged", "bare", *program.changes}:
        parser.error(f"{chosen.program} has no {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory(prefix="perfgate-") as folder:
        folder = chosen.folder or folder
        os.makedirs(folder, exist_ok=True)
        os.chdir(folder)
        main()
