# SPDX-License-Identifier: Apache-2.0
"""On a GPU: what a verdict on a program that imports PyTorch costs: program_study.py PROGRAM [STEP...] [OPTION...].

PROGRAM is loader (a DataLoader with workers), decoding (with a cache) or ranks (two, which need two GPUs). Steps: a
first baseline, three unchanged runs whose processes join it, a run for each planted change, and unchanged runs up to
ten. Each prints how often the program was started, the seconds, the exit code and the verdict of each metric. With
--folder, another call uses the baseline that is there. Environment: PERFGATE."""

import argparse
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import typing

HERE = pathlib.Path(__file__).resolve().parent
PERFGATE = pathlib.Path(os.environ["PERFGATE"]).resolve()
CONFIG = HERE.parents[1] / "configs/ci.yaml"
UNCHANGED = 10


class Program(typing.NamedTuple):
    file: str
    entry: str  # what the suite says beside the command
    changes: dict  # name -> options


PROGRAMS = {
    "loader": Program("loader_training.py", """
    measure: {step: {nvtx: step, skip: 10}, data: {nvtx: data, skip: 10}}
    tolerances: {step.gpu_time: 5%, step.syncs: 0, data.span: {worse: 50%, abs: 4ms}}
""", {"more": "--blocks 3", "workers": "--workers 0", "dtype": "--dtype float32", "item": "--item"}),
    "decoding": Program("cached_decoding.py", """
    measure: {token: {nvtx: token, skip: 10}}
    tolerances: {token.gpu_time: 3%, token.kernels: 0, token.syncs: 0}
""", {"more": "--inner 10", "eager": "--eager", "item": "--item", "dtype": "--dtype float32"}),
    "ranks": Program("ranks_training.py", """
    gpus: 2
    measure: {step: {nvtx: step, skip: 10}}
    tolerances: {step.gpu_time: 5%, step.kernels: 0, step.syncs: 0}
""", {"more": "--rows 12288", "dtype": "--dtype float32", "item": "--item"}),
}


def say(text):
    print(f"[{time.monotonic() - START:5.1f} s] {chosen.program}: {text}", flush=True)


def left():
    return chosen.seconds - (time.monotonic() - START)


def start_with(words):
    """Makes ./app the program with these options, and each start leave a line in `starts`."""
    app = pathlib.Path("app")
    command = shlex.join([sys.executable, str(HERE / "programs" / program.file)])
    app.write_text(f'#!/bin/sh\necho start >>"{pathlib.Path.cwd()}/starts"\nexec {command} {words}\n')
    app.chmod(0o755)


def call(words):
    """Exit code, output, starts and seconds; without time it is interrupted, as a user would do it."""
    starts, began = pathlib.Path("starts"), time.monotonic()
    starts.write_text("")
    with open("output", "w") as output:
        child = subprocess.Popen([str(word) for word in words], stdout=output, stderr=subprocess.STDOUT)
        try:
            child.wait(max(1, left()))
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGINT)
            child.wait()
    return child.returncode, pathlib.Path("output").read_text(), starts.read_text().count("start"), time.monotonic() - began


def metrics_of(document):
    for case in document["suites"][0]["cases"]:
        label = case["id"].split("/")[1].split("[")[0]
        for metric in case["metrics"]:
            code = f" ({metric['reason_code']})" if metric.get("reason_code") else ""
            change = f" {100 * metric['change']:+.1f} %" if metric.get("change") else ""
            yield f"{label}.{metric['metric']} {metric['verdict']}{code}{change}"


def judged(name):
    code, output, starts, seconds = call([PERFGATE, "run", "suite.yaml", "--config", CONFIG, "--set", "canary=false",
                                          "--baselines", "baselines", "--quiet"])
    verdict = json.loads(pathlib.Path("perfgate-out/verdict.json").read_text()) if code in (0, 1, 3, 4) else None
    found = ", ".join(metrics_of(verdict)) if verdict else "no verdict"
    say(f"{name}: {starts} starts, {seconds:.1f} s, {seconds / bare:.1f} × bare, exit code {code}; {found}")
    for case in verdict["suites"][0]["cases"] if verdict else []:
        if case["verdict"] not in ("pass", "improved"):
            print(f"    {case['id']}: {' '.join(case.get('why', []))[:400]}", flush=True)
    if code not in (0, 1):
        print(output[-1500:], flush=True)
    return code


def first_baseline():
    code, output, starts, seconds = call([PERFGATE, "baseline", "refresh", "suite.yaml", "--baselines", "baselines"])
    say(f"first baseline: {starts} starts, {seconds:.1f} s, {seconds / bare:.1f} × bare, exit code {code}")
    print(output[-1500:], flush=True)
    if code in (2, 4) and pathlib.Path("perfgate-out/run.json").exists():
        code, output, _, seconds = call([PERFGATE, "baseline", "refresh", "--tolerances", "perfgate-out/run.json", "suite.yaml",
                                         "--baselines", "baselines"])
        say(f"stored with --tolerances: {seconds:.1f} s, exit code {code}\n{output[-1000:]}\n{pathlib.Path('suite.yaml').read_text()}")


def unchanged(number):
    start_with("")
    if judged(f"unchanged {number}") == 0 and number <= 3:
        code, output, _, _ = call([PERFGATE, "baseline", "refresh", "perfgate-out/run.json", "--baselines", "baselines"])
        say(f"its processes join the baseline, exit code {code}: {' '.join(output.split())[-200:]}")


def main():
    pathlib.Path("suite.yaml").write_text(f"name: study\nworkloads:\n  - command: [./app]\n    name: {chosen.program}{program.entry}")
    start_with("")
    global bare
    for _ in range(2):  # the first may read libraries from the disk
        code, output, _, bare = call(["./app"])
        if code:
            sys.exit(f"the program exits with {code}:\n{output[-3000:]}")
    say(f"bare: {bare:.1f} s")
    if not list(pathlib.Path("baselines").glob("*/study.json")):
        first_baseline()
    steps = chosen.steps or ["unchanged", *program.changes]
    if "unchanged" in steps:
        for number in range(1, 4):
            unchanged(number)
    for name, options in program.changes.items():
        if name in steps and left() > 2 * bare:
            start_with(options)
            judged(f"{name} ({options})")
    for number in range(4, UNCHANGED + 1):
        if left() > 4 * bare:
            unchanged(number)
    say("done")


if __name__ == "__main__":
    START = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("steps", nargs="*", metavar="STEP", help="unchanged, more, workers, dtype, item, eager")
    parser.add_argument("--seconds", type=float, default=1e6, help="interrupt what runs after this time, and begin nothing else")
    parser.add_argument("--folder", help="work there and leave it")
    chosen = parser.parse_args()
    program = PROGRAMS[chosen.program]
    if unknown := set(chosen.steps) - {"unchanged", *program.changes}:
        parser.error(f"{chosen.program} has no {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory(prefix="perfgate-") as folder:
        folder = chosen.folder or folder
        os.makedirs(folder, exist_ok=True)
        os.chdir(folder)
        main()
