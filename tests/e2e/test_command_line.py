# SPDX-License-Identifier: Apache-2.0
"""What holds for every option of every verb: an empty value, as "$UNSET" gives it, is refused."""

import os
import re
import shlex
import shutil
import subprocess

import tool


class EmptyValues(tool.Case):
    def refused(self, *words):
        done = subprocess.run([tool.PERFGATE, *words], cwd=self.folder, capture_output=True,
                              text=True, timeout=tool.PATIENCE_S)
        self.assertEqual(2, done.returncode, (words, done.stdout, done.stderr))
        return done.stderr

    def test_each_option_of_each_verb_refuses_one_with_its_name(self):
        tried = 0
        # The internal verb is in no help.
        worker = {"--backend": "TEXT", "--device": "TEXT", "--plugin": "TEXT", "--bundled": "TEXT"}
        for verb in [*tool.verbs(), ["worker"]]:
            options = worker if verb == ["worker"] else tool.options(verb)
            for name, value in options.items():
                # A flag's text begins after many blanks, a value's after one.
                if not value:
                    continue
                for words in ([name, ""], [f"{name}="], [f"{name}=", "other"]):
                    with self.subTest(" ".join(verb), words=words):
                        self.assertIn(name, self.refused(*verb, *words))
                        tried += 1
        self.assertGreater(tried, 300)

    def test_each_argument_refuses_one_with_its_name(self):
        for verb in tool.verbs():
            listed = re.search(r"\nArguments:\n  ([A-Z]+) ", tool.help_of(verb))
            if listed:
                with self.subTest(" ".join(verb)):
                    self.assertIn(listed.group(1), self.refused(*verb, ""))

    def test_no_gate_is_opened_by_a_variable_that_is_not_set(self):
        for words in (["compare", "run.json", "--config", ""],
                      ["compare", "run.json", "--baselines="],
                      ["run", "suite.yaml", "--shard", ""],
                      ["baseline", "accept", "run.json", "--reason", "tested", "--expires", ""]):
            with self.subTest(words):
                self.assert_one_line(self.refused(*words).splitlines()[0],
                                     next(word for word in words if word.startswith("--") and
                                          word != "--reason").rstrip("="), "found an empty one")

    def test_what_only_looks_empty_is_a_value(self):
        self.assertNotIn("empty", self.refused("compare", "run.json", "--config", " "))
        self.assertIn("run=", self.refused("compare", "--", "run="))


class AbsentInputs(tool.Case):
    """A path that is named and not there is refused before anything is measured, locked or written."""

    SUITE = """
name: mine
workloads:
  - workload: probe
    variants: [plain]
defaults: {metrics: [host_time], tolerances: {host_time: 5%}}
"""

    def test_are_refused_before_a_device_is_opened(self):
        self.write("suite.yaml", self.SUITE)
        self.write("run.json", "{}")
        for folder, plugin in (("one", "probe_base"), ("two", "probe_slow")):
            (self.folder / folder).mkdir()
            shutil.copy(tool.PLUGINS / f"{plugin}.so", self.folder / folder / "probe.so")
        run = ["run", "suite.yaml"]
        ab = ["ab", "suite.yaml"]
        for words in ([*run, "--baselines"], [*run, "--config"], [*run, "--plugin"], [*run, "--resume"],
                      ["run"], ["selftest"], [*ab, "--config"],
                      ["ab", "--base", "build:one", "--head", "build:two"],
                      ["baseline", "refresh"], ["baseline", "refresh", "suite.yaml", "--plugin"],
                      ["baseline", "refresh", "suite.yaml", "--config"],
                      ["compare", "run.json", "--baselines"], ["compare", "run.json", "--config"], ["compare"],
                      ["compare", "--head", "run.json", "--base"],
                      ["report", "run.json", "--baselines"], ["report", "run.json", "--why", "--baselines"], ["list", "suite.yaml", "--plugin"],
                      ["validate", "suite.yaml", "--plugin"], ["profile", "--recording"],
                      ["baseline", "verify", "--baselines"], ["baseline", "show", "mine", "--log", "--baselines"],
                      ["baseline", "show", "mine", "--baselines"], ["baseline", "refresh", "run.json", "--dry-run", "--baselines"],
                      ["baseline", "prune", "suite.yaml", "--baselines"],
                      ["baseline", "accept", "run.json", "--reason", "tested", "--baselines"]):
            with self.subTest(" ".join(words)):
                # A backend that no machine has opened yet would say so instead.
                device = ["--backend", "cuda"] if words[0] in ("run", "ab", "selftest") else []
                before = {path for path in self.folder.rglob("*")}
                done = self.run_tool(*words, self.folder / "absent/x.yaml", *device, code=2,
                                     env={"CUDA_VISIBLE_DEVICES": ""})
                self.assertIn(f"{self.folder}/absent/x.yaml", done.stderr)
                self.assertEqual(before, {path for path in self.folder.rglob("*")})

    def test_a_file_is_no_folder_of_baselines(self):
        self.write("run.json", "{}")
        self.assertIn("run.json is no folder", self.run_tool("compare", "run.json", "--baselines", "run.json",
                                                             code=2).stderr)

    def test_a_suite_without_a_baseline_says_where_it_was_looked_for(self):
        key, other = "nvidia-h200", "another-device"
        runs = tool.SOURCE / "tests/data/runs" / key
        for folder, keys in ((None, ()), ("baselines", ()), ("baselines", (other, "a-third"))):
            for each in keys:
                self.write(f"{folder}/{each}/softmax.json", "{}")
            if folder:
                (self.folder / folder).mkdir(exist_ok=True)
            self.run_tool("compare", runs / "softmax-1.run.json", "--report", "verdict.json", code=(0, 4))
            notes = [note for note in self.read_json("verdict.json")["suites"][0]["notes"] if "would be" in note]
            self.assertEqual(1, len(notes))
            self.assertIn(f"baselines/{key}/softmax.json", notes[0])
            for each in keys:
                self.assertIn(each, notes[0])


