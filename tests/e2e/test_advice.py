# SPDX-License-Identifier: Apache-2.0
"""Every command that perfgate prints as advice works where it is printed: for each verdict, the commands are taken from
what a run says and writes, and each is run in a copy of the folder. Results are given: nothing here measures time."""

import datetime
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import unittest

import test_benchmarks
import test_command
import tool

# A command in quotes, in a sentence; one of a line of its own; what a sentence says is next.
QUOTED = re.compile(r"['`](perfgate (?:[^'`]|'[A-Z]+')+)['`]")
LINE = re.compile(r"^(?:  |\$ )?(perfgate [a-z].*)$", re.MULTILINE)
NEXT = re.compile(r"(?:next|too): (perfgate .*)$", re.MULTILINE)
HEADED = re.compile(r"^(?:# ([\w ]+)|([\w ]+):)\n *(perfgate .*)$", re.MULTILINE)
# What names a program of one's own, and is no command to paste.
OF_HELP = ("perfgate help COMMAND", "perfgate --help", "perfgate run --help-all")


def unfolded(text):
    return text.replace(" \\\n   ", "")


def advised(text):
    """The commands in a text, each once."""
    text = unfolded(text)
    found = dict.fromkeys(QUOTED.findall(text) + LINE.findall(text) + NEXT.findall(text))
    return [each for each in found if each not in OF_HELP and not each.startswith("perfgate: ")]


class Advised(tool.Case):
    suite = "suite.yaml"
    words = ["--backend", "host"]  # of the run
    of_case = ""  # the cases that a sentence about a case is printed for, if there are others

    def completed(self, command):
        """The words of a command with what stands for the state's files."""
        words = shlex.split(command.replace("…", ""))[1:]
        words = [{"SUITE": self.suite, "RUN": "perfgate-out/run.json", "RUN.json": "perfgate-out/run.json",
                  "FILE": "perfgate-out/run.json", "CASE": "*", "WHY": "tested"}.get(word, word) for word in words]
        if words[:2] == ["baseline", "refresh"] and not [word for word in words[2:] if "." in word]:
            words.insert(2, self.suite)
        if words[:2] == ["baseline", "accept"]:
            if "perfgate-out/run.json" not in words:
                words.insert(2, "perfgate-out/run.json")
            if "--reason" not in words:
                words += ["--reason", "tested"]
        # What a sentence cannot know of the command line is in the commands at the report's end.
        if words[0] == "run" or (words[:2] == ["baseline", "refresh"] and words[2] == self.suite):
            words += [word for word in self.words if word not in words]
        if words[:2] == ["baseline", "refresh"] and self.of_case and "--filter" not in words:
            words += ["--filter", self.of_case]
        return words

    def read_everything(self, done):
        texts = [done.stdout, done.stderr]
        for name in ("verdict.json", "report.md"):
            path = self.folder / "perfgate-out" / name
            if path.exists() and name == "report.md":
                texts.append(path.read_text())
            elif path.exists():
                document = json.loads(path.read_text())
                for suite in document["suites"]:
                    texts += suite.get("notes", [])
                    for case in suite["cases"]:
                        texts += [case.get("reason", ""), *case.get("notes", [])]
        return "\n".join(texts)

    def try_all(self, done, code, least=1):
        """Runs each command that was printed in a copy of this folder. Returns them."""
        text = self.read_everything(done)
        commands = advised(text)
        self.assertGreaterEqual(len(commands), least, text)
        for purpose, of_console, command in HEADED.findall(unfolded(text)):
            with self.subTest(command):
                verb = [word for word in command.split()[1:3] if word != "baseline"][0]
                self.assertEqual(verb, (purpose or of_console).split()[0])
        for number, command in enumerate(commands):
            words = self.completed(command)
            with self.subTest(command, words=words):
                self.assertEqual("", tool.refused_words(words))
                copy = self.folder.with_name(f"{self.folder.name}-{number}")
                shutil.copytree(self.folder, copy, symlinks=True)
                self.addCleanup(shutil.rmtree, copy, ignore_errors=True)
                expected = code if words[0] in ("run", "ab") else (0, 3) if words[0] == "doctor" else 0
                self.run_tool(*words, cwd=copy, code=expected, env=getattr(self, "env", None))
                if words[0] == "baseline" and "--dry-run" not in words and words[1] in ("accept", "refresh", "prune"):
                    self.after(words, copy, code)
                shutil.rmtree(copy)
        return commands

    def after(self, words, copy, code):
        """What was accepted or refreshed is expected from then on."""


