# SPDX-License-Identifier: Apache-2.0
"""A program in a suite, from recording to verdict: with the mocks of driver and CUPTI instead of a GPU."""

import html
import os
import pathlib
import re
import shutil
import subprocess
import time
import unittest
import unittest.mock
import xml.etree.ElementTree as xml

import tool

BUILD = pathlib.Path(os.environ["PERFGATE_BUILD_DIR"])
PROGRAM = BUILD / "bin" / "mock_program"
MOCKS = BUILD / "tests" / "inject" / "mocks"
CUBINS = BUILD / "tests" / "cubins"

SUITE = """
name: training
workloads:
  - command: [./app, "{{steps}}"]
    name: train
    env: {{LD_LIBRARY_PATH: "{mocks}"}}
    timeout: 100s
    matrix: {{steps: [4]}}
    measure:
      step: {{nvtx: "step*", skip: 1}}
      flash: {{kernel: "*flash*", within: "step*", skip: 1}}
    tolerances:
      step.gpu_time: 5%
      step.kernels: 0
      flash.gpu_time: 5%
      program.gpu_time: 5%
      program.kernels: 0
    expect:
      step.pageable_copies: "<= 1"
      step.syncs: "<= 1"
    check: [./check]
"""

# What a training program does with the device: in each step 10 kernels of flash attention, 10 others, a copy.
# Work is short against what the host needs to submit it, so that it never overlaps.
APP = """#!/bin/sh
words="push load kernels 1 init pop"
for step in $(seq $1); do words="$words push step{flash} kernels 10 gemm copy 4096 {more} sync pop sleep 1"; done
{first}
MOCK_WORK_NS={work_ns} "{program}" $words
{last}
"""

HOST = ["--backend", "host", "--processes", 3]


