# SPDX-License-Identifier: Apache-2.0
"""Runs recorded on GPUs, judged again here against the baselines of that time: the same verdicts."""

import collections
import json

import report_readers
import tool

RUNS = tool.SOURCE / "tests/data/runs"
BASELINES = RUNS / "baselines"  # of that time
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
                self.run_tool("compare", run, "--baselines", BASELINES, "--report",
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

    def worse(self, run):
        """The run of other code, all values larger: times by a third, in enough processes to confirm it."""
        document = json.loads((self.folder / self.forgotten(run)).read_text())
        for suite in document["suites"]:
            for case in suite["cases"]:
                for series in case["metrics"].values():
                    time = series["unit"] == "ns"
                    factor = 1.3 if time else 1.1
                    series["value"] *= factor
                    batches = series.get("batches", [])
                    for batch in batches:
                        batch["samples"] = [factor * sample for sample in batch["samples"][:3]]
                    if time:
                        series["batches"] = [{**batch, "process": process, "round": 1}
                                             for process, batch in enumerate(8 * batches)]
        return self.write("worse.json", json.dumps(document))

    def test_unchanged_code_is_shown_by_the_profile_of_ci_and_none_regresses_by_its_times(self):
        # Each is of one suite.
        profile = self.write("ci.yaml", (tool.SOURCE / "configs/ci.yaml").read_text().replace("complete: true\n", ""))
        cases = 0
        reasons = collections.Counter()
        for run in sorted(RUNS.glob("*/*.run.json")):
            with self.subTest(run.relative_to(RUNS)):
                for document in (run, self.forgotten(run)):
                    done = self.run_tool("compare", document, "--baselines",
                                         BASELINES, "--config", profile, "--report",
                                         "verdict.json", code=(0, 4) if document != run else 0)
                    self.assertRegex(done.stderr, "proof: .*: each gate fails if its metric is worse")
                judged = [case for suite in self.read_json("verdict.json")["suites"]
                          for case in suite["cases"]]
                doubts = [case for case in judged if case["verdict"] == "inconclusive"]
                self.assertEqual([], [case["id"] for case in judged
                                      if case["verdict"] not in ("pass", "improved", "inconclusive")])
                self.assertEqual(4 if doubts else 0, done.returncode)
                for case in judged:
                    for metric in case["metrics"]:
                        if metric["unit"] == "ns":
                            self.assertEqual(0.95, metric["interval"]["level"])
                            self.assertLessEqual(metric["interval"]["low"], metric["change"])
                            self.assertGreaterEqual(metric["interval"]["high"], metric["change"])
                cases += len(judged)
                reasons.update(case["reason_code"] for case in doubts)
        # As harness/gate/README.md says.
        self.assertEqual((1296, {"not_shown": 2, "slow_processes": 2}), (cases, dict(reasons)))

    def test_what_only_launches_the_same_is_not_shown_however_much_slower_it_is(self):
        run = RUNS / "nvidia-h200/softmax-1.run.json"
        index = next(i for i, case in enumerate(json.loads(run.read_text())["suites"][0]["cases"]) if "kernels" in case)
        profile = self.write("ci.yaml", (tool.SOURCE / "configs/ci.yaml").read_text().replace("prove: true", ""))
        for factor, other_host, code in ((1.2, False, 0), (1.6, False, 3), (1.2, True, 4), (5, True, 4), (9, True, 4),
                                         (11, True, 3)):
            with self.subTest(factor=factor, other_host=other_host):
                document = json.loads(run.read_text())
                case = document["suites"][0]["cases"][index]
                if other_host:
                    case["host_code"] = "0" * len(case["host_code"])
                series = case["metrics"]["gpu_time"]
                series["value"] *= factor
                for batch in series["batches"]:
                    batch["samples"] = [factor * sample for sample in batch["samples"]]
                self.write("slow.json", json.dumps(document))
                done = self.run_tool("compare", "slow.json", "--baselines", BASELINES, "--config", profile,
                                     "--report", "verdict.json", "--report", "report.md", "--report", "junit.xml",
                                     code=code)
                judged = self.read_json("verdict.json")["suites"][0]["cases"][index]
                if code != 3:
                    self.assertEqual("nothing_launched_changed" if other_host else "nothing_changed",
                                     judged["reason_code"])
                figure = f"+{100 * judged['metrics'][0]['change']:.1f} %"
                for report in (done.stdout, (self.folder / "report.md").read_text(),
                               (self.folder / "junit.xml").read_text()):
                    self.assertIn(figure, report)

    def test_one_number_in_every_report(self):
        checked = 0
        for run in sorted(RUNS.glob("*/*.run.json")):
            with self.subTest(run.relative_to(RUNS)):
                checked += self.check_reports(run)
        self.assertGreater(checked, 7000)

    def test_one_number_in_every_report_of_a_regression(self):
        shown = set()
        for run in sorted(RUNS.glob("nvidia-h200/*-1.run.json")):
            with self.subTest(run.relative_to(RUNS)):
                self.check_reports(self.worse(run), code=1)
                shown.update(row[0] for row in self.reports.markdown_rows.values())
        self.assertLessEqual({"gpu_time", "registers"}, shown)

    def check_reports(self, run, code=0):
        """Compares what every report says of each gated metric of a run; returns how many there are."""
        files = [word for name, file in report_readers.FORMATS.items() for word in ("--report", f"{name}:{file}")]
        done = self.run_tool("compare", run, "--baselines", BASELINES, "--report", "verdict.json", *files,
                             "--verbose", code=code)
        self.reports = reports = report_readers.Reports(self.folder, done.stdout)
        checked = 0
        for suite in self.read_json("verdict.json")["suites"]:
            for case in suite["cases"]:
                for metric in case["metrics"]:
                    self.check_one_number(case, metric, reports)
                checked += len(case["metrics"])
        return checked

    def check_one_number(self, case, metric, reports):
        where = f"{metric['metric']} of {case['id']}"
        at = case["id"], metric["metric"]
        baseline, measured, unit = metric["baseline"], metric["measured"], metric["unit"]
        if baseline == 0:
            self.assertNotIn("change", metric, where)
        else:
            self.assertAlmostEqual(measured / baseline - 1, metric["change"], 12, where)

        # Numbers, in the table with every digit.
        row = reports.csv[at]
        self.assertEqual(unit, row["unit"], where)
        self.assertEqual((baseline, measured), (float(row["baseline"]), float(row["measured"])), where)
        self.assertEqual(metric.get("change"), float(row["change"]) if row["change"] else None, where)
        html_unit, *html_values, html_texts, html_interval = reports.html[at]
        self.assertEqual(unit, html_unit, where)
        for value, shown in zip((baseline, measured), html_values, strict=True):
            self.assertAlmostEqual(value, shown, delta=1e-6 * abs(value), msg=where)  # seven digits, more than the page shows

        # Texts: what the gate's sentence says is what the tables say.
        said = report_readers.sentence_parts(metric["sentence"])
        self.assertIsNotNone(said, metric["sentence"])
        self.check_texts(metric, said[:3], where)
        self.assertEqual([*said[:3]], [text or "" for text in html_texts], where)
        self.assertEqual("interval" in metric, said[3] != "", where)
        self.assertEqual(f"95 % interval {said[3]}" if said[3] else "", html_interval, where)
        if at in reports.junit:  # what the case is about
            self.assertEqual(said[1], reports.junit[at], where)
        if case["verdict"] in ("pass", "skipped"):
            self.assertNotIn(at, reports.junit_rows)
        elif case["id"] not in reports.junit_cut or at in reports.junit_rows:
            in_junit = reports.junit_rows[at]
            self.check_texts(metric, in_junit, where)
            self.assertEqual(said[2] or "-", in_junit[2], where)
        if metric["metric"] == "gpu_time":
            self.assertTrue(at in reports.junit or case["verdict"] != "pass", where)
            self.assertEqual([*said[:3], said[3]], reports.console_rows[case["id"]], where)
        if metric["verdict"] != "pass":
            self.assertIn(f"\n    {metric['sentence']}\n", reports.console, where)
        if metric["verdict"] == case["verdict"] and case["verdict"] not in ("pass", "inconclusive"):
            self.assertIn(metric["sentence"], reports.markdown_lines[case["id"]], where)
        decides = reports.markdown_rows.get(case["id"], (None,))
        if decides[0] == metric["metric"]:
            self.assertEqual((metric["metric"], *said[:3]), decides, where)

    def check_texts(self, metric, texts, where):
        """Baseline, measured and change: texts of four digits or more, and of one after the point."""
        for value, text in zip((metric["baseline"], metric["measured"]), texts):
            self.assertAlmostEqual(value, report_readers.amount(text, metric["unit"]), delta=abs(value) * 5.1e-4, msg=where)
        if "change" in metric:
            percent = 100 * metric["change"]
            self.assertTrue(texts[2].endswith(" %"), where)
            self.assertAlmostEqual(percent, float(texts[2][:-2]), delta=max(0.0501, abs(percent) / 1e3), msg=where)
            self.assertEqual(percent > 0, texts[2].startswith("+"), where)

    def test_two_devices_are_set_side_by_side_and_not_judged(self):
        h100 = PAIRS / "nvidia-h100-80gb-hbm3/gemm-1.run.json"
        h200 = PAIRS / "nvidia-h200/gemm-1.run.json"
        done = self.run_tool("report", "--base", h100, "--head", h200, "--report", "across.json")
        self.assertIn("NVIDIA H200", done.stdout)
        self.assertIn("nothing is judged", done.stdout)
        across = self.read_json("across.json")
        self.assertEqual("nvidia-h200", across["second"]["device"]["key"])
        for case in across["suites"][0]["cases"]:
            self.assertIn("gpu_time", case["metrics"])
        for wrong in (["--base", h100], ["--base", h100, "--head", h200, "--report", "x.csv"],
                      ["--base", h100, "--head", h200, "--set", "not_shown=fail"]):
            done = self.run_tool("report", *wrong, code=2)
            self.assert_one_line(done.stderr, "--base and --head")
        done = self.run_tool("compare", h100, h200, code=2)
        self.assert_one_line(done.stderr, "is not a shard", "--base and --head")

    def test_a_tampered_value_is_found(self):
        run = RUNS / "nvidia-h100-80gb-hbm3/gemm-1.run.json"
        document = json.loads(run.read_text())
        case = document["suites"][0]["cases"][0]
        case["metrics"]["registers"]["value"] += 1
        self.write("tampered.json", json.dumps(document))
        done = self.run_tool("compare", "tampered.json", "--baselines", BASELINES, code=1)
        self.assertTrue(done.stdout.startswith("1 case uses "), done.stdout)
        self.assertRegex(done.stdout, r"more registers\.")


if __name__ == "__main__":
    tool.main()
