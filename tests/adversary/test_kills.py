# SPDX-License-Identifier: Apache-2.0
"""Kills at random moments: of the coordinator, of a worker's guard and of the worker itself.

`test_kills.py 200` makes 200 of them; without a number it is a bounded run for CI. Whatever is hit,
and when: documents are whole or absent, no process is left, the journal can be resumed, and exit 0
means that everything was measured.
"""

import collections
import json
import os
import pathlib
import shutil
import signal
import sys
import time
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

import tool  # noqa: E402
from campaign import Runs, children_of  # noqa: E402

KILLS = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 20
CASES = 6
PROCESSES = 2
SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP]


class Kills(Runs):
    backend = "host"
    time_metric = metrics = "host_time"

    def victims(self, coordinator):
        """The processes of the run, by what they are."""
        guards = [pid for pid in children_of(coordinator) if os.getpgid(pid) == pid]
        workers = [pid for guard in guards for pid in children_of(guard)]
        return {"coordinator": [coordinator], "guard": guards, "worker": workers}

    def hit(self, running, role, number):
        """Whether a process of this role was there to be sent the signal."""
        deadline = time.monotonic() + 0.5
        while running.poll() is None and time.monotonic() < deadline:
            try:
                for pid in self.victims(running.pid)[role]:
                    os.kill(pid, number)
                    return True
            except (ProcessLookupError, FileNotFoundError):
                continue
        return False

    def assert_documents_are_whole_or_absent(self):
        out = self.folder / "perfgate-out"
        for name in ("run.json", "verdict.json"):
            if (out / name).exists():
                json.loads((out / name).read_text())
        if (out / "run.json").exists():
            self.run_tool("report", "perfgate-out/run.json", "--report", "read.json")
        if (out / "junit.xml").exists():
            xml.etree.ElementTree.parse(out / "junit.xml")

    def assert_everything_is_measured(self):
        cases = self.document()["suites"][0]["cases"]
        self.assertEqual(list(range(CASES)), [case["params"]["item"] for case in cases])
        for case in cases:
            self.assertEqual("measured", case["status"], case)
            processes = {batch["process"] for batch in self.batches(case)}
            self.assertEqual(PROCESSES, len(processes), case)

    def expected_codes(self, role, number):
        if role != "coordinator":
            return (0, 3)
        # Before the run takes signals, they end it as they do any program.
        return (0, -number) if number == signal.SIGKILL else (0, 130, -number)

    def test_kills(self):
        self.suite(self.fine, items=range(CASES))
        options = ["--processes", PROCESSES]
        start = time.monotonic()
        self.run_cases(*options)
        usual_s = time.monotonic() - start
        self.assert_everything_is_measured()
        figures = collections.Counter()
        kills = 0
        while kills < KILLS:
            shutil.rmtree(self.folder / "perfgate-out", ignore_errors=True)
            role = self.random.choice(["coordinator", "guard", "worker"])
            number = self.random.choice(SIGNALS)
            running = self.start(*options)
            time.sleep(self.random.uniform(0, usual_s))
            hit = self.hit(running, role, number)
            kills += hit
            errors = self.finish(running, *self.expected_codes(role, number))
            code = running.returncode
            if hit:
                figures[f"{role} {number.name}: exit {code}"] += 1

            self.assert_nothing_is_left()
            self.assert_documents_are_whole_or_absent()
            if code == 0:
                self.assert_everything_is_measured()
                continue
            if code == 130 and self.journal_lines() > 0:
                self.assertTrue(self.document()["interrupted"])
            if code == 3 and not (self.folder / "perfgate-out/run.json").exists():
                self.assertIn("worker", errors)  # before there was a plan
            if self.journal_lines() == 0:
                continue
            if code == 3:  # an error is a result: the run came to its end
                again = self.run_tool(*self.words(*options, "--resume", "perfgate-out"), code=2, env=self.env)
                self.assertIn("was not interrupted", again.stderr)
                continue
            self.run_cases(*options, "--resume", "perfgate-out")
            self.assert_everything_is_measured()
        for what, count in sorted(figures.items()):
            print(f"{count:5}  {what}", file=sys.stderr)


del Runs  # a base, no test

if __name__ == "__main__":
    tool.main()