@unittest.skipUnless(PROGRAM.exists(), "built without CUDA's headers: programs cannot be recorded")
class Command(tool.Case):
    def setUp(self):
        super().setUp()
        self.suite()
        self.app()
        self.script("check", "#!/bin/sh\nexit 0\n")

    def app(self, flash=" kernels 10 flash_fwd", more="", work_ns=5000, first="", last=""):
        self.script("app", APP.format(flash=flash, more=more, work_ns=work_ns, first=first,
                                      last=last, program=PROGRAM))

    def suite(self, *changes):
        text = SUITE.format(mocks=MOCKS)
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.write("suite.yaml", text)

    def run_suite(self, *words, processes=3, **kwargs):
        return self.run_tool("run", "suite.yaml", "--backend", "host", "--processes", processes, *words, **kwargs)

    def refresh(self, processes=3):
        self.run_tool("baseline", "refresh", "suite.yaml", "--backend", "host", "--processes", processes)

    def cases(self):
        run = self.read_json("perfgate-out/run.json")
        return {case["id"].split("/")[1].split("[")[0]: case
                for suite in run["suites"] for case in suite["cases"]}

    def verdicts(self):
        return {case["id"].split("/")[1].split("[")[0]: case
                for suite in self.read_json("perfgate-out/verdict.json")["suites"] for case in suite["cases"]}

    def value(self, label, metric):
        return self.cases()[label]["metrics"][metric]["value"]

    def test_names_may_contain_a_hyphen_and_begin_with_a_digit(self):
        self.suite(("name: train", "name: 2-train"), ("      step:", "      my-step:"),
                   ("      step.gpu_time", "      my-step.gpu_time"), ("      step.kernels", "      my-step.kernels"),
                   ("step.pageable_copies:", "my-step.pageable_copies:"), ("step.syncs:", "my-step.syncs:"))
        self.run_suite()
        relations = self.read_json("perfgate-out/verdict.json")["suites"][0]["relations"]
        self.assertEqual(["pass", "pass"], [relation["verdict"] for relation in relations])

    def test_the_values_of_ranges_kernels_and_the_program(self):
        done = self.run_suite()
        self.assertIn("baseline", done.stdout)
        cases = self.cases()
        self.assertEqual(["train/step[steps=4]", "train/flash[steps=4]", "train/program[steps=4]"],
                         [case["id"] for case in cases.values()])
        for case in cases.values():
            self.assertEqual("measured", case["status"], case)
            self.assertEqual(["./app", "4"], case["command"])
            self.assertEqual([{"name": "LD_LIBRARY_PATH", "value": str(MOCKS)}], case["env"])
            self.assertTrue(case["verification"]["passed"])
        self.assertEqual(21 * 5000, self.value("step", "gpu_time"))
        self.assertEqual(20, self.value("step", "kernels"))
        self.assertEqual(20, self.value("step", "host_launches"))
        self.assertEqual(1, self.value("step", "copies"))
        self.assertEqual(1, self.value("step", "pageable_copies"))
        self.assertEqual(4096, self.value("step", "copied_bytes"))
        self.assertEqual(1, self.value("step", "syncs"))
        self.assertEqual(10 * 5000, self.value("flash", "gpu_time"))
        self.assertEqual(10, self.value("flash", "kernels"))
        self.assertEqual((1 + 4 * 21) * 5000, self.value("program", "gpu_time"))
        self.assertEqual(1 + 4 * 20, self.value("program", "kernels"))
        batches = cases["step"]["metrics"]["gpu_time"]["batches"]
        self.assertEqual([0, 1, 2], [batch["process"] for batch in batches])
        self.assertEqual([3, 3, 3], [len(batch["samples"]) for batch in batches])
        self.assertEqual("activity/callbacks", cases["step"]["metrics"]["gpu_time"]["method"])
        self.assertEqual("activity/callbacks/behind-backlog", cases["step"]["metrics"]["span"]["method"])
        self.assertEqual("activity/callbacks", cases["program"]["metrics"]["span"]["method"])
        self.assertEqual("activity/api", cases["step"]["metrics"]["syncs"]["method"])

    def test_refresh_then_pass_then_slower_then_faster(self):
        self.refresh()
        # Three processes against three give no interval: that the time is within its tolerance is not shown.
        self.assertIn("not shown", self.run_suite().stdout)
        self.assertIn("3 pass", self.run_suite(processes=5).stdout)

        # Nor can it be judged that it is not, however often it is measured again: no round that cannot decide is measured.
        self.app(work_ns=6000)
        done = self.run_suite("--verbose", code=3)
        self.assertIn("too few processes to judge it", done.stdout)
        self.assertIn("9 on each side are enough", done.stdout)
        self.app()
        self.refresh(processes=9)

        self.app(work_ns=6000)
        done = self.run_suite("--verbose", code=1)
        self.assertRegex(done.stdout, r"gpu_time.*→.*\+20")
        junit = xml.parse(self.folder / "perfgate-out/junit.xml").getroot()
        self.assertEqual(3, len(junit.findall(".//failure")))
        # A regression is confirmed by further processes; the rule is that of plugins' cases.
        rounds = {batch["round"] for batch in
                  self.cases()["step"]["metrics"]["gpu_time"]["batches"] if "round" in batch}
        self.assertIn(1, rounds)
        # The stored run says the same, and nothing is executed.
        (self.folder / "app").unlink()
        self.run_tool("compare", "perfgate-out/run.json", code=1)

        self.app(work_ns=4000)
        self.assertIn("3 improved", self.run_suite(processes=9).stdout)

    def test_a_label_that_was_edited_is_compared_with_nothing(self):
        self.refresh()
        self.suite(('nvtx: "step*", skip: 1', 'nvtx: "step*", skip: 2'), ("step.gpu_time: 5%", "step.gpu_time: 6%"))
        done = self.run_suite(processes=5, code=3)
        self.assertIn("(measure nvtx 'step*', skip 1 → nvtx 'step*', skip 2)", " ".join(done.stdout.split()))
        self.assertEqual({"step": "invalid", "flash": "pass", "program": "pass"},
                         {label: case["verdict"] for label, case in self.verdicts().items()})
        self.suite(("env: {", 'env: {MODE: "quick", '))
        self.run_suite(processes=5, code=3)
        self.assertEqual({"invalid"}, {case["verdict"] for case in self.verdicts().values()})
        self.assertIn("(env.MODE not stated → quick)", self.verdicts()["program"]["reason"])
        self.refresh()
        self.run_suite(processes=5)
        # What only the command line sets is no edit, and both sides of ab have one suite.
        self.run_tool("ab", "suite.yaml", *HOST, "--base", "env:MODE=slow", code=(0, 4))
        self.assertNotIn("the suites of base and head differ", str(self.verdicts()))

    def test_more_kernels_fail_by_their_number(self):
        self.refresh()
        self.app(flash=" kernels 11 flash_fwd")
        done = self.run_suite("--verbose", code=1)
        self.assertRegex(done.stdout, r"kernels.*20.*→.*21")

    def test_what_happened_to_the_kernels_is_in_every_report(self):
        self.refresh(processes=9)
        self.app(flash=" kernels 30 softmax_warp kernels 10 scale_rows")
        done = self.run_suite("--verbose", "--report", "report.html", "--report", "report.md", code=(1, 3))
        why = ("flash_fwd (10 per step, 50.00 µs) replaced by softmax_warp and 1 other (40 per "
               "step, 200.0 µs)")
        self.assertIn("why: " + why, done.stdout)
        for name in ("perfgate-out/junit.xml", "perfgate-out/verdict.json", "report.md", "report.html"):
            self.assertIn(why, (self.folder / name).read_text(), name)
        self.assertIn(why, self.run_tool("report", "perfgate-out/run.json", "--why", "--filter", "*step*").stdout)

        # Kernels within ranges are those of a range, whatever the label is called.
        run = {label: case["instance"] for label, case in self.cases().items()}
        self.assertEqual({"step": "step", "flash": "step*", "program": "run"}, run)

        self.app(more="kernels 5 gemm")
        done = self.run_suite(code=1)
        # The console wraps its lines.
        self.assertIn("called more often: gemm 10 → 15 per step (50.00 µs → 75.00 µs)", " ".join(done.stdout.split()))
        self.app(more="kernels 2 copy_rows")
        self.assertIn("added: copy_rows (2 per step, 10.00 µs)", self.run_suite(code=1).stdout)
        self.app(work_ns=6000)
        self.assertRegex(self.run_suite(code=1).stdout,
                         r"took longer: flash_fwd 10 per step \(50.00 µs → 60.00 µs\)")

    def test_more_registers_and_more_stack_of_a_kernel_fail(self):
        self.suite(("flash.gpu_time: 5%", "flash.registers: 0\n      flash.dynamic_smem: 0"),
                   ('step.syncs: "<= 1"', 'flash.registers: "<= 64"'))
        self.refresh()
        self.run_suite()
        self.assertEqual(32, self.value("flash", "registers"))
        self.assertNotIn("registers", self.cases()["step"]["metrics"])
        self.app(first="export MOCK_REGISTERS=80")
        done = self.run_suite("--verbose", code=1)
        self.assertRegex(done.stdout, r"registers.*32.*→.*80")
        self.assertIn("broken: train/flash.registers is 80 and should be at most 64", done.stdout)

        # The stack is in the machine code. Where that is not known it is no pass.
        self.suite(("flash.gpu_time: 5%", "flash.gpu_time: 5%\n      flash.stack: 0"))
        self.run_suite(code=3)
        missing = {each["metric"]: each["reason"] for each in self.cases()["flash"]["not_collected"]}
        self.assertRegex(missing["stack"], "the machine code of kernel flash_fwd is not known")

    @unittest.skipUnless((CUBINS / "stack.cubin").exists(), "built without nvcc")
    def test_the_stack_of_a_kernel_is_that_of_its_machine_code(self):
        self.suite(("*flash*", "{kernel}"), ("flash.gpu_time: 5%", "flash.stack: 0"))
        suite = (self.folder / "suite.yaml").read_text()
        report = (CUBINS / "stack.report").read_text()
        for kernel in ("no_stack", "own_stack"):
            self.write("suite.yaml", suite.replace("{kernel}", kernel))
            self.app(first=f'words="$words module {CUBINS}/stack.cubin"', flash=f" kernels 10 {kernel}")
            self.run_suite()
            stack = re.search(rf"properties for {kernel}\n\s*(\d+) bytes stack frame", report)
            self.assertEqual(int(stack.group(1)), self.value("flash", "stack"))
        self.write("suite.yaml", suite.replace("{kernel}", "*_stack"))
        self.app(first=f'words="$words module {CUBINS}/stack.cubin"', flash=" kernels 10 no_stack")
        self.refresh()
        self.app(first=f'words="$words module {CUBINS}/stack.cubin"', flash=" kernels 10 own_stack")
        self.assertRegex(self.run_suite(code=1).stdout, r"stack.*0.*→.*\d+")

    # Three steps of 20 kernels of 5 µs, the first and the last of which take longer; only the second is profiled. The
    # profiler starts within the first step.
    PROFILED = """#!/bin/sh
step="kernels 10 flash_fwd kernels 10 gemm sync pop"
MOCK_WORK_NS=5000 "{program}" push step1 kernels 9 gemm start $step \\
    push step2 $step stop push step3 kernels 30 gemm $step
"""

    def capture(self, capture):
        self.suite(("    timeout", f"    capture: {capture}\n    timeout"), ("skip: 1", "skip: 0"))
        self.script("app", self.PROFILED.format(program=PROGRAM))

    def test_only_what_the_program_profiles_counts(self):
        self.capture("profiler_api")
        self.refresh()
        self.run_suite()
        self.assertEqual({"step": 20, "flash": 10, "program": 40},
                         {label: self.value(label, "kernels") for label in self.cases()})
        self.assertEqual([1], [len(batch["samples"]) for batch in
                               self.cases()["step"]["metrics"]["gpu_time"]["batches"][:1]])
        self.assertEqual(1, self.value("step", "syncs"))
        self.assertEqual(20 * 5000, self.value("step", "gpu_time"))
        kernels = {kernel["name"]: kernel["launches"] for kernel in self.cases()["program"]["kernels"]}
        self.assertEqual({"flash_fwd": 20, "gemm": 20}, kernels)
        # More work outside changes nothing, inside it does.
        app = (self.folder / "app").read_text()
        self.script("app", app.replace("kernels 30 gemm", "kernels 60 gemm"))
        self.run_suite()
        self.script("app", app.replace("push step2", "push step2 kernels 1 gemm"))
        self.assertIn("train/step[steps=4]", self.run_suite(code=1).stdout)
        # Without a stop the third step counts, too.
        self.script("app", app.replace(" stop ", " "))
        self.run_suite(code=1)
        self.assertEqual(90, self.value("program", "kernels"))

    def test_a_rank_that_is_no_longer_recorded_is_invalid(self):
        ranks = '#!/bin/sh\nexport MOCK_WORK_NS=5000\nfor rank in 0 1; do\n  RANK=$rank {unset} "{program}" ' \
                'push stepA kernels 9 flash_fwd pop push stepB kernels 9 flash_fwd kernels 9 gemm pop || exit 3\ndone\n'
        self.script("app", ranks.format(unset="", program=PROGRAM))
        self.refresh()
        self.run_suite()
        self.assertEqual("activity/callbacks/2 processes", self.cases()["step"]["metrics"]["gpu_time"]["method"])
        self.assertEqual("activity/api/2 processes", self.cases()["step"]["metrics"]["syncs"]["method"])
        self.script("app", ranks.format(unset="$([ $rank = 0 ] || echo env -u CUDA_INJECTION64_PATH)", program=PROGRAM))
        self.run_suite(code=3)
        # By its metrics, or as a whole if perfgate saw the process that is not recorded.
        self.assertEqual({"invalid"}, {case["verdict"] for case in self.verdicts().values()})

    # While its recorded run lasts, the program has started another one, without its environment: longer than perfgate
    # takes to look for processes, on a slow machine, too.
    SILENT = ('[ "$PERFGATE_RECORD_LEVEL" != callbacks ] || '
              'env -i LD_LIBRARY_PATH="$LD_LIBRARY_PATH" {words} "{program}" kernels 500 gemm sleep 2000')

    def test_work_of_a_process_without_the_recorder_makes_the_cases_invalid(self):
        self.refresh()
        self.app(first=self.SILENT.format(words="", program=PROGRAM))
        self.run_suite(processes=5, code=3)
        for case in self.verdicts().values():
            self.assertEqual("invalid", case["verdict"])
            self.assertIn("kernels 500 gemm", case["reason"])
            self.assertIn("CUDA_INJECTION64_PATH", case["reason"])
        # Nor can it become what others are compared with.
        refused = self.run_tool("baseline", "refresh", "suite.yaml", *HOST, code=2)
        self.assertIn("left no recording", refused.stderr)
        # Later batches count as well as the first.
        self.app(first=f'if [ -e silent ]; then {self.SILENT.format(words="", program=PROGRAM)}; fi',
                 last='[ "$PERFGATE_RECORD_LEVEL" != callbacks ] || touch silent')
        self.run_suite(processes=5, code=3)
        self.assertEqual({"invalid"}, {case["verdict"] for case in self.verdicts().values()})

    def test_work_of_a_process_without_the_recorder_within_the_tolerances_is_noted(self):
        self.suite(("step.gpu_time: 5%", "step.gpu_time: 5000%"), ("flash.gpu_time: 5%", "flash.gpu_time: 5000%"),
                   ("program.gpu_time: 5%", "program.gpu_time: 5000%"))
        self.app(first=self.SILENT.format(words="setsid", program=PROGRAM))
        self.run_suite()
        for case in self.verdicts().values():
            self.assertTrue(any("left no recording" in note for note in case["notes"]), case)
        # With its environment it is recorded like the rest, and without CUDA there is nothing to record.
        for first in (self.SILENT.replace("env -i", "env"), "env -i sleep 0.5"):
            self.app(first=first.format(words="", program=PROGRAM))
            self.run_suite(code=(0, 3))
            self.assertNotIn("left no recording", str(self.verdicts()))

    SPLIT = "sync pop push step kernels 10 flash_fwd kernels 10 gemm copy 4096"

    def test_other_instances_than_the_baselines_are_noted_and_can_be_gated(self):
        self.refresh()
        self.run_suite()
        self.assertEqual([3, 3], [self.value(label, "instances") for label in ("step", "flash")])
        self.assertNotIn("instances", self.cases()["program"]["metrics"])
        self.assertNotIn("values are per instance", str(self.verdicts()))
        self.app(more=self.SPLIT)
        done = self.run_suite("--verbose", processes=5, code=1)  # program.kernels
        note = "7 instances per process, the baseline has 3: values are per instance"
        self.assertIn(note, " ".join(done.stdout.split()))
        for label in ("step", "flash"):
            self.assertEqual("pass", self.verdicts()[label]["verdict"])
            self.assertIn(note, self.verdicts()[label]["notes"])
        self.suite(("step.kernels: 0", "step.kernels: 0\n      step.instances: 0"),
                   ('step.syncs: "<= 1"', 'step.syncs: "<= 1"\n      flash.instances: "== 3"'))
        done = self.run_suite("--verbose", code=1)
        self.assertRegex(done.stdout, r"instances.*3.*→.*7")
        self.assertIn("flash.instances is 7 and should be exactly 3", done.stdout)
        self.assertNotIn(note, self.verdicts()["step"].get("notes", []))

    def test_a_range_that_never_ends_is_noted(self):
        self.refresh()
        app = (self.folder / "app").read_text()
        self.script("app", app.replace('" $words', '" $words push step5 kernels 500 gemm'))
        self.run_suite(code=1)
        self.assertIn("1 NVTX range that matches 'step*' never ended: what was launched there is in none",
                      self.verdicts()["step"]["notes"])

    def test_nothing_in_the_capture_range_is_an_error(self):
        self.capture("profiler_api")
        self.refresh()
        app = (self.folder / "app").read_text()
        for old, new, reason in (
                (" start ", " ", "the program never called cudaProfilerStart()"),
                ("push step2", "stop push step2",
                 "3 NVTX ranges match 'step*', none wholly in the capture range (profiler_api)")):
            with self.subTest(reason):
                self.assertIn(old, app)
                self.script("app", app.replace(old, new))
                self.assertIn(reason, " ".join(self.run_suite(code=3).stdout.split()))
        for capture, reason in (
                ("{after_launches: 99}", "the program made 99 kernel launches, which leaves none after the first 99"),
                ("{range: step}", "the program opened no NVTX range 'step'")):
            with self.subTest(capture):
                self.capture(capture)
                self.assertIn(reason, " ".join(self.run_suite(code=3).stdout.split()))

    def test_launches_and_ranges_restrict_what_counts(self):
        self.capture("{after_launches: 29}")
        self.run_suite()
        self.assertEqual({"step": 35, "flash": 10, "program": 70},
                         {label: self.value(label, "kernels") for label in self.cases()})
        self.capture("{range: step3}")
        self.run_suite()
        self.assertEqual({"step": 50, "flash": 10, "program": 50},
                         {label: self.value(label, "kernels") for label in self.cases()})

    def test_two_sizes_of_a_kernel_are_two_cases(self):
        self.suite(('flash: {kernel: "*flash*", within: "step*", skip: 1}',
                    "camera: {kernel: flash_fwd, grid: 8}\n"
                    "      lidar: {kernel: flash_fwd, grid: [64], block: [128, 1, 1]}"),
                   ("flash.gpu_time: 5%", "camera.gpu_time: 5%\n      lidar.kernels: 0"))
        self.app(flash=" kernels 10 flash_fwd grid 64 kernels 3 flash_fwd grid 8")
        self.run_suite()
        self.assertEqual((40, 12), (self.value("camera", "kernels"), self.value("lidar", "kernels")))
        self.assertEqual([[64, 1, 1]], [kernel["grid"] for kernel in self.cases()["lidar"]["kernels"]])
        self.app(flash=" kernels 10 flash_fwd grid 32 kernels 3 flash_fwd grid 8")
        self.run_suite(code=3)
        self.assertIn("no kernel matches 'flash_fwd' with grid 64x1x1 and block 128x1x1: recorded: 'grid 32x1x1 "
                      "and block 128x1x1', 'grid 8x1x1 and block 128x1x1'", self.cases()["lidar"]["reason"])
        self.assertEqual("measured", self.cases()["camera"]["status"])

    def test_the_hottest_kernel_is_expected_by_name(self):
        self.suite(('step.syncs: "<= 1"', 'step.hottest_kernel: "== *flash*"\n      program.hottest_kernel: "!= softmax*"'))
        self.app(flash=" kernels 11 flash_fwd")
        self.run_suite("--prove")
        relation = self.read_json("perfgate-out/verdict.json")["suites"][0]["relations"][1]
        self.assertEqual("train/step.hottest_kernel is flash_fwd (52.4 % of the kernels' time), expected *flash*, "
                         "for [steps=4]", relation["sentence"])
        self.app(flash=" kernels 11 flash_fwd kernels 30 softmax")
        done = " ".join(self.run_suite(code=1).stdout.split())
        self.assertIn("train/step.hottest_kernel is softmax (58.8 % of the kernels' time) and should be *flash*", done)
        self.assertIn("train/program.hottest_kernel is softmax", done)
        self.suite(('step.syncs: "<= 1"', 'step.hottest_kernel: "== *"'))
        self.assertIn("cannot be broken", self.run_suite("--prove", code=3).stderr)

    def test_the_kernels_of_a_case(self):
        self.run_suite()
        kernels = self.cases()["step"]["kernels"]
        self.assertEqual(["flash_fwd", "gemm"], [kernel["name"] for kernel in kernels])
        self.assertEqual([10, 10], [kernel["launches"] for kernel in kernels])
        self.assertEqual([50000, 50000], [kernel["time_ns"] for kernel in kernels])
        self.assertEqual([128, 1, 1], kernels[0]["block"])
        self.assertEqual(["flash_fwd"], [kernel["name"] for kernel in self.cases()["flash"]["kernels"]])
        self.assertEqual([1, 40, 40],
                         [kernel["launches"] for kernel in self.cases()["program"]["kernels"]])

    def test_recording_that_costs_too_much_makes_what_depends_on_the_host_invalid(self):
        gated = ("program.kernels: 0", "program.idle_share: 100pt")
        bounded = ("    timeout", "    max_overhead: 10000%\n    timeout")
        self.suite(gated, bounded)
        self.app(first='[ -z "$CUDA_INJECTION64_PATH" ] || sleep 0.3')
        self.refresh()
        self.suite(gated)
        refused = self.run_tool("baseline", "refresh", "suite.yaml", *HOST, code=4)
        self.assertIn("above 'max_overhead' (5 %), and idle_share includes it", refused.stdout)
        done = self.run_suite("--verbose", processes=5, code=3)
        self.assertRegex(done.stdout, r"idle_share is invalid: .*recording overhead of the program is "
                                      r"\S+ % \(.* %\), above 'max_overhead' \(5 %\)")
        verdicts = {case["id"].split("/")[1].split("[")[0]: case
                    for case in self.read_json("perfgate-out/verdict.json")["suites"][0]["cases"]}
        self.assertEqual("invalid", verdicts["program"]["verdict"])
        self.assertEqual({"gpu_time": "pass", "idle_share": "invalid"},
                         {each["metric"]: each["verdict"] for each in verdicts["program"]["metrics"]})
        self.assertEqual("pass", verdicts["step"]["verdict"])
        # From the stored run the same.
        self.run_tool("compare", "perfgate-out/run.json", code=3)
        # With a bound that allows it, it is judged.
        self.suite(gated, bounded)
        self.run_suite()

    def test_every_report_has_the_overhead_with_its_interval(self):
        # Whatever recording costs on this machine.
        self.suite(("program.kernels: 0", "program.span: 10000%"), ("    timeout", "    max_overhead: 10000%\n    timeout"))
        done = self.run_suite("--report", "report.md", "--report", "report.html", "--report", "junit.xml", processes=3)
        notes = self.read_json("perfgate-out/verdict.json")["suites"][0]["notes"]
        note = next(each for each in notes if each.startswith("recording overhead of train: "))
        self.assertRegex(note, r"\S+ % \(\S+ to \S+ %\)")
        # The console wraps its lines.
        self.assertIn("note: " + note, " ".join(done.stdout.split()))
        for name in ("report.md", "report.html", "junit.xml"):
            self.assertIn(note, html.unescape((self.folder / name).read_text()).replace("\\", ""), name)

    def overhead(self, label):
        return self.cases()[label]["metrics"]["tracing_overhead"]

    def test_the_overhead_of_a_range_is_its_own(self):
        # What recording costs at the program's start is not a step's.
        gated = ("step.kernels: 0", "step.idle_share: 100pt")
        self.suite(gated, ("    timeout", "    max_overhead: 300%\n    timeout"))
        self.app(first='[ -z "$CUDA_INJECTION64_PATH" ] || sleep 0.3')
        self.run_suite()
        self.assertEqual("ranges", self.overhead("step")["method"])
        self.assertEqual("activity/callbacks", self.overhead("flash")["method"])
        self.assertEqual("activity/callbacks", self.overhead("program")["method"])
        self.assertGreater(self.overhead("program")["value"], 100)
        self.assertLess(self.overhead("step")["value"], self.overhead("program")["value"])

        # What it costs in each step is.
        self.suite(gated)
        self.app(first='[ -z "$CUDA_INJECTION64_PATH" ] || words=$(echo "$words" | sed "s/copy/sleep 50 copy/g")')
        done = self.run_suite("--verbose", code=3)
        self.assertRegex(done.stdout, r"idle_share is invalid: .*the recording overhead of the range is "
                                      r"\+\d{3,}\S* % \(.* %\), above 'max_overhead' \(5 %\)")
        self.assertIn("gate gpu_time, or raise", done.stdout)
        self.assertNotIn("use a longer run", done.stdout)

    def test_a_bare_run_without_the_ranges_compares_whole_processes(self):
        self.suite(("step.kernels: 0", "step.idle_share: 100pt"))
        self.app(first='[ -n "$CUDA_INJECTION64_PATH" ] || unset NVTX_INJECTION64_PATH')
        self.run_suite(code=(0, 3))  # a busy machine may lengthen the recorded runs
        self.assertEqual("activity/callbacks", self.overhead("step")["method"])

    def test_the_program_runs_bare_only_for_gates_that_need_it(self):
        counting = 'echo "${CUDA_INJECTION64_PATH:+recorded}" >> runs'
        self.app(first=counting)
        self.run_suite(processes=5)
        self.assertEqual(5 * ["recorded"], (self.folder / "runs").read_text().split("\n")[:-1])

        # In three processes for what recording costs, which a gate or an expectation may contain.
        for old, new in (("program.kernels: 0", "program.span: 10000%"),
                         ('step.syncs: "<= 1"', 'step.idle_share: "<= 100%"'),
                         ('step.syncs: "<= 1"', 'program.wall_time: "<= 1000s"')):
            (self.folder / "runs").unlink()
            self.suite((old, new), ("    timeout", "    max_overhead: 10000%\n    timeout"))
            self.run_suite(processes=5)
            runs = (self.folder / "runs").read_text().split("\n")[:-1]
            self.assertEqual((3, 5), (runs.count(""), runs.count("recorded")))
        for metric, count in (("gpu_time", 5), ("wall_time", 3), ("tracing_overhead", 3)):
            self.assertEqual(count, len(self.cases()["program"]["metrics"][metric]["batches"]), metric)

        (self.folder / "runs").unlink()
        self.suite(("program.kernels: 0", "program.wall_time: 1000%"))
        self.run_suite(processes=5)
        self.assertEqual(5, (self.folder / "runs").read_text().split("\n")[:-1].count(""))
        self.assertEqual(5, len(self.cases()["program"]["metrics"]["wall_time"]["batches"]))

    def test_more_gpus_than_there_are(self):
        self.suite(("    timeout", "    gpus: 2\n    timeout"))
        done = self.run_suite(code=2)
        self.assert_one_line(done.stderr, "a program needs 2 GPUs ('gpus'), but this machine has 0")

    HEALTHY = """
name: training
workloads:
  - command: [./app, "4"]
    name: train
    env: {{LD_LIBRARY_PATH: "{mocks}"}}
    timeout: 100s
    measure:
      step: {{nvtx: "step*", skip: 1}}
    health: {health}
"""

    def health(self, kernels="kernels 10 gemm", work_ns=5_000_000, sms=8, health="[step]", code=0):
        """Runs a program that gates nothing but its health: steps of long kernels that fill the GPU."""
        self.write("suite.yaml", self.HEALTHY.format(mocks=MOCKS, health=health))
        step = f"push step {kernels} pop"
        self.script("app", f"#!/bin/sh\nMOCK_SMS={sms} MOCK_WORK_NS={work_ns} exec \"{PROGRAM}\" {' '.join(4 * [step])}\n")
        done = self.run_suite(processes=1, code=code)
        relations = self.read_json("perfgate-out/verdict.json")["suites"][0]["relations"]
        return {each["relation"].split(" <")[0].split(" >")[0].removeprefix("train/step."): each for each in relations}

    def test_a_healthy_step_passes_and_each_gate_of_the_health_set_fails_by_what_it_is_about(self):
        relations = self.health()
        self.assertEqual(["pageable_copies", "syncs", "idle_share", "underfilled_share",
                          "exposed_communication_share", "gpu_time / train/step.host_launches"], list(relations))
        for relation in relations.values():
            self.assertEqual("pass", relation["verdict"], relation)
        for gate, found, sick in (
                ("pageable_copies", "is 1 and should be at most 0", {"kernels": "kernels 10 gemm copy 64"}),
                ("syncs", "is 1 (cuCtxSynchronize 1) and should be at most 0", {"kernels": "kernels 10 gemm sync"}),
                ("idle_share", "should be at most 10.00 %", {"kernels": "kernels 1 gemm sleep 30"}),
                ("underfilled_share", "is 100.0 % and should be at most 50.00 %", {"sms": 17}),
                ("exposed_communication_share", "should be at most 10.00 %",
                 {"kernels": "kernels 5 gemm kernels 5 ncclDevKernel_AllReduce"}),
                ("gpu_time / train/step.host_launches", "should be at least 10.00 µs", {"work_ns": 9000})):
            relation = self.health(**sick, code=1)[gate]
            self.assertEqual("regressed", relation["verdict"], gate)
            self.assertIn(found, relation["sentence"])
            # The reason says what to do.
            self.assertRegex(relation["sentence"], r"; .{40,}")
            # With the limit raised above what it is, or without the gate, the same program passes in this respect.
            name = "time_per_launch" if "host_launches" in gate else gate
            limits = {"pageable_copies": 1, "syncs": 1, "idle_share": "100%", "underfilled_share": "100%",
                      "exposed_communication_share": "60%", "time_per_launch": "5us"}
            relation = self.health(**sick, health=f"{{step: {{{name}: {limits[name]}}}}}", code=(0, 1))[gate]
            self.assertEqual("pass", relation["verdict"], relation)
            self.assertNotIn(gate, self.health(**sick, health=f"{{step: {{{name}: none}}}}", code=(0, 1)))

    def test_more_communication_fails_and_more_other_work_does_not_fail_as_such(self):
        self.suite(("      step.kernels: 0\n", "      step.communication_time: 5%\n"))
        self.app(more="kernels 4 ncclDevKernel_AllReduce")
        self.run_tool("baseline", "refresh", "suite.yaml", "--backend", "host", "--processes", 10)
        self.run_suite()
        self.assertEqual(4 * 5000, self.value("step", "communication_time"))

        def verdict():
            case = self.read_json("perfgate-out/verdict.json")["suites"][0]["cases"][0]
            return next(each["verdict"] for each in case["metrics"] if each["metric"] == "communication_time")

        # As many other kernels more change nothing about it, and more of NCCL's do.
        self.app(more="kernels 4 gemm kernels 4 ncclDevKernel_AllReduce")
        self.run_suite(code=1)
        self.assertEqual("pass", verdict())
        self.app(more="kernels 8 ncclDevKernel_AllReduce")
        self.run_suite(code=1)
        self.assertEqual("regressed", verdict())
        case = self.read_json("perfgate-out/verdict.json")["suites"][0]["cases"][0]
        self.assertIn("communication", [each["rule"] for each in case["why"]])

    def run_ranks(self, gates, ranks, code=0):
        """A program with a process for each entry of `ranks`, what it does; of its steps the first does not count."""
        self.write("suite.yaml", self.HEALTHY.format(mocks=MOCKS, health="").replace("    health: \n", f"    {gates}\n"))
        processes = "".join(f"RANK={rank} MOCK_WORK_NS=5000000 {PROGRAM} {words} &\n" for rank, words in enumerate(ranks))
        self.script("app", f"#!/bin/sh\n{processes}wait\n")
        self.run_suite(processes=1, code=code)

    def expecting(self, expectation, ranks, code=0):
        """The sentence about the expectation."""
        self.run_ranks(f"expect: {{{expectation}}}", ranks, code)
        relation, = self.read_json("perfgate-out/verdict.json")["suites"][0]["relations"]
        return relation["sentence"]

    def test_copies_that_no_kernel_hides_fail(self):
        # The mock device does one thing after the other.
        steps = 2 * "push step kernels 10 gemm copy 64 pop "
        self.expecting('step.copy_time: "== 5ms"', [steps])
        self.expecting('step.exposed_copy_share: "<= 15%"', [steps])
        steps = steps.replace("copy 64", "copy 64 copy 64 copy 64 copy 64 copy 64")
        self.assertIn("step.copy_time is 25.00 ms and should be exactly 5.000 ms",
                      self.expecting('step.copy_time: "== 5ms"', [steps], code=1))
        self.assertIn("and should be at most 15.00 %",
                      self.expecting('step.exposed_copy_share: "<= 15%"', [steps], code=1))

    def test_a_long_gap_fails_with_what_the_host_did_in_it(self):
        steps = 2 * "push step kernels 1 gemm sleep 600 kernels 1 gemm pop "
        self.expecting('step.longest_idle: "<= 10s"', [steps])
        self.assertRegex(self.expecting('step.longest_idle: "<= 300ms"', [steps], code=1),
                         r"step.longest_idle is \d+\.\d ms \(nothing submitted \d+\.\d ms per instance[^)]*\) and should be")

    def test_a_late_rank_fails_and_ranks_that_differ_are_not_compared(self):
        step = "push step kernels 3 ncclDevKernel_AllReduce sync pop "
        late = f"sleep 2000 {2 * step}"
        expectation = 'step.communication_skew: "<= 1s"'
        self.expecting(expectation, [2 * step, 2 * step])
        self.assertEqual("activity/callbacks/2 processes/2 communicating", self.cases()["step"]["metrics"]["communication_skew"]["method"])
        self.assertRegex(self.expecting(expectation, [2 * step, late], code=1),
                         r"step.communication_skew is [12]\.\d+ s \(rank 1 began last in .*\) and should be at most 1.000 s")
        for ranks, reason in (([2 * step], "1 process with NCCL or NVSHMEM kernels; a skew is between several"),
                              ([2 * step, 3 * step], "the processes have different numbers of instances: 1 and 2")):
            self.run_ranks("tolerances: {step.communication_skew: 50%, program.kernels: 0}", ranks, code=3)
            missing, = self.cases()["step"]["not_collected"]
            self.assertEqual("communication_skew", missing["metric"])
            self.assertIn(missing["reason"], (reason, reason.replace("1 and 2", "2 and 1")))
            self.assertNotIn("not_collected", self.cases()["program"])

    def test_validate_and_list_know_the_health_set_and_execute_nothing(self):
        self.write("suite.yaml", self.HEALTHY.format(mocks=MOCKS, health="{step: {syncs: 2}}"))
        self.assertIn("1 case", self.run_tool("validate", "suite.yaml").stdout)
        listed = self.run_tool("list", "suite.yaml").stdout
        self.assertIn("train/step.syncs <= 2", listed)
        self.assertIn("train/step.gpu_time / train/step.host_launches >= 10us", listed)

    def test_what_a_graph_could_not_capture(self):
        self.suite(('step.syncs: "<= 1"', 'step.uncapturable_calls: "== 0"'))
        self.app(more="push inner query query alloc 64 pop")
        done = self.run_suite(code=1)
        self.assertIn("train/step.uncapturable_calls is 4 (cuEventQuery 2 in inner, cuCtxSynchronize 1, "
                      "cuMemAlloc_v2 1 in inner) and should be exactly 0",
                      " ".join(done.stdout.split()))
        self.assertIn("cuMemAlloc_v2 1 in inner", (self.folder / "perfgate-out/junit.xml").read_text())
        self.assertEqual(21, self.value("step", "legacy_stream_launches"))

    MEMORY = (("step.kernels: 0", "step.memory_peak: 0"), ("program.kernels: 0", "program.memory_peak: 1%"))

    def test_more_memory_fails_and_the_peak_of_a_range_is_its_own(self):
        self.suite(*self.MEMORY)
        # What a step frees the next one allocates again.
        self.app(first='words="alloc 1000000 $words"', more="alloc 4096 free")
        self.refresh()
        self.run_suite()
        self.assertEqual([1_004_096] * 2, [self.value(label, "memory_peak") for label in ("step", "program")])
        self.assertEqual("activity/api", self.cases()["step"]["metrics"]["memory_peak"]["method"])
        self.assertNotIn("memory_peak", self.cases()["flash"]["metrics"])

        def verdicts():
            return {(case["id"].split("/")[1].split("[")[0], metric["metric"]): metric["verdict"]
                    for suite in self.read_json("perfgate-out/verdict.json")["suites"] for case in suite["cases"]
                    for metric in case["metrics"] if metric["metric"] == "memory_peak"}

        # 2 % more after the steps: the program's alone.
        self.app(first='words="alloc 1000000 $words alloc 20000"', more="alloc 4096 free")
        done = self.run_suite("--verbose", code=1)
        self.assertEqual({("step", "memory_peak"): "pass", ("program", "memory_peak"): "regressed"}, verdicts())
        self.assertIn("why: more device memory held: memory_peak", " ".join(done.stdout.split()))
        # 0.2 % more in a step: within the program's tolerance.
        self.app(first='words="alloc 1000000 $words"', more="alloc 4096 alloc 2000 free free alloc 1000 free")
        done = self.run_suite("--verbose", code=1)
        self.assertEqual({("step", "memory_peak"): "regressed", ("program", "memory_peak"): "pass"}, verdicts())
        self.assertIn("memory_peak", done.stdout)
        # More allocations, but not at a time; the step's largest one outside of the steps.
        self.app(first='words="alloc 4096 free alloc 1000000 $words alloc 4096 free"',
                 more="alloc 4000 free alloc 4096 free")
        self.run_suite()
        self.assertEqual({("step", "memory_peak"): "pass", ("program", "memory_peak"): "pass"}, verdicts())

    def test_memory_is_expected_without_a_baseline(self):
        self.suite(('step.syncs: "<= 1"', 'program.memory_peak: "<= 1MiB"'))
        self.app(more="alloc 1048576 free")
        self.run_suite()
        self.app(more="alloc 1048577 free")
        self.assertIn("broken: train/program.memory_peak is", self.run_suite(code=1).stdout)
        self.app()
        done = " ".join(self.run_suite(code=3).stdout.split())
        self.assertIn("memory_peak of train/program[steps=4] was not collected", done)

    def test_memory_that_is_not_known_is_not_collected(self):
        self.suite(*self.MEMORY)
        for what, reason in (({}, "the recording has no allocation of device memory"),
                             ({"first": "export MOCK_LOSE_MEMORY=1", "more": "alloc 64 free"},
                              "the records of memory contradict each other: a release at 0x"),
                             ({"first": 'words="alloc 64 create 4096 $words"'},
                              "CUPTI has no record of the memory that a call of cuMemCreate allocated")):
            with self.subTest(reason):
                self.app(**what)
                self.run_suite(code=3)
                for label in ("step", "program"):
                    case = self.cases()[label]
                    self.assertNotIn("memory_peak", case["metrics"])
                    self.assertIn("kernels", case["metrics"])
                    missing, = case["not_collected"]
                    self.assertEqual("memory_peak", missing["metric"])
                    self.assertIn(reason, missing["reason"])
        self.app(first="export MOCK_DISABLED=49", more="alloc 64 free")
        self.run_suite(code=3)
        self.assert_all_fail("the recording is incomplete", "activity of kind 49")

    def test_an_expectation_holds_without_a_baseline(self):
        self.app(more="copy 1 sync")
        done = self.run_suite(code=1)
        for metric, of in (("pageable_copies", ""), ("syncs", " (cuCtxSynchronize 2)")):
            self.assertIn(f"broken: train/step.{metric} is 2{of} and should be at most 1", done.stdout)

    def test_idle_time_is_told_with_what_the_host_did(self):
        self.suite(("program.kernels: 0", "program.kernels: 0\n      step.idle_share: 40pt\n      step.longest_idle: 1000%"),
                   ('step.syncs: "<= 1"', 'step.idle_share: "<= 97%"'),
                   ("    timeout", "    max_overhead: 10000%\n    timeout"))
        self.run_tool("baseline", "refresh", "suite.yaml", "--backend", "host", "--processes", 10)
        self.app(more="sleep 30")  # against work of 105 µs
        cause = r"nothing submitted \d+\.\d+ ms"
        done = " ".join(self.run_suite("--verbose", processes=10, code=1).stdout.split())
        self.assertRegex(done, r"idle_share regressed")
        self.assertRegex(done, rf"train/step.idle_share is 99\.\d+ % \({cause}.* per instance[^)]*\) and should be at most")
        self.assertRegex(done, rf"why: .*idle_share: {cause}.* per instance")
        self.assertRegex(done, r"longest_idle regressed")
        self.assertRegex(done, rf"longest_idle: {cause} per instance")

    def test_a_case_that_only_an_expectation_gates(self):
        self.suite(("      step.gpu_time: 5%\n      step.kernels: 0\n", ""))
        self.refresh()
        self.run_suite()
        self.app(more="sync")
        self.run_suite(code=1)

    def test_without_a_check_nothing_is_verified(self):
        self.suite(("    check: [./check]\n", ""))
        self.refresh()
        done = self.run_suite()
        self.assertNotIn("verification", self.cases()["step"])
        verdict = self.read_json("perfgate-out/verdict.json")
        for case in verdict["suites"][0]["cases"]:
            self.assertIn("not verified: the suite states no 'check'", case["notes"], done.stdout)

    def test_a_check_that_fails_is_incorrect_and_has_no_numbers(self):
        self.refresh()
        self.script("check", "#!/bin/sh\necho loss is NaN >&2\nexit 1\n")
        self.run_suite(code=1)
        for case in self.cases().values():
            self.assertEqual("incorrect", case["status"])
            self.assertIn("loss is NaN", case["reason"])
            self.assertEqual({}, case.get("metrics", {}))
        self.script("check", "#!/bin/sh\nsleep 60 &\n")
        self.run_suite(code=3)
        for case in self.cases().values():
            self.assertEqual("error", case["status"])
            self.assertIn("left 1 process behind", case["reason"])

    def test_verify_only_runs_the_check(self):
        self.run_suite("--verify-only")
        self.assertEqual({}, self.cases()["step"].get("metrics", {}))
        self.script("check", "#!/bin/sh\nexit 1\n")
        self.run_suite("--verify-only", code=1)
        self.suite(("    check: [./check]\n", ""))
        done = self.run_suite("--verify-only", code=2)
        self.assertIn("not verified: the suite states no 'check'", done.stdout)

    def test_a_label_that_matches_nothing_is_an_error_that_names_what_is_there(self):
        self.refresh()
        self.suite(('"step*"', '"stop*"'))
        self.run_suite(code=3)
        cases = self.cases()
        self.assertEqual("error", cases["step"]["status"])
        self.assertIn("no NVTX range matches 'stop*': recorded: 'load', 'step'",
                      cases["step"]["reason"])
        self.assertIn("no NVTX range matches 'stop*'", cases["flash"]["reason"])
        self.assertEqual("measured", cases["program"]["status"])

    def test_kernels_that_are_gone_are_an_error_and_not_fast(self):
        self.refresh()
        self.app(flash="")
        self.run_suite(code=(1, 3))
        self.assertEqual("error", self.cases()["flash"]["status"])
        self.assertIn("no kernel matches '*flash*' within 3 NVTX ranges",
                      self.cases()["flash"]["reason"])
        self.app(flash=" pop push stepped")
        self.suite(('nvtx: "step*"', "nvtx: step"))
        self.run_suite(code=(1, 3))
        self.assertIn("no kernel, copy or memset was launched in any of 3 NVTX ranges",
                      self.cases()["step"]["reason"])

    def test_skipping_every_instance_is_an_error(self):
        self.suite(('nvtx: "step*", skip: 1', 'nvtx: "step*", skip: 4'))
        self.run_suite(code=3)
        self.assertIn("'skip: 4' leaves none of 4", self.cases()["step"]["reason"])

    def assert_all_fail(self, *parts):
        for case in self.cases().values():
            self.assertEqual("error", case["status"])
            for part in parts:
                self.assertIn(part, case["reason"])
            self.assertEqual({}, case.get("metrics", {}))

    def test_another_exit_status_is_an_error(self):
        self.app(last="echo 'Traceback:' >&2; echo 'out of memory' >&2; exit 3")
        self.run_suite(code=3)
        self.assert_all_fail("exited with 3 and not with 0",
                             "the last line of its stderr: out of memory")
        self.assertIn("Traceback", self.cases()["step"]["log"])
        files = list((self.folder / "perfgate-out/commands").glob("train-*/0-callbacks.stderr"))
        self.assertEqual(["Traceback:\nout of memory\n"], [file.read_text() for file in files])
        self.suite(("    timeout: 100s\n", "    timeout: 100s\n    exit: 3\n"))
        self.run_suite()

    def test_a_case_that_fails_later_has_failed(self):
        self.refresh()
        self.app(first='echo >> runs; [ $(wc -l < runs) -lt 2 ] || exit 9')
        self.run_suite(code=(1, 3))
        self.assert_all_fail("when it was measured again (process 1)", "exited with 9")

    def test_the_time_limit_ends_all_processes(self):
        self.suite(("timeout: 100s", "timeout: 500ms"))
        self.app(first="sleep 5000 & echo $! >>pids; sleep 5000")
        self.run_suite(code=3)
        for pid in (self.folder / "pids").read_text().split():
            self.assertFalse(os.path.exists(f"/proc/{pid}"), pid)
        self.assert_all_fail("took longer than 0.5 s", "'timeout'")

    def test_what_outlives_the_program_is_an_error(self):
        self.app(last="sleep 61 >/dev/null 2>&1 &")
        self.run_suite(code=3)
        self.assert_all_fail("left 1 process behind")

    def test_a_killed_program_is_an_error(self):
        self.app(last="kill -KILL $$")
        self.run_suite(code=3)
        self.assert_all_fail("ended by signal 9")

    def test_a_recording_without_end_is_incomplete(self):
        self.app(more="leave")
        self.run_suite(code=3)
        self.assert_all_fail("the recording is incomplete", "has no end")

    def test_kernels_without_records_are_incomplete(self):
        self.app(first="export MOCK_LOSE=1")
        self.run_suite(code=3)
        self.assert_all_fail("the recording is incomplete", "kernels launched")

    def test_a_program_without_cuda_has_no_recording(self):
        self.script("app", "#!/bin/sh\nexit 0\n")
        self.run_suite(code=3)
        self.assert_all_fail("nothing was recorded")

    def test_a_program_that_is_not_there(self):
        (self.folder / "app").unlink()
        self.run_suite(code=3)
        self.assert_all_fail(f"cannot run ./app in {self.folder}", "No such file or directory")
        self.suite(("    timeout", "    cwd: absent\n    timeout"))
        self.run_suite(code=3)
        self.assert_all_fail("there is no such folder")

    def test_a_chatty_program_is_bounded(self):
        self.app(last="head -c 5000000 /dev/zero | tr '\\0' x; echo the end")
        self.run_suite()
        files = list((self.folder / "perfgate-out/commands").glob("train-*/*.stdout"))
        self.assertTrue(files)
        for file in files:
            if "check" in file.name:
                continue
            self.assertLess(file.stat().st_size, 1_300_000)
            text = file.read_text()
            self.assertIn("bytes left out]", text)
            self.assertTrue(text.endswith("the end\n"))

    def test_words_reach_the_program_as_they_are(self):
        self.script("app", """#!/bin/sh
for word in "$@"; do printf '%s\\n' "$word"; done > words
printf '%s|%s\\n' "$MODE" "$PWD" >> words
exec "{}" push step kernels 2 flash_fwd copy 1 pop
""".format(PROGRAM))
        self.suite(('[./app, "{steps}"]', "[./app, \"{steps}\", '$(touch pwned); `x`', '', \"a\\nb\", '{}', '*']"),
                   ("    timeout", "    warmup: 1\n    timeout"), ("skip: 1", "skip: 0"),
                   ("env: {", 'env: {MODE: "m{steps}", '), ("      step.syncs: \"<= 1\"\n", ""))
        self.run_suite()
        self.assertEqual(f"4\n$(touch pwned); `x`\n\na\nb\n{{}}\n*\nm4|{self.folder.resolve()}\n",
                         (self.folder / "words").read_text())
        self.assertFalse((self.folder / "pwned").exists())
        outputs = {file.name for file in self.folder.glob("perfgate-out/commands/*/*.stdout")}
        self.assertIn("0-warm-up.stdout", outputs)
        self.assertNotIn("1-warm-up.stdout", outputs)

    def test_hostile_names_stay_text(self):
        name = "k\\n\"<script>\\033[31m]]>"
        self.script("app", f"""#!/bin/sh
name=$(printf '{name}')
exec "{PROGRAM}" push "$name" kernels 2 "$name" pop push step pop
""")
        self.suite(('"step*", skip: 1', '"stop*"'))
        done = self.run_suite(code=3)
        self.assertIn("<script>", self.cases()["step"]["reason"])
        self.assertNotIn("\033[31m", done.stdout + done.stderr)
        self.assertNotIn("\033", self.cases()["step"]["reason"] + self.cases()["flash"]["reason"])
        xml.parse(self.folder / "perfgate-out/junit.xml")

    def test_two_checkouts_back_to_back(self):
        roots = {}
        for name, work_ns in (("base", 5000), ("same", 5000), ("slow", 6000)):
            self.app(work_ns=work_ns)
            roots[name] = self.folder / name
            roots[name].mkdir()
            (self.folder / "app").rename(roots[name] / "app")
            shutil.copy(self.folder / "check", roots[name] / "check")

        def ab(head, code=0):
            return self.run_tool("ab", "suite.yaml", "--backend", "host", "--processes", 8,
                                 "--base", "dir:" + str(roots["base"]), "--head", f"dir:{roots[head]}",
                                 code=code)

        ab("same")
        done = ab("slow", code=1)
        self.assertRegex(done.stdout, r"regressed .*\+20")
        self.assertEqual(21 * 5000, self.read_json("perfgate-out/base/run.json")
                         ["suites"][0]["cases"][0]["metrics"]["gpu_time"]["value"])
        self.assertEqual(21 * 6000, self.value("step", "gpu_time"))

        done = self.run_tool("ab", "suite.yaml", *HOST, "--base", f"build:{tool.PLUGINS}/probe_base.so", "--head",
                             f"build:{tool.PLUGINS}/probe_slow.so", code=2)
        self.assertIn("dir:", done.stderr)
        done = self.run_tool("ab", "suite.yaml", *HOST, code=2)
        self.assert_one_line(done.stderr, "nothing to compare")

    def test_two_environments_back_to_back(self):
        self.app(work_ns='"${WORK:-5000}"', last='echo "$SECRET" >> seen')
        self.suite(("env: {", 'env: {SECRET: "of the suite {steps}", '))

        def ab(*words, code=0):
            return self.run_tool("ab", "suite.yaml", "--backend", "host", "--processes", 8, *words, code=code)

        ab("--base", "env:WORK=5000", "--base", "env:SECRET=a {steps}")
        self.assertEqual({"a {steps}", "of the suite 4"}, set((self.folder / "seen").read_text().splitlines()))
        done = ab("--head", "env:WORK=6000", code=1)
        self.assertRegex(done.stdout, r"regressed .*\+20")
        self.assertIn("baseline base (environments differ in WORK)", " ".join(done.stdout.split()))
        self.assertEqual(21 * 5000, self.read_json("perfgate-out/base/run.json")
                         ["suites"][0]["cases"][0]["metrics"]["gpu_time"]["value"])
        self.assertEqual(21 * 6000, self.value("step", "gpu_time"))
        # With two checkouts, the other variable decides.
        (self.folder / "other").mkdir()
        for name in ("app", "check"):
            shutil.copy(self.folder / name, self.folder / "other" / name)
        done = ab("--base", "dir:other", "--head", "dir:.", "--base", "env:WORK=6000", "--head", "env:WORK=5000")
        self.assertIn("baseline base other (environments differ in WORK)", " ".join(done.stdout.split()))
        self.assertEqual("improved", self.read_json("perfgate-out/verdict.json")["suites"][0]["cases"][0]["verdict"])

    def test_a_program_is_found_in_the_path_of_its_side(self):
        for name, work_ns in (("old", 5000), ("new", 6000)):
            self.app(work_ns=work_ns)
            (self.folder / name).mkdir()
            (self.folder / "app").rename(self.folder / name / "train-app")
        self.suite(("./app", "train-app"))
        paths = {name: f"PATH={self.folder / name}:{os.environ['PATH']}" for name in ("old", "new")}
        done = self.run_tool("ab", "suite.yaml", "--backend", "host", "--processes", 8, "--base", "env:" + str(paths["old"]),
                             "--head", "env:" + str(paths["new"]), code=1)
        self.assertRegex(done.stdout, r"regressed .*\+20")
        self.assertIn("environments differ in PATH", " ".join(done.stdout.split()))
        # In the head, only perfgate's own PATH has it.
        self.run_tool("ab", "suite.yaml", *HOST, "--head", "env:PATH=/nowhere", code=3,
                      env={"PATH": paths["old"].removeprefix("PATH=")})
        self.assertIn("cannot run train-app: no folder of its PATH (/nowhere) has it", self.cases()["step"]["reason"])
        # The same for a suite's env.
        self.suite(("./app", "train-app"), ("env: {", f'env: {{PATH: "{paths["old"].removeprefix("PATH=")}", '))
        self.run_suite()

    def test_environments_that_cannot_be_compared(self):
        for words, *expected in (
                (["--base", "env:CUDA_VISIBLE_DEVICES=1"], "--base env: 'CUDA_VISIBLE_DEVICES' is set by perfgate"),
                (["--base", "env:A=1", "--head", "env:A=1"], "the same variables (env:)"),
                (["--head", "env:WORK"], "--head env:WORK: expected env:NAME=VALUE")):
            done = self.run_tool("ab", "suite.yaml", *HOST, *words, code=2)
            self.assert_one_line(done.stderr, *expected)
        probe = "  - workload: probe\n    variants: [host]\n    matrix: {n: [20000]}\n"
        builds = ["--base", f"build:{tool.PLUGINS}/probe_base.so", "--head", f"build:{tool.PLUGINS}/probe_slow.so"]
        metrics = "defaults: {metrics: [host_time], tolerances: {host_time: 90%}}\n"
        self.write("plugin.yaml", f"name: plugin\n{metrics}workloads:\n{probe}")
        done = self.run_tool("ab", "plugin.yaml", *HOST, "--base", "env:A=1", code=2)
        self.assert_one_line(done.stderr, "plugin.yaml:4:5: ", "--base build:PATH")
        done = self.run_tool("ab", "plugin.yaml", *HOST, *builds, "--base", "env:A=1", code=2)
        self.assert_one_line(done.stderr, "env: the suites have no programs")
        self.write("source.yaml", "name: source\ndefaults: {metrics: [gpu_time], tolerances: {gpu_time: 3%}}\n"
                                  "workloads:\n  - source: k.cu\n    kernel: k\n    launch: {grid: 1, block: 32}\n"
                                  "    arguments: [{out: f32, size: 32}]\n")
        done = self.run_tool("ab", "source.yaml", *HOST, "--head", "env:A=1", code=2)
        self.assert_one_line(done.stderr, "source.yaml:4:5: ", "--base rev:REF", "dir:DIR")
        self.assertFalse((self.folder / "perfgate-out/run.json").exists())

    def test_verbs_that_read_execute_nothing(self):
        self.app(first="touch executed")
        listed = self.run_tool("list", "suite.yaml").stdout
        self.assertIn("train/step[steps=4]", listed)
        self.assertIn("program", listed)
        self.assertIn("3 of programs", self.run_tool("validate", "suite.yaml").stdout)
        self.assertFalse((self.folder / "executed").exists())

    def test_a_script_that_is_not_there_is_named_without_running_anything(self):
        gate = "tolerances: {program.gpu_time: 5%}"
        self.write("scripts.yaml", "name: s\nworkloads:\n"
                   f"  - {{command: [python3, -u, trian.py, other.py], name: t, {gate}, check: [sh, ok.sh]}}\n"
                   f"  - {{command: [python3, here.py], name: h, {gate}}}\n  - {{command: [python3, -m, module], name: m, {gate}}}\n"
                   "  - {benchmark: [python3, b.py, '{out}'], name: b, format: google-benchmark, tolerances: {real_time: 5%}}\n")
        self.write("here.py", "")
        warnings = re.findall(r"warning: scripts.yaml:(\d):\d+: there is no file \S*/(\S+); ", self.run_tool("validate", "scripts.yaml").stderr)
        self.assertEqual([("3", "trian.py"), ("3", "ok.sh"), ("6", "b.py")], warnings)

    def test_another_injector_is_refused(self):
        done = self.run_suite(code=2, env={"CUDA_INJECTION64_PATH": "/other.so"})
        self.assert_one_line([line for line in done.stderr.splitlines() if "INJECTION" in line][0],
                             "CUDA_INJECTION64_PATH is set", "unset it")
        self.assertFalse((self.folder / "perfgate-out/run.json").exists())

    def test_resume_goes_on_with_the_batches_that_are_missing(self):
        self.app(first="echo >> runs")
        self.run_suite()
        journal = self.folder / "perfgate-out/journal.jsonl"
        lines = journal.read_text().splitlines(keepends=True)
        journal.write_text("".join(lines[:-3]))  # the end and the last batch of two cases are missing
        (self.folder / "runs").unlink()
        self.run_suite("--resume", "perfgate-out")
        self.assertEqual(1, len((self.folder / "runs").read_text().splitlines()))
        self.assertEqual([3, 3, 3], [len(case["metrics"]["gpu_time"]["batches"])
                                     for case in self.cases().values()])
        self.app(first="echo >> edited")
        self.run_suite("--resume", "perfgate-out", code=2)
        self.app(first="echo >> runs")
        self.suite(('[./app, "{steps}"]', '[./app, "{steps}", more]'))
        self.run_suite("--resume", "perfgate-out", code=2)

    def test_resume_refuses_another_revision_and_another_program_that_a_script_starts(self):
        self.app()
        self.script("wrap", '#!/bin/sh\nexec "$@"\n')
        self.suite(('[./app, "{steps}"]', '[./wrap, ./app, "{steps}"]'))
        git = ["git", "-c", "user.name=Ada", "-c", "user.email=a@b.c", "-C", self.folder]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "one"], check=True)
        self.run_suite()
        tool.take_end_from_journal(self.folder)
        self.run_suite("--resume", "perfgate-out")
        self.app(first="echo >> edited")
        done = self.run_suite("--resume", "perfgate-out", code=2)
        self.assert_one_line(done.stderr, "command training: train was ", "./app is ")
        self.app()
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "two"], check=True)
        done = self.run_suite("--resume", "perfgate-out", code=2)
        self.assert_one_line(done.stderr, "git revision was ")

    def test_the_suite_of_the_page_about_commands(self):
        page = (tool.SOURCE / "docs/programs.md").read_text()
        self.write("suite.yaml", re.search(r"```yaml\n(.*?)```", page, re.DOTALL).group(1))
        step = "push step push forward kernels 3 flash_fwd kernels 2 gemm pop sleep 5 sync pop"
        self.script("bin/python3", "#!/bin/sh\n[ $1 = verify.py ] || "
                                   f'exec "{PROGRAM}" {" ".join(7 * [step])} sleep 500\n')
        env = {"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "LD_LIBRARY_PATH": str(MOCKS)}
        self.run_suite(env=env)
        run = self.read_json("perfgate-out/run.json")
        cases = {case["id"]: case for case in run["suites"][0]["cases"]}
        self.assertEqual([f"train/{label}[batch={batch}]" for batch in (8, 32)
                          for label in ("step", "flash", "program")], list(cases))
        for case in list(cases)[:3]:
            self.assertIn(f"`{case}`", page)
        self.assertEqual(35, cases["train/program[batch=8]"]["metrics"]["kernels"]["value"])

    def test_beside_cases_of_plugins(self):
        self.suite(("name: training\nworkloads:", """name: training
workloads:
  - workload: probe
    variants: [host]
    params: {n: 20000, iterations: 10}
    metrics: [host_time]
    tolerances: {host_time: 300%}
    time_budget: 5ms
    cache: hot"""))
        with unittest.mock.patch.dict(os.environ, tool.with_clock("stated")):
            self.run_tool("baseline", "refresh", "suite.yaml", *HOST, *self.plugin("probe_base"))
            self.run_suite(*self.plugin("probe_base"))
        self.assertEqual(["host", "step", "flash", "program"], list(self.cases()))
        self.run_suite(*self.plugin("probe_base"), "--filter", "train/flash*")
        self.assertEqual(["flash"], list(self.cases()))


if __name__ == "__main__":
    tool.main()
