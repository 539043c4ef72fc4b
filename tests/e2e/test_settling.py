# SPDX-License-Identifier: Apache-2.0
"""On a board that the baseline does not know, the base of what stored values cannot decide is measured back to back."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import tool

SUITE = """
name: probe
defaults:
  metrics: [host_time]
  tolerances: {host_time: 2%}
  time_budget: 5ms
  cache: hot
  seed: 1
workloads:
  - workload: probe
    variants: [host]
    params: {n: 1000}
"""
CONFIG = "backend: host\npolicy: {no_baseline: fail, not_shown: fail}\n"
NO_BUILD = "is not settled on this board"
BENCHMARK = """
name: bench
workloads:
  - benchmark: [./bench, "{out}"]
    name: bench
    format: google-benchmark
    tolerances: {real_time: {worse: 0.5%, tail: 50%}}
"""
# Takes what it says, and up to a thousandth more.
BENCH = """#!/bin/sh
echo '{"context": {}, "benchmarks": [{"name": "a", "run_type": "iteration", "iterations": 1, "real_time": '$((%d + \
$(od -An -N2 -tu2 /dev/urandom) / 66))', "cpu_time": 5, "time_unit": "ns"}]}' >"$1"
"""


class Settling(tool.Case):
    clock = "stated"

    @classmethod
    def setUpClass(cls):
        """A baseline of another board, and the build that it was measured with."""
        cls.recorded = pathlib.Path(tempfile.mkdtemp(prefix="perfgate-recorded-"))
        cls.addClassCleanup(shutil.rmtree, cls.recorded, ignore_errors=True)
        (cls.recorded / "probe.yaml").write_text(SUITE)
        (cls.recorded / "ci.yaml").write_text(CONFIG + "builds: builds\n")
        subprocess.run([tool.PERFGATE, "baseline", "refresh", "probe.yaml", "--config", "ci.yaml", "--plugin",
                        tool.PLUGINS / "probe_base.so"], cwd=cls.recorded, check=True, capture_output=True,
                       env={**os.environ, **tool.with_clock("stated"), "PERFGATE_LOCK_DIR": cls.recorded / "locks"})

    def setUp(self):
        super().setUp()
        shutil.copytree(self.recorded, self.folder, dirs_exist_ok=True)
        self.play_another_board(0.9)

    def play_another_board(self, factor):
        """The baseline's board is not this one, and measured this many times what this one does."""
        for path in (self.folder / "baselines").glob("*/probe.json"):
            baseline = json.loads(path.read_text())
            for case in baseline["cases"].values():
                case["provenance"]["board"] = "another"
                for series in case["metrics"].values():
                    series["device"] = "another"
                    series["value"] *= factor
                    series["processes"] = [value * factor for value in series["processes"]]
            path.write_text(json.dumps(baseline))

    def entry(self):
        return next(path for path in (self.folder / "builds").iterdir() if path.is_dir())

    def rebuilt(self):
        """Another build of the same code."""
        plugin = self.folder / "probe_rebuilt.so"
        plugin.write_bytes((tool.PLUGINS / "probe_base.so").read_bytes() + b"rebuilt")
        return ["--plugin", plugin]

    def run_suite(self, plugin, *more, code=0):
        done = self.run_tool("run", "probe.yaml", "--config", "ci.yaml", *plugin, *more, code=code)
        return done, self.read_json("perfgate-out/verdict.json")["suites"][0]

    def test_a_rebuilt_plugin_passes_on_a_slower_board_and_all_reports_say_how(self):
        # Another build beside the base's is not read: the baseline names its own.
        other = self.folder / "builds" / ("0" * 32)
        other.mkdir()
        shutil.copy(tool.PLUGINS / "probe_slow.so", other / "probe_base.so")
        reports = ("run.md", "run.html", "run.csv")
        done, suite = self.run_suite(self.rebuilt(), *(word for name in reports for word in ("--report", name)))
        self.assertEqual("pass", suite["cases"][0]["verdict"])
        for text in (done.stdout, (self.folder / "perfgate-out/junit.xml").read_text(),
                     *((self.folder / name).read_text() for name in reports[:2])):
            self.assertIn("settled here", text)
        self.assertIn("settling took ", done.stderr)
        run = self.read_json("perfgate-out/run.json")
        self.assertGreater(run["phase_s"]["settling"], 0)
        settled = run["suites"][0]["cases"][0]["settled"]
        self.assertEqual(13, len(settled["before"]["host_time"]["batches"]))
        self.assertEqual(13, len(settled["after"]["host_time"]["batches"]))
        # The stored run says the same again.
        self.run_tool("compare", "perfgate-out/run.json", "--config", "ci.yaml")

    def test_what_is_slower_than_its_base_regressed(self):
        _, suite = self.run_suite(self.plugin("probe_slow"), code=1)
        metric = suite["cases"][0]["metrics"][0]
        self.assertEqual("regressed", metric["verdict"])
        self.assertIn("settled here", metric["sentence"])
        self.assertGreater(metric["change"], 1)

    def test_the_baselines_own_build_needs_no_folder(self):
        self.write("ci.yaml", CONFIG)
        _, suite = self.run_suite(self.plugin("probe_base"))
        self.assertEqual("pass", suite["cases"][0]["verdict"])
        self.assertIn("1 case is settled here", "\n".join(suite["notes"]))

    def assert_not_settled(self, *parts):
        done, suite = self.run_suite(self.rebuilt(), code=(1, 3, 4))
        self.assertNotIn("settled here", done.stdout)
        notes = [note for note in suite["notes"] if NO_BUILD in note]
        self.assert_one_line("\n".join(notes), *parts)

    def test_without_a_base_the_verdict_stays_and_one_line_names_the_remedy(self):
        self.write("ci.yaml", CONFIG)
        self.assert_not_settled("builds: DIR", "baseline refresh")

        self.write("ci.yaml", CONFIG + "builds: builds\n")
        shutil.rmtree(self.folder / "builds")
        self.assert_not_settled("baseline refresh")

    def test_a_build_that_is_not_the_baselines_is_refused_and_the_run_goes_on(self):
        # As a pull request would poison it: beside this base, anything passes.
        file = self.entry() / "probe_base.so"
        shutil.copy(tool.PLUGINS / "probe_slow.so", file)
        self.assert_not_settled("refused", "not those of the baseline")
        # A cut file.
        shutil.copy(tool.PLUGINS / "probe_base.so", file)
        os.truncate(file, 1000)
        self.assert_not_settled("refused")


