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
        self.assertEqual(helped, self.offered(""))
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
        self.assertEqual(["auto", "always", "never"], self.offered("run", "--color", ""))
        self.assertEqual(["auto", "always"], self.offered("run", "--color", "=", "a"))
        self.assertEqual(["auto", "always", "never"], self.offered("run", "--color", "="))
        self.assertIn("google-benchmark", self.offered("init", "--from", ""))
        self.assertEqual([""], self.offered("run", "--filter", ""))
        self.assertEqual(["--version"], self.offered("--v"))

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
        text = (f"source {self.script('bash')}\nCOMP_LINE='perfgate run --filter gemm/reference[k=1'\n"
                f"COMP_POINT=${{#COMP_LINE}}\n"
                f"COMP_WORDS=({tool.PERFGATE} run --filter 'gemm/reference[k' = 1)\nCOMP_CWORD=5\n"
                "_perfgate_listed_in_test() { local cur=1; _perfgate_listed cases; }\n"
                "_perfgate_listed_in_test\nprintf '%s\\n' \"${COMPREPLY[@]}\"")
        self.assertEqual("16,m=8,n=8]\n", self.shell("bash", "--norc", "-uc", text))

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
    # What zsh's _arguments is given for a line that is one verb; it reads keys itself otherwise.
    ASK = """
autoload -U compinit; compinit -u -D; source $1
[[ $_comps[perfgate] == _perfgate ]] || echo not taken up
_arguments() { print -rl -- "$@"; state=argument; line=(${=words}) }
words=$2; _perfgate
"""

    def offered(self, words):
        return self.shell("zsh", "-fc", self.ASK, "zsh", self.script("zsh"), words).splitlines()

    def test_is_read_and_hands_out_verbs_options_and_values(self):
        self.assertNotIn("not taken up", self.offered("run"))
        for entry in self.offered("run"):
            self.assertRegex(entry, r"^(-C|\*?:.*|1:.*|\*--?[\w-]+=?\[.*\](:value:.*)?)$")
        self.assertTrue([each for each in self.offered("run")
                         if each.startswith("*--color=[") and
                         each.endswith(":value:(auto always never)")])
        self.assertFalse([each for each in self.offered("list") if "--color" in each])
        self.assertIn("*:argument:_files", self.offered("compare"))
        self.assertIn('*:argument:_files -g "*.(yaml|yml)"', self.offered("run"))

    def test_cases_suites_and_metrics(self):
        self.assertTrue([each for each in self.offered("run") if each.startswith("*--filter=[") and
                         each.endswith(":value:_perfgate_listed cases")])
        cases = self.with_suites()
        ask = ('autoload -U compinit; compinit -u -D; source $1; compadd() { shift; print -rl -- "$@" }; '
               "program=(perfgate run); _perfgate_listed cases")
        self.assertEqual(cases, self.shell("zsh", "-fc", ask, "zsh", self.script("zsh")).splitlines())


if __name__ == "__main__":
    tool.main()
