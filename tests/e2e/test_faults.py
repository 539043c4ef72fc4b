# SPDX-License-Identifier: Apache-2.0
"""Whatever a plugin does, its case pays for it and the others are measured."""

import json
import os
import signal
import subprocess
import time

import tool

SUITE = """
name: fault
defaults: {metrics: [host_time], tolerances: {host_time: 50%%}, time_budget: 10ms, cache: hot}
workloads:
  - workload: fault
    variants: [%s]
"""


def descendants_of(pid):
    """Processes whose ancestor is `pid`, by /proc."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as stat:
                    parents[int(entry)] = int(stat.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
    return [p for p, parent in parents.items() if parent == pid]


class Faults(tool.Case):
    def cases(self, *variants, code=3, more=()):
        self.write("fault.yaml", SUITE % ", ".join(variants))
        self.done = self.run_tool("run", "fault.yaml", "--backend", "host",
                                  *self.plugin("fault"), *more, code=code)
        cases = self.read_json("perfgate-out/run.json")["suites"][0]["cases"]
        return {case["variant"]: case for case in cases}

    def test_every_fault_costs_its_own_case_only(self):
        cases = self.cases("crash", "exits", "throws", "set_up_fails", "huge", "ok")
        self.assertEqual("measured", cases["ok"]["status"])
        self.assertIn("signal 11", cases["crash"]["reason"])
        self.assertIn("about to crash", cases["crash"]["log"])
        self.assertIn("exited with code 7", cases["exits"]["reason"])
        self.assertIn("no luck today", cases["throws"]["reason"])
        self.assertIn("out of memory", cases["set_up_fails"]["reason"])
        self.assertNotIn("\x1b", cases["set_up_fails"]["reason"])
        self.assertIn("does not fit", cases["huge"]["reason"])
        for name, case in cases.items():
            if name != "ok":
                self.assertEqual("error", case["status"], name)
                self.assertEqual({}, case.get("metrics", {}), name)

    def test_the_journal_has_every_case(self):
        self.cases("crash", "ok")
        lines = (self.folder / "perfgate-out/journal.jsonl").read_text().splitlines()
        first = [json.loads(line)["case"]["variant"] for line in lines if '"case":' in line[:30]]
        self.assertEqual(["crash", "ok"], first)

    def test_a_hang_is_ended_at_the_limit(self):
        # Long enough for the case after it on a machine with other work.
        cases = self.cases("hang", "ok", more=["--time-limit", "10"])
        self.assertIn("no answer within 10 s", cases["hang"]["reason"])
        self.assertEqual("measured", cases["ok"]["status"])

    def test_a_wrong_result_wins_over_errors(self):
        cases = self.cases("wrong", "throws", code=1)
        self.assertEqual("incorrect", cases["wrong"]["status"])
        self.assertIn("expected 9", cases["wrong"]["reason"])

    def test_what_a_plugin_prints_is_no_reply(self):
        self.assertEqual("measured", self.cases("chatty", code=0)["chatty"]["status"])

    def test_unsupported_parameters_are_invalid_input(self):
        self.write("fault.yaml", SUITE % "unsupported, ok")
        done = self.run_tool("run", "fault.yaml", "--backend", "host", *self.plugin("fault"),
                             code=2)
        self.assertIn("fault/unsupported", done.stderr)
        self.assertIn("only on Tuesdays", done.stderr)

    def test_interruption_leaves_a_valid_run_and_no_process(self):
        self.write("fault.yaml", SUITE % "ok, hang")
        running = subprocess.Popen(
            [tool.PERFGATE, "run", "fault.yaml", "--backend", "host", *self.plugin("fault")],
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        journal = self.folder / "perfgate-out/journal.jsonl"
        deadline = time.monotonic() + tool.PATIENCE_S
        while not (journal.exists() and journal.read_text().count("\n") > 1):
            self.assertLess(time.monotonic(), deadline, "the first case never arrived")
            time.sleep(0.02)
        children = descendants_of(running.pid)
        self.assertTrue(children)
        running.send_signal(signal.SIGINT)
        self.assertEqual(130, running.wait(timeout=tool.PATIENCE_S))
        run = self.read_json("perfgate-out/run.json")
        self.assertTrue(run["interrupted"])
        self.assertEqual(["measured", "skipped"],
                         [case["status"] for case in run["suites"][0]["cases"]])
        for child in children:
            self.assertFalse(os.path.exists(f"/proc/{child}"), "a worker outlived its coordinator")


if __name__ == "__main__":
    tool.main()
