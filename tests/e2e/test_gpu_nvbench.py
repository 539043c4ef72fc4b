# SPDX-License-Identifier: Apache-2.0
"""On a GPU: two programs with nvbench (tests/benchmarks/nvbench_gpu.cu), of which the one in `slow` does 3 % more work, and
the template's. PERFGATE_NVBENCH is the folder that tests/gpu/nvbench builds."""

import os
import pathlib
import re
import shutil
import unittest

import tool

PROGRAMS = pathlib.Path(os.environ.get("PERFGATE_NVBENCH") or "/nonexistent")

SUITE = """
name: mine
workloads:
  - benchmark: [./bench, --devices, 0, --no-batch, --stopping-criterion, sample-count, --target-samples, 100, --benchmark, fma, --benchmark, copy, %s, "{out}"]
    name: bench
    format: nvbench
    tolerances: {real_time: 1.5%%}
expect:
  bench/fma[Iterations=10000].real_time: ">= 3 * bench/fma[Iterations=1000].real_time"
  bench/fma[T=F64].real_time: ">= 0.9 * bench/fma[T=F32].real_time"
"""


@unittest.skipUnless((PROGRAMS / "base/bench").exists(), "PERFGATE_NVBENCH names no folder with the programs")
class GpuNvbench(tool.Case):
    def setUp(self):
        super().setUp()
        self.write("suite.yaml", SUITE % "--jsonbin")
        for side in ("base", "slow"):
            (self.folder / side).mkdir()
            shutil.copy(PROGRAMS / side / "bench", self.folder / side)

    def cases(self):
        return {case["id"]: case for suite in self.read_json("perfgate-out/verdict.json")["suites"]
                for case in suite["cases"]}

    def ab(self, base, head, code):
        return self.run_tool("ab", "--base", f"dir:{base}", "--head", f"dir:{head}", "suite.yaml", "--backend", "cuda",
                             "--processes", 6, code=code, patience_s=300)

    def test_three_percent_more_work_is_found_and_the_same_passes(self):
        shutil.copytree(self.folder / "base", self.folder / "same")
        self.ab("base", "same", 0)
        cases = self.cases()
        self.assertEqual({"bench/fma[Iterations=1000,T=F32]", "bench/fma[Iterations=10000,T=F32]",
                          "bench/fma[Iterations=1000,T=F64]", "bench/fma[Iterations=10000,T=F64]",
                          "bench/copy[Bytes=16777216,Order=linear]", "bench/copy[Bytes=134217728,Order=linear]",
                          "bench/copy[Bytes=16777216,Order=random]", "bench/copy[Bytes=134217728,Order=random]"},
                         set(cases))
        self.assertEqual("skipped", cases["bench/copy[Bytes=16777216,Order=random]"]["verdict"])
        self.ab("base", "slow", 1)
        for dtype in ("F32", "F64"):
            self.assertEqual("regressed", self.cases()[f"bench/fma[Iterations=10000,T={dtype}]"]["verdict"])
        self.ab("slow", "base", 0)

    def test_its_medians_without_samples(self):
        self.write("suite.yaml", SUITE % "--json")
        self.ab("base", "slow", 1)
        run = self.read_json("perfgate-out/run.json")
        time = next(case for case in run["suites"][0]["cases"]
                    if case["id"] == "bench/fma[Iterations=10000,T=F32]")["metrics"]["real_time"]
        self.assertEqual("nvbench/median", time["method"])

    def test_the_benchmark_of_the_template(self):
        text = self.run_tool("init", "project", "--from", "nvbench").stdout
        commands = re.findall(r"^  \S*perfgate (.*)$", text, re.MULTILINE)
        self.assertEqual(2, len(commands), text)
        project = self.folder / "project"
        (project / "build").mkdir()
        shutil.copy(PROGRAMS / "template/bench", project / "build")
        for command in commands:
            self.run_tool(*command.split(), cwd=project, patience_s=300)
        self.assertIn("bench/scale[N=1048576,T=F32]", (project / "perfgate-out/run.json").read_text())


if __name__ == "__main__":
    tool.main()
