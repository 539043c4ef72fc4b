# SPDX-License-Identifier: Apache-2.0
"""What the campaigns share: perfgate called often and side by side, each call's time and end told.
`--long` makes a campaign the one that ci/test-long runs; without it, it is what CI can bear."""

import concurrent.futures
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import tool  # noqa: E402  (behind the path)

LONG = "--long" in sys.argv
if LONG:
    sys.argv.remove("--long")

EXIT_CODES = {0, 1, 2, 3, 4}
MOST_CPU_S = 2.0
# A sanitizer makes everything slower.
if any(key.endswith("SAN_OPTIONS") for key in os.environ):
    MOST_CPU_S *= 10


class Call:
    """One ended call of perfgate."""

    def __init__(self, words, status, usage, stderr):
        self.words = words
        self.signal = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        self.code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.stderr = stderr

    def fault(self):
        """What no input may bring about, or nothing."""
        if self.signal:
            return f"killed by signal {self.signal}"
        if self.code not in EXIT_CODES:
            return f"exit {self.code}"
        if self.cpu_s > MOST_CPU_S:
            return f"{self.cpu_s:.1f} s of CPU"
        if self.code != 0 and not self.stderr and self.code == 2:
            return "exit 2 without a word"
        return ""


def call(words, folder):
    """Runs perfgate with its output in files of `folder`."""
    errors = folder / "stderr"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    pid = os.posix_spawn(
        tool.PERFGATE, [tool.PERFGATE, *map(str, words)],
        {**os.environ, "PERFGATE_LOCK_DIR": str(folder)},
        file_actions=[(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                      (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
                      (os.POSIX_SPAWN_OPEN, 2, str(errors), flags, 0o600)])
    _, status, usage = os.wait4(pid, 0)
    return Call(words, status, usage, errors.read_bytes()[:2000])


def few_cases(path, count):
    """A recorded run with so many of its cases: of some length, so that 8 % are beyond the tolerance and its `abs`."""
    document = json.loads(path.read_text())
    suite = document["suites"][0]
    suite["relations"] = []
    suite["cases"] = [case for case in suite["cases"]
                      if case["gates"][0]["worse"] < 0.05 and case["metrics"]["gpu_time"]["value"] > 50_000][:count]
    return document


def in_parallel(count, work):
    """work(number) for each number below `count`, on as many threads as there are processors."""
    with concurrent.futures.ThreadPoolExecutor(min(os.cpu_count() or 1, 8)) as pool:
        return list(pool.map(work, range(count)))
