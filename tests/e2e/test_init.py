# SPDX-License-Identifier: Apache-2.0
"""`perfgate init` from an installed tree, in an empty folder: what it prints, done as printed. On the host, unless
PERFGATE_INIT_GPU is set: then on a GPU, and nvbench's with the nvbench that CMAKE_PREFIX_PATH names."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import time
import unittest

import test_benchmarks
import tool

MOCKS = pathlib.Path(os.environ["PERFGATE_BUILD_DIR"]) / "tests/inject/mocks"
BENCHMARK = pathlib.Path(os.environ["PERFGATE_BUILD_DIR"]) / "bin/example_benchmark"
GPU = bool(os.environ.get("PERFGATE_INIT_GPU"))
KINDS = sorted(path.name for path in (tool.SOURCE / "harness/runner/templates").iterdir() if path.is_dir())


# The program as it was built runs once, and what it measured is replaced: it is the same on every machine.
STATED = tool.PYTHON + """
import json, os, sys
real = os.path.join(os.path.dirname(__file__), "bench.real")
out, = (word.partition("=")[2] for word in sys.argv if word.startswith("--benchmark_out="))
if not os.path.exists(real + ".json"):
    assert os.spawnv(os.P_WAIT, real, [real, *sys.argv[1:]]) == 0
    open(real + ".json", "w").write(open(out).read())
document = json.load(open(real + ".json"))
for place, row in enumerate(document["benchmarks"]):
    row["real_time"] = row["cpu_time"] = 1000 * (place + 1) * (1 + os.getpid() % 100 / 1e5)
