# SPDX-License-Identifier: Apache-2.0
"""The whole way on the host backend: refresh, pass, slow down, fail."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml

import tool

SUITE = """
name: probe
defaults:
  metrics: [host_time]
  tolerances: {host_time: 80%}
  time_budget: 20ms
  cache: hot
workloads:
  - workload: probe
    variants: [host]
    matrix: {n: [20000, 30000]}
    params: {iterations: 200}
"""


class HostGate(tool.Case):
    clock = "stated"

    def setUp(self):
        super().setUp()
        self.write("probe.yaml", SUITE)
        self.base = ["--backend", "host", *self.plugin("probe_base")]

    def refresh(self):
        self.run_tool("baseline", "refresh", "probe.yaml", *self.base, "--processes", 5)

    def test_without_a_baseline_says_so_and_exits_0(self):
        done = self.run_tool("run", "probe.yaml", *self.base)
        self.assertIn("baseline", done.stdout)
        suite = xml.parse(self.folder / "perfgate-out/junit.xml").getroot().find("testsuite")
        self.assertEqual("2", suite.get("tests"))
        self.assertEqual("2", suite.get("skipped"))

    def test_without_a_baseline_policy_makes_it_exit_4(self):
        self.run_tool("run", "probe.yaml", *self.base, "--set", "no_baseline=fail", code=4)

    def test_refresh_then_pass(self):
        self.refresh()
        files = list((self.folder / "baselines").glob("host-*/probe.json"))
        self.assertEqual(1, len(files))
        self.run_tool("run", "probe.yaml", *self.base)
        run = self.read_json("perfgate-out/run.json")
        self.assertEqual("perfgate.run", run["schema"])
        self.assertEqual(2, len(run["suites"][0]["cases"]))
        self.assertTrue((self.folder / "perfgate-out/journal.jsonl").exists())

    def test_a_baseline_that_cannot_be_used_ends_the_command_before_anything_is_measured(self):
        self.refresh()
        (file,) = (self.folder / "baselines").glob("host-*/probe.json")
        good = file.read_text()
        other_device, other_suite = json.loads(good), json.loads(good)
        other_device["device"]["name"] = "another CPU"
        other_suite["suite"] = "other"
        others = file.parent / "unmeasured.json"
        self.write("complete.yaml", "complete: true")
        for name, text, place, words in (
                ("damaged", good[:len(good) // 2], file, ()),
                ("of another device", json.dumps(other_device), file, ()),
                ("of another suite", json.dumps(other_suite), file, ()),
                ("damaged, of a suite that is not given", "{", others,
                 ("--config", "complete.yaml"))):
            place.write_text(text)
            for verb in (["run"], ["baseline", "refresh"]):
                if words and verb != ["run"]:
                    continue
                with self.subTest(name, verb=verb):
                    shutil.rmtree(self.folder / "perfgate-out", ignore_errors=True)
                    done = self.run_tool(*verb, "probe.yaml", *self.base, "--processes", 2, *words,
                                         code=2)
                    self.assert_one_line(done.stderr, place.name)
                    self.assertFalse((self.folder / "perfgate-out/journal.jsonl").exists())
                    self.assertFalse((self.folder / "perfgate-out/run.json").exists())
            file.write_text(good)
        self.run_tool("run", "probe.yaml", *self.base, "--config", "complete.yaml", "--filter",
                      "probe/*", code=(0, 3))  # a part needs no baseline of another suite

    def test_slower_code_fails_with_a_reason(self):
        self.refresh()
        slow = ["--backend", "host", *self.plugin("probe_slow")]
        done = self.run_tool("run", "probe.yaml", *slow, "--verbose", code=1)
        self.assertRegex(done.stdout, r"host_time.*→.*\+\d")
        suite = xml.parse(self.folder / "perfgate-out/junit.xml").getroot().find("testsuite")
        self.assertEqual("2", suite.get("failures"))
        self.assertIn("host_time", suite.find("testcase/failure").get("message"))

        # The stored run says the same again, without measuring.
        self.run_tool("compare", "perfgate-out/run.json", code=1)
        self.run_tool("report", "perfgate-out/run.json", "--report", "cases.csv")
        self.assertIn("host_time", (self.folder / "cases.csv").read_text())

    def test_every_command_that_a_report_prints_can_be_pasted(self):
        self.refresh()
        done = self.run_tool("run", "probe.yaml", "--backend", "host", *self.plugin("probe_slow"), "--report",
                             "report.md", code=1)
        command = r"(perfgate (?:.*\\\n)*.*)$"
        console = re.findall(rf"^([\w ]+):\n  {command}", done.stdout, re.MULTILINE)
        markdown = re.findall(rf"^# ([\w ]+)\n{command}", (self.folder / "report.md").read_text(), re.MULTILINE)
        self.assertEqual(["run again", "report why", "accept"], [purpose for purpose, _ in console])
        self.assertEqual(console, markdown)
        path = f"{pathlib.Path(tool.PERFGATE).parent}:{os.environ['PATH']}"
        for purpose, line in console:
            line = line.replace("'WHY'", "'tested'")  # the one word that the user fills in
            pasted = subprocess.run(line, shell=True, cwd=self.folder, capture_output=True, text=True,
                                    env={**os.environ, "PATH": path}, timeout=tool.PATIENCE_S)
            self.assertEqual(1 if purpose == "run again" else 0, pasted.returncode,
                             f"{line}\n{pasted.stdout}{pasted.stderr}")
        self.run_tool("compare", "perfgate-out/run.json")

    def test_a_wrong_result_is_incorrect_and_no_number(self):
        self.refresh()
        wrong = ["--backend", "host", *self.plugin("probe_wrong")]
        self.run_tool("run", "probe.yaml", *wrong, code=1)
        case = self.read_json("perfgate-out/run.json")["suites"][0]["cases"][0]
        self.assertEqual("incorrect", case["status"])
        self.assertEqual({}, case.get("metrics", {}))
        junit = (self.folder / "perfgate-out/junit.xml").read_text()
        self.assertIn("element 19999", junit)

    def test_both_junit_profiles_and_stdout(self):
        done = self.run_tool("run", "probe.yaml", *self.base, "--report", "junit:-", "--set",
                             "junit_profile=strict")
        root = xml.fromstring(done.stdout)
        self.assertEqual("testsuites", root.tag)

    def test_filter_selects_and_an_empty_selection_is_exit_2(self):
        self.run_tool("run", "probe.yaml", *self.base, "--filter", "*n=20000*")
        run = self.read_json("perfgate-out/run.json")
        self.assertEqual(1, len(run["suites"][0]["cases"]))
        done = self.run_tool("run", "probe.yaml", *self.base, "--filter", "nothing*", code=2)
        self.assert_one_line(done.stderr, "nothing")

    def test_auto_falls_back_to_the_host_in_one_line(self):
        done = self.run_tool("run", "probe.yaml", "--quiet", *self.plugin("probe_base"),
                             env={"CUDA_VISIBLE_DEVICES": ""})
        self.assert_one_line(done.stderr, "no GPU", "host backend")

    def test_doctor_says_what_can_be_measured_without_a_gpu(self):
        self.run_tool("doctor", "--report", "doctor.json", env={"CUDA_VISIBLE_DEVICES": ""})
        check = next(each for each in self.read_json("doctor.json")["checks"] if each["topic"] == "GPU")
        self.assertEqual("warning", check["level"])
        self.assertEqual("without a GPU only host variants and benchmarks of the CPU can be measured; where one is "
                         "expected, use 'perfgate doctor --backend cuda', which fails without it", check["remedy"])

    def test_the_cuda_backend_never_falls_back(self):
        done = self.run_tool("run", "probe.yaml", "--backend", "cuda", *self.plugin("probe_base"),
                             env={"CUDA_VISIBLE_DEVICES": ""}, code=3)
        self.assertFalse((self.folder / "perfgate-out/run.json").exists(), done.stderr)

    def test_verify_only_measures_nothing(self):
        self.run_tool("run", "probe.yaml", *self.base, "--verify-only")
        case = self.read_json("perfgate-out/run.json")["suites"][0]["cases"][0]
        self.assertTrue(case["verification"]["passed"])
        self.assertEqual({}, case.get("metrics", {}))


if __name__ == "__main__":
    tool.main()