class Verdicts(test_benchmarks.Given, Advised):
    """A benchmark that reports what it is given."""

    def state(self, *words, code, least=1):
        done = self.run_suite("--report", "perfgate-out/report.md", *words, code=code)
        return self.try_all(done, code, least)

    def after(self, words, copy, code):
        # Whatever was accepted, the same run passes then; a case that was not chosen stays as it is.
        if "--filter" not in words:
            self.run_tool("run", self.suite, *self.words, cwd=copy, code=0)

    def verbs_of(self, commands):
        return {" ".join(word for word in shlex.split(each)[1:3] if re.fullmatch("[a-z]+", word)) for each in commands}

    def test_no_baseline(self):
        commands = self.state("--set", "no_baseline=fail", code=4)
        self.assertIn("baseline refresh", self.verbs_of(commands))

    def test_a_new_case(self):
        self.refresh()
        self.give([*test_benchmarks.ROWS, test_benchmarks.row("new", 1, [1e-3, 1.1e-3])])
        self.assertIn("baseline accept", self.verbs_of(self.state("--set", "no_baseline=fail", code=4)))

    def test_regressed_improved_and_too_good(self):
        self.refresh()
        self.give(self.slower(2))
        # Nothing explains it, so that 'report --why' is not offered.
        self.assertEqual({"run", "baseline accept"}, {verb.removesuffix(" suite") for verb in self.verbs_of(self.state(code=1))})
        self.give(self.slower(0.8))
        self.assertIn("baseline accept", self.verbs_of(self.state(code=0)))
        self.give(self.slower(0.1))
        self.assertIn("baseline accept", self.verbs_of(self.state("--set", "too_good=3", "--set", "not_shown=fail", code=4)))

    def test_a_counter_that_changed(self):
        self.refresh()
        self.give([{**row, "steps": 8} for row in test_benchmarks.ROWS])
        self.state(code=1)

    def test_missing(self):
        self.refresh()
        self.give(test_benchmarks.ROWS[1:])
        self.state(code=1)

    def test_a_suite_that_was_not_given(self):
        self.refresh()
        self.write("other.yaml", test_benchmarks.SUITE.replace("name: mine", "name: other"))
        self.run_tool("baseline", "refresh", "other.yaml", *self.words, "--processes", 8)
        (self.folder / "other.yaml").unlink()
        commands = self.state("--set", "complete=true", code=1)
        self.assertIn("baseline prune", self.verbs_of(commands))

    def test_not_measured(self):
        self.refresh()
        self.give(exit=3)
        self.state(code=3)

    def test_invalid(self):
        self.refresh()
        self.give(self.slower(-1))
        self.state(code=3)

    def test_a_suite_that_changed_what_is_measured(self):
        self.refresh()
        self.write("suite.yaml", test_benchmarks.SUITE.replace("from: /seconds/*, unit: s", "from: /seconds/*, unit: ms"))
        done = self.run_suite("--report", "perfgate-out/report.md", code=(0, 1, 3, 4))
        self.assertIn("'perfgate baseline refresh suite.yaml'", self.read_everything(done))
        self.try_all(done, done.returncode)

    def test_one_process(self):
        self.run_tool("baseline", "refresh", "suite.yaml", *self.words, "--processes", 1, code=(0, 2))
        self.state(code=(0, 3, 4))

    def test_a_case_that_cannot_become_a_baseline_is_not_advised_to(self):
        """Its processes disagree: a refresh does not store it, and nothing advises that, before or after."""
        rows = [{**row, "seconds": row["seconds"] if row["name"] == "copy" else [value * 1000 for value in row["seconds"]]}
                for row in test_benchmarks.ROWS]
        def noise(name, process):
            return (3 if name == "sort" else 0.001) * (process % 2)
        self.give(rows, noise=noise)
        refused = self.run_tool("baseline", "refresh", "suite.yaml", *self.words, "--processes", 8, code=4)
        self.assertIn("1 accepted, 0 unchanged, 0 kept, 0 removed, 2 not stored", refused.stdout)
        self.assertEqual(2, len(re.findall(r"not stored: bench/sort\S+ the processes disagree", refused.stdout)), refused.stdout)
        self.of_case = "*copy*"
        self.try_all(refused, 4, least=0)
        shutil.rmtree(self.folder / "baselines")
        commands = self.state("--set", "no_baseline=fail", code=4)
        refresh = [each for each in commands if each.startswith("perfgate baseline refresh perfgate-out")]
        self.assertEqual(1, len(refresh), commands)
        self.assertIn("copy", refresh[0])
        self.assertNotIn("sort", refresh[0])
        reasons = {case["id"]: case["reason"] for case in self.read_json("perfgate-out/verdict.json")["suites"][0]["cases"]}
        for case, reason in reasons.items():
            self.assertEqual("sort" in case, "cannot become one: the processes disagree" in reason, reason)
            self.assertEqual("sort" not in case, "perfgate baseline" in reason, reason)
        # All of them.
        self.give(rows[:2], noise=noise)
        for command in self.state("--set", "no_baseline=fail", code=4, least=0):
            self.assertNotIn("run.json", command)

    def test_verdicts_that_the_others_do_not_have(self):
        """Each state: what is in the suite besides, what is given, options, the exit code, and the verdict of a case."""
        warns = ("real_time: 5%", "real_time: {worse: 5%, better: 5%, severity: warn}")
        wrong = ("    rows: /rows/*", "    check: ['false']\n    rows: /rows/*")
        broken = ("name: mine", "name: mine\nexpect: {'bench/sort[n=64].real_time': '<= 2us'}")
        strict = ["--set", "not_shown=fail"]
        for edit, rows, words, code, verdict in ((warns, self.slower(2), [], 0, "warned"), (wrong, None, [], 1, "incorrect"),
                                                 (broken, None, [], 1, "pass"),
                                                 (None, self.slower(1.049), strict, 4, "inconclusive")):
            with self.subTest(verdict, edit=edit):
                self.doCleanups()
                self.setUp()
                self.refresh()
                if edit:
                    self.write("suite.yaml", test_benchmarks.SUITE.replace(*edit))
                self.give(rows)
                done = self.run_suite("--report", "perfgate-out/report.md", *words, code=code)
                self.assertIn(verdict, self.verdicts().values(), done.stdout)
                self.try_all(done, done.returncode, least=0)

    def test_acknowledged(self):
        self.refresh()
        self.give(self.slower(2))
        self.run_suite(code=1)
        day = (datetime.date.today() + datetime.timedelta(days=20)).isoformat()
        self.run_tool("baseline", "accept", "perfgate-out/run.json", "--expires", day, "--reason", "known")
        commands = self.state(code=0, least=0)
        self.assertIn("acknowledged", self.verdicts().values())
        self.assertNotIn("baseline accept", self.verbs_of(commands))

    def test_what_refresh_and_prune_say(self):
        for words in (["baseline", "refresh", "suite.yaml", "--processes", 8, *self.words],
                      ["baseline", "refresh", "suite.yaml", "--processes", 8, "--runs", 2, *self.words]):
            done = self.run_tool(*words)
            self.try_all(done, 0)
        self.run_suite("--processes", 3)
        self.try_all(self.run_tool("baseline", "refresh", "perfgate-out/run.json"), 0)
        self.try_all(self.run_tool("baseline", "prune", "suite.yaml"), 0)

    def test_stored_results_that_are_compared_or_reported(self):
        self.refresh()
        self.give(self.slower(2))
        self.run_suite(code=1)
        self.try_all(self.run_tool("compare", "perfgate-out/run.json", code=1), 1)
        self.try_all(self.run_tool("report", "perfgate-out/run.json", code=(0, 1)), 1)


