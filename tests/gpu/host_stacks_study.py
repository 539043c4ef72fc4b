# SPDX-License-Identifier: Apache-2.0
"""Whether the sentence about a waiting GPU names the planted function, its share beside py-spy's, and what sampling costs.

host_stacks_study.py [sentences] [shares] [cost] [--rounds N]. Environment: PERFGATE_BUILD_DIR; PY_SPY, for shares.
"""

import os
import pathlib
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("PERFGATE_BUILD_DIR", HERE.parent.parent / "build/test"))
PROGRAM = [sys.executable, str(HERE / "programs/waiting_host.py")]
# What each case must name.
CASES = {"workers8": "Queue.get|__next__", "workers0": "decode", "item": "log_loss", "loop": "tokenise", "lock": "take_turn",
         "faults": "allocate", "disk": "read_shard"}


def run(words, env=None, timeout=60):
    done = subprocess.run(words, capture_output=True, text=True, timeout=timeout, env={**os.environ, **(env or {})})
    if done.returncode != 0:
        print("  FAILED:", done.returncode, done.stderr[-600:], flush=True)
    return done.stdout


def sentences(shares):
    for case, function in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            database = pathlib.Path(folder) / "run.sqlite"
            text = run([BUILD / "bin/perfgate", "profile", "--quiet", f"--report={database}", "--", *PROGRAM, case])
            advice = [line for line in text.splitlines() if re.match(r"\d\. ", line)]
            named = next((i + 1 for i, line in enumerate(advice) if re.search(function, line)), 0)
            print(f"{case}: {'ok' if named else 'FAILED'}, sentence {named} names {function}", flush=True)
            for line in advice[:3] if not named else [advice[named - 1]]:
                print("  ", line[:420])
            print("  ", *[line for line in text.splitlines() if line.startswith("Stacks of the host")])
            if shares and database.exists():
                print(f"   share of the main thread's time in {function}: perfgate {own_share(database, function):.3f}, "
                      f"py-spy {spied_share(case, function):.3f}", flush=True)


def own_share(database, function):
    rows = sqlite3.connect(database).execute(
        "SELECT stack, sum(end_ns - start_ns) FROM host_stacks WHERE pid = thread AND pid = process_pid "
        "AND stack LIKE '%train%' GROUP BY stack").fetchall()
    return share(rows, function)


def spied_share(case, function):
    with tempfile.TemporaryDirectory() as folder:
        raw = pathlib.Path(folder) / "raw"
        run([os.environ["PY_SPY"], "record", "--idle", "--nonblocking", "-r", "200", "-f", "raw", "-o", raw, "--", *PROGRAM, case])
        lines = raw.read_text().splitlines() if raw.exists() else []
    rows = [line.rsplit(" ", 1) for line in lines]
    return share([(stack, int(count)) for stack, count in rows if "train (" in stack], function)


def share(rows, function):
    total = sum(weight for _, weight in rows)
    return sum(weight for stack, weight in rows if re.search(function, stack)) / total if total else float("nan")


def cost(rounds):
    """Steps of two lengths with recording alone and with samples, in turns."""
    library = BUILD / "lib/perfgate/libperfgate_inject.so"
    times = {"records": [], "samples": []}
    for turn in range(2 * rounds):
        kind = ("records", "samples", "samples", "records")[turn % 4]
        with tempfile.TemporaryDirectory() as folder:
            env = {"CUDA_INJECTION64_PATH": str(library), "NVTX_INJECTION64_PATH": str(library), "PERFGATE_RECORD_FOLDER": folder,
                   "PERFGATE_RECORD_LEVEL": "callbacks"}
            if kind == "samples":
                env["PERFGATE_RECORD_STACKS_US"] = "4000"
            out = run([*PROGRAM, "steps"], env).split()
        if len(out) == 2:
            times[kind].append([float(word) for word in out])
            print("  ", kind, *out, flush=True)
    for i in (0, 1):
        before = [each[i] for each in times["records"]]
        after = [each[i] for each in times["samples"]]
        if len(before) < 2 or len(after) < 2:
            continue
        change = [a / b - 1 for a in after for b in before]
        print(f"step of {statistics.median(before):.2f} ms: sampling {statistics.median(change) * 100:+.2f} % "
              f"(all pairs {min(change) * 100:+.2f} to {max(change) * 100:+.2f} %)", flush=True)


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    rounds = int(sys.argv[sys.argv.index("--rounds") + 1]) if "--rounds" in sys.argv else 3
    parts = [word for word in words if word in ("sentences", "shares", "cost")] or ["sentences", "cost"]
    if "sentences" in parts or "shares" in parts:
        sentences("shares" in parts)
    if "cost" in parts:
        cost(rounds)


if __name__ == "__main__":
    main()
