# SPDX-License-Identifier: Apache-2.0
"""Two builds back to back on the host backend: a slower one, the same one, and ones that lack a
case or fail."""

import os
import shutil
import signal
import subprocess
import time
import xml.etree.ElementTree as xml

import tool

SUITE = """
name: probe
defaults:
  metrics: [host_time]
  tolerances: {host_time: 90%}
  time_budget: 10ms
  cache: hot
workloads:
  - workload: probe
    variants: [host]
    matrix: {n: [20000, 30000]}
    params: {iterations: 200}
"""


class Ab(tool.Case):
    clock = "stated"

    def setUp(self):
        super().setUp()
        self.write("probe.yaml", SUITE)

    def build(self, name):
        return str(tool.PLUGINS / f"{name}.so")

    def ab(self, base, head, *more, code=0):
        return self.run_tool("ab", "probe.yaml", "--backend", "host", "--base", f"build:{base}", "--head",
                             f"build:{head}", *more, code=code)

    def batches(self, document, case=0):
        return document["suites"][0]["cases"][case]["metrics"]["host_time"]["batches"]

    def test_slower_code_regresses_without_a_baseline(self):
        done = self.ab(self.build("probe_base"), self.build("probe_slow"), "--processes", "6",
                       "--filter", "*n=20000*", code=1)
        self.assertRegex(done.stdout, r"regressed .*\+\d")
        self.assertIn("probe_base.so", done.stdout)
        suite = xml.parse(self.folder / "perfgate-out/junit.xml").getroot().find("testsuite")
        self.assertEqual("1", suite.get("failures"))
        self.assertIn("host_time", suite.find("testcase/failure").get("message"))
        verdict = self.read_json("perfgate-out/verdict.json")
        self.assertEqual(["changed"], [case["code"] for case in verdict["suites"][0]["cases"]])
        self.assertFalse((self.folder / "baselines").exists())

        # Both builds, pair by pair, first the usual ones and then those that decided.
        head = self.read_json("perfgate-out/run.json")
        base = self.read_json("perfgate-out/base/run.json")
        for run in (base, head):
            rounds = [batch.get("round", 0) for batch in self.batches(run)]
            self.assertEqual([0] * 6 + [1] * 13, rounds[:19])
            processes = [batch["process"] for batch in self.batches(run)]
            self.assertEqual(len(processes), len(set(processes)))

    def copy(self, name):
        return shutil.copy(self.build(name), self.folder / f"copy_of_{name}.so")

    def test_an_equal_build_passes(self):
        self.ab(self.build("probe_base"), self.copy("probe_base"), "--processes", "6")
        verdict = self.read_json("perfgate-out/verdict.json")
        cases = verdict["suites"][0]["cases"]
        self.assertEqual(["unchanged"] * 2, [case["code"] for case in cases])
        self.assertEqual(["pass"] * 2, [case["verdict"] for case in cases])

    def test_a_build_against_itself_is_refused(self):
        same = self.build("probe_base")
        os.symlink(same, self.folder / "link.so")
        for base, head in ((same, same), (same, "link.so"), (os.path.dirname(same), os.path.dirname(same) + "/.")):
            done = self.ab(base, head, code=2)
            self.assert_one_line(done.stderr, f"build:{base} and build:{head} are the same", "copy it")
        (self.folder / "checkout").mkdir()
        roots = ["--base", "dir:.", "--head", "dir:checkout/.."]
        done = self.run_tool("ab", "probe.yaml", "--backend", "host", *roots, code=2)
        self.assert_one_line(done.stderr, "dir:. and dir:checkout/.. are the same")

    def test_a_configs_proof_and_canary_are_said_to_be_without_effect(self):
        self.write("profile.yaml", "prove: true\ncanary: true")
        done = self.ab(self.build("probe_base"), self.copy("probe_base"), "--processes", "2", "--filter", "*n=20000*", "--config",
                       "profile.yaml")
        self.assertIn("the config's 'prove: true' has no effect with ab: ", done.stderr)
        self.assertIn("the config's 'canary: true' has no effect with ab: ", done.stderr)

    def test_folders_hold_plugins_and_their_second_modules(self):
        for side in ("a", "b"):
            folder = self.folder / side
            folder.mkdir()
            shutil.copy(self.build("probe_base"), folder / "probe.so")
            (folder / "probe_cuda.so").write_text("is not loaded for its own sake")
        self.ab("a", "b", "--processes", "2", "--filter", "*n=20000*")
        self.assertEqual(2, len(self.batches(self.read_json("perfgate-out/base/run.json"))))

    def test_a_folder_without_plugins_and_a_path_that_is_none_are_refused(self):
        (self.folder / "empty").mkdir()
        done = self.ab("empty", self.build("probe_base"), code=2)
        self.assert_one_line(done.stderr, "build:empty", "no plugin")
        done = self.ab(self.build("probe_base"), "nowhere", code=2)
        self.assertIn("nowhere", done.stderr)

    def test_a_case_that_the_base_does_not_offer_has_nothing_to_be_compared_with(self):
        self.write("both.yaml", SUITE.replace("name: probe", "name: both"))
        done = self.run_tool("ab", "both.yaml", "--backend", "host", "--base", f"build:{self.build('fault')}",
                             "--head", f"build:{self.build('probe_base')}", "--processes", "1", "--verbose")
        self.assertIn("it has no workload 'probe'", done.stdout)
        self.run_tool("ab", "both.yaml", "--backend", "host", "--base", f"build:{self.build('fault')}",
                      "--head", f"build:{self.build('probe_base')}", "--processes", "1", "--set",
                      "no_baseline=fail", code=4)

    def test_a_wrong_head_is_incorrect_and_a_wrong_base_is_said(self):
        self.ab(self.build("probe_base"), self.build("probe_wrong"), "--processes", "2", code=1)
        case = self.read_json("perfgate-out/verdict.json")["suites"][0]["cases"][0]
        self.assertEqual("incorrect", case["verdict"])
        done = self.ab(self.build("probe_wrong"), self.build("probe_base"), "--processes", "2")
        self.assertIn("in the base this case is incorrect: wrong result", done.stdout)

    def test_an_interrupted_comparison_leaves_two_runs_and_no_verdict(self):
        command = [tool.PERFGATE, "ab", "probe.yaml", "--backend", "host", "--base",
                   f"build:{self.build('probe_base')}", "--head", f"build:{self.build('probe_slow')}", "--processes",
                   "1000"]
        running = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=os.environ)
        journal = self.folder / "perfgate-out/base/journal.jsonl"
        deadline = time.monotonic() + tool.PATIENCE_S
        while time.monotonic() < deadline and running.poll() is None:
            if journal.exists() and len(journal.read_text().splitlines()) > 3:
                break
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=tool.PATIENCE_S)
        self.assertEqual(130, running.returncode)
        for name in ("perfgate-out/run.json", "perfgate-out/base/run.json"):
            self.assertTrue(self.read_json(name)["interrupted"])


if __name__ == "__main__":
    tool.main()
