# SPDX-License-Identifier: Apache-2.0
"""Which plugins are loaded: those that a suite names by what measures it, the bundled ones for suites that name their
workloads; and a user's name is the user's, also if a bundled workload has it."""

import subprocess

import tool

SOURCE = """
#include <cstdlib>
#include <fstream>
#include <vector>
#include "perfgate.hpp"
using namespace perfgate::sdk;
struct Loaded { Loaded() { if (const char* file = std::getenv("LOADED")) std::ofstream(file) << "x"; } } loaded;
struct Sum : Instance {
    explicit Sum(const Values&) {}
    void fill(std::uint64_t seed) override { values.assign(1000, double(seed % 7)); }
    void launch(void*) override { for (double each : values) sum = sum + each; }
    Verification verify() override { return {true, "nothing to check"}; }
    std::vector<double> values;
    volatile double sum = 0;
};
static Plugin plugin() { return one_workload(NAME, {}, {host_variant<Sum>(VARIANT)}); }
PERFGATE_PLUGIN(plugin);
"""
HOST = ["--backend", "host"]
DEFAULTS = "defaults: {metrics: [host_time], tolerances: {host_time: 900%}, time_budget: 10ms, cache: hot}\n"


def suite(name, *workloads, plugins=()):
    return (f"name: {name}\n{DEFAULTS}" + (f"plugins: [{', '.join(plugins)}]\n" if plugins else "") + "workloads:\n"
            + "".join(f"  - {{workload: {workload}, variants: [{variant}]}}\n" for workload, variant in workloads))


SOFTMAX_OF_PERFGATE = suite("theirs", ("softmax", "reference")).replace("]}", "], params: {rows: 4, width: 8}}")


