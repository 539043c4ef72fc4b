# SPDX-License-Identifier: Apache-2.0
"""Workloads in Python: host variants with the standard library's arrays, in a worker that Python hosts."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

import tool
from test_python_module import interpreters

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
ALL = ["double/loop[dtype=f32,n=1000]@hot", "double/loop[dtype=f32,n=2000]@hot",
       "double/copy[dtype=f32,n=1000]@hot", "double/copy[dtype=f32,n=2000]@hot"]


class Python(tool.Case):
    clock = "stated"

    def setUp(self):
        super().setUp()
        self.write("kernels.py", KERNELS)
        self.write("suites/python.yaml", SUITE)

    def run_suite(self, *words, code=0):
        return self.run_tool("run", "suites/python.yaml", "--backend", "host", "--processes", "2", *words, code=code)

    def commit(self):
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
            subprocess.run(git + words, cwd=self.folder, check=True)

    def results(self):
        return {case["id"]: case for suite in self.read_json("perfgate-out/run.json")["suites"]
                for case in suite["cases"]}

    def test_cases_are_listed_without_running_the_file(self):
        self.write("kernels.py", "open('executed', 'w')\n" + KERNELS)
        listed = self.run_tool("list", "suites/python.yaml").stdout
        for case in ALL:
            self.assertIn(case, listed)
        self.run_tool("validate", "suites/python.yaml")
        self.commit()
        self.write("suites/python.yaml", SUITE.replace("900%", "901%"))
        self.run_tool("review", "--base", "rev:HEAD", "suites", code=1)
        self.assertFalse((self.folder / "executed").exists())

    def test_host_variants_are_hot_unless_the_suite_says_otherwise(self):
        """Flushed caches would have an interpreter's own data missing, which hides what the case does."""
        self.write("kernels.py", KERNELS.replace('"copy": "host"', '"copy": "cuda"'))
        both = SUITE.replace("{host_time: 900%}", "{host_time: 900%, gpu_time: 900%}").replace("[host_time]", "[time]")
        for entry, defaults, loops, copies in (("", "", "@hot", ""), ("    cache: cold\n", "", "", ""),
                                               ("", "defaults: {cache: hot}\n", "@hot", "@hot")):
            with self.subTest(entry, defaults=defaults):
                self.write("suites/python.yaml", both.replace("workloads:", defaults + "workloads:") + entry)
                listed = self.run_tool("list", "suites/python.yaml").stdout
                for case in (case.removesuffix("@hot") for case in ALL):
                    self.assertRegex(listed, re.escape(case + (loops if "/loop" in case else copies)) + " ")
        self.write("kernels.py", KERNELS)
        self.write("suites/python.yaml", SUITE)
        self.run_suite("--filter", "double/copy*")
        self.assertEqual(set(ALL[2:]), set(self.results()))

    def test_what_the_page_has_a_reader_write_is_at_most_fifteen_lines_and_is_listed(self):
        page = (tool.SOURCE / "docs/python.md").read_text()
        kernels, suite = (re.search(rf"```{language}\n(.*?)```", page, re.S)[1] for language in ("python", "yaml"))
        self.assertLessEqual(sum(bool(line.strip()) for line in (kernels + suite).splitlines()), 15)
        self.write("kernels.py", kernels)
        self.write("suites/kernels.yaml", suite)
        self.assertEqual(4, self.run_tool("list", "suites/kernels.yaml").stdout.count("add/python[dtype="))

    def test_cases_are_verified_measured_and_gated(self):
        self.run_tool("baseline", "refresh", "suites/python.yaml", "--backend", "host", "--processes", "3")
        self.run_suite()
        results = self.results()
        self.assertEqual(set(ALL), set(results))
        for case in results.values():
            self.assertEqual("measured", case["status"])
            self.assertTrue(case["verification"]["passed"])
            self.assertEqual(8 * int(case["id"].rpartition("=")[2].removesuffix("]@hot")), case["work"]["bytes"])

    def test_each_process_of_a_run_runs_the_file_once(self):
        self.write("kernels.py", "open('ran', 'a').write('x')\n" + KERNELS)
        self.run_suite("--filter", "double/copy*")
        self.assertEqual("xx", (self.folder / "ran").read_text())
        self.run_tool("baseline", "refresh", "suites/python.yaml", "--backend", "host", "--filter", "double/copy*", code=(0, 1, 2))
        self.assertIn(len((self.folder / "ran").read_text()) - 2, (9, 12))

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

    def test_a_case_that_ends_its_worker_leaves_the_others_measured(self):
        for line, reason in (("import ctypes; ctypes.string_at(0)", "signal 11"), ("import os; os._exit(5)", "code 5"),
                             ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "signal 9")):
            with self.subTest(line):
                self.write("kernels.py", KERNELS.replace("# MARK", f"if n == 2000 and variant == 'loop': {line}"))
                self.run_suite(code=3)
                results = self.results()
                self.assertEqual(["error"], [results[ALL[1]]["status"]])
                self.assertIn(reason, results[ALL[1]]["reason"])
                self.assertEqual({"measured"}, {results[case]["status"] for case in ALL if case != ALL[1]})

    def test_a_case_that_hangs_is_ended_at_its_time_limit(self):
        self.write("kernels.py", KERNELS.replace("# MARK", "import time; time.sleep(1000)"))
        self.run_suite("--filter", ALL[0], "--time-limit", "3", code=3)
        self.assertIn("no answer within 3 s", self.results()[ALL[0]]["reason"])

    def test_a_thread_that_is_left_holds_nothing(self):
        self.write("kernels.py", KERNELS.replace(
            "# MARK", "import threading, time; threading.Thread(target=time.sleep, args=(1000,)).start()"))
        self.run_suite("--filter", ALL[0], "--verify-only")
        self.assertTrue(self.results()[ALL[0]]["verification"]["passed"])

    def test_failures_outside_of_a_launch_are_errors_with_their_place(self):
        for old, new, reason in (
                ("    x = perfgate", "    import sys; sys.exit('no GPU')\n    x = perfgate", r"SystemExit: no GPU .*kernels\.py:8"),
                ("[2 * value for value in x]))", "[1 / 0]))", r"verify: ZeroDivisionError.*kernels\.py:\d+"),
                ("outputs=[out]", "outputs=[3]", "output 1 is a int"),
                ("perfgate.Case(launch", "dict(launch=launch", "not perfgate.Case"),
                ("bytes=8 * n", "reset=lambda: None", "resets=True")):
            with self.subTest(new):
                self.write("kernels.py", KERNELS.replace(old, new))
                self.run_suite("--filter", ALL[2], code=3)
                self.assertRegex(self.results()[ALL[2]]["reason"], reason)

    def test_a_file_that_ends_its_process_ends_the_run(self):
        for line in ("import os; os._exit(0)", "raise SystemExit(0)", "import ctypes; ctypes.string_at(0)", "import nosuch"):
            with self.subTest(line):
                self.write("kernels.py", line + "\n" + KERNELS)
                stderr = self.run_suite(code=(2, 3)).stderr
                self.assertIn("kernels.py", stderr)
                self.assertNotIn("<frozen", stderr)

    def test_one_process_that_a_file_ends_is_an_error(self):
        for line in ("os.abort()", "os._exit(0)", "raise ValueError"):
            with self.subTest(line):
                self.write("starts", "")
                self.write("kernels.py", "import os\nopen('starts', 'a').write('x')\n"
                                         f"if os.path.getsize('starts') == 3: {line}\n" + KERNELS)
                done = self.run_tool("run", "suites/python.yaml", "--backend", "host", "--filter", ALL[2],
                                     "--processes", "4", code=3)
                self.assertIn("kernels.py", done.stdout)

    def test_with_changed_only_what_the_file_imports_is_its_code(self):
        self.write("own_helper.py", "factor = 2\n")
        self.write("kernels.py", "import own_helper\n" + KERNELS.replace("2 * x[i]", "own_helper.factor * x[i]"))
        self.run_tool("baseline", "refresh", "suites/python.yaml", "--backend", "host", "--processes", "3")
        self.run_suite("--changed-only")
        self.assertEqual({"skipped"}, {case["status"] for case in self.results().values()})
        self.write("own_helper.py", "factor = 1 + 1\n")
        self.run_suite("--changed-only")
        self.assertEqual({"measured"}, {case["status"] for case in self.results().values()})

    def test_with_changed_only_a_file_that_loads_or_reads_another_is_measured(self):
        self.write("own_factor.txt", "2")
        for line in ("import ctypes; ctypes.PyDLL(None)", "import os; eval(os.environ.get('X', '2'))",
                     "open('own_factor.txt').close()"):
            with self.subTest(line):
                self.write("kernels.py", line + "\n" + KERNELS)
                self.run_tool("baseline", "refresh", "suites/python.yaml", "--backend", "host", "--processes", "3")
                self.run_suite("--changed-only")
                self.assertEqual({"measured"}, {case["status"] for case in self.results().values()})

    def test_a_function_that_returns_its_results_is_repeated_bit_for_bit(self):
        kernels = KERNELS.replace("outputs=[out], ", "").replace("# MARK", "return array.array('f', out)")
        self.write("suites/python.yaml", SUITE + "    deterministic: true\n")
        self.write("kernels.py", kernels)
        self.run_suite()
        self.assertEqual({"measured"}, {case["status"] for case in self.results().values()})
        self.write("kernels.py", kernels.replace("import perfgate\n", "import perfgate\nimport itertools\nCOUNT = itertools.count()\n").replace(
            "array.array('f', out)", "array.array('f', [v * (1 + 5e-7 * k) for k in [next(COUNT) % 3] for v in out])"))
        self.run_suite("--filter", ALL[2], code=1)
        self.assertIn("differs", self.results()[ALL[2]]["reason"])

    # --- compiling and choices

    def test_what_preparing_took_and_chose_is_recorded_for_each_process(self):
        self.write("kernels.py", KERNELS.replace("bytes=8 * n", "bytes=8 * n, choices={'BLOCK': 128}"))
        self.run_suite("--filter", ALL[0])
        self.assertIn("compile", self.read_json("perfgate-out/run.json")["phase_s"])
        prepared = self.results()[ALL[0]]["metrics"]["prepare_time"]
        self.assertEqual("BLOCK 128", prepared["detail"])
        self.assertEqual(2, len(prepared["batches"]))
        self.assertGreater(prepared["value"], 0)
        self.assertIn("BLOCK 128", self.run_suite("--filter", ALL[0], "--verbose").stdout)

    def test_another_choice_than_the_baselines_is_a_cause(self):
        kernels = KERNELS.replace("bytes=8 * n", "bytes=8 * n, choices={'add.BLOCK': 128, 'add.num_warps': 4}")
        self.write("kernels.py", kernels)
        self.run_tool("baseline", "refresh", "suites/python.yaml", "--backend", "host", "--processes", "3",
                      "--filter", ALL[0])
        self.write("kernels.py", kernels.replace("128", "64"))
        self.run_suite("--filter", ALL[0])
        why = self.run_tool("report", "perfgate-out/run.json", "--why", "--filter", ALL[0]).stdout
        self.assertIn("autotune chose add.BLOCK 128 → 64", why)

    def test_processes_that_choose_otherwise_are_said(self):
        self.write("kernels.py", KERNELS.replace("bytes=8 * n", "bytes=8 * n, choices={'BLOCK': __import__('os').getpid()}"))
        self.run_suite("--filter", ALL[0])
        batches = self.results()[ALL[0]]["metrics"]["prepare_time"]["batches"]
        self.assertIn("BLOCK ", batches[1]["detail"])
        case, = self.read_json("perfgate-out/verdict.json")["suites"][0]["cases"]
        self.assertTrue(any("did not choose the same: BLOCK" in note for note in case["notes"]), case["notes"])

    def test_what_is_printed_does_no_harm(self):
        self.write("kernels.py", KERNELS.replace("# MARK", "print('{\"a\": 1}', flush=True)"))
        self.run_suite("--filter", ALL[0])
        self.assertEqual("measured", self.results()[ALL[0]]["status"])

    def test_a_file_that_cannot_run_ends_the_run_with_its_line(self):
        self.write("kernels.py", KERNELS + "\nimport nothing_of_this_name\n")
        message = self.run_suite(code=2).stderr
        self.assertRegex(message, r"nothing_of_this_name' in \S+python\S*; 'interpreter' in the suite")
        self.assertRegex(message, r" \([^<]*kernels\.py:\d+\)")

    def test_one_workload_may_be_selected_with_other_values(self):
        self.write("suites/python.yaml", SUITE.replace(
            "    metrics:", "    select: double\n    variants: [copy]\n    matrix: {n: [10]}\n    metrics:"))
        self.run_suite()
        self.assertEqual({"double/copy[dtype=f32,n=10]@hot"}, set(self.results()))

    def test_each_interpreter_measures_the_files_that_name_it(self):
        other = self.folder / "other-python"
        other.write_text(f"#!/bin/sh\nSIDE=other exec {sys.executable} \"$@\"\n")
        other.chmod(0o755)
        mark = f"import os; open({str(self.folder / 'ran')!r}, 'a').write(os.environ.get('SIDE', 'first') + __name__ + ' ')\n"
        self.write("kernels.py", mark + KERNELS)
        self.write("more.py", mark + KERNELS.replace("def double", "def twice"))
        self.write("suites/python.yaml", SUITE + """  - python: ../more.py
    interpreter: ../other-python
    metrics: [host_time]
    tolerances: {host_time: 900%}
""")
        self.run_suite()
        self.assertEqual(set(ALL) | {case.replace("double", "twice") for case in ALL}, set(self.results()))
        self.assertEqual({"measured"}, {case["status"] for case in self.results().values()})
        self.assertEqual({"firstkernels", "othermore"}, self.sides_that_ran())
        self.write("more.py", mark + KERNELS)
        self.assertIn("'double'", self.run_suite(code=2).stderr)

    def test_interpreters_of_other_versions_host_the_worker(self):
        suite, wanted = "name: python\nworkloads:\n", set()
        for version, interpreter in interpreters().items():
            name = "double_" + version.replace(".", "_")
            self.write(f"{name}.py", KERNELS.replace("def double", f"def {name}"))
            suite += f"  - {{python: ../{name}.py, interpreter: {interpreter}, select: {name}, variants: [copy], tolerances: {{host_time: 900%}}}}\n"
            wanted |= {case.replace("double", name) for case in ALL[2:]}
        self.write("suites/python.yaml", suite)
        self.run_suite("--verify-only")
        self.assertEqual(wanted, {name for name, case in self.results().items() if case["verification"]["passed"]})

    def test_one_file_has_one_interpreter(self):
        other = self.folder / "other-python"
        other.write_text(f"#!/bin/sh\nexec {sys.executable} \"$@\"\n")
        other.chmod(0o755)
        self.write("suites/python.yaml", SUITE)
        self.write("suites/more.yaml", SUITE.replace("name: python", "name: more").replace(sys.executable, "../other-python"))
        self.assertIn("same file", self.run_tool("run", "suites/python.yaml", "suites/more.yaml", "--backend", "host", code=2).stderr)

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

    def test_an_interpreter_that_cannot_be_started_is_named(self):
        self.write("broken-python", "#!/nothing/of/this/name\n").chmod(0o755)
        self.write("suites/python.yaml", SUITE.replace(sys.executable, "../broken-python"))
        said = self.run_suite(code=3)
        self.assertRegex(said.stdout + said.stderr, "broken-python: No such file or directory")

    def test_values_that_are_no_literals_are_known_when_the_file_runs(self):
        self.write("kernels.py", KERNELS.replace("n=[1000, 2000]", "n=SIZES").replace(
            "import perfgate\n", "import perfgate\nSIZES = [10, 20]\n"))
        more = ('overrides:\n  - {match: "double/copy*", tolerances: {host_time: 800%}}\n'
                'expect:\n  double/copy.host_time: "<= 1000000 * double/loop.host_time"\n')
        self.write("suites/python.yaml", SUITE + more)
        self.assertRegex(self.run_tool("validate", "suites/python.yaml").stdout,
                         r"python.yaml:3:5: the cases of 'double' are known after the first run: 'n' is no literal \(kernels.py:6\)")
        self.assertIn("double/*", self.run_tool("list", "suites/python.yaml").stdout)
        self.run_tool("run", "suites/python.yaml", "--backend", "host", "--processes", "3")
        self.assertEqual({10, 20}, {int(case.rpartition("=")[2].removesuffix("]@hot")) for case in self.results()})
        # What needs the suite's cases without running it has them from the run and the baselines.
        self.write("suites/python.yaml", SUITE.replace("900%", "901%") + more)
        self.run_tool("baseline", "refresh", "perfgate-out/run.json", "suites/python.yaml")
        baseline = self.read_json(*map(str, self.folder.glob("baselines/*/python.json")))
        self.assertEqual(set(self.results()), set(baseline["cases"]))
        self.run_tool("baseline", "prune", "suites/python.yaml")
        self.assertEqual(baseline, self.read_json(*map(str, self.folder.glob("baselines/*/python.json"))))
        self.run_suite()
        self.assertEqual(4, len(self.read_json("perfgate-out/verdict.json")["suites"][0]["cases"]))
        self.run_suite("--filter", "double/loop*")
        self.assertEqual(2, len(self.results()))

    def test_a_workload_that_its_file_does_not_define_is_refused(self):
        self.write("kernels.py", KERNELS + "\ndel perfgate._case._workloads[:]\n\n@perfgate.workload(target='host')\ndef other(seed):\n"
                   "    pass\n")
        for old in ("n=[1000, 2000]", "n=SIZES"):
            with self.subTest(old):
                self.write("kernels.py", (self.folder / "kernels.py").read_text().replace("n=[1000, 2000]", old).replace(
                    "import perfgate\n", "import perfgate\nSIZES = [10, 20]\n", 1))
                failed = self.run_suite(code=(2, 3))
                self.assertIn("double", failed.stdout + failed.stderr)

    @unittest.skipUnless(importlib.util.find_spec("pytest"), "needs pytest")
    def test_pytest_warns_of_cases_that_were_not_decided(self):
        def pytest(*words, arguments="--processes 2"):
            done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "perfgate.pytest_plugin", "-p", "no:cacheprovider", "--perfgate",
                                   f"--perfgate-args=--backend host --filter double/copy* {arguments}", *words, "suites"],
                                  cwd=self.folder, capture_output=True, text=True, timeout=tool.PATIENCE_S,
                                  env={**os.environ, "PYTHONPATH": str(pathlib.Path(tool.PERFGATE).parent.parent / "lib/perfgate/python")})
            return done.returncode, done.stdout
        code, said = pytest()
        self.assertEqual(0, code, said)
        self.assertIn("2 skipped, 2 warnings", said)
        self.assertIn("not decided, so neither passed nor failed", said)
        self.assertEqual(1, pytest(arguments="--processes 2 --set no_baseline=fail")[0])
        self.assertEqual(1, pytest("-W", "error")[0])
        self.run_tool("baseline", "refresh", "suites/python.yaml", "--backend", "host", "--processes", "8", "--filter", "double/copy*")
        code, said = pytest(arguments="--processes 8")
        self.assertEqual((0, True), (code, "2 passed" in said and "warning" not in said), said)

    # --- review

    def changed(self, *changes, suite=SUITE, code=1):
        """What review lists when these texts of the file are replaced."""
        kernels = KERNELS
        for old, new in changes:
            self.assertIn(old, kernels)
            kernels = kernels.replace(old, new)
        self.write("kernels.py", kernels)
        self.write("suites/python.yaml", suite)
        document = json.loads(self.run_tool("review", "--base", "rev:HEAD", "suites", "--report", "json:-", code=code).stdout)
        return [(each["kind"], each["file"], each["subject"], each["before"], each["after"]) for each in document["findings"]]

    def test_review_lists_what_a_file_verifies_less_and_executes_nothing(self):
        ran = "open('executed', 'w')\n"
        self.write("kernels.py", ran + KERNELS)
        self.commit()
        executed = (KERNELS.splitlines()[0], ran + KERNELS.splitlines()[0])
        self.assertEqual([], self.changed(executed, code=0))
        self.assertEqual([], self.changed(executed, ("rtol=1e-6", "rtol=1e-7"), code=0))
        rtol = ("tolerance raised", "kernels.py", "rtol", "1e-06")
        self.assertEqual([(*rtol, "0.5")], self.changed(executed, ("rtol=1e-6", "rtol=0.5")))
        self.assertEqual([("tolerance raised", "kernels.py", "atol", "0", "1")],
                         self.changed(executed, ("rtol=1e-6", "rtol=1e-6, atol=1")))
        (kind, file, name, _, now), = self.changed(executed, ("rtol=1e-6", "rtol=RTOL"), ("import perfgate\n", "import perfgate\nRTOL = 1\n"))
        self.assertEqual(rtol[:3], (kind, file, name))
        self.assertIn("RTOL = 1", now)
        self.assertEqual(["case removed"], [kind for kind, *_ in self.changed(executed, ("1000, 2000", "1000"))])
        self.assertEqual([("tolerance raised", "suites/python.yaml", "host_time", "900 %", "950 %")],
                         self.changed(executed, suite=SUITE.replace("900%", "950%")))
        self.assertFalse((self.folder / "executed").exists())

    def test_review_compares_what_only_a_run_knows_as_far_as_the_suite_says(self):
        self.write("kernels.py", KERNELS.replace("[1000, 2000]", "SIZES"))
        self.commit()
        sizes = ("[1000, 2000]", "SIZES")
        self.assertEqual([], self.changed(sizes, code=0))
        self.assertEqual([("tolerance raised", "suites/python.yaml", "host_time", "900 %", "950 %")],
                         self.changed(sizes, suite=SUITE.replace("900%", "950%")))
        self.assertEqual([("tolerance raised", "kernels.py", "rtol", "1e-06", "1")], self.changed(sizes, ("rtol=1e-6", "rtol=1")))

    def test_review_says_what_it_cannot_read(self):
        self.commit()
        for text, kind in (("x = '", "unreadable"), (None, "case removed")):
            with self.subTest(text):
                if text is None:
                    (self.folder / "kernels.py").unlink()
                else:
                    self.write("kernels.py", text)
                found = json.loads(self.run_tool("review", "--base", "rev:HEAD", "suites", "--report", "json:-", code=1).stdout)
                self.assertIn(kind, [each["kind"] for each in found["findings"]])
                self.assertIn("kernels.py", json.dumps(found))
        (self.folder / "kernels.py").symlink_to("/etc/hostname")
        self.assertIn("link", self.run_tool("review", "--base", "rev:HEAD", "suites", code=1).stdout)

    # --- two sides

    def sides_that_ran(self):
        path = self.folder / "ran"
        return set(path.read_text().split()) if path.exists() else set()

    def kernels_of(self, side):
        return f"open({str(self.folder / 'ran')!r}, 'a').write({side} + ' ')\n" + KERNELS

    def ab(self, *words, code=0):
        return self.run_tool("ab", "suites/python.yaml", "--backend", "host", "--processes", "2", "--filter", ALL[2], *words,
                             code=code)

    def test_ab_takes_the_file_of_each_checkout(self):
        self.write("kernels.py", self.kernels_of("'head'"))
        self.write("other/kernels.py", self.kernels_of("'base'"))
        self.write("other/suites/python.yaml", SUITE)
        self.ab("--base", "dir:other/suites")
        self.assertEqual({"base", "head"}, self.sides_that_ran())
        for run in ("perfgate-out/run.json", "perfgate-out/base/run.json"):
            case, = self.read_json(run)["suites"][0]["cases"]
            self.assertEqual((ALL[2], "measured"), (case["id"], case["status"]))

    def test_ab_takes_the_file_of_a_revision(self):
        self.write("kernels.py", self.kernels_of("'base'").replace("[1000, 2000]", "[1000, 3000]"))
        self.commit()
        self.write("kernels.py", self.kernels_of("'head'") + "\n\n@perfgate.workload(target='host')\ndef more(seed):\n"
                   "    return double.case('copy', seed, {'n': 5, 'dtype': 'f32'})\n")
        self.ab("--base", "rev:HEAD", "--filter", "more*")
        self.assertEqual({"base", "head"}, self.sides_that_ran())
        cases = {case["id"]: case["status"] for case in self.read_json("perfgate-out/base/run.json")["suites"][0]["cases"]}
        self.assertEqual({ALL[2]: "measured", "more/python@hot": "skipped"}, cases)

    def test_ab_gives_each_side_its_environment(self):
        self.write("kernels.py", "import os\n" + self.kernels_of("os.environ.get('SIDE', 'none')"))
        self.ab("--base", "env:SIDE=base", "--head", "env:SIDE=head")
        self.assertLessEqual({"base", "head"}, self.sides_that_ran())

    def test_ab_refuses_sides_of_which_nothing_differs_for_them(self):
        self.assertIn("Python kernel", self.ab("--base", f"build:{tool.PLUGINS / 'probe_base.so'}",
                                                 "--head", f"build:{tool.PLUGINS / 'adversary.so'}", code=2).stderr)


if __name__ == "__main__":
    tool.main()
