# SPDX-License-Identifier: Apache-2.0
"""How much there is to learn: verbs, options and keys, counted as help and schemas list them."""

import json
import re
import subprocess

import tool

MOST_VERBS = 18
MOST_OPTIONS = 65
MOST_IN_HELP = 20
COLUMNS = 90


def keys_of(schema, path=""):
    """The keys that a schema names, by their path."""
    found = set()
    for name, inner in schema.get("properties", {}).items():
        found |= {f"{path}{name}"} | keys_of(inner, f"{path}{name}.")
    for inner in [*schema.get("oneOf", []), *schema.get("anyOf", []), *schema.get("allOf", []),
                  schema.get("items"), schema.get("additionalProperties")]:
        if isinstance(inner, dict):
            found |= keys_of(inner, path)
    return found


class Surface(tool.Case):
    def test_verbs_and_options_are_few(self):
        every = tool.verbs()
        top = [verb[0] for verb in every if len(verb) == 1]
        options = {}
        for verb in every:
            for option in tool.options(verb):
                options.setdefault(option, []).append(" ".join(verb) or "perfgate")
        below = [" ".join(verb) for verb in every if len(verb) > 1]
        print(f"\n{len(top)} verbs: {', '.join(top)}; {len(below)} below: {', '.join(below)}")
        print(f"{len(options)} options in {sum(map(len, options.values()))} places: {', '.join(sorted(options))}")
        for name in ("config", "suite"):
            schema = json.loads((tool.SOURCE / f"configs/{name}.schema.json").read_text())
            print(f"{len(keys_of(schema))} keys in {name}.schema.json at the top and in its maps")
        self.assertLessEqual(len(top), MOST_VERBS)
        self.assertLessEqual(len(options), MOST_OPTIONS, sorted(options))
        self.assertGreater(len(top), 8)
        self.assertGreater(len(options), 40)

    def test_help_fits_a_terminal_and_shows_what_is_used_most(self):
        for verb in tool.verbs():
            with self.subTest(" ".join(verb)):
                for which in ("--help", "--help-all"):
                    text = tool.help_of(verb, which)
                    self.assertLessEqual(max(map(len, text.splitlines())), COLUMNS)
                shown = re.findall(r"^  (?:-\w,)?(--[a-z-]+)", tool.help_of(verb, "--help"), re.MULTILINE)
                self.assertLessEqual(len(shown), MOST_IN_HELP)

    def test_groups_of_run(self):
        text = tool.help_of(["run"], "--help")
        places = [text.index(f"\n{group}:\n") for group in ("Measure", "Judge", "Report")]
        self.assertEqual(sorted(places), places)
        self.assertNotIn("\nMore:\n", text)
        self.assertIn("'perfgate run --help-all' lists more options", text)
        self.assertIn("\nMore:\n", tool.help_of(["run"]))

    def test_help_is_a_command_too(self):
        for words in (["help"], ["help", "run"], ["help", "baseline", "show"]):
            self.assertEqual(tool.help_of(words[1:], "--help"), self.run_tool(*words).stdout)
        self.assert_one_line(self.run_tool("help", "rnu", code=2).stderr, "did you mean 'run'?")


class OldSpellings(tool.Case):
    def test_each_names_what_took_its_place(self):
        changed = (tool.SOURCE / "CHANGELOG.md").read_text()
        listed = re.findall(r"^ *\| `perfgate ([^`]+)` \|", changed, re.MULTILINE)
        self.assertGreater(len(listed), 30)
        for old in listed:
            with self.subTest(old):
                words = [word.strip("[]") for word in old.replace("…", "").split()]
                words = [word for word in words if word]
                done = subprocess.run([tool.PERFGATE, *words], cwd=self.folder, capture_output=True, text=True,
                                      timeout=tool.PATIENCE_S)
                self.assertEqual(2, done.returncode, done.stdout + done.stderr)
                self.assert_one_line(done.stderr)
                self.assertRegex(done.stderr, r"is now (--|the argument |left out:|'[^']+'(,|$))|expected (build|a commit)")


