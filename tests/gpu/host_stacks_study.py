# SPDX-License-Identifier: Apache-2.0
"""Whether the sentence about a waiting GPU names the planted function, its share beside py-spy's, and what sampling costs.

host_stacks_study.py [sentences] [shares] [native] [cost] [--rounds N] [--host]. Environment: PERFGATE_BUILD_DIR; PY_SPY, for shares.
"""

import ctypes
import os
import pathlib
import random
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


def native():
    """The same of a program without Python."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "waiting_loader"
        run([os.environ.get("NVCC", "nvcc"), "-O2", "-o", program, HERE / "programs/waiting_loader.cu"])
        for case in ("lock", "read", "poll", "sleep"):
            text = run([BUILD / "bin/perfgate", "profile", "--quiet", "--", program, case])
            lines = [line for line in text.splitlines() if "Loader::next" in line]
            print(f"{case}: {'ok' if lines else 'FAILED'}", flush=True)
            print("  ", *[line[:420] for line in lines[:1] or re.findall(r"(?m)^1\. .*", text)])
            print("  ", *[line for line in text.splitlines() if line.startswith("Stacks of the host")])


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


class Switch:
    """Stops and continues the thread that samples: tracing can stop a single one."""

    SEIZE, INTERRUPT, CONT, DETACH, WALL = 0x4206, 0x4207, 7, 17, 0x40000000

    def __init__(self, thread):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.ptrace.argtypes = [ctypes.c_long] * 4
        self.thread, self.on = thread, True
        self.trace(self.SEIZE)

    def trace(self, request):
        if self.libc.ptrace(request, self.thread, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "the thread cannot be traced")

    def turn(self, on):
        if on == self.on:
            return
        self.trace(self.CONT if on else self.INTERRUPT)
        if not on:
            os.waitpid(self.thread, self.WALL)
        self.on = on

    def let_go(self):
        """Before the program ends: its last thread would wait for this process."""
        self.turn(False)
        self.trace(self.DETACH)


def threads_of(pid):
    return {int(each): pathlib.Path(f"/proc/{pid}/task/{each}/comm").read_text().strip() for each in os.listdir(f"/proc/{pid}/task")}


def interval_of(values):
    """The mean without the outer fifths, and 95 % of what it is for samples of these."""
    def middle(some):
        some = sorted(some)
        cut = len(some) // 5
        return statistics.fmean(some[cut : len(some) - cut])

    random.seed(1)
    again = sorted(middle(random.choices(values, k=len(values))) for _ in range(2000))
    return f"{middle(values) * 100:+.2f} % ({again[50] * 100:+.2f} to {again[1949] * 100:+.2f} %)"


def cost(rounds, host):
    """Steps of two lengths in one process, whose sampler is stopped in two of three turns."""
    library = BUILD / "lib/perfgate/libperfgate_inject.so"
    with tempfile.TemporaryDirectory() as folder:
        env = {"CUDA_INJECTION64_PATH": str(library), "NVTX_INJECTION64_PATH": str(library), "PERFGATE_RECORD_FOLDER": folder,
               "PERFGATE_RECORD_LEVEL": "callbacks", "PERFGATE_RECORD_STACKS_US": "4000"}
        if host:
            env["LD_LIBRARY_PATH"] = str(BUILD / "tests/inject/mocks")
        program = subprocess.Popen([sys.executable, str(HERE / "programs/steps.py"), *(["host"] if host else [])],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **env})
        try:
            if program.stdout.readline().strip() != "ready":
                sys.exit("  FAILED: the program did not start")
            measure(program, rounds)
        finally:
            program.stdin.close()
            program.wait(60)


def measure(program, rounds):
    threads = threads_of(program.pid)
    sampler = next(thread for thread, name in threads.items() if name == "perfgate stacks")
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(program.pid, {cores[-1]})
    switch = Switch(sampler)
    try:
        turns(program, rounds, cores, sampler, threads, switch)
    finally:
        switch.let_go()


def turns(program, rounds, cores, sampler, threads, switch):
    def steps(launches, count, on=True):
        switch.turn(on)
        program.stdin.write(f"{launches} {count}\n")
        program.stdin.flush()
        return float(program.stdout.readline())

    def spent():
        times = pathlib.Path(f"/proc/{program.pid}/task/{sampler}/schedstat").read_text().split()
        return int(times[0]), int(times[2])

    for where in ("on other processors", "on the same processor"):
        for thread in threads:
            if thread != program.pid:
                os.sched_setaffinity(thread, set(cores[:-1] or cores) if where == "on other processors" else {cores[-1]})
        for target_ms, count in ((1, 60), (10, 10)):
            launches = max(1, round(100 * target_ms * 1e6 / steps(100, 50)))
            pairs, same, lengths = [], [], []
            cpu, looks = 0, 0
            for turn in range(rounds):
                order = ["a", "b", "on"]
                random.shuffle(order)
                times = {}
                for kind in order:
                    before = spent()
                    times[kind] = steps(launches, count, kind == "on")
                    after = spent()
                    if kind == "on":
                        cpu, looks = cpu + after[0] - before[0], looks + after[1] - before[1]
                pairs.append(2 * times["on"] / (times["a"] + times["b"]) - 1)
                same.append(times["a"] / times["b"] - 1)
                lengths.append(times["a"])
            print(f"step of {statistics.median(lengths) / 1e6:.2f} ms, sampled {where}: {interval_of(pairs)}; the same without "
                  f"sampling: {interval_of(same)}; {looks} looks of {cpu / max(1, looks) / 1e3:.1f} µs of processor", flush=True)


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    rounds = int(sys.argv[sys.argv.index("--rounds") + 1]) if "--rounds" in sys.argv else 100
    parts = [word for word in words if word in ("sentences", "shares", "native", "cost")] or ["sentences", "cost"]
    if "sentences" in parts or "shares" in parts:
        sentences("shares" in parts)
    if "native" in parts:
        native()
    if "cost" in parts:
        cost(rounds, "--host" in sys.argv)


if __name__ == "__main__":
    main()
