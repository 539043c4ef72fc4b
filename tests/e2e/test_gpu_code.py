# SPDX-License-Identifier: Apache-2.0
"""On a GPU: what is known of the code that a case launches, and what becomes of it."""

import json
import os
import pathlib
import shutil
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

# Hardly a time is outside the tolerance: what is asked is whether it was taken.
HELPED = """
name: helped
defaults:
  metrics: [gpu_time]
  tolerances: {gpu_time: 1000%}
workloads:
  - workload: helped
    variants: [device]
    params: {ns: 100000}
"""

GRAPH = """
name: graph
defaults:
  metrics: [gpu_time, instructions]
  tolerances: {gpu_time: 100%}
workloads:
  - workload: interpolate
    variants: [eager, graph]
    params: {gaussians: 10000}
"""


class GpuCase(tool.Case):
    def case(self):
        return self.read_json("perfgate-out/run.json")["suites"][0]["cases"][0]

    def verdict(self):
        return self.read_json("perfgate-out/verdict.json")["suites"][0]["cases"][0]


class GpuCode(GpuCase):
    def setUp(self):
        super().setUp()
        self.write("probe.yaml", SUITE)

    def run_with(self, plugin, *more, code=0):
        return self.run_tool("run", "probe.yaml", "--backend", "cuda", *self.plugin(plugin), *more,
                             code=code)

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

    def test_the_code_says_its_size_its_stack_and_where_its_source_is(self):
        kernel = self.kernel_of("probe_base")
        self.assertGreater(kernel["code_bytes"], 0)
        self.assertEqual(0, kernel["stack_bytes"])
        # Outside the folder of the run, so absolute.
        path = pathlib.Path(kernel["source"]["file"])
        self.assertTrue(path.is_absolute() and path.name == "probe_cuda.cu", path)
        self.assertIn("probe_kernel(", path.read_text().splitlines()[kernel["source"]["line"] - 1])

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
        self.run_with("probe_slow", code=1)
        self.assertEqual("changed", self.verdict()["code"])
        self.assertIn("machine code changed: kernel", " ".join(self.verdict()["notes"]))

    def test_changed_only_measures_what_launches_something_else(self):
        self.refresh()
        for plugin in ("probe_base", "probe_second"):
            self.run_with(plugin, "--changed-only")
            self.assertEqual("skipped", self.case()["status"], plugin)
        self.run_with("probe_slow", "--changed-only", code=1)
        self.assertEqual("measured", self.case()["status"])

    def test_a_time_that_nothing_explains_is_no_measurement(self):
        self.refresh()
        file = next((self.folder / "baselines").glob("*/probe.json"))
        baseline = json.loads(file.read_text())
        for case in baseline["cases"].values():
            time = case["metrics"]["gpu_time"]
            time["value"] /= 1000
            time["processes"] = [value / 1000 for value in time["processes"]]
        file.write_text(json.dumps(baseline))
        self.run_with("probe_base", code=3)
        self.assertEqual("unchanged", self.verdict()["code"])
        self.assertEqual("invalid", self.verdict()["verdict"])

    def ab(self, base, head, code=0):
        return self.run_tool("ab", "probe.yaml", "--backend", "cuda", "--base",
                             f"build:{tool.PLUGINS / base}.so", "--head", f"build:{tool.PLUGINS / head}.so",
                             code=code)

    def test_two_builds_back_to_back(self):
        same = self.folder / "same"
        same.mkdir()
        for file in tool.PLUGINS.glob("probe_base*.so"):  # the part for CUDA is found by its name
            shutil.copy(file, same)
        self.ab("probe_base", same / "probe_base")
        self.assertEqual("unchanged", self.verdict()["code"])
        self.ab("probe_base", "probe_slow", code=1)
        self.assertEqual("regressed", self.verdict()["verdict"])
        self.assertIn("machine code changed: kernel", " ".join(self.verdict()["notes"]))


BLEND = """
__global__ void blend(float* out, const float4* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = LOAD;
    out[i] = v.x * v.y + v.z * v.w;
}
"""

BLEND_SUITE = """
name: blend
defaults:
  metrics: [gpu_time, code_instructions]
  tolerances: {gpu_time: 5%}
workloads:
  - source: blend.cu
    kernel: blend
    launch: {grid: "n / 256", block: 256}
    arguments: [{out: f32, size: n}, {in: f32, size: "4 * n"}, {i32: n}]
    matrix: {n: [4194304]}
"""


SCALAR = ("make_float4(((volatile float*)a)[4 * i], ((volatile float*)a)[4 * i + 1], "
          "((volatile float*)a)[4 * i + 2], ((volatile float*)a)[4 * i + 3])")


