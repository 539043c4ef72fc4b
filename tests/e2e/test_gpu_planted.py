# SPDX-License-Identifier: Apache-2.0
"""On a GPU: what else gets worse than times. Each metric has a kernel whose new version makes it worse
(tests/plugins/planted.cu), which must be found and explained, and which must pass unchanged."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import tool

ELEMENTS = 4194304
BYTES = 4 * ELEMENTS

# Variant -> what is gated, which of it gets worse in the new version, and a cause that is named.
PLANTED = {
    "tail": ({"gpu_time": "5%", "waves": 0, "sm_active": "5pt", "sm_active_least": "5pt"},
             {"gpu_time", "waves", "sm_active", "sm_active_least"}, "tail effect"),
    "threads": ({"gpu_time": "5%", "load_bytes": 0, "async_copy_bytes": 0},
                {"gpu_time", "load_bytes", "async_copy_bytes"}, "asynchronous copies lost"),
    "bulk": ({"gpu_time": "5%", "load_bytes": 0, "tma_bytes": "1%"},
             {"gpu_time", "load_bytes", "tma_bytes"}, "bulk copies lost"),
    "code": ({"code_size": 0}, {"code_size"}, "larger machine code"),
    "stack": ({"stack": 0}, {"stack"}, "more stack per thread"),
    "caches": ({"gpu_time": "5%", "l1_throughput": "10pt", "l2_throughput": "5pt", "shared_throughput": "5pt"},
               {"gpu_time", "l1_throughput", "l2_throughput", "shared_throughput"}, "the largest changes are"),
    "host": ({"gpu_time": "20%", "pcie_bytes": "20%"}, {"gpu_time", "pcie_bytes"}, "more bytes over PCIe"),
}


def suite():
    entries = [{"workload": "planted", "variants": [variant], "metrics": sorted({"gpu_time", *gated}),
                "tolerances": gated} for variant, (gated, _, _) in PLANTED.items()]
    # JSON is YAML.
    return json.dumps({"name": "planted", "defaults": {"time_budget": "50ms"}, "workloads": entries})


class Planted(tool.Case):
    kept = None  # the baselines and the base's run, which all tests share

    def setUp(self):
        super().setUp()
        self.write("planted.yaml", suite())
        if Planted.kept is None:
            self.run_planted("run", plugin="planted_base", processes=5)
            self.run_tool("baseline", "refresh", "perfgate-out/run.json")
            kept = tempfile.TemporaryDirectory()
            type(self).addClassCleanup(kept.cleanup)
            for name in ("baselines", "perfgate-out"):
                shutil.copytree(self.folder / name, pathlib.Path(kept.name) / name)
            Planted.kept = pathlib.Path(kept.name)
        else:
            shutil.copytree(Planted.kept / "baselines", self.folder / "baselines")

    def run_planted(self, *verb, plugin, processes=3, code=0):
        return self.run_tool(*verb, "planted.yaml", "--backend", "cuda", *self.plugin(plugin),
                             "--processes", str(processes), code=code)

    def cases(self, path):
        return {case["id"].split("/")[1].split("[")[0]: case
                for case in json.loads(path.read_text())["suites"][0]["cases"]}

    def test_unchanged_passes(self):
        self.run_planted("run", plugin="planted_base")

    def test_each_is_found_and_its_cause_is_named(self):
        self.run_planted("run", plugin="planted_head", code=1)
        for variant, case in self.cases(self.folder / "perfgate-out/verdict.json").items():
            _, worse, cause = PLANTED[variant]
            found = {row["metric"] for row in case["metrics"] if row["verdict"] == "regressed"}
            with self.subTest(variant):
                print(f"{variant}: {', '.join(sorted(found))}: {case.get('why', '')}", flush=True)
                self.assertLessEqual(worse, found)
                self.assertIn(cause, json.dumps(case.get("why", ""), ensure_ascii=False))

    def test_bytes_are_as_many_as_the_kernels_move(self):
        self.run_planted("run", plugin="planted_head", processes=1, code=1)
        base, head = (self.cases(folder / "perfgate-out/run.json") for folder in (Planted.kept, self.folder))

        def value(cases, variant, metric):
            found = cases[variant]["metrics"][metric]["value"]
            print(f"{variant}: {metric} {found:.0f}, {found / BYTES:.4f} of the input", flush=True)
            return found

        self.assertEqual(BYTES, value(base, "threads", "async_copy_bytes"))
        self.assertEqual(0, value(base, "threads", "load_bytes"))
        self.assertEqual(0, value(head, "threads", "async_copy_bytes"))
        self.assertEqual(BYTES, value(head, "threads", "load_bytes"))
        self.assertEqual(0, value(head, "bulk", "tma_bytes"))
        self.assertAlmostEqual(1, value(base, "bulk", "tma_bytes") / BYTES, delta=0.01)
        for cases, inputs in ((base, 1), (head, 2)):
            # The protocol adds headers; nothing else should use the link.
            share = value(cases, "host", "pcie_bytes") / BYTES / inputs
            self.assertGreaterEqual(share, 1)
            self.assertLess(share, 1.3)

    def test_waves_are_those_of_the_launch(self):
        self.run_planted("run", plugin="planted_head", processes=1, code=1)
        base, head = (self.cases(folder / "perfgate-out/run.json")["tail"]["kernels"][0]
                      for folder in (Planted.kept, self.folder))
        print(f"tail: {base['grid'][0]} blocks, {base['waves']} waves; {head['grid'][0]} blocks, {head['waves']} waves", flush=True)
        # The base launches two full rounds, the new version a block more.
        self.assertEqual(2, base["waves"])
        self.assertAlmostEqual(2 * head["grid"][0] / base["grid"][0], head["waves"])

    @unittest.skipUnless(shutil.which("cuobjdump"), "no cuobjdump on this machine")
    def test_code_and_stack_are_what_cuobjdump_says(self):
        self.run_planted("run", plugin="planted_head", processes=1, code=1)
        subprocess.run(["cuobjdump", "-xelf", "all", tool.PLUGINS / "planted_head.so"], cwd=self.folder,
                       check=True, capture_output=True)
        cubin = next(iter(self.folder.glob("*.sm_90*.cubin")))
        sections = subprocess.run(["readelf", "-SW", cubin], capture_output=True, text=True, check=True).stdout
        usage = subprocess.run(["cuobjdump", "-res-usage", cubin], capture_output=True, text=True, check=True)
        for variant, function in (("code", "long_code"), ("stack", "with_array")):
            kernel = self.cases(self.folder / "perfgate-out/run.json")[variant]["kernels"][0]
            size = re.search(rf" \.text\.\S*{function}\S* +PROGBITS +\S+ +\S+ +(\S+)", sections)[1]
            stack = re.search(rf"{function}.*?STACK:(\d+)", usage.stdout + usage.stderr, re.S)[1]
            print(f"{variant}: {kernel['code_bytes']} bytes, stack {kernel['stack_bytes']}; "
                  f"cuobjdump {int(size, 16)}, stack {stack}", flush=True)
            self.assertEqual(int(size, 16), kernel["code_bytes"])
            self.assertEqual(int(stack), kernel["stack_bytes"])


if __name__ == "__main__":
    if not os.path.exists("/dev/nvidiactl") and not os.path.exists("/dev/dxg"):
        print("skipped: no NVIDIA GPU on this machine (/dev/nvidiactl is absent)")
        sys.exit(77)
    unittest.main(verbosity=2)
