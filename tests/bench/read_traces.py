#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long `perfgate profile --recording` takes for large traces of other profilers, and its peak memory:
read_traces.py PERFGATE [EVENTS]. The traces are those of tests/data/traces/made.py."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

MADE = pathlib.Path(__file__).resolve().parent.parent / "data/traces/made.py"
perfgate, events = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
with tempfile.TemporaryDirectory() as folder:
    for name, kind in (("t.json", "kineto"), ("t.json.gz", "kineto"), ("t.sqlite", "nsys")):
        file = pathlib.Path(folder) / name
        # In a process of its own: what this one holds would count as the peak of its children.
        subprocess.run([sys.executable, MADE, kind, file, str(events)], check=True)
        begin = time.monotonic()
        with open(os.devnull, "wb") as nowhere:
            process = subprocess.Popen([perfgate, "profile", "--recording", file], stdout=nowhere)
            _, status, used = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"perfgate ended with {os.waitstatus_to_exitcode(status)}")
        print(f"{name:10} {events} events, {file.stat().st_size / 1e6:.0f} MB: {time.monotonic() - begin:.2f} s, "
              f"processor {used.ru_utime + used.ru_stime:.2f} s, peak memory {used.ru_maxrss * 1024 / 1e6:.0f} MB")
        file.unlink()
