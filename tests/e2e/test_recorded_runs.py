# SPDX-License-Identifier: Apache-2.0
"""Runs recorded on GPUs, judged again here against the committed baselines: the same verdicts."""

import json

import tool

RUNS = tool.SOURCE / "tests/data/runs"
PAIRS = tool.SOURCE / "tests/data/aa"  # two runs of the same code on each device


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
                self.run_tool("compare", run, "--baselines", tool.SOURCE / "baselines", "--json",
                              "verdict.json", code=recorded["exit_code"])
                now = self.read_json("verdict.json")
                self.assertEqual(verdicts(recorded), verdicts(now))

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
        done = self.run_tool("compare", "tampered.json", "--baselines", tool.SOURCE / "baselines",
                             code=1)
        self.assertIn("registers regressed", done.stdout)


if __name__ == "__main__":
    tool.main()