class Plugin(Advised):
    """A plugin, whose options are in the commands."""

    SUITE = ("name: probe\ndefaults: {metrics: [host_time], tolerances: {host_time: 300%}, time_budget: 20ms, cache: hot}\n"
             "workloads: [{workload: probe, variants: [host], params: {n: 20000}}]\n")

    def setUp(self):
        super().setUp()
        self.write("suite.yaml", self.SUITE)
        self.words = ["--backend", "host", *self.plugin("probe_base")]

    def run_it(self, *words, code):
        done = self.run_tool("run", "suite.yaml", *self.words, "--report", "perfgate-out/report.md", *words, code=code)
        return self.try_all(done, code)

    def test_no_baseline_and_incorrect(self):
        self.run_it("--set", "no_baseline=fail", code=4)
        self.words = ["--backend", "host", *self.plugin("probe_wrong")]
        self.run_it(code=1)

    def test_a_config_and_another_folder_are_in_the_commands(self):
        self.write("my configs/ci.yaml", "backend: host\nbaselines: my baselines\npolicy: {no_baseline: fail}\n")
        commands = self.run_it("--config", "my configs/ci.yaml", code=4)
        self.assertTrue(any("'my configs/ci.yaml'" in each for each in commands))
        (self.folder / "perfgate-out/report.md").unlink()
        config = ["--config", "my configs/ci.yaml"]
        self.words = ["--backend", "host", *self.plugin("probe_wrong")]
        self.run_tool("run", "suite.yaml", *self.words, *config, code=1)
        for verb, judged in (("compare", config), ("report", config), ("report", ["--set", "no_baseline=skip"])):
            # Measured again as it was, and judged as now.
            done = self.run_tool(verb, "perfgate-out/run.json", *judged, code=(0, 1))
            again, = [shlex.split(each) for each in self.try_all(done, 1) if each.startswith("perfgate run ")]
            self.assertEqual(self.words[-2:], again[again.index("--plugin"):][:2])
            self.assertEqual(judged, again[-2:])
        self.try_all(self.run_tool("ab", "suite.yaml", "--backend", "host", "--base", f"build:{tool.PLUGINS}/probe_base.so",
                                   "--head", f"build:{tool.PLUGINS}/probe_wrong.so", code=1), 1, least=1)


