# SPDX-License-Identifier: Apache-2.0
"""`perfgate review`: what a change takes away from the gate, of real git repositories, those that want
to get something past it included."""

import json
import os
import re
import shlex
import shutil
import subprocess
import unittest

import tool

SUITE = """name: small
defaults:
  metrics: [host_time]
  tolerances: {host_time: 30%}
workloads:
  - workload: gemm
    variants: [reference]
    params: {dtype: f32, n: 16, k: 16}
    matrix: {m: [16, 17]}
"""
PROFILE = "backend: host\nprocesses: 1\npolicy: {no_baseline: fail}\n"
KEY = "nvidia-x"


def baseline(value=100):
    series = {"unit": "ns", "value": value, "method": "wall/cold", "device": "host", "seed": 1,
              "repeated": 3}
    return json.dumps({"schema": "perfgate.baseline", "version": 2, "suite": "small",
                       "device": {"name": "X", "key": KEY},
                       "cases": {"gemm/reference[dtype=f32,k=16,m=16,n=16]": {
                           "provenance": {"reason": "first"}, "metrics": {"host_time": series}}}})


class Review(tool.Case):
    def setUp(self):
        super().setUp()
        self.write("suites/small.yaml", SUITE)
        self.write("configs/ci.yaml", PROFILE)
        self.write(f"baselines/{KEY}/small.json", baseline())
        self.write(f"baselines/{KEY}/small.ledger.jsonl", "{}\n{\"case\":\"x\"}\n")
        self.git("init", "--quiet", "-b", "main")
        self.commit()

    def git(self, *words):
        return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *words],
                              cwd=self.folder, check=True, capture_output=True, text=True).stdout

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", "x")

    def review(self, *words, code=1, base="HEAD", **kwargs):
        return self.run_tool("review", "--base", f"rev:{base}", *words, code=code, **kwargs).stdout

    def findings(self, *words, code=1, **kwargs):
        document = json.loads(self.review(*words, "--report", "json:-", code=code, **kwargs))
        self.assertEqual(("perfgate.review", 1), (document["schema"], document["version"]))
        return [(each["kind"], each["file"], each["subject"]) for each in document["findings"]]

    def test_nothing_that_is_looser_is_exit_0(self):
        self.assertEqual("no change weakens the gate compared with HEAD\n", self.review(code=0))
        self.write("suites/small.yaml", SUITE.replace("30%", "20%").replace("17]", "17, 18]"))
        self.write("suites/second.yaml", SUITE.replace("small", "second"))
        self.write(f"baselines/{KEY}/small.json", baseline(90))
        self.assertEqual([], self.findings(code=0))

    def test_a_relation_between_a_benchmarks_cases_is_one_of_the_suite(self):
        suite = """name: small
workloads:
  - {benchmark: [./bench, "{out}"], name: bench, format: hyperfine, tolerances: {real_time: 5%}}
"""
        expect = 'expect: {bench/copy.real_time: "<= 0.5 * bench/sort.real_time"}\n'
        self.write("suites/small.yaml", suite + expect)
        self.commit()
        self.write("suites/small.yaml", suite + expect.replace("0.5", "0.4"))
        self.assertEqual([], self.findings(code=0))
        for other in ("", expect.replace("0.5", "0.9")):
            self.write("suites/small.yaml", suite + other)
            self.assertEqual([("relation removed", "suites/small.yaml",
                               "bench/copy.real_time <= 0.5 * bench/sort.real_time")], self.findings())

    def test_an_override_for_a_benchmarks_results_is_one_of_the_suite(self):
        suite = """name: small
workloads:
  - {benchmark: [./bench, "{out}"], name: bench, format: hyperfine, tolerances: {real_time: 5%}}
overrides:
  - {match: bench/copy*, tolerances: {real_time: 3%}}
"""
        self.write("suites/small.yaml", suite)
        self.commit()
        for more in ("  - {match: bench/sort*, tolerances: {real_time: 4%}}\n",
                     "  - {match: bench/copy*, tolerances: {real_time: 2%}}\n"):
            self.write("suites/small.yaml", suite + more)
            self.assertEqual([], self.findings(code=0))
        self.write("suites/small.yaml", suite + "  - {match: bench/sort*, tolerances: {real_time: 90%}}\n")
        self.assertRegex(self.review(), r"tolerance raised +real_time +5 % → 90 % +suites/small.yaml:6 +bench/sort\*")

    def test_each_loosening_is_listed_on_console_as_json_and_as_annotations(self):
        self.write("suites/small.yaml", SUITE.replace("30%", "90%").replace("[16, 17]", "[16]"))
        self.write("configs/ci.yaml", PROFILE.replace("fail", "skip"))
        self.write(f"baselines/{KEY}/small.json", baseline(125))
        self.write(f"baselines/{KEY}/small.ledger.jsonl", "{}\n")
        kinds = ["case removed", "tolerance raised", "policy lowered", "baseline raised",
                 "anchor raised", "history rewritten"]
        self.assertEqual(kinds, [kind for kind, _, _ in self.findings()])
        text = self.review("--report", "annotations:annotations")
        for kind in kinds:
            self.assertIn(f"\n  {kind} ", text)
        self.assertRegex(text, r"tolerance raised +host_time +30 % → 90 % +suites/small.yaml:6 +gemm")
        self.assertIn("100.0 ns → 125.0 ns (+25.0 %)", text)
        annotations = (self.folder / "annotations").read_text().splitlines()
        self.assertEqual(len(kinds), len(annotations))
        self.assertIn("::error file=suites/small.yaml,line=6,title=tolerance raised%3A host_time::"
                      "30 %25 → 90 %25%0Agemm/reference[", annotations[1])
        # For information alone.
        self.review("--advisory", "--report", "annotations:annotations", code=0)
        self.assertTrue((self.folder / "annotations").read_text().startswith("::warning "))

    def test_a_commit_that_is_there_no_more_tells_what_was_there(self):
        self.git("tag", "v1")
        shutil.rmtree(self.folder / "suites")
        shutil.rmtree(self.folder / "baselines")
        (self.folder / "configs/ci.yaml").unlink()
        self.commit()
        self.assertEqual(["suite removed", "config removed", "baseline removed",
                          "history rewritten"], [kind for kind, _, _ in self.findings(base="v1")])
        # Nothing is left to compare.
        self.assertEqual([], self.findings(base="HEAD", code=2))

    def test_of_folders_elsewhere_and_from_a_folder_of_the_repository(self):
        (self.folder / "gpu").mkdir()
        for name in ("suites", "configs", "baselines"):
            self.git("mv", name, f"gpu/{name}")
        self.commit()
        self.write("gpu/suites/small.yaml", SUITE.replace("30%", "90%"))
        folders = ["./gpu/suites/", "--config", "gpu/configs/ci.yaml",
                   "--baselines", "gpu/baselines"]
        self.assertIn("gpu/suites/small.yaml:6", self.review(*folders))
        self.assertIn("suites/small.yaml:6", self.review(cwd=self.folder / "gpu"))

    def test_an_honest_refresh_is_one_finding_of_each_suite(self):
        for device in ("nvidia-h200", "nvidia-h100-80gb-hbm3"):
            runs = sorted((tool.SOURCE / f"tests/data/runs/{device}").glob("*.run.json"))
            shutil.copytree(tool.SOURCE / "suites", self.folder / "suites", dirs_exist_ok=True)
            for number in ("1", "2"):
                for run in runs:
                    if f"-{number}." in run.name:
                        # A case whose processes disagree is not stored, and keeps its baseline.
                        done = self.run_tool("baseline", "refresh", run, "--reason", "refresh", code=(0, 4))
                        self.assertEqual(4 if "not stored: " in done.stdout else 0, done.returncode)
                if number == "1":
                    self.commit()
            findings = self.findings()
            self.assertEqual({"baseline refreshed"}, {kind for kind, _, _ in findings}, findings)
            self.assertLessEqual(len(findings), 8)
            self.git("checkout", "--", ".")
    def test_a_suite_that_the_pattern_of_ci_no_longer_finds_is_removed(self):
        pattern = ["suites/*.yaml"]
        removed = [("suite removed", "suites/small.yaml", "small")]
        for name in ("suites/.small.yaml", "suites/small.yml", "suites/deep/small.yaml", "small.yaml"):
            for words in ([], pattern):
                with self.subTest(name, words=words):
                    (self.folder / name).parent.mkdir(exist_ok=True)
                    self.git("mv", "suites/small.yaml", name)
                    self.assertEqual(removed, self.findings(*words))
                    self.git("reset", "--quiet", "--hard")
        self.git("mv", "suites/small.yaml", "suites/renamed.yaml")
        self.assertEqual([], self.findings(code=0))
        self.write("suites/small.yaml", SUITE)
        self.assertEqual([("suite repeated", "suites/small.yaml", "small")], self.findings())

    def test_nothing_to_compare_is_exit_2_also_if_it_is_only_advice(self):
        for words, place in ((["typo"], "typo"), (["typo/*.yaml"], "typo/*.yaml"),
                             (["suites/*.yaml", "typo"], "typo"),
                             (["--config", "typo"], "typo"), (["--baselines", "typo"], "typo")):
            for advisory in ([], ["--advisory"]):
                with self.subTest(words, advisory=advisory):
                    text = self.review(*words, *advisory, "--report", "annotations:annotations", code=2)
                    self.assertRegex(text.splitlines()[0], f"^not compared with HEAD: .*'{re.escape(place)}'")
                    self.assertIn("::error title=not compared::", (self.folder / "annotations").read_text())
        # What can be compared is.
        self.write("suites/small.yaml", SUITE.replace("30%", "40%"))
        text = self.review("--config", "typo", code=2)
        self.assertIn("tolerance raised", text)
        document = json.loads(self.review("--config", "typo", "--report", "json:-", code=2))
        self.assertEqual(["typo" in why for why in document["not_compared"]], [True])

    def test_places_that_are_not_named_may_be_empty(self):
        shutil.rmtree(self.folder / "configs")
        shutil.rmtree(self.folder / "baselines")
        self.commit()
        text = self.review(code=0)
        self.assertIn("no change weakens the gate", text.splitlines()[0])
        self.assertIn("neither state has a config in 'configs'", text)
        self.assertIn("neither state has a baseline in 'baselines'", text)

    def test_the_baselines_are_those_that_the_profile_names(self):
        self.git("mv", "baselines", "perf")
        self.write("configs/ci.yaml", PROFILE + "baselines: perf\n")
        self.commit()
        self.write(f"perf/{KEY}/small.json", baseline(125))
        self.assertIn(("baseline raised", f"perf/{KEY}/small.json", "host_time"), self.findings())
        self.write("configs/ci.yaml", PROFILE + "baselines: elsewhere\n")
        self.assertEqual([("policy lowered", "configs/ci.yaml", "baselines")],
                         [found for found in self.findings() if found[0] == "policy lowered"])
        self.assertIn(("baseline raised", f"perf/{KEY}/small.json", "host_time"), self.findings())

    def test_a_profile_is_compared_by_its_defaults(self):
        for line, subject in (("creep: 100%", "creep"), ("policy: {rounds: 0}", "rounds")):
            self.write("configs/ci.yaml", f"backend: host\n{line}\n")
            self.commit()
            self.write("configs/ci.yaml", "backend: host\n")
            # Back to the default is stricter, or a change without a stricter direction.
            self.assertEqual([] if subject == "creep" else [("policy lowered", "configs/ci.yaml", subject)],
                             self.findings(code=(0, 1)))
            self.commit()
            self.write("configs/ci.yaml", f"backend: host\n{line}\n")
            self.assertEqual([("policy lowered", "configs/ci.yaml", subject)], self.findings())

    def test_entries_of_a_plugin_that_is_not_loaded_are_compared(self):
        shutil.rmtree(self.folder / "suites")
        self.run_tool("init", "--from", "cuda", "mine")
        suites = ["mine/suites/*.yaml", "--config", "configs"]
        self.commit()
        scale, = (self.folder / "mine/suites").glob("*.yaml")
        text = scale.read_text()
        self.assertIn("gpu_time: 3%", text)
        done = self.review(*suites, code=0)
        self.assertRegex(done, "note: not reviewed: mine/suites/.*unknown workload")
        scale.write_text(text.replace("gpu_time: 3%", "gpu_time: 5000%"))
        self.assertRegex(self.review(*suites), r"tolerance raised +gpu_time +3 % → 5000 %")
        entry = text[text.rindex("  - workload:"):]
        scale.write_text(text.replace(entry, ""))
        self.assertRegex(self.review(*suites), "case removed|unreadable")
        scale.write_text(text.replace("gpu_time: 3%", "gpu_time: 2%"))
        self.review(*suites, code=0)

    def adopted(self, *words):
        """The suites and the profile that the workflow of `perfgate adopt` measures with, and its words of `review`."""
        self.run_tool("adopt", "--from", f"me/perfgate@{'a' * 40}", *words)
        text = (self.folder / ".github/workflows/perfgate.yml").read_text()
        step = text[text.index("/ci/action@"):]
        inputs = [re.search(rf"^ +{name}: (.*)$", step, re.MULTILINE)[1] for name in ("suites", "config")]
        self.assertIn('run: "[ ! -d perf/baselines ] || perfgate baseline verify --baselines perf/baselines"', text)
        return inputs, shlex.split(re.search("run: perfgate (review .*)$", text, re.MULTILINE)[1])

    def test_the_workflow_that_is_adopted_reviews_what_it_measures(self):
        self.write("perf/small.yaml", SUITE)
        self.write("perf/ci.yaml", PROFILE + "baselines: perf/baselines\n")
        (self.folder / "perf/baselines").mkdir()
        self.git("mv", f"baselines/{KEY}", f"perf/baselines/{KEY}")
        inputs, words = self.adopted("perf/*.yaml", "--config", "perf/ci.yaml")
        self.assertEqual(["perf/*.yaml", "perf/ci.yaml"], inputs)
        self.assertEqual(inputs, [words[1], words[words.index("--config") + 1]])
        self.commit()
        words[words.index("rev:HEAD^1")] = "rev:HEAD"
        words.remove("--advisory")
        self.run_tool(*words)
        self.write("perf/small.yaml", SUITE.replace("30%", "900%"))
        self.write("perf/ci.yaml", PROFILE.replace("fail", "skip") + "baselines: perf/baselines\n")
        self.write(f"perf/baselines/{KEY}/small.json", baseline(125))
        text = self.run_tool(*words, code=1).stdout
        for kind in ("tolerance raised", "policy lowered", "baseline raised"):
            self.assertIn(kind, text)
        # The pattern that is measured finds the profile, too.
        (self.folder / "none").mkdir()
        self.run_tool("run", "perf/ci.yaml", "perf/small.yaml", "--config", "./perf/ci.yaml", "--set", "no_baseline=skip",
                      "--baselines", "none")

    def test_a_base_that_is_no_commit_is_refused(self):
        for base in ("nothing", "--help", "HEAD:suites", "", "HEAD^{tree}x", "$(touch pwned)"):
            with self.subTest(base):
                done = self.run_tool("review", f"--base={base}", code=2)
                self.assertEqual("", done.stdout)
                self.assertNotEqual("", done.stderr)
        bare = self.folder / "elsewhere"
        bare.mkdir()
        done = self.run_tool("review", "--base", "rev:HEAD", cwd=bare, code=2,
                             env={"GIT_CEILING_DIRECTORIES": str(self.folder)})
        self.assert_one_line(done.stderr, "git has no commit HEAD here")

    # --- a repository of somebody who wants to get something past

    def test_links_are_not_followed(self):
        outside = self.write("outside.yaml", SUITE)
        for link in ("suites/small.yaml", "suites/more.yaml", "suites"):
            with self.subTest(link):
                self.git("checkout", "--quiet", "--force", "HEAD", "--", ".")
                path = self.folder / link
                if path.is_dir():
                    shutil.rmtree(path)
                path.unlink(missing_ok=True)
                path.symlink_to("/etc/passwd" if link == "suites/more.yaml" else outside)
                self.assertIn(("unreadable", link, link), self.findings())
                self.assertNotIn("root:", self.review())
                path.unlink()
        # One that was there before and leads where it led is no news.
        self.git("checkout", "--quiet", "--force", "HEAD", "--", ".")
        (self.folder / "suites/more.yaml").symlink_to("/etc/passwd")
        self.commit()
        self.assertEqual([], self.findings(code=0))

    def test_what_is_no_file_or_too_large_is_not_read(self):
        os.mkfifo(self.folder / "suites/pipe.yaml")
        with open(self.folder / "configs/large.yaml", "wb") as file:
            file.truncate(1 << 40)
        with open(self.folder / "baselines/large.json", "wb") as file:
            file.truncate(1 << 40)
        self.assertEqual({"suites/pipe.yaml", "configs/large.yaml", "baselines/large.json"},
                         {file for _, file, _ in self.findings()})

    def test_names_and_texts_command_nobody(self):
        self.write("suites/a\x1b[2J\n::error::forged\n#b.yaml", "name: [")
        self.write("suites/\u202elive.yaml", "name: \"\\u001b[1m\n::warning::forged\"")
        self.write("suites/small.yaml", SUITE.replace("30%", "40%") +
                   "    tags: [x]\n# ::error::forged\n")
        text = self.review("--report", "annotations:annotations")
        annotations = (self.folder / "annotations").read_text()
        for line in text.splitlines() + annotations.splitlines():
            self.assertNotRegex(line, "^::error::forged|^::warning::forged|\x1b|\u202e")
            self.assertNotRegex(line, r"##\[")
        self.assertTrue(all(line.startswith("::error file=") for line in annotations.splitlines()),
                        annotations)
        self.assertEqual(3, len(annotations.splitlines()), annotations)

    def test_nothing_of_the_change_is_run(self):
        pwned = self.folder / "pwned"
        run = f"touch {pwned}"
        self.write(".gitattributes", "* filter=evil diff=evil merge=evil text\n")
        self.write("suites/.gitattributes", "* filter=evil\n")
        self.write("perfgate", f"#!/bin/sh\n{run}\n").chmod(0o755)
        self.write("git", f"#!/bin/sh\n{run}\n").chmod(0o755)
        self.write("suites/small.yaml", SUITE.replace("30%", "40%"))
        self.write("suites/new.yaml", SUITE.replace("small", "new").replace("gemm", "evil"))
        self.assertIn("unknown workload 'evil'", self.review())
        self.assertFalse(pwned.exists())

    def test_many_findings_are_ten_annotations_that_count_the_rest(self):
        for number in range(25):
            self.write(f"suites/{number}.yaml", SUITE.replace("small", f"s{number}"))
        self.commit()
        for number in range(25):
            (self.folder / f"suites/{number}.yaml").unlink()
        self.review("--report", "annotations:annotations")
        lines = (self.folder / "annotations").read_text().splitlines()
        self.assertEqual(10, len(lines))
        self.assertTrue(lines[-1].endswith("%0A15 more findings: see the log"), lines[-1])


if __name__ == "__main__":
    tool.main()