class FromARevision(tool.Case):
    """A benchmark in a repository: its base is the baseline's commit."""

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=self.folder, check=True,
                       capture_output=True)

    def commit(self, time):
        self.script("bench", BENCH % time)
        self.git("add", "bench", "bench.yaml")
        self.git("commit", "--quiet", "-m", f"takes {time}")

    def setUp(self):
        super().setUp()
        self.git("init", "--quiet")
        self.write(".gitignore", "*\n!bench*\n")
        self.write("bench.yaml", BENCHMARK)
        self.write("ci.yaml", CONFIG)
        self.commit(1000000)
        self.record()

    def record(self):
        self.run_tool("baseline", "refresh", "bench.yaml", "--config", "ci.yaml")
        # Of a board that takes 3 % longer: what is 2 % slower here is faster than that.
        for path in (self.folder / "baselines").glob("*/bench.json"):
            baseline = json.loads(path.read_text())
            for case in baseline["cases"].values():
                case["provenance"]["board"] = "another"
                series = case["metrics"]["real_time"]
                series["device"] = "another"
                series["value"] *= 1.03
                series["processes"] = [value * 1.03 for value in series["processes"]]
            path.write_text(json.dumps(baseline))

    def test_two_per_cent_are_found_that_the_board_hides(self):
        self.commit(1020000)
        self.run_tool("run", "bench.yaml", "--config", "ci.yaml", code=1)
        metric = self.read_json("perfgate-out/verdict.json")["suites"][0]["cases"][0]["metrics"][0]
        self.assertEqual("regressed", metric["verdict"])
        self.assertIn("settled here", metric["sentence"])
        self.assertAlmostEqual(0.02, metric["change"], delta=0.002)

    def test_a_head_that_crashes_beside_its_base_is_an_error(self):
        # It works five times, which flag it.
        self.script("bench", f"#!/bin/sh\necho x >>'{self.folder}/starts'\n"
                    f"[ $(wc -l <'{self.folder}/starts') -le 8 ] || exit 7\n" + BENCH.split("\n", 1)[1] % 1000000)
        self.git("commit", "--quiet", "-am", "crashes later")
        self.run_tool("run", "bench.yaml", "--config", "ci.yaml", code=3)
        case = self.read_json("perfgate-out/verdict.json")["suites"][0]["cases"][0]
        self.assertEqual("error", case["verdict"])
        self.assert_one_line(case["reason"], "beside its base", "7")

    def test_a_program_that_every_checkout_runs_is_no_base(self):
        self.write("bench.yaml", BENCHMARK.replace("./bench", str(self.folder / "bench")))
        self.commit(1000000)
        self.record()
        self.commit(1020000)
        self.run_tool("run", "bench.yaml", "--config", "ci.yaml", code=4)
        notes = self.read_json("perfgate-out/verdict.json")["suites"][0]["notes"]
        self.assert_one_line("\n".join(note for note in notes if NO_BUILD in note), "run the same file")

    def test_a_commit_that_is_not_here_is_said(self):
        for path in (self.folder / "baselines").glob("*/bench.json"):
            baseline = json.loads(path.read_text())
            for case in baseline["cases"].values():
                case["provenance"]["git_revision"] = "0" * 40
            path.write_text(json.dumps(baseline))
        self.run_tool("run", "bench.yaml", "--config", "ci.yaml", code=4)
        notes = self.read_json("perfgate-out/verdict.json")["suites"][0]["notes"]
        self.assert_one_line("\n".join(note for note in notes if NO_BUILD in note), "no such revision", "git fetch")


if __name__ == "__main__":
    tool.main()
