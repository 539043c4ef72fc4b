# SPDX-License-Identifier: Apache-2.0
"""Counters of a program's kernels, from suite to verdict: with the mocks of driver and CUPTI instead of a GPU."""

import os
import pathlib
import re
import stat
import unittest
import xml.etree.ElementTree as xml

import tool

BUILD = pathlib.Path(os.environ["PERFGATE_BUILD_DIR"])
PROGRAM = BUILD / "bin" / "mock_program"
MOCKS = BUILD / "tests" / "inject" / "mocks"

SUITE = """
name: training
workloads:
  - command: [./app]
    name: train
    env: {{LD_LIBRARY_PATH: "{mocks}"}}
    timeout: 100s
    measure:
      flash: {{kernel: "*flash*", within: step, skip: 1, count: 2}}
      gemm: {{kernel: gemm}}
    tolerances:
      flash.dram_bytes: 1%
      flash.instructions: 0
      flash.load_bytes: 0
      gemm.gpu_time: 90%
    expect:
      gemm.warp_efficiency: "== 100%"
"""

APP = """#!/bin/sh
echo >> runs
{first}
{env} exec "{program}" grid {grid} push step kernels 2 flash_fwd pop push step kernels 1 gemm kernels 3 flash_fwd pop {last}
"""

BLOCKS = 8


