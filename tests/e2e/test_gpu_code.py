# SPDX-License-Identifier: Apache-2.0
"""On a GPU: what is known of the code that a case launches, and what becomes of it."""

import os
import sys
import unittest

import tool

SUITE = """
name: probe
defaults:
  metrics: [gpu_time, registers]
  tolerances: {gpu_time: 4%, registers: 0}
workloads:
  - workload: probe
    variants: [device]
    params: {n: 4194304, iterations: 1000}
"""


class GpuCode(tool.Case):
    def setUp(self):
        super().setUp()
        self.write("probe.yaml", SUITE)

    def run_with(self, plugin, *more, code=0):
        return self.run_tool("run", "probe.yaml", "--backend", "cuda", *self.plugin(plugin), *more,
                             code=code)

    def case(self):
        return self.read_json("perfgate-out/run.json")["suites"][0]["cases"][0]

    def verdict(self):
        return self.read_json("perfgate-out/verdict.json")["suites"][0]["cases"][0]

    def kernel_of(self, plugin):
        self.run_with(plugin, "--processes", "1")
        kernels = self.case()["kernels"]
        self.assertEqual(1, len(kernels))
        return kernels[0]

    def refresh(self):
        self.run_tool("baseline", "refresh", "probe.yaml", "--backend", "cuda",
                      *self.plugin("probe_base"), "--processes", "5")

    def test_a_build_is_the_same_in_two_processes_and_two_builds_differ(self):
        first = self.kernel_of("probe_base")
        self.assertRegex(first["code"], "^[0-9a-f]{32}$")
        self.assertRegex(first["arguments"], "^[0-9a-f]{32}$")
        again = self.kernel_of("probe_base")
        self.assertEqual(first["code"], again["code"])
        self.assertEqual(first["arguments"], again["arguments"])
        self.assertNotEqual(first["code"], self.kernel_of("probe_slow")["code"])

    def test_a_second_kernel_in_the_module_changes_nothing_of_the_first(self):
        alone = self.kernel_of("probe_base")
        host_code = self.case()["host_code"]
        beside = self.kernel_of("probe_second")
        self.assertEqual(alone["code"], beside["code"])
        self.assertEqual(alone["arguments"], beside["arguments"])
        self.assertNotEqual(host_code, self.case()["host_code"])

    def test_other_parameters_are_other_arguments_of_the_same_code(self):
        before = self.kernel_of("probe_base")
        self.write("probe.yaml", SUITE.replace("1000}", "1001}"))
        after = self.kernel_of("probe_base")
        self.assertEqual(before["code"], after["code"])
        self.assertNotEqual(before["arguments"], after["arguments"])

    def test_the_baseline_keeps_it_and_the_verdict_says_how_it_stands(self):
        self.refresh()
        baseline = self.read_json(next((self.folder / "baselines").glob("*/probe.json")))
        kept = next(iter(baseline["cases"].values()))["kernels"][0]
        self.run_with("probe_base")
        self.assertEqual(kept["code"], self.case()["kernels"][0]["code"])
        self.assertEqual("unchanged", self.verdict()["code"])
        self.run_with("probe_second")
        self.assertEqual("device_unchanged", self.verdict()["code"])
        done = self.run_with("probe_slow", code=1)
        self.assertEqual("changed", self.verdict()["code"])
        self.assertIn("machine code changed: kernel", done.stdout)

    def test_changed_only_measures_what_launches_something_else(self):
        self.refresh()
        for plugin in ("probe_base", "probe_second"):
            self.run_with(plugin, "--changed-only")
            self.assertEqual("skipped", self.case()["status"], plugin)
        self.run_with("probe_slow", "--changed-only", code=1)
        self.assertEqual("measured", self.case()["status"])

    def ab(self, base, head, code=0):
        return self.run_tool("ab", "probe.yaml", "--backend", "cuda", "--base",
                             tool.PLUGINS / f"{base}.so", "--head", tool.PLUGINS / f"{head}.so",
                             code=code)

    def test_two_builds_back_to_back(self):
        self.ab("probe_base", "probe_base")
        self.assertEqual("unchanged", self.verdict()["code"])
        done = self.ab("probe_base", "probe_slow", code=1)
        self.assertEqual("regressed", self.verdict()["verdict"])
        self.assertIn("machine code changed: kernel", done.stdout)


if __name__ == "__main__":
    if not os.path.exists("/dev/nvidiactl") and not os.path.exists("/dev/dxg"):
        print("skipped: no NVIDIA GPU on this machine (/dev/nvidiactl is absent)")
        sys.exit(77)
    unittest.main(verbosity=2)
