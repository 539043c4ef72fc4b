# SPDX-License-Identifier: Apache-2.0
"""Faults that come from outside a case: signals, killed processes, full disks, two runs at once.

The same campaign on each backend: test_isolation.py (host) and test_gpu_isolation.py (cuda) say which
cases they have. However an execution ends, what it leaves is a valid Run document or a journal, every
case that was not hit is measured, no process is left and no baseline has changed.
"""

import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import time

import tool

SUITE = """
name: fault
defaults: {metrics: [%(metrics)s], tolerances: {%(time)s: {abs: 100s}}, time_budget: 1ms, cache: hot}
workloads:
  - workload: fault
    variants: [%(variants)s]
    matrix: {item: %(items)s}
"""


def children_of(pid):
    """Processes whose parent is `pid`, by /proc."""
    children = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as stat:
                    if int(stat.read().rsplit(")", 1)[1].split()[1]) == pid:
                        children.append(int(entry))
            except OSError:
                continue
    return children


def marked(mark):
    """Living processes that have `mark` in their environment: workers of a test's runs, and theirs."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/environ", "rb") as environ:
                    environment = environ.read()
                with open(f"/proc/{entry}/stat") as stat:
                    state = stat.read().rsplit(")", 1)[1].split()[0]
            except OSError:
                continue
            if mark.encode() in environment and state != "Z":
                found.append(int(entry))
    return found


class Runs(tool.Case):
    """Runs of the plugin `fault`, and what they leave.

    What a backend's test sets: how to call it, and which variants do what.
    """

    backend = ""
    time_metric = ""
    metrics = ""
    fine, late, hang = "ok", "crash_later", "hang"
    kills, signals = 50, 8
    pace = 1.0  # how much longer things take than on the host

    def setUp(self):
        super().setUp()
        self.random = random.Random(20261121)
        self.mark = f"PERFGATE_TEST_MARK={self.folder}"
        self.env = {"PERFGATE_TEST_MARK": str(self.folder)}
        self.addCleanup(self.end_what_is_left)

    def end_what_is_left(self):
        for pid in marked(self.mark):
            os.kill(pid, signal.SIGKILL)

    def suite(self, *variants, items=(0,)):
        self.write("fault.yaml", SUITE % {
            "metrics": self.metrics, "time": self.time_metric, "variants": ", ".join(variants),
            "items": list(items)})

    def words(self, *more):
        return ["run", "fault.yaml", "--backend", self.backend, *self.plugin("fault"),
                *map(str, more)]

    def start(self, *more, **kwargs):
        return subprocess.Popen(
            [tool.PERFGATE, *self.words(*more)], cwd=self.folder, text=True,
            stdout=kwargs.pop("stdout", subprocess.DEVNULL), stderr=subprocess.PIPE,
            env={**os.environ, **self.env}, **kwargs)

    def finish(self, running, *codes):
        _, errors = running.communicate(timeout=tool.PATIENCE_S)
        self.assertIn(running.returncode, codes, errors)
        return errors

    def run_cases(self, *more, code=0):
        self.run_tool(*self.words(*more), code=code, env=self.env)
        return self.cases()

    def document(self, folder="perfgate-out"):
        """The Run document, which a reader of ours accepts."""
        self.run_tool("report", f"{folder}/run.json", "--report", "read.json")
        return self.read_json(f"{folder}/run.json")

    def cases(self):
        return {(case["variant"], case["params"]["item"]): case
                for case in self.document()["suites"][0]["cases"]}

    def wait_for(self, what, is_there):
        deadline = time.monotonic() + tool.PATIENCE_S
        while not is_there():
            self.assertLess(time.monotonic(), deadline, f"{what} never came")
            time.sleep(0.01)

    def journal_lines(self):
        journal = self.folder / "perfgate-out/journal.jsonl"
        return journal.read_text().count("\n") if journal.exists() else 0

    def assert_nothing_is_left(self):
        # The kernel ends orphans when it gets to it.
        self.wait_for("the end of all workers", lambda: not marked(self.mark))

    def batches(self, case):
        return case["metrics"][self.time_metric]["batches"]

    def refresh(self):
        self.run_tool("baseline", "refresh", "fault.yaml", "--backend", self.backend,
                      *self.plugin("fault"), "--processes", "2")
        self.baseline = self.baseline_hash()

    def baseline_hash(self):
        files = sorted((self.folder / "baselines").rglob("*"))
        return [(str(file), hashlib.sha256(file.read_bytes()).hexdigest())
                for file in files if file.is_file()]


class Campaign(Runs):
    # --- several processes

    def test_each_batch_comes_from_a_process_of_its_own_and_processes_take_turns(self):
        self.suite(self.fine, items=[1, 2])
        cases = self.run_cases("--processes", 3)
        for case in cases.values():
            self.assertEqual([0, 1, 2], [batch["process"] for batch in self.batches(case)])
            self.assertEqual(1, len({batch["device"] for batch in self.batches(case)}))
        lines = (self.folder / "perfgate-out/journal.jsonl").read_text().splitlines()[1:]
        batches = [json.loads(line) for line in lines if '"batches":' in line[:40]]
        order = [line["batches"]["params"]["item"] for line in batches if "batches" in line]
        self.assertEqual([1, 2, 1, 2], order)

    def test_a_crash_in_a_later_process_makes_the_case_an_error_and_no_other(self):
        self.suite(self.late, self.fine)
        self.env["FAULT_PROCESSES"] = str(self.folder / "processes")
        cases = self.run_cases("--processes", 4, code=3)
        late = cases[(self.late, 0)]
        self.assertEqual("error", late["status"])
        self.assertIn("measured again", late["reason"])
        self.assertEqual({}, late.get("metrics", {}))
        fine = cases[(self.fine, 0)]
        self.assertEqual("measured", fine["status"])
        self.assertEqual(4, len(self.batches(fine)))

    # --- killed processes

    def test_workers_killed_at_random_moments(self):
        self.suite(self.fine, items=range(60))
        self.refresh()
        killed = 0
        while killed < self.kills:
            running = self.start("--processes", 2)
            here = 0
            # Mostly while it measures: one that loses its worker as it makes its plan ends at once.
            if self.random.random() < 0.8:
                self.wait_for("the journal",
                              lambda: running.poll() is not None or self.journal_lines() > 0)
            while running.poll() is None and here < 50:
                time.sleep(self.random.uniform(0.0, 0.2) * self.pace)
                for child in children_of(running.pid):
                    try:
                        # Workers lead a group of their own; nothing else here does.
                        if os.getpgid(child) == child:
                            os.kill(child, signal.SIGKILL)
                            here += 1
                    except OSError:
                        continue
            errors = self.finish(running, 0, 3)
            killed += here
            if running.returncode == 3 and not (self.folder / "perfgate-out/run.json").exists():
                # Before there was a plan: nothing was measured, and it says what happened.
                self.assertIn("signal 9", errors)
                continue
            failed = 0
            for name, case in self.cases().items():
                if case["status"] == "measured":
                    self.assertEqual(2, len(self.batches(case)), name)
                    continue
                failed += 1
                self.assertEqual("error", case["status"], name)
                self.assertIn("signal 9", case["reason"])
            self.assertLessEqual(failed, here)
            self.assertEqual(3 if failed else 0, running.returncode)
            shutil.rmtree(self.folder / "perfgate-out")
        self.assert_nothing_is_left()
        self.assertEqual(self.baseline, self.baseline_hash())

    def test_a_killed_run_leaves_nobody_and_is_resumed(self):
        self.suite(self.fine, items=range(20))
        options = ["--processes", 2]
        resumed = 0
        for attempt in range(12):
            more = ["--resume", "perfgate-out"] if self.journal_lines() else []
            before = self.journal_lines()
            running = self.start(*options, *more)
            self.wait_for("a result", lambda: self.journal_lines() > max(before, 1)
                          or running.poll() is not None)
            time.sleep(self.random.uniform(0, 0.03) * self.pace)
            running.kill()
            running.communicate()
            if running.returncode == 0:
                break
            resumed += 1
            self.assert_nothing_is_left()
        self.assertGreater(resumed, 2)
        tool.take_end_from_journal(self.folder)
        cases = self.run_cases(*options, "--resume", "perfgate-out")
        self.assertEqual(20, len(cases))
        for case in cases.values():
            self.assertEqual("measured", case["status"])
            processes = [batch["process"] for batch in self.batches(case)]
            self.assertEqual(2, len(set(processes)), processes)

    def test_only_the_same_run_is_resumed(self):
        self.suite(self.fine)
        self.run_cases("--processes", 1)
        journal = (self.folder / "perfgate-out/journal.jsonl").read_bytes()
        plugins = [name for name, _ in json.loads(journal.splitlines()[0])["identity"] if name.startswith("plugin ")]
        # Those without a case of the run take longer to read than small cases to measure.
        self.assertIn("plugin fault.so", plugins)
        self.assertEqual([], [name for name in plugins if not name.startswith("plugin fault")])
        done = self.run_tool(*self.words("--processes", 2, "--resume", "perfgate-out"), code=2)
        self.assert_one_line(done.stderr, "--processes was '1', is now '2'")
        self.suite(self.fine, items=[0, 7])
        done = self.run_tool(*self.words("--processes", 1, "--resume", "perfgate-out"), code=2)
        self.assert_one_line(done.stderr, "item=7", "was absent")
        done = self.run_tool(*self.words("--resume", "nowhere"), code=2)
        self.assert_one_line(done.stderr, "nowhere")
        self.assertEqual(journal, (self.folder / "perfgate-out/journal.jsonl").read_bytes())
        # What was measured stays in the journal; results must not pass for those of a refused call.
        self.assertFalse((self.folder / "perfgate-out/run.json").exists())

    # --- signals

    def test_signals_at_random_moments(self):
        self.suite(self.fine, items=range(40))
        self.refresh()
        seen = set()
        for attempt in range(self.signals):
            out = f"out-{attempt}"
            running = self.start("--processes", 3, "--out", out)
            journal = self.folder / out / "journal.jsonl"
            self.wait_for("the journal", journal.exists)
            time.sleep(self.random.uniform(0, 0.4) * self.pace)
            running.send_signal(self.random.choice([signal.SIGINT, signal.SIGTERM]))
            self.finish(running, 130, 0)
            run = self.document(out)
            self.assertEqual(running.returncode == 130, run["interrupted"])
            seen.add(running.returncode)
            for case in run["suites"][0]["cases"]:
                self.assertIn(case["status"], ["measured", "skipped"])
            self.assert_nothing_is_left()
        self.assertIn(130, seen)
        self.assertEqual(self.baseline, self.baseline_hash())

    def test_an_interrupted_run_is_resumed(self):
        self.suite(self.fine, self.hang)
        running = self.start("--processes", 1)
        self.wait_for("the first case", lambda: self.journal_lines() > 1)
        running.send_signal(signal.SIGTERM)
        self.finish(running, 130)
        first = self.cases()
        self.assertEqual("measured", first[(self.fine, 0)]["status"])
        self.assertEqual("skipped", first[(self.hang, 0)]["status"])
        cases = self.run_cases("--processes", 1, "--resume", "perfgate-out", "--time-limit", 1,
                               code=3)
        self.assertEqual(first[(self.fine, 0)], cases[(self.fine, 0)])
        self.assertEqual("error", cases[(self.hang, 0)]["status"])

    def test_the_second_signal_ends_it_at_once(self):
        self.suite(self.hang)
        running = self.start("--processes", 1)
        self.wait_for("the journal", lambda: self.journal_lines() > 0)
        while running.poll() is None:
            running.send_signal(signal.SIGINT)
            time.sleep(0.001)
        self.finish(running, 130)
        self.assert_nothing_is_left()

    # --- two runs at once

    def test_a_device_is_used_by_one_run_at_a_time(self):
        self.suite(self.hang)
        holder = self.start("--processes", 1, "--out", "holder")
        self.wait_for("the holder's journal", (self.folder / "holder/journal.jsonl").exists)
        self.suite(self.fine)
        done = self.run_tool(*self.words("--lock-wait", 0), code=3)
        self.assert_one_line(done.stderr, f"in use by pid {holder.pid}", "--lock-wait")
        self.assertFalse((self.folder / "perfgate-out").exists())

        # One that waits says so, can be interrupted, and goes on when the device is free.
        for ending, code in ((lambda waiting: waiting.send_signal(signal.SIGINT), 130),
                             (lambda waiting: holder.kill(), 0)):
            waiting = self.start("--processes", 1)
            self.assertIn("waiting", waiting.stderr.readline())
            ending(waiting)
            self.finish(waiting, code)
        holder.communicate()
        self.assertEqual("measured", self.cases()[(self.fine, 0)]["status"])
        self.assert_nothing_is_left()

    # --- full disks

    def test_a_disk_without_room_leaves_no_half_document(self):
        self.suite(self.fine, items=range(6))
        self.refresh()
        full = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))
        running = self.start("--processes", 1, preexec_fn=full, stdout=subprocess.PIPE)
        table, errors = running.communicate(timeout=tool.PATIENCE_S)
        self.assertEqual(3, running.returncode, errors)
        self.assertIn("journal.jsonl", errors)
        self.assertIn("run.json", errors)
        self.assertIn("fault", table)
        self.assertFalse((self.folder / "perfgate-out/run.json").exists())
        self.assertEqual([], list((self.folder / "perfgate-out").glob("*.tmp*")))
        self.assertEqual(self.baseline, self.baseline_hash())
        self.assert_nothing_is_left()

    def test_a_run_that_finds_no_room_in_its_place_is_kept_elsewhere(self):
        mount = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
                 'mount -t tmpfs -o size=16k none perfgate-out && exec "$0" "$@"']
        (self.folder / "perfgate-out").mkdir()
        allowed = subprocess.run([*mount, "true"], cwd=self.folder, capture_output=True)
        if allowed.returncode != 0:
            self.skipTest("no mounts for users here: " + allowed.stderr.decode())
        self.suite(self.fine, items=range(30))
        kept = self.folder / "kept"
        kept.mkdir()
        done = subprocess.run(
            [*mount, tool.PERFGATE, *self.words("--processes", 1)], cwd=self.folder, text=True,
            capture_output=True, timeout=tool.PATIENCE_S,
            env={**os.environ, **self.env, "TMPDIR": str(kept)})
        self.assertEqual(3, done.returncode, done.stderr)
        self.assertIn("No space left", done.stderr)
        (folder,) = kept.iterdir()
        file = folder / "run.json"
        self.assertIn(str(file), done.stderr)
        self.run_tool("report", file)
        statuses = [case["status"] for case in json.loads(file.read_text())["suites"][0]["cases"]]
        self.assertEqual(["measured"] * 30, statuses)
