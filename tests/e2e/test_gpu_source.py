# SPDX-License-Identifier: Apache-2.0
"""On a GPU: kernels of source files, without plugins: measured, verified, compared; hostile ones."""

import os
import re
import shutil
import struct
import subprocess
import sys
import unittest

import tool

TEMPLATE = tool.SOURCE / "harness/runner/templates/source"

SCALE = """
extern "C" __global__ void scale(const float* in, float* out, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * in[i];
}
extern "C" __global__ void reference(const float* in, float* out, int n, float factor) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        out[i] = factor * in[i];
    }
}
extern "C" __global__ void wrong(const float* in, float* out, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * in[i] + (i == n - 1 ? 1 : 0);
}
extern "C" __global__ void unfinished(const float* in, float* out, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) out[i] = factor * in[i];
}
"""

HEAD = """
name: s
defaults: {metrics: [gpu_time], tolerances: {gpu_time: 5%}, time_budget: 50ms}
workloads:
"""


def scale(kernel, file="scale.cu", check="{against: reference, rtol: 0}", more=""):
    return f"""
  - source: {file}
    kernel: {kernel}
    launch: {{grid: "(n + 255) / 256", block: 256}}
    arguments: [{{in: f32, size: n}}, {{out: f32, size: n}}, {{i32: n}}, {{f32: 2.5}}]
    check: {check}
    matrix: {{n: [1048576]}}
{more}"""


