# SPDX-License-Identifier: Apache-2.0
"""Sources in suites where there is no GPU: what validate and list say of them."""

import os
import shutil
import struct
import unittest

import tool

HEAD = """
name: s
defaults: {metrics: [gpu_time], tolerances: {gpu_time: 3%}}
workloads:
"""


def entry(source, kernel="k", more=""):
    return (f"  - source: {source}\n    kernel: {kernel}\n    launch: {{grid: 1, block: 32}}\n"
            f"    arguments: [{{out: f32, size: 32}}]\n{more}")


class Source(tool.Case):
    def setUp(self):
        super().setUp()
        self.write("k.cu", "__global__ void k(float* a) { a[threadIdx.x] = 1; }\n")

    def validate(self, entries, *words, code=0, name="s.yaml"):
        self.write(name, HEAD + entries)
        return self.run_tool("validate", name, *words, code=code,
                             env={"TMPDIR": str(self.folder / "tmp")})

    @unittest.skipUnless(tool.has_nvrtc(), "needs NVRTC")
    def test_validate_compiles_for_the_chosen_architectures(self):
        (self.folder / "tmp").mkdir()
        done = self.validate(entry("k.cu", more="    architectures: [80, 90a]\n"))
        self.assertIn("s.yaml: ok, 1 case (1 cuda, 0 host)", done.stdout)
        for architecture in ("80", "90a"):
            self.assertIn(f"k.cu: k compiles for sm_{architecture} (NVRTC ", done.stdout)
        done = self.validate(entry("k.cu", more="    architectures: [80]\n"), "--architecture", "89")
        self.assertIn("sm_89", done.stdout)
        self.assertNotIn("sm_80", done.stdout)
        self.assertEqual([], os.listdir(self.folder / "tmp"))

    @unittest.skipUnless(tool.has_nvrtc(), "needs NVRTC")
    def test_the_compilers_messages_have_their_lines(self):
        (self.folder / "tmp").mkdir()
        self.write("bad.cu", "__global__ void k(float* a) {\n    a[0] = missing;\n}\n")
        done = self.validate(entry("bad.cu"), "--architecture", "90", code=2)
        self.assertIn("s.yaml:5:5: bad.cu does not compile for sm_90: bad.cu(2): error: identifier "
                      '"missing" is undefined', done.stderr)
        self.assertIn("    a[0] = missing;", done.stderr)
        self.assertEqual("", done.stdout)
        done = self.validate(entry("k.cu", "other"), "--architecture", "90", code=2)
        self.assertIn("k.cu has no kernel 'other'; expected one of ", done.stderr)
        self.assertEqual([], os.listdir(self.folder / "tmp"))

    @unittest.skipUnless(tool.has_nvrtc(), "needs NVRTC")
    def test_hostile_sources_are_refused_one_by_one(self):
        (self.folder / "tmp").mkdir()
        self.write("deep.cu", "template <int n> struct F { static const int v = F<n + 1>::v; };\n"
                              "__global__ void k(float* a) { a[0] = F<0>::v; }\n")
        self.write("zero.cu", "#include </dev/zero>\n__global__ void k(float* a) {}\n")
        with open(self.folder / "huge.cu", "wb") as file:
            file.truncate(1 << 30)
        os.symlink("/dev/zero", self.folder / "device.cu")
        names = ("deep", "zero", "huge", "device")
        done = self.validate("".join(entry(f"{name}.cu") for name in names) + entry("k.cu"),
                             "--architecture", "90", code=2)
        problems = [line for line in done.stderr.splitlines() if line.startswith("perfgate: s.yaml:")]
        self.assertEqual(len(names), len(problems), done.stderr)
        for name, line in zip(names, problems):
            self.assertIn(f"{name}.cu", line)

    @unittest.skipUnless(tool.has_nvrtc(), "needs NVRTC")
    def test_arguments_that_the_kernel_does_not_take_are_refused(self):
        (self.folder / "tmp").mkdir()
        self.write("two.cu", "__global__ void k(float* a, double b) { a[0] = b; }\n__global__ void ref(float* a) { a[0] = 1; }\n")
        done = self.validate(entry("two.cu"), "--architecture", "90", code=2)
        self.assert_one_line(done.stderr, "s.yaml:5:5: kernel 'k' takes 2 parameters of 8, 8 bytes, 'arguments' has 1 of 8 bytes")
        narrow = entry("two.cu").replace("size: 32}]", "size: 32}, {f32: 1}]")
        self.assert_one_line(self.validate(narrow, "--architecture", "90", code=2).stderr, "'arguments' has 2 of 8, 4 bytes")
        both = entry("two.cu", more="    check: {against: ref}\n").replace("size: 32}]", "size: 32}, {f64: 1}]")
        self.assert_one_line(self.validate(both, "--architecture", "90", code=2).stderr, "kernel 'ref' takes 1 parameter of 8 bytes")

    @unittest.skipUnless(tool.has_nvrtc(), "needs NVRTC")
    def test_a_cubin_must_have_the_kernel_and_its_arguments(self):
        (self.folder / "tmp").mkdir()
        out = self.folder / "out"
        out.mkdir()
        self.run_tool("compile", "--architecture=90", "--std=c++17", "--kernel=k", f"--out={out}", "--", self.folder / "k.cu")
        os.rename(out / "code.cubin", self.folder / "k.cubin")
        done = self.validate(entry("k.cubin", "_Z1kPf"))
        self.assert_one_line(done.stderr, "warning: k.cubin: not compiled, and not loaded without a GPU")
        done = self.validate(entry("k.cubin", "_Z1qPf"), code=2)
        self.assertIn("s.yaml:5:5: k.cubin has no kernel '_Z1qPf'; expected one of _Z1kPf; did you mean", done.stderr)
        done = self.validate(entry("k.cubin", "_Z1kPf").replace("size: 32}]", "size: 32}, {f32: 1}]"), code=2)
        self.assertIn("kernel '_Z1kPf' takes 1 parameter of 8 bytes", done.stderr)
        self.validate(entry("k.cubin", "_Z1kPf"), "--architecture", "90")
        self.write("k.cubin", "no machine code")
        self.assertIn("s.yaml:5:5: k.cubin: ", self.validate(entry("k.cubin", "_Z1kPf"), code=2).stderr)

    def write_cubin(self, sections=0, architecture=90, damaged="", file="k.cubin"):
        """A file of the format without a kernel, of sections that name the same function; or with a damaged one."""
        names = f"\0.nv.info.{damaged}\0".encode() if damaged else b"\0.text.x\0"
        header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1\x41\x08", 2, 190, 1, 0, 0, 64 if sections else 0,
                             architecture << 8, 64, 0, 0, 64, 0, 1)
        table = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, sections + 2, 0, 0, 0, 0)  # its size: how many there are
        table += struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 64 * (sections + 3), len(names), 0, 0, 0, 0)
        table += struct.pack("<IIQQQQIIQQ", 1, 1 if damaged else 8, 4, 0, 0, 3 if damaged else 0, 0, 0, 0, 0) * sections
        (self.folder / file).write_bytes(header + (table + names if sections else b""))

    def test_a_cubin_without_a_kernel_is_read_once(self):
        (self.folder / "tmp").mkdir()
        for sections in (0, 1_000_000):
            self.write_cubin(sections)
            done = self.validate(entry("k.cubin"), code=2)
            self.assert_one_line(done.stderr, "s.yaml:5:5: k.cubin has no kernel 'k': it has none")

    def test_a_kernel_whose_parameters_are_damaged_is_not_said_to_be_absent(self):
        (self.folder / "tmp").mkdir()
        self.write_cubin(sections=1, damaged="k")
        self.write_cubin(sections=1, damaged="other", file="other.cubin")
        said = self.validate(entry("k.cubin") + entry("other.cubin") + entry("k.cubin", "other"), code=2).stderr
        self.assertIn("s.yaml:5:5: the parameters of 'k' cannot be read from its machine code", said)
        self.assertIn("s.yaml:9:5: other.cubin has no kernel 'k'; expected one of other", said)
        self.assertIn("s.yaml:13:5: k.cubin has no kernel 'other'; expected one of k", said)

    def test_a_cubin_of_another_architecture_is_refused(self):
        (self.folder / "tmp").mkdir()
        for own, device, runs in ((80, "90", False), (80, "86", True), (89, "86", False), (90, "90a", True), (120, "90", False)):
            self.write_cubin(architecture=own)
            problem = self.validate(entry("k.cubin"), "--architecture", device, code=2).stderr
            self.assertEqual(not runs, f"k.cubin is for sm_{own}, and does not run on sm_{device}" in problem, problem)

    def test_the_nvcc_on_the_path_chooses_no_other_compiler(self):
        self.write("toolkit/lib64/libnvrtc.so.13", "")
        shutil.copy(self.plugin("adversary")[1], self.folder / "toolkit/lib64/libnvrtc.so.13")
        self.script("toolkit/bin/nvcc", "")

        def found(path):
            done = self.run_tool("doctor", "--backend", "host", "--report", "doctor.json", code=(0, 1), env={"PATH": path})
            self.assertIn("NVRTC", done.stdout)
            return [check for check in self.read_json("doctor.json")["checks"] if check["topic"] == "NVRTC"]
        self.assertEqual(found(os.environ["PATH"]), found(f"{self.folder / 'toolkit/bin'}:{os.environ['PATH']}"))

    @unittest.skipIf(tool.has_nvrtc(), "NVRTC is here")
    def test_without_a_compiler_no_source_is_valid_for_an_architecture(self):
        (self.folder / "tmp").mkdir()
        done = self.validate(entry("k.cu"), "--architecture", "90", code=2)
        self.assert_one_line(done.stderr, "s.yaml:5:5: k.cu was not compiled: ", "NVRTC",
                             "pip install nvidia-cuda-nvrtc'", "LD_LIBRARY_PATH")
        self.assertEqual("", done.stdout)

    def test_what_was_not_compiled_is_said(self):
        (self.folder / "tmp").mkdir()
        done = self.validate(entry("k.cu"))
        self.assert_one_line(done.stderr, "warning: k.cu: not compiled: name architectures with --architecture")
        self.write("k.ptx", ".version 8.0\n")
        done = self.validate(entry("k.ptx"), "--architecture", "90")
        self.assert_one_line(done.stderr, "warning: k.ptx: not compiled, and not loaded without a GPU")

    def test_a_missing_file_and_a_bad_architecture_are_usage(self):
        (self.folder / "tmp").mkdir()
        done = self.validate(entry("absent.cu"), code=2)
        self.assert_one_line(done.stderr, "s.yaml:5:5", "absent.cu: no such file")
        self.validate(entry("k.cu"), "--architecture", "sm_90", code=2)
        self.validate(entry("k.cu"), "--architecture", "90; rm", code=2)

    def test_list_has_launch_and_check(self):
        self.write("s.yaml", HEAD + entry("k.cu", more="    check: {against: ref}\n"))
        done = self.run_tool("list", "s.yaml")
        self.assertIn("k/k  cuda", done.stdout)
        self.run_tool("list", "s.yaml", "--report", "list.json")
        case, = self.read_json("list.json")["suites"][0]["cases"]
        self.assertEqual({"file": "k.cu", "kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1],
                          "shared_bytes": 0, "memory_bytes": 128, "check": "kernel",
                          "against": "ref"}, case["source"])

    def test_list_has_the_stated_work_of_each_case(self):
        self.write("s.yaml", HEAD + entry("k.cu", more="    work: {flops: 2 * 32, bytes: 128, type: f32}\n"))
        self.run_tool("list", "s.yaml", "--report", "list.json")
        case, = self.read_json("list.json")["suites"][0]["cases"]
        self.assertEqual((64, 128, "f32"), tuple(case["source"][key] for key in ("flops", "bytes", "arithmetic")))
        self.write("s.yaml", HEAD + entry("k.cu", more="    work: {flops: 9223372036854775807 * 2}\n"))
        done = self.run_tool("validate", "s.yaml", code=2)
        self.assert_one_line(done.stderr, "s.yaml:9:19: more than 64 bits")

    @unittest.skipUnless(tool.has_nvrtc(), "needs NVRTC")
    def test_doctor_names_the_compiler(self):
        done = self.run_tool("doctor", "--backend", "host", "--report", "doctor.json")
        self.assertRegex(done.stdout, r"ok +NVRTC +1\d\.\d, /\S*libnvrtc\.so")
        self.assertIn("NVRTC", [check["topic"] for check in self.read_json("doctor.json")["checks"]])

    def test_the_host_backend_measures_none(self):
        self.write("s.yaml", HEAD + entry("k.cu"))
        done = self.run_tool("run", "s.yaml", "--backend", "host", code=2)
        self.assert_one_line(done.stderr, "1 of CUDA variants, which the host backend does not run")


if __name__ == "__main__":
    tool.main()
