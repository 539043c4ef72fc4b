# SPDX-License-Identifier: Apache-2.0
"""What a hostile or broken plugin can cost: its own case, never another's, nor a process left behind.

And what a hostile caller can: closed descriptors, pipes in the place of files, a terminal that ends.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

import tool  # noqa: E402
from campaign import Runs, marked  # noqa: E402

SUITE = """
name: adversary
defaults: {metrics: [host_time], tolerances: {host_time: {abs: 100s}}, time_budget: 1ms, cache: hot}
workloads:
  - workload: adversary
    variants: [%(variants)s]
    matrix: {item: %(items)s}
"""

# For a case: one that no case reaches even on a machine with much other work, and one for those that hang.
PATIENT_S, SHORT_S = 60, 5

CALLBACKS = ["supports", "memory_bytes", "create", "fill", "launch", "reset", "verify", "destroy"]


class Plugins(Runs):
    backend = "host"
    time_metric = metrics = "host_time"

    def tearDown(self):
        self.assert_nothing_is_left()

    def suite(self, *variants, items=(0,)):
        self.write("adversary.yaml",
                   SUITE % {"variants": ", ".join(variants), "items": list(items)})

    def words(self, *more):
        return ["run", "adversary.yaml", "--backend", "host", *self.plugin("adversary"),
                "--processes", "1", *map(str, more)]

    def measure(self, *variants, code=3, limit=PATIENT_S, items=(0,)):
        """The cases of a run of these variants, by name. Each is there once. `limit` is in seconds."""
        self.suite(*variants, items=items)
        self.run_tool(*self.words("--time-limit", limit), code=code, env=self.env)
        cases = self.document()["suites"][0]["cases"]
        self.assertEqual([(variant, item) for variant in variants for item in items],
                         [(case["variant"], case["params"]["item"]) for case in cases])
        return {case["variant"]: case for case in cases if case["params"]["item"] == items[0]}

    def assert_error(self, case, *parts):
        self.assertEqual("error", case["status"], case)
        self.assertEqual({}, case.get("metrics", {}))
        for part in parts:
            self.assertIn(part, case["reason"])

    # --- every callback

    def assert_only_these_fail(self, misdeed, part, may_pass=(), limit=PATIENT_S):
        names = [f"{misdeed}_in_{callback}" for callback in CALLBACKS]
        cases = self.measure(*names[:4], "ok", *names[4:], limit=limit)
        self.assertEqual("measured", cases["ok"]["status"], cases["ok"].get("reason"))
        for name in names:
            if name not in may_pass:
                self.assert_error(cases[name], part)
        return cases

    def test_a_crash_in_any_callback_costs_its_case(self):
        cases = self.assert_only_these_fail("crash", "signal 11")
        for callback in ("supports", "memory_bytes"):
            self.assertIn("plugin adversary.so", cases[f"crash_in_{callback}"]["reason"])
        self.assertIn("last phase: verify", cases["crash_in_verify"]["reason"])

    def test_a_hang_in_any_callback_costs_its_case(self):
        cases = self.assert_only_these_fail("hang", "no answer within", limit=SHORT_S)
        for callback in CALLBACKS:
            reason = cases[f"hang_in_{callback}"]["reason"]
            asked = callback in ("supports", "memory_bytes")
            self.assertEqual(not asked, "--time-limit" in reason, reason)

    def test_a_leak_in_any_callback_costs_its_case(self):
        # The SDK answers for a memory_bytes that throws: not known.
        self.assert_only_these_fail("leak", "", may_pass=["leak_in_memory_bytes"])

    def test_a_variant_that_hangs_when_asked_is_not_asked_for_ever(self):
        cases = self.measure("hang_in_supports", "ok", items=range(40))
        self.assertEqual("measured", cases["ok"]["status"])
        last = self.document()["suites"][0]["cases"][39]
        self.assert_error(last, "not asked for")

    # --- loading

    def refused(self, plugin, code):
        """The one line that names the plugin."""
        self.suite("ok")
        done = self.run_tool("run", "adversary.yaml", "--backend", "host", "--plugin", plugin,
                             code=code, env=self.env)
        self.assert_one_line(done.stderr, str(plugin))
        self.assertFalse((self.folder / "perfgate-out/run.json").exists())
        return done.stderr

    def test_a_static_initialiser_that_goes_wrong_ends_the_run_and_is_named(self):
        self.assertIn("signal 11", self.refused(tool.PLUGINS / "static_crash.so", 3))
        self.assertIn("no answer within", self.refused(tool.PLUGINS / "static_hang.so", 3))
        self.assertIn("signal 6", self.refused(tool.PLUGINS / "static_leak.so", 3))

    def test_what_is_no_file_is_no_plugin(self):
        os.mkfifo(self.folder / "pipe.so")
        (self.folder / "folder.so").mkdir()
        for name in ("pipe.so", "folder.so"):
            self.assertIn("not a regular file", self.refused(self.folder / name, 2))

    # --- the protocol

    def test_a_plugin_that_forks_in_its_launch_is_answered_for_once(self):
        cases = self.measure("forks", "ok", items=range(3), code=0)
        for case in cases.values():
            self.assertEqual("measured", case["status"])

    def test_a_forged_reply_ends_the_worker_and_no_case_is_lost(self):
        for attack, reason in {"forges_a_reply": "something other than a reply",
                               "floods_the_protocol_with_lines": "something other than a reply",
                               # Until it is too long to be one, it may become a reply: on a busy machine that is minutes.
                               "floods_the_protocol": "reply"}.items():
            cases = self.measure(attack, "ok", limit=5 * PATIENT_S)
            self.assert_error(cases[attack], reason)
            self.assertEqual("measured", cases["ok"]["status"])

    def test_what_a_plugin_does_to_standard_descriptors_costs_its_case_at_most(self):
        floods = ["floods_stdout", "floods_stderr"]
        cases = self.measure(*floods, "closes_descriptors", "ok", limit=SHORT_S)
        for flood in floods:
            self.assert_error(cases[flood], f"no answer within {SHORT_S} s")
        self.assert_error(cases["closes_descriptors"])
        self.assertEqual("measured", cases["ok"]["status"])
        for case in self.measure("reads_stdin", "runs_a_program_that_answers", "ok",
                                 code=0).values():
            self.assertEqual("measured", case["status"], case.get("reason"))

    # --- what plugins leave behind

    def test_children_in_other_sessions_end_with_the_run(self):
        cases = self.measure("leaves_children", "ok", code=0)
        self.assertEqual("measured", cases["leaves_children"]["status"])
        self.assert_nothing_is_left()
        cases = self.measure("leaves_children_and_hangs", "leaves_children_without_a_guard", "ok",
                             limit=SHORT_S)
        self.assertEqual("measured", cases["ok"]["status"])

    def test_children_in_other_sessions_end_with_a_killed_coordinator(self):
        self.suite("leaves_children_and_hangs")
        running = self.start()
        # The coordinator, the guard, the worker, the child and the orphan.
        self.wait_for("the children", lambda: len(marked(self.mark)) >= 5)
        running.kill()
        running.communicate()
        self.assert_nothing_is_left()

    # --- callers

    def test_closed_standard_descriptors(self):
        self.suite("ok")
        for closed in ([0], [1], [2], [1, 2], [0, 1, 2]):
            out = "out-" + "".join(map(str, closed))

            def close():
                for fd in closed:
                    os.close(fd)

            done = subprocess.run([tool.PERFGATE, *self.words("--out", out)], cwd=self.folder,
                                  env={**os.environ, **self.env}, preexec_fn=close,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=tool.PATIENCE_S)
            # A table that cannot be printed is an error like that of any other output.
            self.assertEqual(3 if 1 in closed else 0, done.returncode, closed)
            for line in (self.folder / out / "journal.jsonl").read_text().splitlines():
                json.loads(line)
            case, = self.document(out)["suites"][0]["cases"]
            self.assertEqual("measured", case["status"])
            self.assertTrue((self.folder / out / "junit.xml").exists())

    def test_a_terminal_that_goes_away_leaves_a_document(self):
        self.suite("ok", "hang_in_launch")
        running = self.start()
        self.wait_for("the first case", lambda: self.journal_lines() > 1)
        # Signals that come before the first one is taken are one.
        while running.poll() is None:
            running.send_signal(signal.SIGHUP)
            time.sleep(0.01)
        self.finish(running, 130)
        run = self.document()
        self.assertTrue(run["interrupted"])
        self.assertEqual(["measured", "skipped"],
                         [case["status"] for case in run["suites"][0]["cases"]])

    def test_nohup_is_obeyed(self):
        self.suite("ok", items=range(3))
        running = self.start(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for("the journal", lambda: self.journal_lines() > 0)
        running.send_signal(signal.SIGHUP)
        self.finish(running, 0)

    def test_pipes_in_the_place_of_outputs_do_not_block(self):
        self.suite("ok")
        (self.folder / "out").mkdir()
        for name in ("journal.jsonl", "run.json", "verdict.json", "junit.xml", "summary.md"):
            os.mkfifo(self.folder / "out" / name)
        done = self.run_tool(*self.words("--out", "out", "--quiet", "--report", "out/summary.md"),
                             code=3)
        self.assertIn("summary.md: this pipe has no reader", done.stderr)
        self.document("out")


del Runs  # a base, no test

if __name__ == "__main__":
    tool.main()