class GpuSource(tool.Case):
    def setUp(self):
        super().setUp()
        self.write("scale.cu", SCALE)

    def run_suite(self, entries, *more, code=0, name="s.yaml"):
        self.write(name, HEAD + entries)
        return self.run_tool("run", name, "--backend", "cuda", "--processes", "2", *more, code=code)

    def cases(self, out="perfgate-out"):
        suite, = self.read_json(f"{out}/run.json")["suites"]
        return {case["id"].partition("[")[0]: case for case in suite["cases"]}

    def verdicts(self):
        suite, = self.read_json("perfgate-out/verdict.json")["suites"]
        return {case["id"].partition("[")[0]: case for case in suite["cases"]}

    def test_the_template_is_measured_counted_and_gated(self):
        shutil.copytree(TEMPLATE, self.folder, dirs_exist_ok=True)
        self.run_tool("baseline", "refresh", "suites/reduce.yaml", "--processes", "8")
        self.run_tool("run", "suites/reduce.yaml", "--processes", "3", code=(0, 4))
        suite, = self.read_json("perfgate-out/run.json")["suites"]
        self.assertEqual(4, len(suite["cases"]))
        for case in suite["cases"]:
            self.assertEqual("measured", case["status"], case)
            self.assertTrue(case["verification"]["passed"])
            self.assertRegex(case["verification"]["detail"], r"against reference<\d+>: all \d+ elements compared")
            kernel, = case["kernels"]
            self.assertIn("block_sums", kernel["name"])
            self.assertRegex(kernel["code"], "^[0-9a-f]{32}$")
            self.assertRegex(kernel["arguments"], "^[0-9a-f]{32}$")
            self.assertTrue(kernel["source"]["file"].endswith("reduce.cu"), kernel["source"])
            self.assertGreater(case["metrics"]["gpu_time"]["value"], 0)
            self.assertEqual((case["params"]["n"], "f32"), (case["work"]["flops"], case["work"]["arithmetic"]))
            if not case.get("not_collected"):
                self.assertGreater(case["metrics"]["instructions"]["value"], 0)
        verdicts = self.read_json("perfgate-out/verdict.json")["suites"][0]["cases"]
        self.assertEqual({"unchanged"}, {case["code"] for case in verdicts})
        # Two template arguments are two codes of one file, in one process.
        codes = {case["params"]["threads"]: case["kernels"][0]["code"] for case in suite["cases"]}
        self.assertEqual(2, len(set(codes.values())))
        self.assertTrue(list((self.folder / "perfgate-out/sources").glob("*.cubin")))

    def test_stated_work_is_held_to_the_ceilings(self):
        more = "    metrics: [gpu_time, ceiling_share]\n    work: {flops: n, bytes: %s, type: f32}\n"
        self.run_suite(scale("scale", more=more % '"8 * n"'), code=(0, 4))
        share = self.cases()["scale/scale"]["metrics"]["ceiling_share"]["value"]
        self.assertGreater(share, 5)
        self.run_suite(scale("scale", more=more % '"8000 * n"'), code=3)
        verdict = self.verdicts()["scale/scale"]
        self.assertEqual("invalid", verdict["verdict"])
        self.assertIn("too fast to be true", verdict["reason"])
        self.run_suite(scale("scale", more="    metrics: [gpu_time, ceiling_share]\n"), code=3)
        missing, = self.cases()["scale/scale"]["not_collected"]
        self.assertIn("or of a source as 'work' in the suite", missing["reason"])

    def test_a_slower_kernel_regresses_and_says_which_code_changed(self):
        self.run_tool_refresh(scale("scale"))
        slower = SCALE.replace("if (i < n) out[i] = factor * in[i];\n}\nextern \"C\" __global__ void reference",
                               "float x = in[i < n ? i : 0];\n    for (int k = 0; k < 400; ++k) x = x * 1.0001f + 0.5f;\n"
                               "    if (i < n) out[i] = x == 12345.0f ? x : factor * in[i];\n}\n"
                               "extern \"C\" __global__ void reference")
        self.assertNotEqual(SCALE, slower)
        self.write("scale.cu", slower)
        self.run_suite(scale("scale"), code=1)
        verdict = self.verdicts()["scale/scale"]
        self.assertEqual(("regressed", "changed"), (verdict["verdict"], verdict["code"]))

    def run_tool_refresh(self, entries):
        self.write("s.yaml", HEAD + entries)
        self.run_tool("baseline", "refresh", "s.yaml", "--backend", "cuda", "--processes", "8")

    def test_a_wrong_kernel_and_one_that_leaves_elements_out_are_incorrect(self):
        self.run_suite(scale("scale") + scale("wrong") + scale("unfinished"), code=1)
        cases = self.cases()
        self.assertEqual("measured", cases["scale/scale"]["status"])
        for name in ("wrong", "unfinished"):
            case = cases[f"scale/{name}"]
            self.assertEqual("incorrect", case["status"], case)
            self.assertIn("element 1048575 is", case["reason"])
            self.assertFalse(case.get("metrics"))

    def test_without_a_check_it_is_not_verified(self):
        self.run_suite(scale("wrong", check="none"))
        self.assertNotIn("verification", self.cases()["scale/wrong"])
        self.assertIn("not verified: the suite states no 'check'", self.verdicts()["scale/wrong"]["notes"])

    def npy(self, name, values):
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}"
        header += " " * (-(len(header) + 11) % 64) + "\n"
        (self.folder / name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) +
                                         header.encode() + struct.pack(f"<{len(values)}f", *values))

    def test_against_a_file_and_inputs_that_the_kernel_changes(self):
        self.write("twice.cu", 'extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }\n')
        entry = """
  - source: twice.cu
    kernel: twice
    launch: {grid: 1, block: 256}
    arguments: [{inout: f32, size: 256, fill: iota}]
    check: {against: expected.npy, rtol: 0}
    metrics: [gpu_time, gpu_span]
"""
        self.npy("expected.npy", [2 * i for i in range(256)])
        self.run_suite(entry)
        case = self.cases()["twice/twice"]
        self.assertEqual("measured", case["status"], case)
        # The copy that restores the input is no part of the launch.
        self.assertEqual(1, len(case["kernels"]))
        self.assertFalse(case.get("memory_operations"))
        self.npy("expected.npy", [2 * i + (i == 9) for i in range(256)])
        self.run_suite(entry, code=1)
        self.assertIn("element 9 is 18, expected 19", self.cases()["twice/twice"]["reason"])
        (self.folder / "expected.npy").write_bytes(b"\x93NUMPY\x01\x00garbage")
        self.run_suite(entry, code=3)
        self.assertIn("expected.npy", self.cases()["twice/twice"]["reason"])

    def test_ptx_and_cubin_and_the_drivers_messages(self):
        if not shutil.which("nvcc"):
            self.skipTest("needs nvcc")
        capability = self.read_capability()
        for kind, flag in (("ptx", f"-arch=compute_{capability}"), ("cubin", f"-arch=sm_{capability}"),
                           ("fatbin", f"-arch=sm_{capability}")):
            subprocess.run(["nvcc", f"-{kind}", flag, "-o", f"scale.{kind}", "scale.cu"], cwd=self.folder, check=True)
        self.write("broken.ptx", ".version 8.0\n.target sm_80\n.address_size 64\nnonsense\n")
        entries = "".join(scale("scale", file=f"{file}", more=f"    name: {name}\n") for file, name in
                          (("scale.ptx", "ptx"), ("scale.cubin", "cubin"), ("scale.fatbin", "fatbin"),
                           ("scale.cu", "cu"), ("broken.ptx", "broken")))
        self.run_suite(entries, code=3)
        cases = self.cases()
        for name in ("ptx", "cubin", "fatbin", "cu"):
            self.assertEqual("measured", cases[f"{name}/scale"]["status"], cases[f"{name}/scale"])
            self.assertRegex(cases[f"{name}/scale"]["kernels"][0]["code"], "^[0-9a-f]{32}$")
        self.assertEqual(cases["cubin/scale"]["kernels"][0]["code"], cases["fatbin/scale"]["kernels"][0]["code"])
        self.assertEqual("error", cases["broken/scale"]["status"])
        self.assertIn("cannot load broken.ptx", cases["broken/scale"]["reason"])

    def read_capability(self):
        self.run_suite(scale("scale"))
        return self.read_json("perfgate-out/run.json")["environment"]["device"]["compute_capability"].replace(".", "")

    def test_two_checkouts_back_to_back(self):
        for root in ("base", "head"):
            self.write(f"{root}/scale.cu", SCALE)
        self.write("head/new.cu", SCALE)
        self.write("s.yaml", HEAD + scale("scale") + scale("scale", file="new.cu"))
        self.run_tool("ab", "--base", "dir:base", "--head", "dir:head", "s.yaml", code=(0, 4))
        self.assertEqual("no_baseline", self.verdicts()["new/scale"]["verdict"])
        self.assertEqual("unchanged", self.verdicts()["scale/scale"]["code"])
        slower = SCALE.replace("if (i < n) out[i] = factor * in[i];", "for (int k = 0; k < 8; ++k) if (i < n) "
                               "((volatile float*)out)[i] = factor * ((volatile const float*)in)[i];", 1)
        self.write("head/scale.cu", slower)
        self.run_tool("ab", "--base", "dir:base", "--head", "dir:head", "s.yaml", code=1)
        self.assertEqual("regressed", self.verdicts()["scale/scale"]["verdict"])
        os.remove(self.folder / "head/scale.cu")
        self.run_tool("ab", "--base", "dir:base", "--head", "dir:head", "s.yaml", code=3)
        self.assertIn("no such file", self.verdicts()["scale/scale"]["reason"])

    def test_hostile_sources_cost_their_cases_alone(self):
        self.write("bad.cu", "__global__ void k(float* a) {\n    a[0] = missing;\n}\n")
        self.write("deep.cu", "template <int n> struct F { static const int v = F<n + 1>::v; };\n"
                              "__global__ void k(float* a) { a[0] = F<0>::v; }\n")
        self.write("zero.cu", "#include </dev/zero>\n__global__ void k(float* a) {}\n")
        doubling = "".join(f"#define A{i} A{i - 1} A{i - 1}\n" for i in range(1, 40))
        self.write("large.cu", f"#define A0 a[0] += 1;\n{doubling}__global__ void k(float* a) {{ A39 }}\n")
        with open(self.folder / "huge.cu", "wb") as file:
            file.truncate(1 << 30)
        self.write("endless.cu", "__global__ void k(volatile float* a) { while (a[0] != 1) a[1] = 2; }\n")
        self.write("outside.cu", "__global__ void k(float* a) { a[1ull << 40] = 1; }\n")
        self.write("other.cu", "__global__ void k(float* a, int n, double x) { a[n] = x; }\n")
        self.write("local.cu", "__device__ void k(float* a) { a[0] = 1; }\n")
        kinds = ("bad", "deep", "zero", "large", "huge", "endless", "outside", "other", "local")
        entries = "".join(f"  - source: {kind}.cu\n    kernel: k\n    launch: {{grid: 1, block: 1}}\n"
                          f"    arguments: [{{out: f32, size: 16}}]\n" for kind in kinds)
        self.run_suite(scale("scale") + entries + scale("reference", check="none"), "--time-limit", "20", code=3)
        cases = self.cases()
        for name in ("scale/scale", "scale/reference"):
            self.assertEqual("measured", cases[name]["status"], cases[name])
        for kind in kinds:
            case = cases[f"{kind}/k"]
            print(f"  {kind}: {case['reason']}")
            self.assertEqual("error", case["status"], case)
        self.assertIn("bad.cu(2): error", cases["bad/k"]["reason"])
        self.assertIn("a[0] = missing;", cases["bad/k"]["log"])
        self.assertIn("takes 3 parameters of 8, 4, 8 bytes, 'arguments' has 1 of 8 bytes", cases["other/k"]["reason"])
        self.assertIn("has no kernel 'k'", cases["local/k"]["reason"])
        self.assertIn("gave no answer within 20 s", cases["endless/k"]["reason"])

    def test_the_same_kernel_as_plugin_and_as_source_is_the_same_code_and_time(self):
        """The kernel of the test plugin probe_base, its text taken from the plugin's source."""
        text = (tool.SOURCE / "tests/plugins/probe_cuda.cu").read_text()
        numbers = (tool.SOURCE / "tests/plugins/probe.hpp").read_text()
        begin = text.index("constexpr int threads")
        end = text.index("__global__ void fill_kernel")
        constants = re.search(r"inline constexpr double multiplier = .*;", numbers).group()
        self.write("probe.cu", "namespace std { using int64_t = long; }\n"
                               f"namespace probe {{ {constants} }}\nnamespace {{\n{text[begin:end]}\n}}\n")
        self.write("both.yaml", """
name: both
defaults: {metrics: [gpu_time, registers], tolerances: {gpu_time: 4%}}
workloads:
  - workload: probe
    variants: [device]
    params: {n: 4194304, iterations: 1000}
  - source: probe.cu
    name: source
    kernel: probe_kernel
    launch: {grid: "n / 256", block: 256}
    arguments: [{in: f32, size: n}, {out: f32, size: n}, {i64: n}, {i32: iterations}, {u8: 0}]
    matrix: {n: [4194304], iterations: [1000]}
""")
        self.run_tool("run", "both.yaml", "--backend", "cuda", "--processes", "10", *self.plugin("probe_base"))
        cases = self.cases()
        plugin, source = cases["probe/device"], cases["source/probe_kernel"]
        of_plugin, of_source = (case["metrics"]["gpu_time"]["value"] for case in (plugin, source))
        print(f"  plugin {of_plugin:.0f} ns, source {of_source:.0f} ns: {100 * (of_source / of_plugin - 1):+.3f} %")
        print(f"  code of the plugin {plugin['kernels'][0]['code']}, of the source {source['kernels'][0]['code']}")
        self.assertEqual(plugin["kernels"][0]["code"], source["kernels"][0]["code"])
        self.assertEqual(plugin["metrics"]["registers"]["value"], source["metrics"]["registers"]["value"])
        self.assertLess(abs(of_source / of_plugin - 1), 0.005)


if __name__ == "__main__":
    if not os.path.exists("/dev/nvidiactl") and not os.path.exists("/dev/dxg"):
        print("skipped: no NVIDIA GPU on this machine (/dev/nvidiactl is absent)")
        sys.exit(77)
    if not tool.has_nvrtc():
        print("skipped: libnvrtc was not found")
        sys.exit(77)
    unittest.main(verbosity=2)