class NoWords(tool.Case):
    def test_names_a_first_step(self):
        self.assert_one_line(self.run_tool(code=2).stderr, "perfgate demo", "perfgate --help")


class UnknownWords(tool.Case):
    def refused(self, *words):
        done = self.run_tool(*words, code=2)
        self.assertEqual("", done.stdout)
        return done.stderr

    def test_get_the_nearest_name(self):
        for words, said in ((["rnu", "suite.yaml"], "unknown command 'rnu'; did you mean 'run'?"),
                            (["baseline", "acept"], "unknown command 'acept'; did you mean 'accept'?"),
                            (["run", "s.yaml", "--fliter", "x"],
                             "unknown option '--fliter'; did you mean '--filter'?"),
                            (["run", "--fliter=x"], "did you mean '--filter'?"),
                            (["baseline", "show", "gemm", "--device", "x"],
                             "--device is now --devices LIST, or --device-key KEY"),
                            (["frobnicate"], "unknown command 'frobnicate'; 'perfgate --help' lists"),
                            (["list", "--frobnicate", "s.yaml"],
                             "unknown option '--frobnicate'; 'perfgate list --help' lists them")):
            with self.subTest(words):
                self.assert_one_line(self.refused(*words), said)

    def test_are_refused_with_help_too(self):
        for words in (["frobnicate", "--help"], ["baseline", "frobnicate", "--help"],
                      ["run", "--frobnicate", "--help"]):
            with self.subTest(words):
                self.assert_one_line(self.refused(*words), "frobnicate")

    def test_what_looks_like_one_and_is_a_value_or_a_programs_is_none(self):
        self.assertNotIn("unknown", self.refused("compare", "absent.json", "--config", "--frob"))
        self.assertNotIn("unknown", self.run_tool("profile", "--", "absent", "--frob",
                                                  code=(2, 3)).stderr)
        self.assertNotIn("unknown", self.refused("run"))

    def test_hidden_commands_are_not_suggested(self):
        self.assertNotIn("worker", self.refused("wroker"))


class Manual(tool.Case):
    def test_pages_say_what_help_says(self):
        self.run_tool("pages", "share")
        folder = self.folder / "share/man/man1"
        verbs = tool.verbs()
        self.assertEqual(sorted("-".join(["perfgate", *verb]) + ".1" for verb in verbs),
                         sorted(path.name for path in folder.iterdir()))
        for verb in verbs:
            text = (folder / ("-".join(["perfgate", *verb]) + ".1")).read_text()
            plain = " ".join(text.replace("\\-", "-").replace("\\e", "\\").replace("\\&", "")
                             .replace("\n.br\n", " ").split())
            listed = tool.help_of(verb)
            with self.subTest(" ".join(verb)):
                # Each word of an option's help is in the page, in that order.
                for option in tool.options(verb):
                    entry = re.search(rf"^  (?:-\w,)?({re.escape(option)}(?: .*)?\n(?:   +.*\n)*)",
                                      listed, re.MULTILINE).group(1)
                    # A list that is longer than a line is in several.
                    entry = re.sub(r"{[^}]*}", lambda found: re.sub(r"\s", "", found[0]), entry)
                    self.assertIn(" ".join(entry.split()), plain)

    def test_examples_are_commands_and_the_same_in_help_and_manual(self):
        self.run_tool("pages", "share")
        groups = {verb[:-1] for verb in map(tuple, tool.verbs())}
        for verb in tool.verbs():
            if tuple(verb) in groups:
                continue
            with self.subTest(" ".join(verb)):
                listed = tool.help_of(verb).partition("\nExamples:\n")[2]
                examples = re.findall(r"^  (perfgate .*)$", listed, re.MULTILINE)
                self.assertGreater(len(examples), 0)
                text = (self.folder / "share/man/man1" / ("-".join(["perfgate", *verb]) + ".1")).read_text()
                shown = text.partition("\n.SH EXAMPLES\n.nf\n")[2].partition("\n.fi\n")[0].replace("\\-", "-")
                self.assertEqual(examples, [line.strip() for line in shown.splitlines()])
                for example in examples:
                    words = shlex.split(example)[1:]
                    self.assertEqual(verb, words[:len(verb)])
                    self.assertEqual("", tool.refused_words(words), example)

    def test_man_reads_them(self):
        # A minimal Ubuntu has a script of that name, which says that there is no man.
        version = shutil.which("man") and subprocess.run(["man", "--version"], capture_output=True, text=True).stdout
        if not version or "minimized" in version:
            self.skipTest("needs man")
        self.run_tool("pages", "share")
        for page in sorted((self.folder / "share/man/man1").iterdir()):
            done = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True,
                                  env={**os.environ, "MANPAGER": "cat", "LC_ALL": "C.UTF-8",
                                       "MANWIDTH": "200"})
            self.assertEqual("", done.stderr, page)
            self.assertIn("OPTIONS", done.stdout)


if __name__ == "__main__":
    tool.main()
