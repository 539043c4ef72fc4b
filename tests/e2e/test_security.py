# SPDX-License-Identifier: Apache-2.0
"""SECURITY.md: each row of its first table has tests that try what the row rules out; and those of them that are
about no other file."""

import re
import subprocess

import tool

PAGE = (tool.SOURCE / "SECURITY.md").read_text()

TRAP = """#!/bin/sh
touch "$(dirname "$0")/executed"
[ $# = 0 ] || echo '{"context": {}, "benchmarks": [{"name": "a", "run_type": "iteration", "iterations": 1, "real_time": 5,
"cpu_time": 5, "time_unit": "ns"}]}' >"$1"
"""
BENCHMARK = """name: bench
workloads:
  - benchmark: [../trap, "{out}"]
    name: bench
    format: google-benchmark
    check: [../trap]
    tolerances: {real_time: 5%}
"""
PROGRAM = """name: program
workloads:
  - command: [../trap]
    name: train
    check: [../trap]
    measure: {step: {nvtx: step}}
    tolerances: {step.gpu_time: 2%}
"""


def rows(head):
    """The cells of a table's rows, by its first row."""
    table = PAGE.split(head + "\n", 1)[1].split("\n\n", 1)[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()[1:]]


class Page(tool.Case):
    def test_each_row_has_tests_and_they_exist(self):
        claims = rows("| who supplies it | what | what it can do | what it cannot do | mitigation |")
        tried = rows("| what | tried by |")
        self.assertGreater(len(claims), 8)
        self.assertEqual([f"{who}: {what}" for who, what, *_ in claims], [what for what, _ in tried])
        for what, tests in tried:
            files = re.findall(r"`([\w/]+\.(?:py|cpp))`: ((?:`[\w.]+`(?:, )?)+)", tests)
            self.assertTrue(files, what)
            self.assertEqual(re.findall("`", tests), re.findall("`", "".join(f"`{file}`{names}" for file, names in files)), what)
            for file, names in files:
                text = (tool.SOURCE / "tests" / file).read_text()
                for name in re.findall(r"`([\w.]+)`", names):
                    definition = f"    def {name}(self" if file.endswith(".py") else f"({name.replace('.', ', ')})"
                    with self.subTest(what, test=name):
                        self.assertIn(definition, text)


class Readers(tool.Case):
    def test_verbs_that_read_execute_nothing_that_a_suite_names(self):
        self.script("trap", TRAP)
        self.write("suites/bench.yaml", BENCHMARK)
        self.write("suites/program.yaml", PROGRAM)
        self.write("configs/ci.yaml", "backend: host\nprocesses: 3\n")
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@t"]
        for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "x"]):
            subprocess.run([*git, *words], cwd=self.folder, check=True)
        measured = ["suites/bench.yaml", "--config", "configs/ci.yaml"]
        self.run_tool("baseline", "refresh", *measured, "--author", "ada", "--reason", "first")
        self.run_tool("run", *measured)
        self.assertTrue((self.folder / "executed").exists(), "the trap works")
        (self.folder / "executed").unlink()
        self.write("suites/bench.yaml", BENCHMARK.replace("5%", "9%"))
        run = "perfgate-out/run.json"
        for code, words in ((0, ["validate", "suites/bench.yaml", "suites/program.yaml"]),
                            (0, ["list", "suites/bench.yaml", "suites/program.yaml"]),
                            (0, ["compare", run, "--out", "again"]),
                            (0, ["report", run, "--report", "page.html", "--report", "page.md"]),
                            (0, ["report", run, "--why", "--filter", "*"]),
                            (1, ["review", "--base", "rev:HEAD"]),
                            (0, ["baseline", "verify"]), (0, ["baseline", "show", "bench", "--log"]),
                            (0, ["baseline", "refresh", run]), (0, ["baseline", "accept", run, "--reason", "r"])):
            with self.subTest(" ".join(words)):
                self.run_tool(*words, code=code)
                self.assertFalse((self.folder / "executed").exists())


if __name__ == "__main__":
    tool.main()