@unittest.skipUnless(PROGRAM.exists(), "built without CUDA's headers: programs cannot be recorded")
class ProgramCounters(tool.Case):
    def setUp(self):
        super().setUp()
        self.suite()
        self.app()

    def app(self, grid=BLOCKS, env="", first="", last="", folder="."):
        path = self.write(f"{folder}/app", APP.format(grid=grid, env=env, first=first, last=last, program=PROGRAM))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def suite(self, *changes):
        text = SUITE.format(mocks=MOCKS)
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.write("suite.yaml", text)

    def run_suite(self, *words, **kwargs):
        return self.run_tool("run", "suite.yaml", "--backend", "host", "--processes", 2, *words, **kwargs)

    def refresh(self):
        self.run_tool("baseline", "refresh", "suite.yaml", "--backend", "host", "--processes", 2)

    def cases(self, document="run.json"):
        read = self.read_json(f"perfgate-out/{document}")
        return {case["id"].split("/")[1]: case for case in read["suites"][0]["cases"]}

    def runs(self):
        return len((self.folder / "runs").read_text().splitlines())

    def missing(self, label="flash"):
        """By metric, why it was not collected."""
        return {each["metric"]: each["reason"] for each in self.cases()[label].get("not_collected", [])}

    def test_of_two_sizes_of_a_kernel_the_one_of_the_label_is_counted(self):
        self.suite(("within: step, skip: 1, count: 2", "grid: 64"))
        self.app(last="grid 64 kernels 1 flash_fwd")
        self.run_suite()
        self.assertEqual(100 * 64, self.cases()["flash"]["metrics"]["instructions"]["value"])
        self.assertEqual(1, self.cases()["flash"]["metrics"]["kernels"]["value"])

    def test_each_pass_is_a_run_and_the_metrics_have_their_usual_names(self):
        self.run_suite()
        # Two bare, two recorded, one with API calls; dram_bytes and instructions, then the thread instructions of
        # warp_efficiency, then load_bytes, which patches the code.
        self.assertEqual(2 + 3, self.runs())
        flash = self.cases()["flash"]["metrics"]
        self.assertEqual(4096 * BLOCKS, flash["dram_bytes"]["value"])
        self.assertEqual("bytes", flash["dram_bytes"]["unit"])
        self.assertEqual(100 * BLOCKS, flash["instructions"]["value"])
        self.assertEqual(2048 * BLOCKS, flash["load_bytes"]["value"])
        self.assertEqual("counter/auto-range/application-replay", flash["instructions"]["method"])
        # What one label asks for, others do not have.
        self.assertNotIn("warp_efficiency", flash)
        gemm = self.cases()["gemm"]["metrics"]
        self.assertEqual(100, gemm["warp_efficiency"]["value"])
        self.assertNotIn("instructions", gemm)
        self.assertEqual({}, self.missing())

    def test_a_terminal_shows_which_pass_is_counted(self):
        _, text = tool.on_terminal(["run", "suite.yaml", "--backend", "host", "--processes", 2], self.folder)
        # How many there are is known from the first.
        self.assertEqual([("1", "1"), ("2", "3"), ("3", "3")], re.findall(r"counters (\d+)/(\d+)", text))

    def test_without_a_counter_nothing_is_run_for_it(self):
        self.suite(("flash.dram_bytes: 1%", "flash.gpu_time: 90%"), ("      flash.instructions: 0\n", ""),
                   ("      flash.load_bytes: 0\n", ""), (", count: 2", ""),
                   ('    expect:\n      gemm.warp_efficiency: "== 100%"\n', ""))
        self.run_suite()
        self.assertEqual(2, self.runs())

    def test_more_work_fails_by_the_counter(self):
        self.refresh()
        self.run_suite()
        self.app(grid=BLOCKS + 1)
        done = self.run_suite("--verbose", "--report", "report.md", "--report", "report.html", code=1)
        self.assertRegex(done.stdout, r"dram_bytes.*32.00 KiB.*36.00 KiB.*\+12")
        verdicts = {each["metric"]: each["verdict"] for each in self.cases("verdict.json")["flash"]["metrics"]}
        self.assertEqual({"regressed"}, {verdicts[name] for name in ("dram_bytes", "instructions", "load_bytes")})
        failures = xml.parse(self.folder / "perfgate-out/junit.xml").getroot().findall(".//failure")
        self.assertTrue(any("dram_bytes" in "".join(each.itertext()) + each.get("message", "") for each in failures))
        for report in ("report.md", "report.html"):
            self.assertIn("dram_bytes", (self.folder / report).read_text())
        # The stored run says the same, and nothing is executed.
        before = self.runs()
        self.run_tool("compare", "perfgate-out/run.json", code=1)
        self.assertEqual(before, self.runs())
        # Fewer bytes are better.
        self.app(grid=BLOCKS - 1)
        self.assertIn("improved", self.run_suite().stdout)

    def test_a_smaller_change_than_the_tolerance_passes(self):
        self.suite(("flash.instructions: 0", "flash.instructions: 1%"), ("flash.load_bytes: 0", "flash.load_bytes: 1%"))
        self.app(env="MOCK_COUNT_FACTOR=1.0")
        self.refresh()
        self.app(env="MOCK_COUNT_FACTOR=1.005")
        self.run_suite()
        self.app(env="MOCK_COUNT_FACTOR=1.02")
        self.run_suite(code=1)

    def test_every_gate_is_proved(self):
        self.suite(("      gemm.gpu_time: 90%\n", ""))
        self.refresh()
        done = self.run_suite("--prove")
        self.assertIn("3 gates of 1 case tried, 1 relation: ", done.stdout + done.stderr)
        self.run_tool("compare", "perfgate-out/run.json", "--prove")

    def test_an_expectation_holds_without_a_baseline(self):
        self.suite(('"== 100%"', '"<= 50%"'))
        done = self.run_suite(code=1)
        self.assertIn("warp_efficiency", done.stdout)

    def test_two_checkouts_back_to_back(self):
        for name, grid in (("base", BLOCKS), ("same", BLOCKS), ("more", 2 * BLOCKS)):
            self.app(grid=grid, folder=name)

        def ab(head, code):
            return self.run_tool("ab", "suite.yaml", "--backend", "host", "--processes", 6, "--base",
                                 "dir:" + str(self.folder / "base"), "--head", f"dir:{self.folder / head}", code=code)
        ab("same", 0)
        self.assertRegex(ab("more", 1).stdout, r"dram_bytes.*\+100|instructions.*\+100|load_bytes.*\+100")

    def assert_refused(self, *reasons, label="flash"):
        done = self.run_suite(code=3)
        self.assertIn("not_collected", done.stdout)
        for metric in ("dram_bytes", "instructions", "load_bytes"):
            for reason in reasons:
                self.assertIn(reason, self.missing(label)[metric])
        # What was measured before is good.
        self.assertEqual("measured", self.cases()[label]["status"])
        self.assertGreater(self.cases()[label]["metrics"]["gpu_time"]["value"], 0)

    def test_a_counter_that_is_not_collected_is_no_pass(self):
        self.refresh()
        self.app(env="MOCK_COUNTERS_ERROR=35")
        self.assert_refused("only administrators")
        done = self.run_tool("baseline", "refresh", "suite.yaml", "--backend", "host", "--processes", 2, code=2)
        self.assertIn("dram_bytes was not collected", done.stderr)

    def test_other_launches_in_another_run(self):
        later = f'[ "$PERFGATE_RECORD_LEVEL" = counters ] && [ -e counted ] && exec "{PROGRAM}"'
        mark = '[ "$PERFGATE_RECORD_LEVEL" = counters ] && touch counted'
        self.app(first=f"{later} grid 8 push step kernels 2 gemm pop push step kernels 4 flash_fwd pop\n{mark}")
        self.assert_refused("launches other kernels in each run: launch 1 was flash_fwd with grid 8x1x1 and block 128x1x1 in "
                            "pass 1 and gemm with grid 8x1x1")
        (self.folder / "counted").unlink()
        self.app(first=f"{later} push step kernels 1 gemm pop\n{mark}")
        self.assert_refused("launch 1 was flash_fwd")

    def test_a_kernel_that_is_in_a_graph(self):
        self.app(last="capture 1 =flash_fwd")
        self.assert_refused("flash_fwd is in a CUDA graph")
        self.assertEqual({}, self.missing("gemm"))

    def test_a_run_that_fails_or_leaves_no_recording(self):
        self.app(first='[ "$PERFGATE_RECORD_LEVEL" = counters ] && exit 7')
        self.assert_refused("(counters-1) exited with 7 and not with 0")
        self.app(first='[ "$PERFGATE_RECORD_LEVEL" = counters ] && exit 0')
        self.assert_refused("nothing was recorded")
        self.app(first=f'[ "$PERFGATE_RECORD_LEVEL" = counters ] && exec "{PROGRAM}" kernels 1 flash_fwd leave')
        self.assert_refused("the recording of counter pass 1 is incomplete", "has no end")

    def test_a_run_that_hangs(self):
        self.suite(("timeout: 100s", "timeout: 10s"))
        self.app(first='[ "$PERFGATE_RECORD_LEVEL" = counters ] && exec sleep 1000')
        self.assert_refused("see 'timeout'")

    def test_a_counter_that_the_chip_lacks_or_counts_in_several_passes(self):
        self.suite(("flash.load_bytes: 0", "flash.sm_throughput: 1%\n      flash.bank_conflicts_load: 0"))
        self.run_suite(code=3)
        missing = self.missing()
        self.assertIn("needs 8 passes by itself", missing["sm_throughput"])
        self.assertIn("GH100 has no counter", missing["bank_conflicts_load"])
        self.assertIn("dram_bytes", self.cases()["flash"]["metrics"])

    def test_a_launch_that_differs_alone_regresses(self):
        self.suite(("skip: 1, count: 2", "count: 3"))
        body = f'exec "{PROGRAM}" push step kernels 2 flash_fwd grid {{last}} kernels 1 flash_fwd kernels 1 gemm pop'
        self.app(first=body.format(last=BLOCKS))
        self.refresh()
        self.app(first=body.format(last=4 * BLOCKS))
        self.run_suite(code=1)
        verdicts = {each["metric"]: each["verdict"] for each in self.cases("verdict.json")["flash"]["metrics"]}
        self.assertEqual("regressed", verdicts["instructions"])
        # The mean of 800, 800 and 3200.
        self.assertEqual(1600, self.cases()["flash"]["metrics"]["instructions"]["value"])

    def test_fewer_launches_than_asked_for(self):
        self.suite(("count: 2", "count: 4"))
        self.assert_refused("only 3 of the 4 launches to count were made")

    def test_a_process_that_vanishes(self):
        second = f'RANK=1 MOCK_UUID=40 "{PROGRAM}" push step pop push step kernels 3 flash_fwd pop'
        self.app(env="RANK=0", first=second)
        self.refresh()
        self.run_suite()
        self.app(env="RANK=0")
        self.run_suite(code=(1, 3))
        verdicts = {each["metric"]: each["verdict"] for each in self.cases("verdict.json")["flash"]["metrics"]}
        self.assertEqual({"invalid"}, {verdicts[name] for name in ("dram_bytes", "instructions", "load_bytes")})

    def test_other_kernels_than_were_recorded(self):
        self.app(first=f'[ "$PERFGATE_RECORD_LEVEL" = counters ] && exec "{PROGRAM}" grid 16 push step pop push step kernels 1 '
                       'gemm kernels 2 flash_fwd pop')
        self.assert_refused("the counted kernel flash_fwd with grid 16x1x1 is not among those that were recorded")

    def test_overrides_ask_for_no_counters(self):
        self.suite(("      gemm: {kernel: gemm}", '      gemm: {kernel: gemm}\n      step: {nvtx: "step*"}'),
                   ("      gemm.gpu_time: 90%\n", "      gemm.gpu_time: 90%\n      step.kernels: 0\n"),
                   ("name: training\n", 'name: training\noverrides:\n'
                    '  - {match: "*/step", metrics: [core, kernels, dram_bytes], tolerances: {dram_bytes: 1%}}\n'))
        self.run_suite()
        self.assertEqual(2 + 3, self.runs())
        self.assertNotIn("dram_bytes", self.cases()["step"]["metrics"])
        self.assertEqual({}, self.missing("step"))

    def test_raw_counters(self):
        self.suite(("flash.load_bytes: 0", "flash.dram__bytes_read.sum: 1%"),
                   ('gemm.warp_efficiency: "== 100%"', 'flash.dram__bytes_write.sum: "<= 1MB"'))
        self.run_suite()
        self.assertEqual(3000 * BLOCKS, self.cases()["flash"]["metrics"]["dram__bytes_read.sum"]["value"])
        self.assertEqual(1096 * BLOCKS, self.cases()["flash"]["metrics"]["dram__bytes_write.sum"]["value"])

    def assert_invalid(self, *parts):
        done = self.run_tool("validate", "suite.yaml", code=2)
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_what_a_suite_may_not_ask_for(self):
        self.suite(("gemm.gpu_time: 90%", "program.dram_bytes: 1%"))
        self.assert_invalid("'dram_bytes' of the program; it is collected of kernels, expected a label with 'kernel'")
        self.suite(("gemm: {kernel: gemm}", "gemm: {nvtx: step}"))
        self.assert_invalid("'warp_efficiency' of a range; it is collected of kernels")
        for count in ("0", "101", "many", "1.5"):
            self.suite(("count: 2", f"count: {count}"))
            self.assert_invalid("'count'", "an integer from 1 to 100")
        self.suite(("gemm: {kernel: gemm}", "gemm: {nvtx: step, count: 3}"))
        self.assert_invalid("'count' of a range; expected it of a 'kernel' alone")
        self.suite(("flash.dram_bytes: 1%", "flash.theoretical_occupancy: 1%"))
        self.assert_invalid("theoretical_occupancy")

    def test_verbs_that_read_execute_nothing(self):
        self.assertIn("dram_bytes", self.run_tool("list", "suite.yaml", "--verbose", code=(0, 2)).stdout
                      + self.run_tool("list", "suite.yaml").stdout)
        self.run_tool("validate", "suite.yaml")
        self.assertFalse((self.folder / "runs").exists())


if __name__ == "__main__":
    tool.main()