class Refusals(tool.Case):
    """What is wrong with a command line is said in perfgate's words, in one line."""

    def test_every_way_to_be_wrong(self):
        for words, parts in (
                (["run"], ["perfgate run needs SUITE", "--help"]),
                (["baseline"], ["perfgate baseline: name a command: refresh, accept"]),
                (["baseline", "accept", "r.json"], ["needs --reason"]),
                (["run", "s.yaml", "--config"], ["--config: expected a value"]),
                (["run", "s.yaml", "--processes", "many"], ["--processes: expected a number", "'many'"]),
                (["run", "s.yaml", "--processes", "0"], ["--processes: expected a number from 1 to 1000"]),
                (["run", "s.yaml", "--processes", "2.5"], ["--processes: expected a number", "'2.5'"]),
                (["run", "s.yaml", "--seed", "x"], ["--seed: expected a number", "'x'"]),
                (["run", "s.yaml", "--backend", "gpu"], ["--backend: expected auto, cuda, host, found 'gpu'"]),
                (["run", "s.yaml", "--out", "a", "--out", "b"], ["--out: expected one value"]),
                (["run", "s.yaml", "--quiet=maybe"], ["--quiet takes no value"]),
                (["report", "a.json", "b.json"], ["perfgate report takes no more arguments: leave out b.json"]),
                (["run", "s.yaml", "--set", "not_shown"], ["--set not_shown: expected KEY=VALUE"]),
                (["run", "s.yaml", "--set", "not_shwon=fail"], ["unknown key 'not_shwon'", "did you mean 'not_shown'"]),
                (["run", "s.yaml", "--set", "not_shown=fial"], ["--set not_shown=fial:", "fail"]),
                (["run", "s.yaml", "--set", "rounds=many"], ["a number of rounds from 0 to 10"]),
                (["run", "s.yaml", "--report", "out"], ["--report out: expected FORMAT:FILE", "junit (.xml)"]),
                (["run", "s.yaml", "--report", "htlm:out.html"], ["--report htlm:out.html: expected FORMAT:FILE"]),
                (["run", "s.yaml", "--report", "html:"], ["expected FORMAT:FILE"]),
                (["compare", "r.json", "--report", "a.md", "--report", "b.md"], ["given twice"]),
                (["list", "s.yaml", "--report", "out.csv"], ["expected one json:FILE"]),
                (["ab", "s.yaml", "--base", "main"], ["--base main: expected build:PATH", "rev:REF"]),
                (["ab", "s.yaml", "--base", "build:absent"], ["--base build:absent: no such file or folder"]),
                (["ab", "s.yaml", "--base", "dir:absent"], ["--base dir:absent: no such folder"]),
                (["ab", "s.yaml", "--base", "rev:"], ["expected a value behind the colon"]),
                (["ab", "s.yaml", "--base", "rev:a", "--base", "rev:b"], ["rev: is given twice"]),
                (["ab", "s.yaml", "--base", "rev:a", "--base", "dir:."], ["leave out dir:"]),
                (["ab", "s.yaml", "--base", "build:."], ["belong together"]),
                (["ab", "s.yaml", "--head", "rev:a"], ["needs --base rev:"]),
                (["compare", "--base", "rev:main", "--head", "r.json"], ["--base rev:main: expected a file", "ab"]),
                (["review", "--base", "main"], ["--base main: expected a commit, as rev:REF"]),
                (["profile", "--capture", "ranges:x", "--", "true"], ["--capture ranges:x: expected profiler-api"]),
                (["profile", "--capture", "delay:soon", "--", "true"], ["expected delay:NUMBER"])):
            with self.subTest(words):
                done = self.run_tool(*words, code=2)
                self.assertEqual("", done.stdout)
                self.assert_one_line(done.stderr, "perfgate: ", *parts)


class Set(tool.Case):
    """--set is for the keys of a config, over the file."""

    RUN = tool.SOURCE / "tests/data/runs/nvidia-h200/softmax-1.run.json"

    def test_a_key_and_its_last_part_take_precedence_over_the_file(self):
        self.write("c.yaml", "policy: {no_baseline: skip}\n")
        self.run_tool("compare", self.RUN, "--config", "c.yaml")
        for key in ("no_baseline=fail", "policy.no_baseline=fail"):
            done = self.run_tool("compare", self.RUN, "--config", "c.yaml", "--set", key, code=4)
        self.assertIn(f"--config c.yaml --set {key}", done.stdout)
        self.run_tool("compare", self.RUN, "--set", "no_baseline=fail", "--set", "no_baseline=skip")


if __name__ == "__main__":
    tool.main()
