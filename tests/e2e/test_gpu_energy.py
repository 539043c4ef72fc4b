# SPDX-License-Identifier: Apache-2.0
"""On a GPU: a copy that wastes something else than time is found and named; an unchanged one is left alone."""

import os
import shutil
import sys
import tempfile
import time
import unittest

import tool

ELEMENTS = 67108864

ENERGY = """
name: waste
defaults:
  metrics: [gpu_time, instructions, dram_bytes, energy, power, efficiency, bytes_per_joule]
  tolerances: {gpu_time: 4%, energy: 4%, power: 4%, efficiency: 4%, bytes_per_joule: 4%}
  cache: hot
  time_budget: 20ms
workloads: [{workload: waste, variants: [device]}]
"""

CEILING = """
name: waste
defaults:
  metrics: [gpu_time, instructions, ceiling_share]
  tolerances: {ceiling_share: 3pt}
  cache: hot
  time_budget: 20ms
workloads: [{workload: waste, variants: [device]}]
"""

FOOTPRINT = """
name: waste
defaults:
  metrics: [gpu_time, submit_time, api_calls, memory_peak, leak]
  tolerances: {gpu_time: 10%, submit_time: {worse: 20%, abs: 3us}, api_calls: 0, memory_peak: 0, leak: 0}
  cache: hot
  time_budget: 20ms
workloads: [{workload: waste, variants: [device]}]
"""


class Waste(tool.Case):
    SUITE = None
    kept = None  # the baseline, which all tests of a class share

    @classmethod
    def tearDownClass(cls):
        if cls.kept:
            cls.kept.cleanup()

    def setUp(self):
        super().setUp()
        self.write("waste.yaml", self.SUITE)
        cls = type(self)
        if cls.kept is None:
            start = time.monotonic()
            self.run_tool("baseline", "refresh", "waste.yaml", "--backend", "cuda", "--processes", "10",
                          *self.plugin("waste_base"))
            print(f"\nbaseline of 10 processes: {time.monotonic() - start:.1f} s", flush=True)
            cls.kept = tempfile.TemporaryDirectory()
            shutil.copytree(self.folder / "baselines", cls.kept.name, dirs_exist_ok=True)
        else:
            shutil.copytree(cls.kept.name, self.folder / "baselines")

    def judge(self, plugin, code, processes="5"):
        start = time.monotonic()
        self.run_tool("run", "waste.yaml", "--backend", "cuda", "--processes", processes,
                      *self.plugin(plugin), code=code)
        case = self.read_json("perfgate-out/verdict.json")["suites"][0]["cases"][0]
        verdicts = {metric["metric"]: metric for metric in case["metrics"]}
        print(f"\n{plugin}, {processes} processes or more, {time.monotonic() - start:.1f} s")
        for name, metric in verdicts.items():
            print(f"  {name}: {metric['verdict']}: {metric['sentence']}")
        for cause in case.get("why", []):
            print(f"  {cause['rule']}: {cause['sentence']}", flush=True)
        return verdicts, case

    def measured(self):
        return self.read_json("perfgate-out/run.json")["suites"][0]["cases"][0]["metrics"]


class Energy(Waste):
    SUITE = ENERGY

    def test_arithmetic_beside_the_copy_costs_energy_and_no_time(self):
        verdicts, case = self.judge("waste_energy", 1, "10")
        for name, sign in (("energy", 1), ("power", 1), ("efficiency", -1), ("bytes_per_joule", -1)):
            self.assertEqual("regressed", verdicts[name]["verdict"], name)
            self.assertGreater(sign * verdicts[name]["change"], 0.045, name)
        self.assertNotIn(verdicts["gpu_time"]["verdict"], ("regressed", "improved"))
        self.assertIn("energy", [cause["rule"] for cause in case["why"]])

    def test_ten_unchanged_runs_raise_no_alarm(self):
        for _ in range(10):
            verdicts, _ = self.judge("waste_base", (0, 4), "3")
            for name, verdict in verdicts.items():
                self.assertIn(verdict["verdict"], ("pass", "inconclusive"), name)


