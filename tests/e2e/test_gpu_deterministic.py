# SPDX-License-Identifier: Apache-2.0
"""On a GPU: `deterministic: true` compares a repeated launch and one by a CUDA graph bit for bit."""

import os
import sys
import unittest

import tool

# Sums of 2^24 floats of both signs: by atomics of 65536 blocks, whose order is the scheduler's, and by one block in order.
SUMS = """
extern "C" __global__ void atomic(const float* in, float* out, int n) {
    if (blockIdx.x == 0 && threadIdx.x == 0) atomicExch(out, 0.0f);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(out + 1, in[i]);
}
extern "C" __global__ void ordered(const float* in, float* out, int n) {
    __shared__ float part[256];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += 256) sum += in[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[0] = part[0], out[1] = 0;
}
extern "C" __global__ void unfinished(const float* in, float* out, int n) {
    if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = in[0];
}
"""


def sums(kernel, grid, role="out"):
    return f"""
  - source: sums.cu
    kernel: {kernel}
    launch: {{grid: {grid}, block: 256}}
    arguments: [{{in: f32, size: n}}, {{{role}: f32, size: 2{', fill: zero' if role == 'inout' else ''}}}, {{i32: n}}]
    matrix: {{n: [16777216]}}
"""


HEAD = """
name: s
defaults: {metrics: [gpu_time], tolerances: {gpu_time: 1000%}, time_budget: 5ms, deterministic: true}
workloads:
"""

AGAIN, BY_GRAPH = "launched again with the same inputs", "launched by a CUDA graph with the same inputs"
BOTH = "equal bit for bit when launched again and by a CUDA graph"


class GpuDeterministic(tool.Case):
    def run_suite(self, entries, *words, code):
        """The cases by id without parameters."""
        self.write("s.yaml", HEAD + entries)
        self.run_tool("run", "s.yaml", "--backend", "cuda", "--processes", "1", *words, code=code)
        cases = self.read_json("perfgate-out/run.json")["suites"][0]["cases"]
        for case in cases:
            detail = case.get("verification", {}).get("detail", "")
            print(f"  {case['id']}: {case['status']}; {case.get('reason') or detail}", *case.get("notes", []), sep="\n      ")
        return {case["id"].partition("[")[0]: case for case in cases}

    def test_float_atomics_over_many_blocks_are_found_and_an_ordered_sum_passes(self):
        self.write("sums.cu", SUMS)
        cases = self.run_suite(sums("atomic", 65536, "inout") + sums("ordered", 1) + sums("unfinished", 1), code=1)
        atomic, ordered, unfinished = (cases[f"sums/{kernel}"] for kernel in ("atomic", "ordered", "unfinished"))
        self.assertEqual("incorrect", atomic["status"], atomic)
        self.assertRegex(atomic["reason"], "not deterministic: .*output 'argument 2' differs in 1 of 2 elements "
                                           r"\([1-4] bytes?\): element 1 was 0x[0-9a-f]{8} \(.*\), is 0x[0-9a-f]{8} \(")
        self.assertFalse(atomic.get("metrics"))
        self.assertEqual("measured", ordered["status"], ordered)
        self.assertIn(f"deterministic: {BOTH} (1 output, 8 bytes)", ordered["notes"])
        self.assertNotIn("verification", ordered, "there is no reference")
        self.assertEqual("incorrect", unfinished["status"], unfinished)
        self.assertIn("element 1 was 0xffffffff (-nan), is 0x55555555", unfinished["reason"])
        self.assertIn("it may not write it", unfinished["reason"])

    def test_what_can_and_what_cannot_be_captured(self):
        variants = ("device_same", "device_to_host", "device_waits", "device_elsewhere", "device_other_by_graph",
                    "device_beyond", "device_unnamed")
        # `device_same` once more at the end, in whichever worker is left then.
        cases = self.run_suite(f"""
  - {{workload: repeats, variants: [{', '.join(variants)}]}}
  - {{workload: repeats, variants: [device_same], params: {{n: 100000}}}}
""", *self.plugin("repeats"), code=1)
        case = {variant: cases[f"repeats/{variant}"] for variant in variants}
        for variant in ("device_same", "device_to_host"):
            self.assertEqual("measured", case[variant]["status"], case[variant])
            self.assertIn(BOTH, case[variant]["verification"]["detail"])
            self.assertFalse(case[variant].get("notes"))
        for variant, why in {"device_waits": "waiting: ", "device_elsewhere": "enqueues nothing on the stream"}.items():
            self.assertEqual("measured", case[variant]["status"], case[variant])
            self.assertIn("when launched again, not by a CUDA graph", case[variant]["verification"]["detail"])
            note = " ".join(case[variant]["notes"])
            self.assertIn("only the repeated launch was compared, none by a CUDA graph: ", note)
            self.assertIn(why, note)
        self.assertEqual("incorrect", case["device_other_by_graph"]["status"])
        self.assertIn(f"not deterministic: {BY_GRAPH}, output 'y' differs in ", case["device_other_by_graph"]["reason"])
        for variant, why in {"device_beyond": "is in device memory that ends after",
                             "device_unnamed": "this case names none"}.items():
            self.assertEqual("error", case[variant]["status"], case[variant])
            self.assertIn(why, case[variant]["reason"])

    def test_the_bundled_kernels(self):
        """What has no atomics repeats itself; both variants of render_backward add floats by atomics."""
        cases = self.run_suite("""
  - {workload: transpose, variants: [copy, naive, shared, padded, swizzled], params: {rows: 517, cols: 1023}}
  - {workload: softmax, variants: [copy, three_pass, online], params: {rows: 257, width: 1000}}
  - {workload: launch, variants: [stream, stream_sync, graph], params: {kernels: 20, elements: 4096}}
  - {workload: transfer, variants: [pageable, pinned, overlapped], params: {mebibytes: 4, steps: 16}}
  - {workload: render_backward, variants: [monolithic, split], params: {gaussians: 50000, sensor: camera}}
""", code=1)
        for name, case in cases.items():
            if name.startswith("render_backward/"):
                self.assertEqual("incorrect", case["status"], case)
                self.assertRegex(case["reason"], "not deterministic: .*output 'gradients' differs in")
                continue
            self.assertEqual("measured", case["status"], (name, case.get("reason")))
            detail = case["verification"]["detail"]
            self.assertIn("equal bit for bit when launched again", detail)
            if name == "launch/graph":
                self.assertIn("each time by its own CUDA graph", detail)
            elif name in ("launch/stream_sync", "transfer/pageable"):
                self.assertIn("its submission is synchronous", " ".join(case["notes"]))
            else:
                self.assertIn(BOTH, detail)


if __name__ == "__main__":
    if not os.path.exists("/dev/nvidiactl") and not os.path.exists("/dev/dxg"):
        print("skipped: no NVIDIA GPU on this machine (/dev/nvidiactl is absent)")
        sys.exit(77)
    if not tool.has_nvrtc():
        print("skipped: libnvrtc was not found")
        sys.exit(77)
    unittest.main(verbosity=2)
