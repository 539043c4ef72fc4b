# SPDX-License-Identifier: Apache-2.0
"""Runs recorded on GPUs, judged again here against the baselines of that time: the same verdicts."""

import csv
import json
import re
import xml.etree.ElementTree as xml

import tool

RUNS = tool.SOURCE / "tests/data/runs"
PAIRS = tool.SOURCE / "tests/data/aa"  # two runs of the same code on each device


def baselines_of(run):
    """The committed ones, or those that a refresh has replaced since."""
    suite = run.name.rsplit("-", 1)[0]
    replaced = RUNS / "baselines" / run.parent.name / f"{suite}.json"
    return RUNS / "baselines" if replaced.exists() else tool.SOURCE / "baselines"


def verdicts(document):
    return {case["id"]: case["verdict"] for suite in document["suites"] for case in suite["cases"]}


class RecordedRuns(tool.Case):
    def test_compare_says_what_the_gpu_machine_said(self):
        runs = sorted(RUNS.glob("*/*.run.json"))
        self.assertGreaterEqual(len(runs), 2)
        for run in runs:
            with self.subTest(run.relative_to(RUNS)):
                recorded = json.loads(
                    run.with_name(run.name.replace(".run.", ".verdict.")).read_text())
                self.run_tool("compare", run, "--baselines", baselines_of(run), "--json",
                              "verdict.json", code=recorded["exit_code"])
                now = self.read_json("verdict.json")
                self.assertEqual(verdicts(recorded), verdicts(now))

    def forgotten(self, run):
        """The run without fingerprints: its times alone speak."""
        document = json.loads(run.read_text())
        for suite in document["suites"]:
            for case in suite["cases"]:
                case.pop("host_code", None)
                for kernel in case.get("kernels", []):
                    kernel.pop("code", None)
        self.write("forgotten.json", json.dumps(document))
        return "forgotten.json"

    def test_unchanged_code_is_shown_by_the_profile_of_ci_and_none_regresses_by_its_times(self):
        profile = tool.SOURCE / "configs/ci.yaml"
        cases = not_shown = 0
        for run in sorted(RUNS.glob("*/*.run.json")):
            with self.subTest(run.relative_to(RUNS)):
                for document in (run, self.forgotten(run)):
                    done = self.run_tool("compare", document, "--baselines",
                                         baselines_of(run), "--profile", profile, "--json",
                                         "verdict.json", code=(0, 4) if document != run else 0)
                    self.assertRegex(done.stderr, "proof: .*: each gate fails if its metric is worse")
                judged = [case for suite in self.read_json("verdict.json")["suites"]
                          for case in suite["cases"]]
                doubts = [case for case in judged if case["verdict"] == "inconclusive"]
                self.assertEqual([], [case["id"] for case in judged
                                      if case["verdict"] not in ("pass", "improved", "inconclusive")])
                self.assertEqual({"not_shown"} if doubts else set(),
                                 {case["reason_code"] for case in doubts})
                for case in judged:
                    for metric in case["metrics"]:
                        if metric["unit"] == "ns":
                            self.assertEqual(0.95, metric["interval"]["level"])
                            self.assertLessEqual(metric["interval"]["low"], metric["change"])
                            self.assertGreaterEqual(metric["interval"]["high"], metric["change"])
                cases += len(judged)
                not_shown += len(doubts)
        # As harness/gate/README.md says.
        self.assertEqual((1296, 4), (cases, not_shown))

    def test_one_number_in_every_report(self):
        for run in sorted(RUNS.glob("*/*.run.json")):
            with self.subTest(run.relative_to(RUNS)):
                done = self.run_tool("compare", run, "--baselines", baselines_of(run),
                                     "--json", "verdict.json", "--csv", "all.csv", "--junit",
                                     "junit.xml", "--verbose")
                with open(self.folder / "all.csv", newline="") as file:
                    rows = {(row["case"], row["metric"]): row for row in csv.DictReader(file)}
                outputs = {case.get("name"): case.findtext("system-out") or ""
                           for case in xml.parse(self.folder / "junit.xml").iter("testcase")}
                for suite in self.read_json("verdict.json")["suites"]:
                    for case in suite["cases"]:
                        for metric in case["metrics"]:
                            self.check_one_number(case, metric, rows, outputs, done.stdout)

    def check_one_number(self, case, metric, rows, outputs, console):
        row = rows[case["id"], metric["metric"]]
        for key in ("baseline", "measured"):
            self.assertEqual(metric[key], float(row[key]), case["id"])
        if "change" not in metric:
            return
        change = metric["measured"] / metric["baseline"] - 1
        self.assertAlmostEqual(change, metric["change"], 12)
        self.assertAlmostEqual(change, float(row["change"]), 12)
        if metric["unit"] != "ns":
            return
        # Texts: what the sentence says is what the tables say.
        said = re.search(r": (\S+ \S+) → (\S+ \S+) \(([+-]?\S+ %)", metric["sentence"])
        self.assertIsNotNone(said, metric["sentence"])
        line = next(line for line in outputs[case["id"]].splitlines()
                    if line.startswith(metric["metric"] + " "))
        self.assertIn(said[3], line)
        scaled, unit = line.split()[3:5]
        factor = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]
        self.assertAlmostEqual(1, float(scaled) * factor / metric["measured"], 3)
        if metric["metric"] == "gpu_time":
            shown = next(line for line in console.splitlines() if f" {case['id']} " in line)
            self.assertIn(f"{scaled} {unit}", shown)
            self.assertIn(said[3], shown)

    def test_two_devices_are_set_side_by_side_and_not_judged(self):
        h100 = PAIRS / "nvidia-h100-80gb-hbm3/gemm-1.run.json"
        h200 = PAIRS / "nvidia-h200/gemm-1.run.json"
        done = self.run_tool("compare", h100, h200, "--across-devices", "--json", "across.json")
        self.assertIn("NVIDIA H200", done.stdout)
        self.assertIn("nothing is judged", done.stdout)
        across = self.read_json("across.json")
        self.assertEqual("nvidia-h200", across["second"]["device"]["key"])
        for case in across["suites"][0]["cases"]:
            self.assertIn("gpu_time", case["metrics"])
        for wrong in ([h100], [h100, h200, "--csv", "x.csv"]):
            done = self.run_tool("compare", *wrong, "--across-devices", code=2)
            self.assert_one_line(done.stderr, "--across-devices")
        self.run_tool("compare", h100, h200, code=2)

    def test_a_tampered_value_is_found(self):
        run = RUNS / "nvidia-h100-80gb-hbm3/gemm-1.run.json"
        document = json.loads(run.read_text())
        case = document["suites"][0]["cases"][0]
        case["metrics"]["registers"]["value"] += 1
        self.write("tampered.json", json.dumps(document))
        done = self.run_tool("compare", "tampered.json", "--baselines", baselines_of(run),
                             code=1)
        self.assertTrue(done.stdout.startswith("1 case uses "), done.stdout)
        self.assertRegex(done.stdout, r"more registers\.")


if __name__ == "__main__":
    tool.main()