class CeilingShare(Waste):
    SUITE = CEILING

    def test_arithmetic_that_the_copy_does_not_hide_lowers_its_share(self):
        verdicts, case = self.judge("waste_time", 1, "10")
        self.assertEqual("regressed", verdicts["ceiling_share"]["verdict"])
        self.assertIn("instructions", [cause["rule"] for cause in case["why"]])

    def test_an_unchanged_one_passes(self):
        verdicts, _ = self.judge("waste_base", 0, "10")
        self.assertEqual("pass", verdicts["ceiling_share"]["verdict"])


class Footprint(Waste):
    SUITE = FOOTPRINT

    def only(self, verdicts, regressed):
        found = {name for name, verdict in verdicts.items() if verdict["verdict"] == "regressed"}
        self.assertEqual({regressed}, found)

    def test_an_unchanged_one_passes_and_its_memory_is_what_it_allocates(self):
        verdicts, _ = self.judge("waste_base", (0, 4))
        self.only_pass(verdicts)
        metrics = self.measured()
        # Two arrays; the driver hands out pieces of 2 MiB.
        own = 2 * 4 * ELEMENTS
        self.assertGreaterEqual(metrics["memory_peak"]["value"], own)
        self.assertLessEqual(metrics["memory_peak"]["value"], own + 4 * 2**20)
        self.assertEqual(0, metrics["leak"]["value"])
        print("  calls:", metrics["api_calls"]["detail"])
        self.assertRegex(metrics["api_calls"]["detail"], r"cudaLaunchKernel\w* 1\b")

    def only_pass(self, verdicts):
        for name, verdict in verdicts.items():
            self.assertIn(verdict["verdict"], ("pass", "inconclusive"), name)
        for name in ("api_calls", "memory_peak", "leak"):
            self.assertEqual("pass", verdicts[name]["verdict"])

    def assert_reason(self, case, rule, words=""):
        self.assertIn((rule, True), [(cause["rule"], words in cause["sentence"]) for cause in case["why"]])

    def test_a_third_array_is_found(self):
        verdicts, case = self.judge("waste_memory", 1, "1")
        self.assert_reason(case, "memory_peak")
        self.only(verdicts, "memory_peak")
        more = verdicts["memory_peak"]["measured"] - verdicts["memory_peak"]["baseline"]
        self.assertAlmostEqual(more, 4 * ELEMENTS, delta=4 * 2**20)

    def test_a_leak_of_64_KiB_per_launch_is_found(self):
        verdicts, case = self.judge("waste_leak", 1, "1")
        self.assert_reason(case, "leak")
        self.assertEqual("regressed", verdicts["leak"]["verdict"])
        self.assertAlmostEqual(verdicts["leak"]["measured"], 1000 * 64 * 1024, delta=4 * 2**20)

    def test_three_calls_more_are_found_and_named(self):
        verdicts, case = self.judge("waste_calls", 1, "1")
        self.assert_reason(case, "api_calls", "cudaGetDevice")
        self.only(verdicts, "api_calls")
        self.assertEqual(3, verdicts["api_calls"]["measured"] - verdicts["api_calls"]["baseline"])
        self.assertRegex(self.measured()["api_calls"]["detail"], r"cudaGetDevice\w* 3\b")

    def test_thirty_microseconds_more_to_submit_are_found(self):
        verdicts, _ = self.judge("waste_submission", 1, "10")
        self.only(verdicts, "submit_time")
        more = verdicts["submit_time"]["measured"] - verdicts["submit_time"]["baseline"]
        self.assertAlmostEqual(more, 30e3, delta=3e3)


if __name__ == "__main__":
    if not os.path.exists("/dev/nvidiactl") and not os.path.exists("/dev/dxg"):
        print("skipped: no NVIDIA GPU on this machine (/dev/nvidiactl is absent)")
        sys.exit(77)
    unittest.main(verbosity=2)
