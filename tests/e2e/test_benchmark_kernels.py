# SPDX-License-Identifier: Apache-2.0
"""The kernels of a benchmark, beside what it reports: with the mocks of driver and CUPTI instead of a GPU."""

import os
import pathlib
import re
import shutil
import unittest

import tool

BUILD = pathlib.Path(os.environ["PERFGATE_BUILD_DIR"])
PROGRAM = BUILD / "bin" / "mock_program"
MOCKS = BUILD / "tests" / "inject" / "mocks"

SUITE = """
name: mine
workloads:
  - benchmark: [./bench, "{{out}}"]
    name: bench
    format: json
    rows: /rows/*
    case: /name
    values: {{real_time: {{from: /ns, unit: ns}}}}
    env: {{LD_LIBRARY_PATH: "{mocks}"}}
    timeout: 100s
    warmup: 1
    measure:
      flash: {{kernel: "*flash*", skip: 1}}
      step: {{nvtx: step}}
    tolerances:
      real_time: 5%
      flash.gpu_time: 5%
      flash.registers: 0
      step.kernels: 0
    expect: {{flash.registers: "<= 64"}}
    check: [./check]
"""

# Each process launches more kernels than the one before, as benchmarks do that iterate for a given time. What it
# reports while it is recorded is nonsense.
BENCH = """#!/bin/sh
echo "${{CUDA_INJECTION64_PATH:+recorded}}" >> runs
iterations=$((3 + $(wc -l < runs)))
time={time}
[ -z "$CUDA_INJECTION64_PATH$NVTX_INJECTION64_PATH" ] || time=1
[ ! -e "$1" ] || exit 5
echo "{{\\"rows\\": [{{\\"name\\": \\"{result}\\", \\"ns\\": $time}}]}}" > "$1"
{first}
MOCK_REGISTERS={registers} MOCK_WORK_NS={work_ns} \\
    exec "{program}" kernels $iterations {kernel} push step kernels 2 gemm pop sync
"""

RESULT = "bench/forward"
LABELS = ["bench/flash", "bench/step"]
LABELS_OF_PAGE = {"bench/flash", "bench/decode"}
HOST = ["--backend", "host"]


