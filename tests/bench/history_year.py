#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a history takes to add a night, to list what changed, and to write its site; sizes and peak memory:
history_year.py PERFGATE [CASES] [NIGHTS]. The cases are one recorded case with other parameters; one of 50 gets 3 % slower."""

import copy
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

RUN = pathlib.Path(__file__).resolve().parents[1] / "data/runs/nvidia-h200/softmax-1.run.json"
perfgate = os.path.abspath(sys.argv[1])
cases = int(sys.argv[2]) if len(sys.argv) > 2 else 324
nights = int(sys.argv[3]) if len(sys.argv) > 3 else 365
chance = random.Random(1)


def night(number, source, one):
    run = {**source, "started_at": time.strftime("%Y-%m-%dT02:00:00Z", time.gmtime(1735700000 + number * 86400)),
           "git_revision": f"{number:040x}"}
    made = []
    for index in range(cases):
        case = copy.copy(one)
        case["params"] = {**one["params"], "rows": 1000 + index}
        factor = (1 + chance.gauss(0, 0.003)) * (1.03 if index % 50 == 7 and number > nights // 2 else 1)
        case["metrics"] = {
            name: {**series, "batches": [{**batch, "samples": [value * factor for value in batch["samples"][:10]]}
                                         for batch in series["batches"]]}
            for name, series in one["metrics"].items()}
        made.append(case)
    run["suites"] = [{**source["suites"][0], "cases": made, "relations": []}]
    return json.dumps(run)


def measured(what, *words):
    begin = time.monotonic()
    with open(os.devnull, "wb") as nowhere:
        process = subprocess.Popen([perfgate, "history", *words], stdout=nowhere)
        _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"perfgate ended with {os.waitstatus_to_exitcode(status)}")
    print(f"{what:24} {time.monotonic() - begin:6.2f} s, processor {used.ru_utime + used.ru_stime:6.2f} s, "
          f"peak memory {used.ru_maxrss * 1024 / 1e6:.0f} MB")


def size(path):
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) / 1e6


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    source = json.loads(RUN.read_text())
    one = next(case for case in source["suites"][0]["cases"] if {"gpu_time", "rows"} <= {*case["metrics"], *case["params"]})
    for number in range(nights - 1):
        pathlib.Path(f"{number % 20}.run.json").write_text(night(number, source, one))
        if number % 20 == 19 or number == nights - 2:
            files = [f"{each}.run.json" for each in range(number % 20 + 1)]
            subprocess.run([perfgate, "history", "add", "h.db", *files], check=True, stdout=subprocess.DEVNULL)
    pathlib.Path("last.run.json").write_text(night(nights - 1, source, one))
    measured("add a night", "add", "h.db", "last.run.json")
    measured("show", "show", "h.db")
    measured("site", "site", "h.db", "site")
    print(f"{cases} cases x {nights} nights: history {os.path.getsize('h.db') / 1e6:.1f} MB, site {size(pathlib.Path('site')):.1f} MB")
