# SPDX-License-Identifier: Apache-2.0
"""Links, pipes and hard links planted under every name that perfgate chooses: what they point to stays as it is.

Each command runs once, undisturbed; then each file and folder that it wrote is planted in turn, and the command runs
again. `test_links.py --long` tries every kind at every name, and more commands; the bounded run one kind at each.
"""

import itertools
import json
import os
import pathlib
import re
import shutil
import stat
import sys
import unittest

import tool

LONG = "--long" in sys.argv
if LONG:
    sys.argv.remove("--long")

DEVICE = "nvidia-h100-80gb-hbm3"
RUN = tool.SOURCE / f"tests/data/aa/{DEVICE}/gemm-1.run.json"

BENCH = tool.PYTHON + """
import json, pathlib, sys
pathlib.Path(sys.argv[1]).write_text(json.dumps({"rows": [{"name": "sort", "seconds": [1e-3, 1.1e-3]}]}))
"""

SUITE = """
name: mine
workloads:
  - benchmark: [./bench, "{out}"]
    name: bench
    format: json
    rows: /rows/*
    case: /name
    values: {real_time: {from: /seconds/*, unit: s}}
    tolerances: {real_time: 5%}
"""

HOST = ["--backend", "host"]


class Links(tool.Case):
    def setUp(self):
        super().setUp()
        self.write("suite.yaml", SUITE)
        bench = self.write("bench", BENCH)
        bench.chmod(bench.stat().st_mode | stat.S_IXUSR)
        document = json.loads(RUN.read_text())
        suite = document["suites"][0]
        suite["relations"] = []
        suite["cases"] = [case for case in suite["cases"]
                          if case["metrics"]["gpu_time"]["value"] > 50_000][:2]
        self.write("base.json", json.dumps(document))
        for case in suite["cases"]:
            series = case["metrics"]["gpu_time"]
            series["value"] *= 1.09
            for batch in series["batches"]:
                batch["samples"] = [sample * 1.09 for sample in batch["samples"]]
        self.write("slower.json", json.dumps(document))
        self.write("one.yaml", "name: gemm\ndefaults: {metrics: [gpu_time], tolerances: {gpu_time: 3%}}\n"
                   "workloads:\n  - workload: gemm\n    variants: [cublas]\n"
                   "    params: {dtype: bf16, m: 1000, n: 1000, k: 1000}\n")
        self.store = self.folder / "given-baselines"
        self.run_tool("baseline", "refresh", "base.json", "--reason", "first", "--baselines", self.store)
        ids = [case["id"] for case in suite["cases"]]
        for index in (1, 2):
            shard = json.loads((self.folder / "base.json").read_text())
            shard["suites"][0].update(cases=[shard["suites"][0]["cases"][index - 1]], partial=True)
            shard["shard"] = {"index": index, "count": 2, "whole": [{"name": "gemm", "cases": ids}]}
            self.write(f"shard-{index}.json", json.dumps(shard))
        self.victims = self.folder / "victims"
        self.new_victims()

    def new_victims(self):
        shutil.rmtree(self.victims, ignore_errors=True)
        (self.victims / "folder").mkdir(parents=True)
        for name in ("file", "folder/file", "folder/run.json", "folder/gemm.json"):
            (self.victims / name).write_text("precious")

    def assert_victims_are_whole(self, words, planted):
        found = {str(path.relative_to(self.victims)): path.read_text()
                 for path in self.victims.rglob("*") if path.is_file()}
        self.assertEqual({name: "precious" for name in
                          ("file", "folder/file", "folder/run.json", "folder/gemm.json")}, found,
                         f"{words} with {planted}")

    KINDS = {
        "a link to a file": lambda victims, path: path.symlink_to(victims / "file"),
        "a dangling link": lambda victims, path: path.symlink_to(victims / "new"),
        "a link to a folder": lambda victims, path: path.symlink_to(victims / "folder"),
        "a hard link": lambda victims, path: os.link(victims / "file", path),
        "a pipe": lambda victims, path: os.mkfifo(path),
    }

    def written_by(self, place, prepare, words, code):
        """Files and folders below `place` that the command writes, relative to it."""
        prepare()
        before = {str(path.relative_to(place)): path.stat().st_mtime_ns if path.is_file() else 0
                  for path in place.rglob("*")} if place.exists() else {}
        self.run_tool(*words, code=code)
        return sorted(str(path.relative_to(place)) for path in place.rglob("*")
                      if before.get(str(path.relative_to(place))) !=
                      (path.stat().st_mtime_ns if path.is_file() else 0) or path.is_dir())

    def attack(self, place, words, code=0, prepare=None, also=(), every_kind=LONG):
        """Plants at each name that the command writes below `place`; it may refuse, and must not hang."""
        place = self.folder / place
        prepare = prepare or (lambda: shutil.rmtree(place, ignore_errors=True))
        names = [*self.written_by(place, prepare, words, code), *also]
        self.assertTrue(names, words)
        kinds = itertools.cycle(self.KINDS.items())
        for name in names:
            chosen = self.KINDS.items() if every_kind else [next(kinds)]
            for kind, plant in chosen:
                with self.subTest(words=" ".join(map(str, words)), name=name, kind=kind):
                    self.new_victims()
                    prepare()
                    path = place / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    if path.is_dir():
                        shutil.rmtree(path)
                    path.unlink(missing_ok=True)
                    plant(self.victims, path)
                    done = self.run_tool(*words, code=(0, 1, 2, 3, 4))
                    self.assert_victims_are_whole(words, (name, kind))
                    if done.returncode == 2:
                        self.assertIn(pathlib.Path(name).name, done.stderr)
        return names

    def fresh_store(self):
        shutil.rmtree(self.folder / "baselines", ignore_errors=True)
        shutil.copytree(self.store, self.folder / "baselines")

    def test_run(self):
        names = self.attack("out", ["run", "suite.yaml", *HOST, "--quiet", "--out", "out"])
        for name in ("run.json", "verdict.json", "junit.xml", "journal.jsonl", "commands"):
            self.assertIn(name, names)
        self.assertTrue(any(re.match("commands/.*/.*stdout", name) for name in names), names)

    @unittest.skipUnless(LONG, "in the long run")
    def test_runs_that_have_folders_of_runs(self):
        self.write("host.yaml", "name: host\ndefaults: {metrics: [host_time], tolerances: {host_time: {abs: 100s}}, "
                   "time_budget: 1ms, cache: hot}\nworkloads:\n  - workload: fault\n    variants: [ok]\n"
                   "    matrix: {item: [0, 1]}\n")
        words = ["host.yaml", *self.plugin("fault"), *HOST, "--quiet"]
        self.attack("out", ["run", *words, "--set", "canary=true", "--processes", 2, "--out", "out"], code=(0, 1, 3),
                    every_kind=False)
        self.attack("out", ["selftest", *words, "--sizes", "50", "--out", "out"],
                    code=(0, 1, 3), every_kind=False)
        head = tool.PLUGINS / "fault.so"
        (self.folder / "base").mkdir()
        base = shutil.copy(head, self.folder / "base/fault.so")
        self.attack("out", ["ab", "host.yaml", *HOST, "--quiet", "--base", f"build:{base}", "--head", f"build:{head}", "--processes", 2,
                            "--out", "out"], code=(0, 1, 3), every_kind=False)

    def test_merge(self):
        words = ["compare", "shard-1.json", "shard-2.json", "--out", "out", "--baselines", "none"]
        (self.folder / "none").mkdir()
        self.attack("out", words, code=(0, 1, 3))
        # One that refuses its input clears what an earlier one left.
        (self.folder / "shard-2.json").write_text("{")
        for name in ("run.json", "verdict.json", "junit.xml"):
            for plant in self.KINDS.values():
                self.new_victims()
                shutil.rmtree(self.folder / "out", ignore_errors=True)
                (self.folder / "out").mkdir()
                plant(self.victims, self.folder / "out" / name)
                self.run_tool(*words, code=2)
                self.assert_victims_are_whole(words, name)

    def test_compare_report_and_demo(self):
        (self.folder / "none").mkdir()
        for verb in ("compare", "report"):
            self.attack("out", [verb, "base.json", "--out", "out", "--baselines", "none"], code=(0, 1, 3))
        self.attack("out", ["demo", "--out", "out"])

    def test_init(self):
        for kind in ("command", "source"):
            self.attack("project", ["init", "--from", kind, "project"])

    def test_changes_of_baselines(self):
        also = [".perfgate-change", ".perfgate-change/list", ".perfgate-change/0", ".perfgate-change/.gitignore"]
        accept = ["baseline", "accept", "slower.json", "--reason", "meant"]
        self.attack("baselines", accept, prepare=self.fresh_store, also=also)
        self.attack("baselines", accept, code=(0, 2))
        self.attack("baselines", ["baseline", "refresh", "base.json", "--reason", "first"])
        self.attack("baselines", ["baseline", "refresh", "slower.json", "--reason", "more"],
                    prepare=self.fresh_store, also=also)
        self.attack("baselines", ["baseline", "prune", "one.yaml", "--reason", "gone"],
                    prepare=self.fresh_store, also=also)

    @unittest.skipUnless(LONG, "in the long run")
    def test_measuring_a_baseline(self):
        words = ["baseline", "refresh", "suite.yaml", *HOST, "--out", "out", "--runs", 2, "--processes", 2]
        names = self.attack("out", words, every_kind=False)
        self.assertIn("run-1/run.json", names)

    def test_what_the_user_names_may_be_a_link(self):
        (self.folder / "real").mkdir()
        (self.folder / "out").symlink_to("real")
        (self.folder / "verdict.json").symlink_to("real/named.json")
        (self.folder / "stored").mkdir()
        (self.folder / "baselines").symlink_to("stored")
        self.write("real/named.json", "old")
        self.run_tool("baseline", "refresh", "base.json", "--reason", "first")
        self.run_tool("compare", "base.json", "--out", "out", "--report", "verdict.json")
        for name in ("real/verdict.json", "real/junit.xml", "real/named.json", f"stored/{DEVICE}/gemm.json"):
            self.assertTrue((self.folder / name).read_text().startswith(("{", "<")), name)
        for name in ("out", "verdict.json", "baselines"):
            self.assertTrue((self.folder / name).is_symlink(), name)


if __name__ == "__main__":
    tool.main()