class SuitePlugins(tool.Case):
    def setUp(self):
        super().setUp()
        self.write("plugin.cpp", SOURCE)
        self.loaded = self.folder / "loaded"

    def make(self, file, name="scale", variant="plain"):
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["c++", "-std=c++17", "-shared", "-fPIC", "-I", tool.SOURCE / "harness/sdk", f'-DNAME="{name}"',
                        f'-DVARIANT="{variant}"', "-o", path, "plugin.cpp"], cwd=self.folder, check=True)

    def tool(self, *words, **kwargs):
        """Whether a plugin of this test was loaded, and the finished process."""
        self.loaded.unlink(missing_ok=True)
        done = self.run_tool(*words, env={"LOADED": str(self.loaded)}, **kwargs)
        return self.loaded.exists(), done

    def ids(self):
        return [case["id"] for each in self.read_json("perfgate-out/run.json")["suites"] for case in each["cases"]]

    def test_what_measures_loads_the_plugins_of_a_suite_and_nothing_else_does(self):
        self.make("build/libscale.so")
        self.write("suites/scale.yaml", suite("scale", ("scale", "plain"), plugins=["../build/scale.so"]))
        for words in (["run"], ["baseline", "refresh"], ["selftest", "--sizes", "50"]):
            with self.subTest(words):
                loaded, _ = self.tool(*words, *HOST, "--processes", 2, "suites/scale.yaml", code=(0, 1, 3))
                self.assertTrue(loaded)
        self.assertEqual(["scale/plain@hot"], self.ids())
        for words in (["validate"], ["list"], ["baseline", "prune"]):
            with self.subTest(words):
                loaded, done = self.tool(*words, "suites/scale.yaml", code=2)
                self.assertFalse(loaded)
                self.assert_one_line(done.stderr, "suites/scale.yaml:3:11:", "--plugin build/libscale.so")
                self.tool(*words, "suites/scale.yaml", "--plugin", "build/libscale.so")
        self.assertFalse(self.tool("compare", "perfgate-out/run.json")[0])
        self.assertFalse(self.tool("report", "perfgate-out/run.json")[0])

    def test_a_baseline_is_refreshed_by_the_gates_of_a_suite_with_plugins(self):
        self.make("build/scale.so")
        self.write("scale.yaml", suite("scale", ("scale", "plain"), plugins=["build/scale.so"]))
        measured = self.tool("baseline", "refresh", "--tolerances", "scale.yaml", *HOST, "--processes", 2)[1]
        self.assertIn("1 accepted", measured.stdout)
        self.tool("run", "scale.yaml", *HOST, "--processes", 2)
        stored = self.tool("baseline", "refresh", "perfgate-out/run.json", "scale.yaml")[1]
        self.assertNotIn("not stored", stored.stdout)

    def test_both_checkouts_of_ab_have_their_own(self):
        for side in ("base", "head"):
            self.make(f"{side}/build/scale.so")
            self.write(f"{side}/suites/scale.yaml", suite("scale", ("scale", "plain"), plugins=["../build/scale.so"]))
        words = ["ab", "head/suites/scale.yaml", *HOST, "--processes", 2, "--base", "dir:base/suites"]
        self.assertTrue(self.tool(*words)[0])
        (self.folder / "base/build/scale.so").unlink()
        self.assert_one_line(self.tool(*words, code=2)[1].stderr, "--base has no plugin", "base/build/scale.so")

    def test_a_config_names_plugins_for_every_run(self):
        self.make("build/scale.so")
        self.write("scale.yaml", suite("scale", ("scale", "plain")))
        self.write("ci.yaml", "backend: host\nprocesses: 2\nplugins: [build/scale.so]\n")
        self.assertTrue(self.tool("run", "scale.yaml", "--config", "ci.yaml")[0])
        self.assertTrue(self.tool("baseline", "refresh", "scale.yaml", "--config", "ci.yaml")[0])
        self.write("ci.yaml", "backend: host\nplugins: [build/absent.so]\n")
        self.assert_one_line(self.tool("run", "scale.yaml", "--config", "ci.yaml", code=2)[1].stderr,
                             "the config's plugin build/absent.so")

    def test_the_names_of_bundled_workloads_are_free(self):
        self.script("app", "#!/bin/sh\n")
        self.write("softmax.cu", 'extern "C" __global__ void softmax(float* x) { x[threadIdx.x] = 1; }\n')
        self.write("own.yaml", """name: own
workloads:
  - source: softmax.cu
    kernel: softmax
    launch: {grid: 1, block: 32}
    arguments: [{out: f32, size: 32}]
    tolerances: {gpu_time: 3%}
  - command: [./app]
    name: launch
    tolerances: {program.gpu_time: 3%}
  - benchmark: [./app]
    name: gemm
    format: google-benchmark
    tolerances: {real_time: 3%}
""")
        listed = self.run_tool("list", "own.yaml").stdout
        for name in ("softmax/", "launch/program", "gemm/*"):
            self.assertIn(name, listed)
        self.run_tool("validate", "own.yaml")
        # In one run with the bundled workload of the name, which is another suite's.
        self.write("theirs.yaml", SOFTMAX_OF_PERFGATE)
        self.run_tool("validate", "own.yaml", "theirs.yaml")

    def test_one_suite_cannot_have_both(self):
        self.write("both.yaml", SOFTMAX_OF_PERFGATE + "  - {command: [./app], name: softmax, tolerances: "
                   "{program.gpu_time: 3%}}\n")
        self.assert_one_line(self.run_tool("validate", "both.yaml", code=2).stderr, "both.yaml:5:5:",
                             "the name 'softmax' is another workload's in this suite, which perfgate's own softmax.so has",
                             "expected one of its own")

    def test_a_plugin_may_have_the_name_of_a_bundled_workload(self):
        self.make("build/softmax.so", "softmax", "mine")
        self.write("named.yaml", suite("named", ("softmax", "mine"), plugins=["build/softmax.so"]))
        self.assertTrue(self.tool("run", "named.yaml", *HOST, "--processes", 1)[0])
        self.assertEqual(["softmax/mine@hot"], self.ids())
        self.write("mine.yaml", suite("mine", ("softmax", "mine")))
        plugin = ["--plugin", "build/softmax.so"]
        self.assertTrue(self.tool("run", "mine.yaml", *plugin, *HOST, "--processes", 1)[0])
        self.assertEqual(["softmax/mine@hot"], self.ids())
        self.tool("validate", "mine.yaml", *plugin)

    def test_a_suite_that_means_the_bundled_one_is_never_measured_with_another_suites_plugin(self):
        self.make("build/softmax.so", "softmax", "reference")
        self.write("theirs.yaml", SOFTMAX_OF_PERFGATE)
        self.write("named.yaml", suite("named", ("softmax", "reference"), plugins=["build/softmax.so"]))
        done = self.run_tool("run", "theirs.yaml", "named.yaml", *HOST, code=2)
        self.assert_one_line(done.stderr, "theirs.yaml:4:16: the workload 'softmax' is one of",
                             "build/softmax.so, which another suite names", "separate runs")

    def test_a_python_file_may_have_the_name_of_a_bundled_workload(self):
        self.write("kernels.py", """import perfgate


@perfgate.workload()
def softmax():
    return perfgate.Case()
""")
        self.write("python.yaml", "name: python\nworkloads:\n  - {python: kernels.py, tolerances: {gpu_time: 3%}}\n")
        self.assertNotIn("another", self.run_tool("validate", "python.yaml", code=(0, 2)).stderr)
        self.write("theirs.yaml", SOFTMAX_OF_PERFGATE)
        self.assertIn("the workload 'softmax' is one of", self.run_tool("validate", "python.yaml", "theirs.yaml",
                                                                        code=2).stderr)

    def test_bundled_plugins_are_not_loaded_for_suites_of_programs(self):
        self.script("bench", "#!/bin/sh\necho '{\"context\": {}, \"benchmarks\": [{\"name\": \"a\", \"run_type\": "
                    "\"iteration\", \"iterations\": 1, \"real_time\": 5, \"cpu_time\": 5, \"time_unit\": \"ns\"}]}'\n")
        self.write("bench.yaml", "name: bench\nworkloads:\n  - {benchmark: [./bench], name: bench, format: "
                   "google-benchmark, tolerances: {real_time: 5%}}\n")
        done = self.run_tool("run", "bench.yaml", "--processes", 1)
        self.assertNotIn("no GPU here", done.stderr)
        journal = (self.folder / "perfgate-out/journal.jsonl").read_text()
        self.assertNotIn("plugin softmax.so", journal)

    def test_a_wrong_list_of_plugins_is_refused_with_its_place(self):
        for text, part in (("plugins: build/scale.so", "wrong value for 'plugins'; expected a list"),
                           ("plugins: []", "'plugins' is empty"), ("plugins: [a.so, a.so]", "twice"),
                           ("plugins: [1]", "the name of a file"), ("plugins: [{a: b}]", "the name of a file"),
                           (f"plugins: [{', '.join(f'{i}.so' for i in range(33))}]", "expected at most 32")):
            with self.subTest(text):
                self.write("s.yaml", SOFTMAX_OF_PERFGATE + text + "\n")
                done = self.run_tool("run", "s.yaml", *HOST, code=2)
                self.assert_one_line(done.stderr, "s.yaml:5:", part)


if __name__ == "__main__":
    tool.main()
