#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counters of unchanged code in recorded runs, judged by `baseline refresh` and `compare`.

    tests/bench/recorded_counters.py TOOL half|most|all|NUMBER [--planted 0.05]

For each suite and device of tests/data/runs, the value of its baseline and one run are a baseline of two collections;
the other run is judged, without the fingerprints of its code. The tolerances are those that `refresh` names for half,
90 % or all of a suite's cases, or NUMBER. Prints alarms by metric, and how many changes of the planted size are found.
"""

import argparse
import collections
import copy
import json
import pathlib
import re
import subprocess
import tempfile

DATA = pathlib.Path(__file__).parents[1] / "data" / "runs"
PLANTED = ("instructions", "dram_bytes", "cycles", "occupancy", "l2_hit_rate", "issue_active")
LESS_IS_WORSE = ("occupancy", "l2_hit_rate", "issue_active")
NAMED = re.compile(r"  (\w+): smallest tolerance .*?: (.+?) covers half of .+?, (.+?) covers 90 %, (.+?) covers all")


def document_of(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def counters_of(cases, counters):
    """Values by case and metric."""
    return {
        (case_id, name): series["value"]
        for case_id, case in cases
        for name, series in case.get("metrics", {}).items()
        if name in counters and isinstance(series.get("value"), (int, float))
    }


def run_of(run, values, tolerance, changed=None, factor=1.0):
    """The run with these values alone, each of one collection on one board, and gates of these tolerances."""
    run = copy.deepcopy(run)
    run["environment"]["device"]["board"] = "board-x"
    for suite in run["suites"]:
        suite["relations"] = []
        for case in suite["cases"]:
            for key in ("host_code", "once", "libraries"):
                case.pop(key, None)
            for kernel in case.get("kernels", []):
                kernel.pop("code", None)
            metrics = {}
            for name, series in case.get("metrics", {}).items():
                if (case["id"], name) not in values:
                    continue
                value = values[case["id"], name]
                if name == changed:
                    value *= 1 / factor if name in LESS_IS_WORSE else factor
                batch = {"process": 0, "device": "board-x", "seed": 1, "samples": [value]}
                metrics[name] = {**series, "value": value, "batches": [batch]}
                metrics[name].pop("detail", None)
            case["metrics"] = metrics
            case["gates"] = [{"metric": m, "worse": tolerance(m), "better": tolerance(m)} for m in metrics]
        suite["cases"] = [case for case in suite["cases"] if case["metrics"]]
    return run


class Replay:
    def __init__(self, tool, tolerance):
        self.tool = tool
        self.tolerance = tolerance
        self.tests, self.alarms, self.unclear = (collections.Counter() for _ in range(3))
        self.planted, self.found = collections.Counter(), collections.Counter()
        self.runs = self.runs_with_alarm = 0

    def named(self, text):
        """Tolerances of a suite's metrics, as `refresh` names them or as asked for."""
        place = {"half": 2, "most": 3, "all": 4}.get(self.tolerance)
        if place is None:
            return collections.defaultdict(lambda: float(self.tolerance))
        found = collections.defaultdict(float)
        for match in map(NAMED.match, text.splitlines()):
            if match:
                number = re.search(r"[\d.e+]+", match[place])
                found[match[1]] = 100 if "more than" in match[place] else float(number[0]) / 100
        return found

    def verdicts(self, folder, run):
        (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
        command = [self.tool, "compare", folder / "run.json", "--baselines", folder / "baselines"]
        subprocess.run([*command, "--report", folder / "verdict.json"], capture_output=True, check=False)
        suites = document_of(folder / "verdict.json")["suites"]
        return [
            (case["id"], metric["metric"], metric["verdict"])
            for suite in suites
            for case in suite["cases"]
            for metric in case.get("metrics", [])
        ]

    def judge(self, run, other, baseline, size):
        counters = {n for n, d in run["metric_definitions"].items() if d["class"] == "counter"} | {"instructions"}
        of_run, of_other = (
            counters_of([(c["id"], c) for s in each["suites"] for c in s["cases"]], counters) for each in (run, other)
        )
        of_baseline = counters_of(baseline["cases"].items(), counters)
        shared = of_run.keys() & of_other.keys() & of_baseline.keys()
        if not shared:
            return
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for number, values in enumerate((of_baseline, of_other)):
                made = run_of(other, {key: values[key] for key in shared}, lambda _: 0)
                made["started_at"] = f"2026-11-2{number}T10:00:00Z"
                (folder / f"{number}.json").write_text(json.dumps(made), encoding="utf-8")
            command = [self.tool, "baseline", "refresh", folder / "0.json", folder / "1.json"]
            said = subprocess.run(
                [*command, "--baselines", folder / "baselines"], capture_output=True, text=True, check=False
            )
            tolerances = self.named(said.stdout)
            mine = {key: of_run[key] for key in shared}
            alarms = 0
            for case_id, metric, verdict in self.verdicts(folder, run_of(run, mine, tolerances.__getitem__)):
                self.tests[metric] += 1
                self.unclear[metric] += verdict == "inconclusive"
                if verdict == "regressed":
                    alarms += 1
                    self.alarms[metric] += 1
                    key = (case_id, metric)
                    was = f"{of_baseline[key]}, {of_other[key]}"
                    print(f"alarm: {case_id} {metric}: {was} -> {of_run[key]}", flush=True)
            self.runs += 1
            self.runs_with_alarm += alarms > 0
            for changed in PLANTED:
                planted = run_of(run, mine, tolerances.__getitem__, changed, 1 + size)
                for _, metric, verdict in self.verdicts(folder, planted):
                    self.planted[metric] += metric == changed
                    self.found[metric] += metric == changed and verdict == "regressed"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", type=pathlib.Path)
    parser.add_argument("tolerance")
    parser.add_argument("--planted", type=float, default=0.05)
    options = parser.parse_args()
    replay = Replay(options.tool.resolve(), options.tolerance)
    for path in sorted(DATA.glob("*/*-1.run.json")):
        one, two = document_of(path), document_of(str(path).replace("-1.run", "-2.run"))
        device = one["environment"]["device"]["key"]
        baseline = document_of(DATA / "baselines" / device / f"{one['suites'][0]['name']}.json")
        replay.judge(one, two, baseline, options.planted)
        replay.judge(two, one, baseline, options.planted)
    print(f"{replay.runs} runs, {replay.runs_with_alarm} with an alarm, {sum(replay.tests.values())} tests")
    for name in sorted(replay.tests):
        planted = f", {replay.found[name]} of {replay.planted[name]} planted found" if replay.planted[name] else ""
        alarms, unclear = replay.alarms[name], replay.unclear[name]
        print(f"{name}: {replay.tests[name]} tests, {alarms} alarms, {unclear} unclear{planted}")


if __name__ == "__main__":
    main()
