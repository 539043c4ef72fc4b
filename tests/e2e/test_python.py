# SPDX-License-Identifier: Apache-2.0
"""Workloads in Python: host variants with the standard library's arrays, in a worker that Python hosts."""

import sys

import tool

KERNELS = '''import array
import perfgate


@perfgate.workload(n=[1000, 2000], dtype=["f32"], variants={"loop": "host", "copy": "host"})
def double(n, dtype, seed, variant):
    """Twice the input."""
    x = perfgate.uniform(n, dtype, seed, like=array)
    out = array.array("f", bytes(4 * n))

    def launch():
        if variant == "loop":
            for i in range(n):
                out[i] = 2 * x[i]
        else:
            out[:] = array.array("f", [2 * value for value in x])
        # MARK

    return perfgate.Case(launch, outputs=[out], rtol=1e-6, bytes=8 * n,
                         reference=lambda: array.array("d", [2 * value for value in x]))
'''
SUITE = f'''name: python
workloads:
  - python: ../kernels.py
    interpreter: {sys.executable}
    metrics: [host_time]
    tolerances: {{host_time: 900%}}
    time_budget: 1ms
'''
ALL = ["double/loop[dtype=f32,n=1000]", "double/loop[dtype=f32,n=2000]",
       "double/copy[dtype=f32,n=1000]", "double/copy[dtype=f32,n=2000]"]


class Python(tool.Case):
    clock = "stated"

    def setUp(self):
        super().setUp()
        self.write("kernels.py", KERNELS)
        self.write("suites/python.yaml", SUITE)

    def run_suite(self, *words, code=0):
        return self.run_tool("run", "suites/python.yaml", "--backend", "host", "--processes", "2", *words, code=code)

    def results(self):
        return {case["id"]: case for suite in self.read_json("perfgate-out/run.json")["suites"]
                for case in suite["cases"]}

    def test_cases_are_listed_without_running_the_file(self):
        self.write("kernels.py", "open('executed', 'w')\n" + KERNELS)
        listed = self.run_tool("list", "suites/python.yaml").stdout
        for case in ALL:
            self.assertIn(case, listed)
        self.run_tool("validate", "suites/python.yaml")
        self.assertFalse((self.folder / "executed").exists())

    def test_cases_are_verified_measured_and_gated(self):
        self.run_tool("baseline", "refresh", "suites/python.yaml", "--backend", "host", "--processes", "3")
        self.run_suite()
        results = self.results()
        self.assertEqual(set(ALL), set(results))
        for case in results.values():
            self.assertEqual("measured", case["status"])
            self.assertTrue(case["verification"]["passed"])
            self.assertEqual(8 * int(case["id"].rpartition("=")[2][:-1]), case["work"]["bytes"])

    def test_a_wrong_element_is_incorrect(self):
        self.write("kernels.py", KERNELS.replace("# MARK", "out[n - 1] = 7"))
        self.run_suite(code=1)
        for case in self.results().values():
            self.assertEqual("incorrect", case["status"])
            self.assertIn("element", case["reason"])

    def test_an_element_that_is_not_written_is_incorrect(self):
        self.write("kernels.py", KERNELS.replace("range(n)", "range(n - 1)"))
        self.run_suite("--filter", "double/loop*", code=1)
        self.assertEqual({"incorrect"}, {case["status"] for case in self.results().values()})

    def test_failures_of_the_file_are_errors_with_their_place(self):
        for line, reason in (("raise ValueError('no luck')", "ValueError: no luck"), ("import sys; sys.exit(3)", "SystemExit"),
                             ("import os; os._exit(5)", "exit"), ("print('{}'); 1 / 0", "ZeroDivisionError")):
            with self.subTest(line):
                self.write("kernels.py", KERNELS.replace("# MARK", line))
                self.run_suite("--filter", ALL[0], code=3)
                case = self.results()[ALL[0]]
                self.assertEqual("error", case["status"])
                self.assertIn(reason, case["reason"])

    def test_what_is_printed_does_no_harm(self):
        self.write("kernels.py", KERNELS.replace("# MARK", "print('{\"a\": 1}', flush=True)"))
        self.run_suite("--filter", ALL[0])
        self.assertEqual("measured", self.results()[ALL[0]]["status"])

    def test_a_file_that_cannot_run_ends_the_run_with_its_line(self):
        self.write("kernels.py", KERNELS + "\nimport nothing_of_this_name\n")
        message = self.run_suite(code=2).stderr
        self.assertIn("nothing_of_this_name", message)
        self.assertIn("kernels.py", message)

    def test_one_workload_may_be_selected_with_other_values(self):
        self.write("suites/python.yaml", SUITE.replace(
            "    metrics:", "    select: double\n    variants: [copy]\n    matrix: {n: [10]}\n    metrics:"))
        self.run_suite()
        self.assertEqual({"double/copy[dtype=f32,n=10]"}, set(self.results()))

    def test_mistakes_in_suites_are_refused_with_their_place(self):
        for old, new, reason in (
                ("../kernels.py", "../nothing.py", "suites/python.yaml:3:5"),
                ("    metrics:", "    select: treble\n    metrics:", "unknown workload"),
                ("    metrics:", "    variants: [copy]\n    metrics:", "'select'"),
                (f"interpreter: {sys.executable}", "interpreter: ./no-python", "no-python"),
                ("python: ../kernels.py", "python: ../kernels.py\n    workload: double", "in one entry")):
            with self.subTest(new):
                self.write("suites/python.yaml", SUITE.replace(old, new))
                self.assertIn(reason, self.run_suite(code=2).stderr)

    def test_values_that_are_no_literals_are_known_when_the_file_runs(self):
        self.write("kernels.py", KERNELS.replace("n=[1000, 2000]", "n=SIZES").replace(
            "import perfgate\n", "import perfgate\nSIZES = [10, 20]\n"))
        self.assertIn("known only to a run", self.run_tool("validate", "suites/python.yaml", code=2).stderr)
        self.run_suite()
        self.assertEqual({10, 20}, {int(case.rpartition("=")[2][:-1]) for case in self.results()})

    def test_ab_says_that_it_cannot_compare_them(self):
        self.assertIn("Python kernel", self.run_tool(
            "ab", "suites/python.yaml", "--base", "dir:..", "--backend", "host", code=2).stderr)


if __name__ == "__main__":
    tool.main()