json.dump(document, open(out, "w"))
"""


class Init(tool.Case):
    clock = None if GPU else "stated"
    env = {}

    @classmethod
    def setUpClass(cls):
        cls.prefix = tool.installed(cls)
        # As ci/release writes it.
        (cls.prefix / "share/perfgate/BUILD").write_text(f"commit {'5eed' * 10}\nrepository tools/perfgate\n")

    def run_line(self, line, folder, code=0):
        done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True,
                              timeout=tool.PATIENCE_S * 3,
                              env={**os.environ, "PATH": f"{self.prefix}/bin:{os.environ['PATH']}",
                                   **({} if GPU else {"CUDA_VISIBLE_DEVICES": "", **tool.ONE_ARCHITECTURE}),
                                   **self.env})
        self.assertIn(done.returncode, code if isinstance(code, tuple) else (code,), f"{line}\n{done.stdout}{done.stderr}")
        return done

    def printed(self, text):
        """The commands that a text of `init` tells to type."""
        return re.findall(r"^  (.*)$", text, re.MULTILINE)

    def started(self, kind):
        folder = self.folder / "empty"
        folder.mkdir()
        text = self.run_line(f"perfgate init --from {kind}", folder).stdout
        *files, ignore = re.findall(r"^wrote (.*)$", text, re.MULTILINE)
        self.assertEqual(".gitignore", ignore)
        for file in files:
            self.assertEqual((tool.SOURCE / "harness/runner/templates" / kind / file).read_bytes(),
                             (folder / file).read_bytes())
        *commands, adopt = self.printed(text)
        self.run_line("git init --quiet", folder)
        steps = 5 if kind == "command" else 4  # the runner's Python is one of them
        self.assertIn(f"{steps} steps left", self.run_line(adopt, folder).stdout)
        return folder, commands

    def do(self, commands, folder):
        for command in commands:
            begin = time.monotonic()
            self.run_line(command, folder)
            print(f"  {time.monotonic() - begin:.1f} s: {command}", flush=True)

    def gates(self, folder, run, slower=None):
        """`run`, the last command, passed; a slower result must fail. `slower` is a file, a text of it, what makes it
        slower, and the commands that build it: on a GPU the same machine code has not regressed, whatever it took."""
        done = self.run_line("perfgate compare perfgate-out/run.json --set no_baseline=fail", folder)
        self.assertIn("pass", done.stdout)
        baseline, = [path for path in folder.glob("baselines/*/*.json")]
        # Enough processes to decide without measuring flagged cases again, against a first baseline's eight.
        self.run_line(f"{run} --processes 9", folder, code=(0, 1) if GPU else 0)
        if GPU and slower:
            name, text, slow_text, build = slower
            source = (folder / name).read_text()
            self.assertEqual(1, source.count(text))
            (folder / name).write_text(source.replace(text, slow_text))
            for command in build:
                self.run_line(command, folder)
            self.assertIn("regressed", self.run_line(f"{run} --processes 5", folder, code=1).stdout)
            return
        # Each expected time a fiftieth.
        document = json.loads(baseline.read_text())
        for case in document["cases"].values():
            for name in {"gpu_time", "host_time", "real_time", "cpu_time"} & case["metrics"].keys():
                metric = case["metrics"][name]
                metric["value"] /= 50
                if "processes" in metric:
                    metric["processes"] = [each / 50 for each in metric["processes"]]
        baseline.write_text(json.dumps(document))
        self.run_line("perfgate compare perfgate-out/run.json", folder, code=1)

    def test_there_is_a_kind_for_each_folder(self):
        footer = self.run_tool("init", "--help").stdout
        self.assertEqual(KINDS, sorted(re.findall(r"^  (\w[\w-]*) +a ", footer, re.MULTILINE)))
        self.run_tool("init", "--from", "nothing", code=2)

    def test_the_results_of_runs_are_ignored_or_named(self):
        folder = self.folder / "project"
        self.run_line(f"perfgate init --from source {folder} && git init --quiet {folder}", self.folder)
        self.run_line("mkdir perfgate-out && touch perfgate-out/run.json && git add . && git diff --cached --name-only | grep -v perfgate-out",
                      folder)
        self.assertNotIn("perfgate-out", self.run_line("git diff --cached --name-only", folder).stdout)
        other = self.folder / "other"
        other.mkdir()
        (other / ".gitignore").write_text("mine\n")
        said = self.run_line(f"perfgate init --from source {other}", self.folder).stdout
        self.assertIn("add perfgate-out*/ to .gitignore", said)
        self.assertEqual("mine\n", (other / ".gitignore").read_text())

    @unittest.skipUnless(shutil.which("nvcc"), "needs nvcc")
    def test_a_kernel_with_cmake_and_with_nvcc_alone(self):
        folder, commands = self.started("cuda")
        self.assertEqual(4, len(commands))
        self.do(commands[:3], folder)
        self.gates(folder, commands[2], ("scale.cu", "if (i < n) out[i] = 2 * in[i];",
                                         "for (int k = 0; i < n && k < 50; ++k) { out[i] = 2 * in[i]; __threadfence(); }",
                                         commands[:1]))
        self.run_line("perfgate validate suites/scale.yaml --plugin build/scale.so", folder)
        shutil.rmtree(folder / "build")
        self.run_line(commands[3], folder)
        done = self.run_line("perfgate list suites/scale.yaml --plugin build/scale.so", folder)
        self.assertIn("scale/simple[n=1000000]", done.stdout)
        self.assertNotIn("not built", done.stdout + done.stderr)

    @unittest.skipUnless(tool.has_nvrtc(), "needs NVRTC")
    def test_a_source(self):
        folder, commands = self.started("source")
        self.assertEqual(3, len(commands))
        done = self.run_line(commands[0], folder)
        for kernel in ("block_sums<256>", "block_sums<512>"):
            for architecture in (80, 90):
                self.assertIn(f"{kernel} compiles for sm_{architecture} (NVRTC ", done.stdout)
        if GPU:
            self.do(commands, folder)
            self.gates(folder, commands[-1], ("reduce.cu", "if (threadIdx.x == 0) out",
                                              "for (int k = 0; k < 20000; ++k) __syncthreads();\n    if (threadIdx.x == 0) out", []))

    @unittest.skipUnless(GPU or (MOCKS / "libcuda.so.1").exists(), "built without CUDA's headers")
    def test_a_program(self):
        # The mocks of driver and CUPTI stand for a GPU.
        self.env = {} if GPU else {"LD_LIBRARY_PATH": str(MOCKS)}
        folder, commands = self.started("command")
        self.assertEqual(3, len(commands))
        self.do(commands, folder)
        self.gates(folder, commands[-1])

    @unittest.skipUnless(shutil.which("cmake") and BENCHMARK.exists(), "needs Google Benchmark")
    def test_a_benchmark(self):
        folder, commands = self.started("google-benchmark")
        self.assertEqual(3, len(commands))
        self.do(commands[:1], folder)
        program = folder / "build/bench"
        program.rename(program.with_name("bench.real"))
        program.write_text(STATED)
        program.chmod(0o755)
        self.do(commands[1:], folder)
        self.gates(folder, commands[-1])

    def test_a_benchmark_with_nvbench(self):
        folder, commands = self.started("nvbench")
        self.assertEqual(3, len(commands))
        self.assertIn("1 of programs", self.run_line("perfgate validate suites/bench.yaml", folder).stdout)
        self.assertTrue(commands[0].startswith("cmake -B build"))
        # What stands for the program: what an nvbench wrote, with other times.
        program = folder / "build/bench"
        program.parent.mkdir()
        program.write_text(test_benchmarks.NVBENCH.replace("DATA", repr(str(test_benchmarks.DATA))))
        program.chmod(0o755)
        (folder / "given.json").write_text('{"benchmarks": ["sum", "product"]}')
        self.do(commands[1:], folder)
        self.gates(folder, commands[-1])

    @unittest.skipUnless(GPU and os.environ.get("CMAKE_PREFIX_PATH"), "needs a GPU and CMAKE_PREFIX_PATH with nvbench")
    def test_a_benchmark_with_nvbench_itself(self):
        folder, commands = self.started("nvbench")
        self.do(commands, folder)
        self.gates(folder, commands[-1])

    def test_nothing_is_overwritten(self):
        self.write("mine/CMakeLists.txt", "mine\n")
        done = self.run_tool("init", "mine", code=2)
        self.assert_one_line(done.stderr, "mine/CMakeLists.txt", "overwrites nothing")
        self.assertEqual(["CMakeLists.txt"], os.listdir(self.folder / "mine"))
        self.assertEqual("mine\n", (self.folder / "mine/CMakeLists.txt").read_text())
        os.symlink("nowhere", self.folder / "mine/scale.cu")
        self.assertIn("mine/scale.cu", self.run_tool("init", "mine", code=2).stderr)

    def test_commands_can_be_pasted_where_perfgate_is_not_on_the_path(self):
        prefix = self.folder / "my tools"
        shutil.copytree(self.prefix, prefix, symlinks=True)
        done = subprocess.run([prefix / "bin/perfgate", "init", "a project", "--from", "command"],
                              cwd=self.folder, capture_output=True, text=True, check=True)
        commands = self.printed(done.stdout)
        self.assertEqual("cd 'a project'", commands[0])
        self.run_line(f"{commands[0]} && {commands[1]}", self.folder)
        self.assertIn("my tools", commands[1])
        # A release that knows its commit asks for its repository alone.
        (prefix / "share/perfgate/BUILD").write_text(f"commit {'5eed' * 10}\n")
        adopt = self.run_line(f"git init --quiet && {commands[-1]}", self.folder / "a project", code=2)
        self.assertRegex(adopt.stderr, r"--from OWNER/perfgate(?!@)")


if __name__ == "__main__":
    tool.main()
