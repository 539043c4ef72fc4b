# SPDX-License-Identifier: Apache-2.0
"""`perfgate completion`: what bash, zsh and fish offer once they have read it."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import unittest

import tool


class Completion(tool.Case):
    def script(self, shell):
        return self.write(f"completion.{shell}", self.run_tool("completion", shell).stdout)

    def shell(self, *command):
        path = f"{pathlib.Path(tool.PERFGATE).parent}:{os.environ['PATH']}"
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True,
                              timeout=tool.PATIENCE_S, env={**os.environ, "PATH": path})
        self.assertEqual("", done.stderr)
        return done.stdout

    def with_suites(self):
        """Two cases, a suite's file and a baseline's name."""
        self.write("suites/probe.yaml", "name: probe\nworkloads:\n  - {workload: gemm, variants: "
                   "[reference], tolerances: {host_time: 50%}, params: {m: 8, n: 8}, "
                   "matrix: {k: [8, 16]}}\n")
        self.write("suites/notes.txt", "")
        self.write("baselines/nvidia-h100/stored.json", "{}")
        return ["gemm/reference[k=16,m=8,n=8]", "gemm/reference[k=8,m=8,n=8]"]


class Bash(Completion):
    def offered(self, *words):
        """What bash offers for the last word; words as bash splits them."""
        text = (f"source {self.script('bash')}\n"
                f"COMP_WORDS=({tool.PERFGATE} {' '.join(map(shlex.quote, words))})\n"
                f"COMP_CWORD={len(words)}\n_perfgate\n"
                "printf '%s\\n' \"${COMPREPLY[@]}\"")
        return self.shell("bash", "--norc", "-uc", text).split("\n")[:-1]

    def test_without_a_shell_is_exit_2(self):
        self.run_tool("completion", code=2)
        self.run_tool("completion", "csh", code=2)

    def test_every_verb_of_the_help_and_no_hidden_one(self):
        helped = re.findall(r"^  ([a-z]+) ", self.run_tool("--help").stdout.split("Commands:")[1],
                            re.MULTILINE)
        self.assertGreater(len(helped), 8)
        self.assertEqual(sorted(helped), self.offered(""))
        self.assertNotIn("worker", helped)

    def test_every_option_of_a_verbs_help(self):
        for verb in (["run"], ["compare"], ["baseline", "refresh"]):
            options = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", self.run_tool(*verb, "--help-all").stdout,
                                     re.MULTILINE))
            self.assertIn("--filter", options)
            self.assertEqual(options, set(self.offered(*verb, "--")))

    def test_verbs_of_a_verb_beginnings_and_values(self):
        self.assertIn("refresh", self.offered("baseline", ""))
        self.assertEqual(["refresh"], self.offered("baseline", "re"))
        self.assertEqual(["always", "auto", "never"], self.offered("run", "--color", ""))
        self.assertEqual(["always", "auto"], self.offered("run", "--color", "=", "a"))
        self.assertEqual(["always", "auto", "never"], self.offered("run", "--color", "="))
        self.assertIn("google-benchmark", self.offered("init", "--from", ""))
        self.assertEqual([""], self.offered("run", "--filter", ""))
        self.assertEqual(["--version"], self.offered("--v"))
        self.assertEqual([""], self.offered("profile", "--", "./app", "--v"))

    def test_cases_suites_and_metrics(self):
        self.assertEqual([""], self.offered("run", "--filter", ""))
        cases = self.with_suites()
        self.assertEqual(cases, self.offered("run", "--filter", ""))
        self.assertEqual(cases, self.offered("run", "suites/probe.yaml", "--filter", "gemm/ref"))
        self.assertEqual(cases, self.offered("baseline", "accept", "--filter", ""))
        self.assertEqual(["suites/probe.yaml"], self.offered("run", "suites/"))
        self.assertEqual(["stored", "suites/probe.yaml"], self.offered("baseline", "show", ""))
        self.assertEqual(["registers"], self.offered("list", "--metrics", "regis"))
        # bash splits words at '='; what it replaces is the part behind.
        self.assertEqual(["16,m=8,n=8]"], self.offered("run", "--filter", "gemm/reference[k", "=", "1"))

    def test_files_and_folders_with_spaces(self):
        self.write("my suites/a suite.yaml", "")
        self.assertEqual(["my suites/a suite.yaml"], self.offered("run", "my suites/a"))
        self.assertEqual(["my suites"], self.offered("run", "--out", "m"))
        self.assertEqual(["my suites/a suite.yaml"],
                         self.offered("run", "--config", "my suites/"))


@unittest.skipUnless(shutil.which("fish"), "needs fish")
class Fish(Completion):
    def offered(self, line):
        text = f"source {self.script('fish')}; complete -C{shlex.quote(line)}"
        return [each.split("\t")[0] for each in self.shell("fish", "--no-config", "-c", text)
                .splitlines()]

    def test_verbs_options_and_values(self):
        self.assertIn("run", self.offered("perfgate "))
        self.assertNotIn("worker", self.offered("perfgate "))
        self.assertIn("--color", self.offered("perfgate run --c"))
        self.assertNotIn("--color", self.offered("perfgate list --c"))
        self.assertEqual({"auto", "always", "never"},
                         set(self.offered("perfgate run --color ")))
        self.assertIn("refresh", self.offered("perfgate baseline "))
        self.assertIn("--reason", self.offered("perfgate baseline refresh --re"))
        self.assertIn("completion.fish", self.offered("perfgate compare comp"))

    def test_cases_suites_and_metrics(self):
        cases = self.with_suites()
        self.assertEqual(set(cases), set(self.offered("perfgate run --filter ")))
        self.assertIn("suites/probe.yaml", self.offered("perfgate run suites/"))
        self.assertIn("stored", self.offered("perfgate baseline show "))
        self.assertIn("registers", self.offered("perfgate list --metrics regis"))


@unittest.skipUnless(shutil.which("zsh"), "needs zsh")
class Zsh(Completion):
    ASK = """
autoload -U compinit; compinit -u -D; source $1
[[ $_comps[perfgate] == _perfgate ]] || echo not taken up
_describe() { print -rl -- ${(P)2} }
_files() { print -r -- files $@ }
words=(perfgate "${@[2,-1]}"); CURRENT=$#words; _perfgate
"""

    def offered(self, *words):
        """What zsh's own functions are given."""
        return self.shell("zsh", "-fc", self.ASK, "zsh", self.script("zsh"), *words).splitlines()

    def test_is_read_and_hands_out_verbs_options_and_values(self):
        self.assertIn("run:Measures suites, compares with the baselines, writes reports", self.offered(""))
        self.assertIn("--quiet:No progress on standard error", self.offered("run", "--q"))
        self.assertEqual([], self.offered("list", "--color"))
        self.assertEqual(["always:", "auto:", "never:"], self.offered("run", "--color", ""))
        self.assertEqual(["--color=always:", "--color=auto:"], self.offered("run", "--color=a"))
        self.assertEqual(["files"], self.offered("compare", ""))
        self.assertEqual(["files -g *.(yaml|yml)"], self.offered("run", ""))
        self.assertEqual(["files -/"], self.offered("run", "--out", ""))

    def test_cases_suites_and_metrics(self):
        cases = self.with_suites()
        self.assertEqual([f"{case}:" for case in cases], self.offered("run", "--filter", ""))
        self.assertIn("registers:", self.offered("list", "--metrics", "regis"))


if __name__ == "__main__":
    tool.main()