@unittest.skipUnless(PROGRAM.exists(), "built without CUDA's headers: programs cannot be recorded")
class BenchmarkKernels(tool.Case):
    def setUp(self):
        super().setUp()
        self.suite()
        self.bench()

    def suite(self, *changes):
        text = SUITE.format(mocks=MOCKS)
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.write("suite.yaml", text)

    def bench(self, folder=".", time=1000, result="forward", kernel="flash_fwd", registers=32, work_ns=5000, first=""):
        self.script(f"{folder}/bench", BENCH.format(time=time, result=result, kernel=kernel, registers=registers,
                                                    work_ns=work_ns, first=first, program=PROGRAM))
        self.script(f"{folder}/check", "#!/bin/sh\nexit 0\n")

    def run_suite(self, *words, processes=5, **kwargs):
        return self.run_tool("run", "suite.yaml", *HOST, "--processes", processes, *words, **kwargs)

    def refresh(self):
        self.run_tool("baseline", "refresh", "suite.yaml", *HOST, "--processes", 8)

    def runs(self):
        """Of the benchmark: how many were bare, and how many recorded."""
        runs = (self.folder / "runs").read_text().split("\n")[:-1]
        return runs.count(""), runs.count("recorded")

    def cases(self, document="run.json"):
        return {case["id"]: case for suite in self.read_json(f"perfgate-out/{document}")["suites"]
                for case in suite["cases"]}

    def verdicts(self):
        return {name: case["verdict"] for name, case in self.cases("verdict.json").items()}

    def test_what_it_reports_comes_from_bare_processes_and_the_labels_from_recorded_ones(self):
        self.run_suite(processes=3)
        cases = self.cases()
        self.assertEqual([RESULT, *LABELS], list(cases))
        for case in cases.values():
            self.assertEqual("measured", case["status"], case)
            self.assertTrue(case["verification"]["passed"])
        reported = cases[RESULT]["metrics"]
        self.assertEqual(["real_time"], list(reported))
        self.assertEqual([[1000]] * 3, [batch["samples"] for batch in reported["real_time"]["batches"]])
        self.assertNotIn("max_overhead", cases[RESULT])
        flash = cases["bench/flash"]
        self.assertEqual(5000, flash["metrics"]["gpu_time"]["value"])
        self.assertEqual(32, flash["metrics"]["registers"]["value"])
        self.assertEqual(["flash_fwd"], [kernel["name"] for kernel in flash["kernels"]])
        self.assertEqual(2, cases["bench/step"]["metrics"]["kernels"]["value"])
        # It reports, for the first time, warmed up and three times.
        self.assertEqual((1 + 1 + 3, 3), self.runs())
        folders = {folder.name.rpartition("-")[0]: {file.name for file in folder.iterdir()}
                   for folder in (self.folder / "perfgate-out/commands").iterdir()}
        self.assertEqual({"bench", "bench-recorded"}, set(folders))
        self.assertIn("0-benchmark.json", folders["bench"])
        self.assertIn("0-callbacks.json", folders["bench-recorded"])
        # Files of an earlier run are replaced.
        self.run_suite(processes=3)

    def test_without_measure_nothing_is_recorded(self):
        text = (self.folder / "suite.yaml").read_text()
        begin, rest = text.split("    measure:")
        self.write("suite.yaml", begin + "    tolerances: {real_time: 5%}\n")
        self.run_suite(processes=3)
        self.assertEqual([RESULT], list(self.cases()))
        self.assertEqual((1 + 1 + 3, 0), self.runs())

    def test_unchanged_passes_though_the_number_of_launches_changes(self):
        self.refresh()
        self.run_suite("--prove")
        self.assertEqual({RESULT: "pass", **dict.fromkeys(LABELS, "pass")}, self.verdicts())
        self.assertIn("flash.registers <= 64", self.run_tool("list", "suite.yaml").stdout)
        self.assertEqual(["pass"], [each["verdict"] for each in
                                    self.read_json("perfgate-out/verdict.json")["suites"][0]["relations"]])

    def test_the_number_of_ranges_and_processes_is_the_benchmarks_own_choice(self):
        step = "push step kernels 2 gemm pop"
        bench = (self.folder / "bench").read_text().replace("    exec", "    ")
        bench = bench.replace(step, f"$(for i in $(seq $iterations); do echo {step}; done)")
        more = f'MOCK_WORK_NS=5000 "{PROGRAM}" kernels 4 flash_fwd {step}'
        self.script("bench", bench + f"[ $iterations -lt 15 ] || {more}\n")
        self.refresh()
        self.run_suite()
        cases = self.cases("verdict.json")
        self.assertEqual({RESULT: "pass", **dict.fromkeys(LABELS, "pass")}, self.verdicts())
        self.assertNotIn("instances", self.cases()["bench/step"]["metrics"])
        self.assertNotIn("values are per instance", str(cases))
        self.suite(("step.kernels", "step.instances"))
        self.assertIn("instances", self.run_tool("validate", "suite.yaml", code=2).stderr)

    def test_a_regression_of_either_is_found_and_named(self):
        self.refresh()
        self.bench(registers=80)
        done = self.run_suite("--verbose", code=1)
        self.assertEqual({RESULT: "pass", "bench/flash": "regressed", "bench/step": "pass"}, self.verdicts())
        self.assertRegex(done.stdout, r"registers.*32.*→.*80")
        self.assertIn("broken: bench/flash.registers is 80 and should be at most 64", done.stdout)

        self.bench(work_ns=6000)
        done = self.run_suite("--verbose", code=1)
        self.assertRegex(done.stdout, r"gpu_time.*→.*\+20")
        self.assertEqual({RESULT: "pass", "bench/flash": "regressed", "bench/step": "pass"}, self.verdicts())

        # What it reports while it is recorded would not show it.
        self.bench(time=1200)
        self.run_suite(code=1)
        self.assertEqual({RESULT: "regressed", "bench/flash": "pass", "bench/step": "pass"}, self.verdicts())

    def test_a_kernel_that_is_gone_is_an_error(self):
        self.refresh()
        self.bench(kernel="softmax")
        done = self.run_suite(code=3)
        self.assertEqual({RESULT: "pass", "bench/flash": "error", "bench/step": "pass"}, self.verdicts())
        self.assertIn("no kernel matches '*flash*'", self.cases()["bench/flash"]["reason"])
        self.assertIn("bench/flash", done.stdout)

    def test_a_label_that_is_gone_is_missing(self):
        self.refresh()
        self.suite(('      flash: {kernel: "*flash*", skip: 1}\n', ""), ("      flash.gpu_time: 5%\n", ""),
                   ("      flash.registers: 0\n", ""), ("flash.registers", "step.kernels"))
        self.run_suite(code=1)
        self.assertEqual("missing", self.verdicts()["bench/flash"])

    def test_what_fails_only_while_recorded_fails_the_labels_alone(self):
        for first, reason in (('[ -z "$CUDA_INJECTION64_PATH" ] || exit 4', "exited with 4 and not with 0"),
                              ("unset CUDA_INJECTION64_PATH", "nothing was recorded")):
            self.bench(first=first)
            self.run_suite(code=3)
            self.assertEqual("measured", self.cases()[RESULT]["status"])
            for label in LABELS:
                self.assertEqual("error", self.cases()[label]["status"])
                self.assertIn(reason, self.cases()[label]["reason"])

    def test_what_fails_only_while_it_reports_fails_the_results_alone(self):
        self.bench(first='case "$1" in */bench-recorded-*) ;; *) rm "$1" ;; esac')
        self.run_suite(code=3)
        self.assertEqual({"bench/*": "error", **dict.fromkeys(LABELS, "measured")},
                         {name: case["status"] for name, case in self.cases().items()})

    def test_a_wrong_result_has_no_numbers(self):
        self.script("check", "#!/bin/sh\nexit 1\n")
        self.run_suite(code=1)
        for name, case in self.cases().items():
            self.assertEqual("incorrect", case["status"], name)
            self.assertFalse(case["metrics"], name)

    def test_verify_only_records_nothing(self):
        self.run_suite("--verify-only")
        self.assertTrue(all(case["verification"]["passed"] for case in self.cases().values()))
        self.assertEqual(0, self.runs()[1])

    def test_a_label_with_the_name_of_a_result_is_an_error(self):
        self.bench(result="flash")
        done = self.run_suite(code=2)
        self.assertRegex(done.stderr, r"suite.yaml:\d+:7: the label 'flash' of 'measure' and a result of the benchmark "
                                      "'bench' have the same name")
        self.assertEqual(0, self.runs()[1])

    def test_another_injector_is_refused(self):
        done = self.run_suite(code=2, env={"CUDA_INJECTION64_PATH": "/nowhere"})
        self.assertIn("CUDA_INJECTION64_PATH is set", done.stderr)

    def test_counters_need_the_same_launches_up_to_the_last_that_is_counted(self):
        # In several passes.
        counted = ("flash.gpu_time: 5%", "flash.instructions: 0\n      flash.dram_bytes: 0\n      flash.load_bytes: 0")
        self.suite(counted)
        self.run_suite()
        self.assertLessEqual({"instructions", "dram_bytes", "load_bytes"}, set(self.cases()["bench/flash"]["metrics"]))
        # The number of launches before the counted one differs from process to process.
        self.suite(counted, ('kernel: "*flash*", skip: 1', "kernel: gemm"))
        self.run_suite(code=3)
        missing = {each["metric"]: each["reason"] for each in self.cases()["bench/flash"]["not_collected"]}
        self.assertIn("launch", missing["instructions"])
        self.assertIn("gpu_time", self.cases()["bench/flash"]["metrics"])

    def test_list_filter_and_validate(self):
        shown = self.run_tool("list", "suite.yaml").stdout
        for name in ("bench/*", *LABELS):
            self.assertIn(name, shown)
        self.run_tool("validate", "suite.yaml")
        self.assertFalse((self.folder / "runs").exists())
        self.run_suite("--filter", "bench/flash", processes=3)
        self.assertEqual(["bench/flash"], list(self.cases()))
        self.assertEqual((1, 3), self.runs())
        (self.folder / "runs").unlink()
        self.run_suite("--filter", "bench/forw*", processes=3)
        self.assertEqual([RESULT], list(self.cases()))
        self.assertEqual((1 + 1 + 3, 0), self.runs())

    def test_changed_only_leaves_nothing_out(self):
        # That a program is unchanged is never known.
        self.refresh()
        self.run_suite("--changed-only")
        self.assertEqual({RESULT: "pass", **dict.fromkeys(LABELS, "pass")}, self.verdicts())

    def test_a_run_is_resumed_and_divided(self):
        self.run_suite(processes=3)
        journal = self.folder / "perfgate-out/journal.jsonl"
        lines = journal.read_text().splitlines(keepends=True)
        journal.write_text("".join(lines[:-3]))  # the end and the last batch of both labels are missing
        (self.folder / "runs").unlink()
        self.run_suite("--resume", "perfgate-out", processes=3)
        self.assertEqual((1, 1), self.runs())
        self.assertEqual([3, 3], [len(self.cases()[label]["metrics"]["gpu_time"]["batches"]) for label in LABELS])
        self.bench(registers=40)
        self.assertIn("bench is", self.run_suite("--resume", "perfgate-out", processes=3, code=2).stderr)
        self.bench()
        for shard in (1, 2):
            self.run_suite("--shard", f"{shard}/2", "--out", f"shard-{shard}", processes=3)
        self.run_tool("compare", "shard-1/run.json", "shard-2/run.json", "--out", "perfgate-out")
        self.assertEqual({RESULT, *LABELS}, set(self.cases()))

    def test_the_suite_of_the_page(self):
        page = (tool.SOURCE / "docs/benchmarks.md").read_text()
        self.write("suite.yaml", re.search(r"^## Kernels.*?```yaml\n(.*?)```", page, re.DOTALL | re.MULTILINE).group(1))
        results = tool.SOURCE / "tests/data/benchmarks/google-benchmark-aggregates.json"
        self.script("build/bench", f'#!/bin/sh\ncp "{results}" "${{1#--benchmark_out=}}"\nexec "{PROGRAM}" grid 64 '
                                   'kernels 12 flash_fwd_f16 push decode kernels 1 gemm pop\n')
        self.run_suite(env={"LD_LIBRARY_PATH": str(MOCKS)}, processes=3)
        cases = self.cases()
        self.assertEqual(LABELS_OF_PAGE, set(cases) & LABELS_OF_PAGE)
        self.assertGreater(len(cases), 2)
        self.assertEqual({"measured"}, {case["status"] for case in cases.values()})
        self.assertEqual(2, len(cases["bench/flash"]["metrics"]["gpu_time"]["batches"][0]["samples"]))
        self.assertEqual(["pass"], [each["verdict"] for each in
                                    self.read_json("perfgate-out/verdict.json")["suites"][0]["relations"]])

    def test_two_checkouts_in_turns(self):
        for folder in ("base", "head"):
            self.bench(folder)
            shutil.copy(self.folder / "suite.yaml", self.folder / folder)
        words = ["ab", "--base", "dir:base", "--head", "dir:head", *HOST, "--processes", 8, "head/suite.yaml"]
        self.run_tool(*words)
        self.assertEqual({RESULT: "pass", **dict.fromkeys(LABELS, "pass")}, self.verdicts())
        self.bench("head", work_ns=6000)
        self.run_tool(*words, code=1)
        self.assertEqual({RESULT: "pass", "bench/flash": "regressed", "bench/step": "pass"}, self.verdicts())
        self.bench("head", kernel="softmax")
        self.run_tool(*words, code=3)
        self.assertEqual("error", self.verdicts()["bench/flash"])
        # A result with a label's name in one of them is enough.
        self.bench("head")
        self.bench("base", result="step")
        self.assertIn("the label 'step' of 'measure'", self.run_tool(*words, code=2).stderr)


if __name__ == "__main__":
    unittest.main()
