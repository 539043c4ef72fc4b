# SPDX-License-Identifier: Apache-2.0
"""On a GPU: a slower kernel, one that spills, one that is wrong, and everything that can go amiss."""

import os
import shutil
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

import tool

PROBE = """
name: probe
defaults:
  metrics: [core, gpu_span, flops]
  tolerances: {gpu_time: 4%, registers: 0, local_bytes: 0, spill_sectors: {worse: 0}, instructions: 0}
workloads:
  - workload: probe
    variants: [device]
    params: {n: 4194304, iterations: 1000}
"""

FAULT = """
name: fault
defaults: {metrics: [gpu_time, gpu_span, registers], tolerances: {gpu_time: 50%%}, time_budget: 10ms}
workloads:
  - workload: fault
    variants: [%s]
"""


def failure(path):
    return xml.parse(path).getroot().find("testsuite/testcase/failure")


class GpuGate(tool.Case):
    kept = None  # the baselines, which all tests share

    @classmethod
    def tearDownClass(cls):
        if cls.kept:
            cls.kept.cleanup()

    def setUp(self):
        super().setUp()
        self.write("probe.yaml", PROBE)
        if GpuGate.kept is None:
            self.run_tool("baseline", "refresh", "probe.yaml", "--backend", "cuda",
                          "--processes", "8", *self.plugin("probe_base"))
            GpuGate.kept = tempfile.TemporaryDirectory()
            shutil.copytree(self.folder / "baselines", GpuGate.kept.name, dirs_exist_ok=True)
        else:
            shutil.copytree(GpuGate.kept.name, self.folder / "baselines")

    def run_against_baseline(self, plugin, code):
        return self.run_tool("run", "probe.yaml", "--backend", "cuda", "--processes", "3",
                             *self.plugin(plugin), code=code)

    def test_the_same_code_passes(self):
        self.run_against_baseline("probe_base", 0)
        run = self.read_json("perfgate-out/run.json")
        case = run["suites"][0]["cases"][0]
        # 1000 multiply-adds for each element and a few that frame them, counted by the hardware.
        flops = case["metrics"]["flops"]["value"]
        self.assertGreaterEqual(flops, 2 * 1000 * 4194304)
        self.assertLess(flops, 1.01 * 2 * 1000 * 4194304)
        self.assertEqual(1, len(case["kernels"]))
        self.assertIn("probe_kernel", case["kernels"][0]["name"])

    def test_ten_per_cent_slower_fails_and_says_by_how_much(self):
        self.run_against_baseline("probe_slow", 1)
        found = failure(self.folder / "perfgate-out/junit.xml")
        self.assertIn("gpu_time", found.text)
        self.assertIn("instructions", found.text)

    def test_a_spill_fails_and_is_named(self):
        self.run_against_baseline("probe_spill", 1)
        found = failure(self.folder / "perfgate-out/junit.xml")
        self.assertIn("local_bytes", found.text)
        self.assertIn("spill_sectors", found.text)

    def test_a_wrong_result_fails_and_says_where(self):
        self.run_against_baseline("probe_wrong", 1)
        found = failure(self.folder / "perfgate-out/junit.xml")
        self.assertIn("element 4194303", found.get("message") + (found.text or ""))

    def test_without_cupti_the_time_of_events_remains(self):
        self.run_tool("run", "probe.yaml", "--backend", "cuda", "--no-cupti",
                      *self.plugin("probe_base"), code=3)
        case = self.read_json("perfgate-out/run.json")["suites"][0]["cases"][0]
        self.assertIn("gpu_span", case["metrics"])
        self.assertIn("gpu_time", [entry["metric"] for entry in case["not_collected"]])

    def test_what_does_not_fit_the_device_is_an_error(self):
        self.write("big.yaml", PROBE.replace("4194304", str(1 << 36)).replace("probe\ndef", "big\ndef"))
        self.run_tool("run", "big.yaml", "--backend", "cuda", *self.plugin("probe_base"), code=3)
        case = self.read_json("perfgate-out/run.json")["suites"][0]["cases"][0]
        self.assertIn("does not fit", case["reason"])

    def test_verify_only_and_doctor(self):
        self.run_tool("run", "probe.yaml", "--backend", "cuda", "--verify-only",
                      *self.plugin("probe_base"))
        done = self.run_tool("doctor", "--backend", "cuda", "--report", "doctor.json")
        self.assertIn("driver", done.stdout)
        self.assertEqual("perfgate.doctor", self.read_json("doctor.json")["schema"])


class GpuFaults(tool.Case):
    def cases(self, variants, *more, code=3):
        self.write("fault.yaml", FAULT % ", ".join(variants))
        self.run_tool("run", "fault.yaml", "--backend", "cuda", "--processes", "2",
                      *self.plugin("fault"), *more, code=code)
        cases = self.read_json("perfgate-out/run.json")["suites"][0]["cases"]
        return {case["variant"]: case for case in cases}

    def test_sticky_errors_cost_their_own_case_only(self):
        cases = self.cases(["illegal_address", "device_assert", "fine"])
        self.assertIn("CUDA_ERROR_ILLEGAL_ADDRESS", cases["illegal_address"]["reason"])
        self.assertIn("CUDA_ERROR_ASSERT", cases["device_assert"]["reason"])
        self.assertEqual("measured", cases["fine"]["status"])

    def test_an_endless_kernel_is_ended(self):
        cases = self.cases(["endless", "fine"], "--time-limit", "10")
        self.assertIn("no answer within 10 s", cases["endless"]["reason"])
        self.assertEqual("measured", cases["fine"]["status"])

    def test_async_that_waits_is_named(self):
        cases = self.cases(["waits", "fine"])
        self.assertEqual("error", cases["waits"]["status"])
        self.assertIn("async", cases["waits"]["reason"])
        self.assertEqual("measured", cases["fine"]["status"])


if __name__ == "__main__":
    if not os.path.exists("/dev/nvidiactl") and not os.path.exists("/dev/dxg"):
        print("skipped: no NVIDIA GPU on this machine (/dev/nvidiactl is absent)")
        sys.exit(77)
    unittest.main(verbosity=2)
