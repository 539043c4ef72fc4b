# SPDX-License-Identifier: Apache-2.0
"""What a program's baseline costs, and how it ends: with the mocks of driver and CUPTI instead of a GPU."""

import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

import tool

BUILD = pathlib.Path(os.environ["PERFGATE_BUILD_DIR"])
PROGRAM = BUILD / "bin" / "mock_program"
MOCKS = BUILD / "tests" / "inject" / "mocks"
CUBINS = BUILD / "tests" / "cubins"

# Comments, quotes and order must survive what perfgate writes.
SUITE = """# gates of the team
name: training
workloads:
  - command: [./app]   # no shell
    name: 'train'
    env: {{LD_LIBRARY_PATH: "{mocks}"}}
    timeout: 20s
    measure:
      step: {{nvtx: "step*"}}
      wild: {{nvtx: "wild*"}}
    tolerances:
      wild.gpu_time:   "5%"   # see the wiki
      step.gpu_time: 5%
"""

# $n is the number of the process.
APP = """#!/bin/sh
echo "${{PERFGATE_RECORD_LEVEL:-bare}}" >> starts
n=$(wc -l < starts)
export MOCK_WORK_NS={work_ns}
exec "{program}" module {cubins}/stack.cubin push step kernels {kernels} no_stack {more} pop push wild kernels {wild} own_stack pop
"""