class Instructions(GpuCase):
    def test_a_slower_case_says_which_instructions_changed_and_where_its_time_goes(self):
        for side, load in (("base", "a[i]"), ("head", SCALAR)):
            self.write(f"{side}/blend.cu", BLEND.replace("LOAD", load))
        self.write("head/blend.yaml", BLEND_SUITE.replace(", code_instructions", ""))
        done = self.run_tool("ab", "head/blend.yaml", "--backend", "cuda", "--base", "dir:base",
                             "--head", "dir:head", "--report", "annotations:annotations", code=(0, 1))
        if self.verdict()["verdict"] != "regressed":
            self.skipTest(f"not slower here: {self.verdict()['verdict']}")
        why = {cause["rule"]: cause for cause in self.verdict()["why"]}
        self.assertRegex(why["machine_code"]["sentence"], r"LDG\S* 0 → 4 at head/blend.cu:5")
        self.assertIn("machine code and samples of 1 slower case", done.stderr)
        code = self.read_json("perfgate-out/code.json")
        for side in ("cases", "base"):
            (case,) = code[side]
            self.assertNotIn("sampling_problem", case)
            samples = [sum(each.get("samples", {}).values()) for each in case["kernels"][0]["instructions"]]
            self.assertGreater(sum(samples), 1000, side)
        self.assertIn(why["samples"].get("place", {}).get("line", 5), (5, 6))

    def test_a_lost_vector_load_is_named_with_its_line(self):
        self.write("blend.yaml", BLEND_SUITE)
        self.write("blend.cu", BLEND.replace("LOAD", "a[i]"))
        self.run_tool("baseline", "refresh", "blend.yaml", "--backend", "cuda")
        self.write("blend.cu", BLEND.replace("LOAD", SCALAR))
        self.run_tool("run", "blend.yaml", "--backend", "cuda", code=(0, 1))
        causes = [each for each in self.verdict().get("why", []) if each["rule"] == "machine_code"]
        self.assertEqual(1, len(causes), self.verdict())
        self.assertRegex(causes[0]["sentence"], r"LDG\S*\.128\S* 1 → 0")
        self.assertRegex(causes[0]["sentence"], r"LDG\S* 0 → 4 at blend.cu:5")


class WhatAPluginBringsAlong(GpuCase):
    """A plugin that copies and leaves work to a library beside it."""

    def setUp(self):
        super().setUp()
        self.write("helped.yaml", HELPED)
        self.plugins = self.folder / "plugins"
        self.plugins.mkdir()
        for file in tool.PLUGINS.glob("helped_*.so"):
            shutil.copy(file, self.plugins)
        self.bring("base")
        self.run_helped("baseline", "refresh")
        self.expect("skipped", "unchanged")

    def bring(self, kind):
        shutil.copy(tool.PLUGINS / "helpers" / kind / "libhelper.so", self.plugins)

    def run_helped(self, *verb, plugin="helped_pinned", more=()):
        self.run_tool(*verb, "helped.yaml", "--backend", "cuda", "--plugin",
                      self.plugins / f"{plugin}.so", "--processes", "2", *more)

    def expect(self, status, code, plugin="helped_pinned"):
        self.run_helped("run", plugin=plugin, more=["--changed-only"])
        self.assertEqual(status, self.case()["status"])
        self.assertEqual(code, self.verdict()["code"])

    def test_a_slower_library_is_measured(self):
        self.assertEqual(["libhelper.so"], list(self.case()["libraries"]))
        self.bring("slow")
        self.expect("measured", "device_unchanged")
        self.bring("base")
        self.expect("skipped", "unchanged")

    def test_a_copy_from_pageable_memory_is_measured(self):
        copy = {"kind": "host to device", "bytes": 4194304, "from": "pinned", "to": "device"}
        self.assertEqual([copy], self.case()["memory_operations"])
        self.expect("measured", "device_unchanged", plugin="helped_pageable")
        self.assertEqual([{**copy, "from": "pageable"}], self.case()["memory_operations"])

    def test_a_baseline_without_copies_and_libraries_is_measured_once(self):
        file = next((self.folder / "baselines").glob("*/helped.json"))
        baseline = json.loads(file.read_text())
        for case in baseline["cases"].values():
            del case["memory_operations"], case["libraries"]
        file.write_text(json.dumps(baseline))
        self.expect("measured", "device_unchanged")
        self.run_tool("baseline", "refresh", "perfgate-out/run.json")
        self.expect("skipped", "unchanged")


class GpuGraph(GpuCase):
    def test_a_graphs_counters_are_the_cases_alone(self):
        self.write("graph.yaml", GRAPH)
        self.run_tool("run", "graph.yaml", "--backend", "cuda", "--processes", "1")
        eager, graph = self.read_json("perfgate-out/run.json")["suites"][0]["cases"]
        for missing in eager.get("not_collected", []):
            self.skipTest(missing["reason"])
        counted = [kernel["metrics"]["instructions"] * kernel.get("count", 1) for kernel in eager["kernels"]]
        self.assertEqual(eager["metrics"]["instructions"]["value"], sum(counted))
        self.assertEqual(*(sum(kernel.get("count", 1) for kernel in case["kernels"])
                           for case in (eager, graph)))
        self.assertGreater(graph["metrics"]["instructions"]["value"], 0)
        self.assertEqual([], [kernel for kernel in graph["kernels"] if "metrics" in kernel])


if __name__ == "__main__":
    if not os.path.exists("/dev/nvidiactl") and not os.path.exists("/dev/dxg"):
        print("skipped: no NVIDIA GPU on this machine (/dev/nvidiactl is absent)")
        sys.exit(77)
    unittest.main(verbosity=2)
