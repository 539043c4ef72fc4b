#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a history takes to add a night, to list what changed, and to write its site; sizes and peak memory:
history_year.py PERFGATE [CASES] [NIGHTS] [FOLDER, which is kept]. The cases are one recorded case with other parameters; one of 50 gets 3 % slower. The
first and the last night are added by perfgate; those between are copies of the first with other values, which SQLite makes."""

import copy
import json
import os
import pathlib
import random
import re
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

RUN = pathlib.Path(__file__).resolve().parents[1] / "data/runs/nvidia-h200/softmax-1.run.json"
perfgate = os.path.abspath(sys.argv[1])
cases = int(sys.argv[2]) if len(sys.argv) > 2 else 324
nights = int(sys.argv[3]) if len(sys.argv) > 3 else 365
chance = random.Random(1)


def factor(index, number):
    return (1 + chance.gauss(0, 0.003)) * (1.03 if index % 50 == 7 and number > nights // 2 else 1)


def started(number):
    return time.strftime("%Y-%m-%dT02:00:00Z", time.gmtime(1735700000 + number * 86400))


def night(number, source, one):
    run = {**source, "started_at": started(number), "git_revision": f"{number:040x}"}
    made = []
    for index in range(cases):
        case = copy.copy(one)
        case["params"] = {**one["params"], "rows": 1000 + index}
        times = factor(index, number)
        case["metrics"] = {
            name: {**series, "batches": [{**batch, "samples": [value * times for value in batch["samples"][:10]]}
                                         for batch in series["batches"]]}
            for name, series in one["metrics"].items()}
        made.append(case)
    run["suites"] = [{**source["suites"][0], "cases": made, "relations": []}]
    return json.dumps(run)


def copies():
    """Nights like the first, in their order, as nightly runs write them."""
    store = sqlite3.connect("h.db", isolation_level=None)
    store.execute("PRAGMA cache_size=-4000000")
    store.execute("PRAGMA journal_mode=OFF")
    indices = {name: int(re.search(r"rows=(\d+)", name)[1]) - 1000 for name, in store.execute("SELECT case_id FROM series")}
    rows = store.execute("SELECT n.series, n.facts, n.verdict, n.clock_mhz, n.process_values, s.case_id FROM night AS n "
                         "JOIN series AS s ON s.id = n.series ORDER BY n.series").fetchall()
    rows = [(*row[:4], struct.unpack(f"{len(row[4]) // 8}d", row[4]), indices[row[5]]) for row in rows]
    (first, ordered), = store.execute("SELECT id, ordered FROM run").fetchall()
    store.execute("BEGIN")
    for number in range(1, nights - 1):
        store.execute("INSERT INTO run SELECT ?, fingerprint || ?, device, board, driver, toolkit, tool, ?, ?, ? FROM run WHERE id = ?",
                      (first + number, number, f"{number:040x}", started(number), ordered + number * 86400, first))
        times = [factor(index, number) for index in range(cases)]
        store.executemany("INSERT INTO night VALUES (?, ?, ?, ?, ?, ?)", (
            (series, first + number, facts, verdict, clock, struct.pack(f"{len(values)}d", *(value * times[index] for value in values)))
            for series, facts, verdict, clock, values, index in rows))
    store.execute("COMMIT")
    store.close()


def measured(what, *words):
    begin = time.monotonic()
    with open(os.devnull, "wb") as nowhere:
        process = subprocess.Popen([perfgate, "history", *words], stdout=nowhere)
    peak = pid = 0
    while pid == 0:
        # The peak that wait4() reports is this script's if that is larger.
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        peak = max([peak, *(int(kb) for kb in re.findall(r"VmHWM:\s*(\d+)", status))])
        time.sleep(0.005)
        pid, ended, used = os.wait4(process.pid, os.WNOHANG)
    if ended != 0:
        sys.exit(f"perfgate ended with {os.waitstatus_to_exitcode(ended)}")
    print(f"{what:24} {time.monotonic() - begin:6.2f} s, processor {used.ru_utime + used.ru_stime:6.2f} s, "
          f"peak memory {peak * 1024 / 1e6:.0f} MB", flush=True)


def size(path):
    return sum(file.stat().st_size for file in (path, *path.rglob("*")) if file.is_file()) / 1e6


with tempfile.TemporaryDirectory() as folder:
    os.chdir(sys.argv[4] if len(sys.argv) > 4 else folder)
    source = json.loads(RUN.read_text())
    one = next(case for case in source["suites"][0]["cases"] if {"gpu_time", "rows"} <= {*case["metrics"], *case["params"]})
    pathlib.Path("first.run.json").write_text(night(0, source, one))
    subprocess.run([perfgate, "history", "add", "h.db", "first.run.json"], check=True, stdout=subprocess.DEVNULL)
    copies()
    pathlib.Path("last.run.json").write_text(night(nights - 1, source, one))
    measured("add a night", "add", "h.db", "last.run.json")
    measured("show", "show", "h.db")
    measured("site", "site", "h.db", "site")
    site = pathlib.Path("site")
    print(f"{cases} cases x {nights} nights: history {size(pathlib.Path('h.db')):.1f} MB, site {size(site):.1f} MB, "
          f"first page {size(site / 'index.html'):.1f} MB, largest case {max(map(size, (site / 'data').iterdir())):.2f} MB")