@unittest.skipUnless(PROGRAM.exists() and (CUBINS / "stack.cubin").exists(), "built without nvcc or CUDA's headers")
class FirstBaseline(tool.Case):
    def setUp(self):
        super().setUp()
        self.suite()
        self.app()

    def suite(self, *changes):
        text = SUITE.format(mocks=MOCKS)
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        return self.write("suite.yaml", text)

    def app(self, work_ns=5000, kernels=10, wild=10, more=""):
        self.script("app", APP.format(work_ns=work_ns, kernels=kernels, wild=wild, more=more, program=PROGRAM,
                                      cubins=CUBINS))

    def starts(self):
        """What was started since the last call."""
        file = self.folder / "starts"
        lines = file.read_text().split() if file.exists() else []
        file.unlink(missing_ok=True)
        return lines

    def refresh(self, *words, code=0):
        return self.run_tool("baseline", "refresh", *(words or ["suite.yaml"]), "--backend", "host", code=code)

    def run_suite(self, *words, code=0):
        return self.run_tool("run", "suite.yaml", "--backend", "host", *words, code=code)

    def stored(self):
        found = list((self.folder / "baselines").glob("*/training.json"))
        if not found:
            return {}
        return {name.split("/")[1]: case for name, case in self.read_json(found[0])["cases"].items()}

    def processes(self):
        series = self.stored()["step"]["metrics"]["gpu_time"]
        return series.get("repeated") or len(series["processes"])

    def verdicts(self):
        return {case["id"].split("/")[1]: case
                for suite in self.read_json("perfgate-out/verdict.json")["suites"] for case in suite["cases"]}

    WILD = "$((10 + n % 2 * 10))"

    def test_what_is_fit_is_stored_and_the_others_name_the_tolerance_that_would_do(self):
        self.app(wild=self.WILD)
        done = self.refresh(code=4)
        self.assertEqual(["step"], list(self.stored()))
        line, = (line for line in done.stdout.splitlines() if "not stored" in line and "train/wild" in line)
        needed, = re.findall(r"disagree about gpu_time .*gpu_time: (\d\S*)% would do", line)
        # No second number for the same case.
        self.assertEqual([needed], re.findall(r"(\S+) % covers all \(worst: train/wild\)", done.stdout))
        self.assertNotIn("smaller than the spread allows", done.stdout)
        # What the baseline has of such a case stays.
        self.app()
        self.refresh()
        before = self.stored()["wild"]
        self.app(wild=self.WILD)
        self.refresh(code=4)
        self.assertEqual(before, self.stored()["wild"])

    def test_if_nothing_is_fit_nothing_is_stored(self):
        self.suite(("      step.gpu_time: 5%\n", ""))
        self.app(wild=self.WILD)
        done = self.refresh("suite.yaml", "--filter", "train/wild", code=2)
        self.assertRegex(done.stderr, r"gpu_time: \d\S*% would do")
        self.assertEqual({}, self.stored())

    def test_a_run_that_was_measured_is_stored_by_the_suite_of_now(self):
        self.app(wild=self.WILD)
        self.refresh(code=4)
        self.starts()
        self.suite(('"5%"', '"200%"'))
        self.refresh("perfgate-out/run.json", "suite.yaml")
        self.assertEqual(["step", "wild"], sorted(self.stored()))
        self.assertEqual([], self.starts())
        # Not by a suite that measures something else, or another suite.
        self.suite(('nvtx: "wild*"', 'nvtx: "w*"'))
        self.assertIn("something else", self.refresh("perfgate-out/run.json", "suite.yaml", code=2).stderr)
        self.suite(("name: training", "name: other"))
        self.assertIn("'other'", self.refresh("perfgate-out/run.json", "suite.yaml", code=2).stderr)

    def test_tolerances_are_written_into_the_suite_and_nothing_else_of_it_changes(self):
        self.app(wild=self.WILD)
        self.refresh(code=4)
        before = (self.folder / "suite.yaml").read_text()
        done = self.refresh("perfgate-out/run.json", "suite.yaml", "--tolerances")
        after = (self.folder / "suite.yaml").read_text()
        self.assertRegex(after, r'wild.gpu_time:   "\d+%"   # see the wiki')
        changed = [(a, b) for a, b in zip(before.splitlines(), after.splitlines(), strict=True) if a != b]
        self.assertEqual(1, len(changed), changed)
        self.assertIn("train/wild.gpu_time: the suite's tolerance is now " + re.search(r'wild.gpu_time: +"(\d+%)"', after)[1], done.stdout)
        self.assertEqual(["step", "wild"], sorted(self.stored()))
        # With what it wrote the same run is fit.
        self.refresh("perfgate-out/run.json", "suite.yaml")
        self.assertIn("suite file", self.refresh("perfgate-out/run.json", "--tolerances", code=2).stderr)

    def test_where_nothing_is_fit_a_command_takes_what_was_measured(self):
        self.suite(("command: [./app]", "matrix: {k: [5, 10]}\n    command: [./app, '{k}']"))
        varied = "$((10 + n / 2 % 2 * $1))"
        self.app(kernels=varied, wild=varied)
        said = self.refresh(code=2).stderr
        self.assertNotEqual([], self.starts(), said)
        words, = re.findall(r"would do: perfgate baseline refresh (--tolerances \S+ suite.yaml)$", said, re.MULTILINE)
        done = self.refresh(*words.split())
        self.assertEqual([], self.starts())
        # One place states it for both cases.
        after = (self.folder / "suite.yaml").read_text()
        for label in ("step", "wild"):
            stated = re.search(rf'{label}.gpu_time: +"?(\d+%)', after)[1]
            self.assertEqual([stated] * 2, re.findall(rf"train/{label}\[.*gpu_time: the suite's tolerance is now (\S+)", done.stdout))

    def test_a_suite_that_is_edited_meanwhile_keeps_the_edit(self):
        self.app(wild=self.WILD)
        script = self.folder / "app"
        script.write_text(script.read_text().replace("n=", "grep -q edited suite.yaml || echo '# edited' >> suite.yaml\nn=", 1))
        done = self.refresh("suite.yaml", "--tolerances", code=2)
        self.assertIn("suite.yaml: it was changed while this measured; nothing was stored", done.stderr)
        self.assertTrue((self.folder / "suite.yaml").read_text().endswith("# edited\n"))
        self.assertEqual({}, self.stored())
        self.refresh("perfgate-out/run.json", "suite.yaml", "--tolerances")
        self.assertEqual(["step", "wild"], sorted(self.stored()))

    def test_a_tolerance_that_other_cases_share_is_raised_for_the_case_alone(self):
        self.suite(("command: [./app]", 'command: [./app, "{mode}"]'),
                   ("    timeout", "    matrix: {mode: [0, 1]}\n    timeout"))
        self.app(wild="$((10 + n % 3 * 10 * $1))")
        self.refresh(code=4)
        before = (self.folder / "suite.yaml").read_text()
        self.refresh("perfgate-out/run.json", "suite.yaml", "--tolerances")
        after = (self.folder / "suite.yaml").read_text()
        self.assertTrue(after.startswith(before))
        self.assertIn('match: "train/wild[mode=1]"', after)
        self.assertEqual(4, len(self.stored()))

    def test_a_first_baseline_takes_at_most_12_starts_and_stops_where_the_times_are_steady(self):
        self.refresh()
        self.assertEqual(9 * ["callbacks"], self.starts())
        self.suite(("wild.gpu_time", "wild.span: 10000%\n      wild.gpu_time"))
        self.app(wild="$((10 + n % 2))")
        self.refresh(code=(0, 4))
        starts = self.starts()
        self.assertEqual((3, 9), (starts.count("ranges"), starts.count("callbacks")))
        self.refresh("suite.yaml", "--processes", 5, code=(0, 4))
        self.assertEqual(5, self.starts().count("callbacks"))

    def test_it_says_how_long_it_takes(self):
        done = self.refresh()
        self.assertRegex(done.stderr, r"2 cases of 1 program: at most 12 starts")
        self.assertRegex(done.stderr, r"2 cases, about 12 starts of \S+ s: ")
        self.assertNotIn("starts", self.refresh("suite.yaml", "--quiet").stderr)

    # --- unchanged work

    def test_one_process_shows_a_program_that_launches_the_same(self):
        self.refresh()
        self.starts()
        self.run_suite("--config", str(tool.SOURCE / "configs/ci.yaml"))
        self.assertEqual(["callbacks"], self.starts())
        note, = (note for suite in self.read_json("perfgate-out/verdict.json")["suites"] for note in suite["notes"]
                 if "shown by their code" in note)
        self.assertIn("code: false", note)
        self.assertEqual({"pass"}, {case["verdict"] for case in self.verdicts().values()})
        # A suite can do without.
        self.suite(("    timeout", "    code: false\n    timeout"))
        self.run_suite()
        self.assertGreaterEqual(len(self.starts()), 3)
        self.assertNotIn("shown by", str(self.read_json("perfgate-out/verdict.json")))
        # And --changed-only stops there, however many processes there were to be.
        self.suite()
        self.run_suite("--processes", 4, "--changed-only")
        self.assertEqual(1, len(self.starts()))

    def test_a_time_beyond_its_tolerance_is_not_excused_silently(self):
        self.refresh()
        self.starts()
        self.app(work_ns=6000)
        self.run_suite("--config", str(tool.SOURCE / "configs/ci.yaml"), code=4)
        self.assertGreater(len(self.starts()), 1)
        for case in self.verdicts().values():
            self.assertEqual("inconclusive", case["verdict"])
            self.assertIn("+20", case["metrics"][0]["sentence"])
            self.assertEqual("nothing_launched_changed", case["metrics"][0]["reason_code"])
        # More than a machine explains is invalid whatever the policy.
        self.app(work_ns=10000)
        self.run_suite(code=3)

    def test_other_launches_are_measured_as_ever(self):
        self.refresh()
        self.starts()
        for change in ({"kernels": 13}, {"more": "grid 99 kernels 3 no_stack"}, {"more": "copy 4096"}):
            with self.subTest(change):
                self.app(**change)
                self.run_suite(code=(0, 1, 3))
                self.assertGreaterEqual(len(self.starts()), 3)
                self.assertNotIn("by its code", str(self.verdicts()["step"]["metrics"]))
        self.app(kernels=13)
        self.run_suite(code=1)
        self.assertEqual("regressed", self.verdicts()["step"]["verdict"])

    def test_a_count_that_fails_alone_takes_no_more_than_the_first_processes(self):
        syncs = ("step.gpu_time: 5%", "step.gpu_time: 5%\n      step.syncs: 0")
        self.suite(syncs)
        self.refresh()
        for code, processes in (("true", 1), ("false", 3)):
            self.starts()
            self.suite(syncs, ("    timeout", f"    code: {code}\n    timeout"))
            self.app(more="sync")
            self.run_suite(code=1)
            self.assertEqual(processes, len(self.starts()))
            self.assertEqual({"gpu_time": "pass", "syncs": "regressed"},
                             {metric["metric"]: metric["verdict"] for metric in self.verdicts()["step"]["metrics"]})

    def test_a_program_that_takes_half_as_long_again_is_decided_in_six_starts(self):
        self.suite(('      wild.gpu_time:   "5%"   # see the wiki\n', ""))
        self.refresh()
        self.starts()
        self.app(kernels=15)
        self.run_suite(code=1)
        self.assertEqual(6, len(self.starts()))

    def test_host_times_are_measured_as_they_are(self):
        self.suite(("step.gpu_time: 5%", "step.gpu_time: 5%\n      step.span: 10000%"),
                   ("    timeout", "    max_overhead: 10000%\n    timeout"))
        self.refresh()
        self.starts()
        self.run_suite()
        # What recording costs is the baseline's, so that no bare run is needed.
        starts = self.starts()
        self.assertGreaterEqual(starts.count("callbacks"), 3)
        self.assertEqual(0, starts.count("ranges"))
        wild = next(case for case in self.read_json("perfgate-out/run.json")["suites"][0]["cases"]
                    if case["id"] == "train/wild")
        self.assertEqual(3, len(wild["metrics"]["gpu_time"]["batches"]), "its code is the baseline's: one alone would do")
        # Where a time looks slower, it is measured.
        self.app(kernels=20)
        self.run_suite(code=1)
        self.assertEqual(3, self.starts().count("ranges"))
        overhead = next(case for case in self.read_json("perfgate-out/run.json")["suites"][0]["cases"]
                        if case["id"] == "train/step")["metrics"]["tracing_overhead"]
        self.assertEqual(3, len(overhead["batches"]))

    def test_two_processes_are_enough_where_a_time_may_double(self):
        # Less than that may hide a mode in which some processes are slow.
        for tolerance, enough in (("10000%", lambda starts: starts == 2), ("99%", lambda starts: starts >= 3)):
            with self.subTest(tolerance):
                self.suite(("step.gpu_time: 5%", f"step.span: {tolerance}"), ("    timeout", "    max_overhead: 10000%\n    timeout"))
                self.refresh(code=(0, 4))
                self.starts()
                self.run_suite(code=(0, 1, 3))
                self.assertTrue(enough(len(self.starts())))

    def test_two_processes_are_not_enough_where_something_else_is_strict(self):
        self.app(more=11 * "pop push step kernels 10 no_stack ")  # 12 samples have a tail
        for gates, enough in (("step.span: {worse: 10000%, tail: 9000%}", True), ("step.span: {worse: 10000%, tail: 99%}", False),
                              ("step.span: 10000%\n    expect:\n      step.span: '<= 100 s'", False)):
            with self.subTest(gates):
                self.suite(("step.gpu_time: 5%", gates), ("    timeout", "    max_overhead: 10000%\n    timeout"))
                self.refresh(code=(0, 4))
                self.starts()
                self.run_suite(code=(0, 1, 3, 4))
                self.assertEqual(enough, len(self.starts()) == 2)

    def test_later_runs_of_the_same_code_join_a_small_baseline(self):
        self.refresh()
        before = self.processes()
        self.run_suite("--processes", 5)
        done = self.refresh("perfgate-out/run.json")
        self.assertIn("joined", done.stdout)
        self.assertEqual(before + 5, self.processes())
        for _ in range(3):
            self.run_suite("--processes", 5)
            self.refresh("perfgate-out/run.json")
        self.assertEqual(20, self.processes())
        self.run_tool("baseline", "verify")

    # --- small things

    def test_a_label_that_only_documents_is_reported(self):
        self.suite(('      wild.gpu_time:   "5%"   # see the wiki\n', ""))
        self.run_tool("validate", "suite.yaml")
        self.refresh()
        self.app(wild=40)
        self.run_suite()
        self.assertIn("nothing gates it: its values are only reported", self.verdicts()["wild"]["notes"])
        # Where nothing is gated at all, that is a mistake.
        self.suite(('      wild.gpu_time:   "5%"   # see the wiki\n      step.gpu_time: 5%\n', "      {}\n"))
        self.assertIn("nothing gates", self.run_tool("validate", "suite.yaml", code=2).stderr)

    def test_that_there_is_no_canary_is_said_once(self):
        self.refresh()
        done = self.run_suite("--set", "canary=true")
        said = " ".join((done.stdout + done.stderr).split())
        self.assertEqual(1, said.count("canary was not tried"))

    def test_tiny_kernels_that_a_label_also_matches_are_named(self):
        self.suite(('wild: {nvtx: "wild*"}', 'wild: {kernel: "*_stack"}'), ('"5%"', '"900%"'))
        self.script("app", APP.format(work_ns="50000", kernels=10, wild=0, more="", program=PROGRAM, cubins=CUBINS)
                    .replace("exec ", f'MOCK_WORK_NS=2000 "{PROGRAM}" module {CUBINS}/stack.cubin push step kernels 10 '
                             "own_stack pop push wild kernels 1 own_stack pop; exec "))
        done = self.refresh(code=(0, 4))
        self.assertRegex(done.stdout, r"train/wild also matches own_stack, which takes 2.000 µs beside 50.00 µs of "
                                      r"no_stack: .* at least 3.2 %")

    def test_signals_leave_no_recording_behind(self):
        folder = self.folder / "tmp"
        folder.mkdir()
        # The third ends perfgate at once, whatever the program does.
        self.app(more="sleep 20000")
        text = (self.folder / "app").read_text()
        self.script("app", text.replace("exec ", "trap '' TERM\n"))
        for signals in (1, 3):
            running = subprocess.Popen([tool.PERFGATE, "run", "suite.yaml", "--backend", "host", "--quiet"],
                                       cwd=self.folder, env={**os.environ, "TMPDIR": str(folder)},
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            end = time.monotonic() + tool.PATIENCE_S
            while not list(folder.glob("perfgate-recording*/*")) and time.monotonic() < end:
                time.sleep(0.02)
            self.assertTrue(list(folder.glob("perfgate-recording*/*")))
            for _ in range(signals):
                running.send_signal(signal.SIGTERM)
                time.sleep(0.02)
            self.assertEqual(130, running.wait(tool.PATIENCE_S))
            self.assertEqual([], list(folder.glob("perfgate-recording*")))


if __name__ == "__main__":
    tool.main()