@unittest.skipUnless((test_command.MOCKS / "libcuda.so.1").exists(), "built without CUDA's headers")
class Program(Advised):
    """A program on the GPU that mocks of driver and CUPTI stand for."""

    # None that the CUDA backend would look for.
    env = {"LD_LIBRARY_PATH": str(test_command.MOCKS), "CUDA_VISIBLE_DEVICES": ""}
    words = []

    def test_no_baseline_regressed_and_drafted(self):
        shutil.copytree(tool.SOURCE / "harness/runner/templates/command", self.folder, dirs_exist_ok=True)
        self.suite = "suites/program.yaml"
        text = (self.folder / self.suite).read_text()
        self.write(self.suite, text.replace("[16777216, 268435456]", "[1024]").replace("5%", "1000%"))
        run = ["run", self.suite, "--report", "perfgate-out/report.md"]
        self.try_all(self.run_tool(*run, "--set", "no_baseline=fail", code=4, env=self.env), 4)
        self.run_tool("baseline", "refresh", self.suite, "--processes", 8, env=self.env)
        program = self.folder / "program.py"
        program.write_text(program.read_text().replace("range(100)", "range(101)"))
        self.try_all(self.run_tool(*run, code=1, env=self.env), 1, least=2)
        self.suite = "draft.yaml"
        program = pathlib.Path(os.environ["PERFGATE_BUILD_DIR"]) / "bin/mock_program"
        self.write("perfgate-out/verdict.json", '{"suites": []}')
        (self.folder / "perfgate-out/report.md").unlink()
        done = self.run_tool("profile", "--report", "suite:draft.yaml", "--", program, "kernels", "5", "gemm", env=self.env)
        self.assertIn("next: perfgate baseline refresh draft.yaml", done.stderr)
        self.try_all(done, 0)


class Elsewhere(Advised):
    def test_what_is_said_before_anything_is_measured(self):
        """Of the program without a verb, a folder that is missing, results that cannot be compared."""
        self.write("suite.yaml", Plugin.SUITE.replace("probe", "gemm").replace("host]", "reference]").replace("n: 20000", "m: 16, n: 16, k: 16"))
        self.words = ["--backend", "host"]
        for words in ([], ["run", "suite.yaml", "--baselines", "none"], ["doctor"]):
            done = self.run_tool(*words, code=(0, 2, 3))
            for command in advised(done.stdout + done.stderr):
                with self.subTest(command):
                    self.assertEqual("", tool.refused_words(self.completed(command)))

    def test_each_command_in_the_sources_has_words_that_the_parser_knows(self):
        """Also of messages that no state here brings about: verb and options of each are there."""
        count = 0
        for path in sorted([*tool.SOURCE.glob("harness/**/*.cpp"), *tool.SOURCE.glob("harness/**/*.hpp")]):
            # A literal may go on in the next line.
            text = re.sub(r'"\s*\n\s*"', "", path.read_text())
            for command in QUOTED.findall("\n".join(re.findall(r'"(?:[^"\\\n]|\\.)*"', text))):
                words = [word for word in command.replace("{}", "FILE").replace("…", "").split()[1:]]
                if command in OF_HELP or words == ["nightly"] or words[0] in ("help", "worker", "--help") or "--help" in words:
                    continue
                with self.subTest(path.relative_to(tool.SOURCE), command=command):
                    self.assertEqual("", tool.refused_words(words))
                count += 1
        self.assertGreater(count, 30)


if __name__ == "__main__":
    tool.main()
