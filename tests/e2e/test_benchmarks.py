# SPDX-License-Identifier: Apache-2.0
"""Benchmarks that measure themselves, in suites and imported: nothing here measures time, the results are given."""

import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import unittest
import unittest.mock
import xml.etree.ElementTree as xml

import tool

PROCESSORS = {f"cpu{number}" for number in os.sched_getaffinity(0)}
EXAMPLE = pathlib.Path(os.environ["PERFGATE_BUILD_DIR"]) / "bin" / "example_benchmark"
DATA = tool.SOURCE / "tests" / "data" / "benchmarks"

# Writes what Given.give has prepared, which differs a little from process to process. A shell starts in a fortieth of the
# time that Python takes with its reader of JSON, and there are a thousand processes.
BENCH = """#!/bin/sh
echo "$*" >>started
count=0
while read -r _; do count=$((count + 1)); done <started
given=${GIVEN:-results}
out=${1:-$RESULTS}
[ ! -e $given/say ] || cat $given/say
[ ! -e $given/stderr ] || cat $given/stderr >&2
rows=rows
[ $count -eq 1 ] || [ ! -e $given/late-0 ] || rows=late
if [ -e $given/text ]; then
    cp $given/text "$out"
elif [ ! -e $given/nothing ]; then
    cat $given/$rows-$((count % 14)) >"${out:-/dev/stdout}"
fi
read -r code <$given/exit
exit $code
"""

SUITE = """
name: mine
workloads:
  - benchmark: [./bench, "{out}"]
    name: bench
    format: json
    rows: /rows/*
    case: /name
    axes: {n: /n}
    values:
      real_time: {from: /seconds/*, unit: s}
      rate: {from: /rate, unit: GB/s}
      steps: {from: /steps, better: none}
    tolerances: {real_time: 5%, steps: 0}
"""

HOST = ["--backend", "host"]


def row(name, n, seconds, **more):
    return {"name": name, "n": n, "seconds": seconds, "rate": 3, "steps": 7, **more}


ROWS = [row("sort", 8, [1e-3, 1.1e-3]), row("sort", 64, [8e-3, 8.1e-3]), row("copy", 8, [1e-6, 1.1e-6])]


class Given(tool.Case):
    def setUp(self):
        super().setUp()
        self.write("suite.yaml", SUITE)
        self.bench(".")
        self.give()

    def bench(self, folder):
        path = self.write(f"{folder}/bench", BENCH)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def give(self, rows=None, folder=".", exit=0, late=None, noise=lambda name, process: 0.001 * (process % 7), **more):
        """What the benchmark reports from now on: rows, or after its first process `late`; or a text, or nothing."""
        given = self.folder / folder / "results"
        shutil.rmtree(given, ignore_errors=True)
        for name, text in {"exit": f"{exit}\n", **more}.items():
            self.write(given / name, str(text))
        for process in range(14):
            for name, reported in (("rows", ROWS if rows is None else rows), ("late", late)):
                if reported is None:
                    continue
                factors = [1 + noise(each["name"], process) for each in reported]
                self.write(given / f"{name}-{process}", json.dumps({"rows": [
                    dict(each, seconds=[factor * value for value in each["seconds"]])
                    for factor, each in zip(factors, reported)]}))

    def slower(self, factor, name="sort"):
        return [row(each["name"], each["n"], [value * (factor if each["name"] == name else 1)
                                              for value in each["seconds"]]) for each in ROWS]

    def refresh(self):
        self.run_tool("baseline", "refresh", "suite.yaml", *HOST, "--processes", 8)

    def run_suite(self, *words, **kwargs):
        return self.run_tool("run", "suite.yaml", *HOST, *words, **kwargs)

    def cases(self):
        return {case["id"]: case for suite in self.read_json("perfgate-out/run.json")["suites"]
                for case in suite["cases"]}

    def verdicts(self):
        return {case["id"]: case["verdict"] for suite in self.read_json("perfgate-out/verdict.json")["suites"]
                for case in suite["cases"]}

    def reason(self, case="bench/*"):
        return next(each["reason"] for suite in self.read_json("perfgate-out/verdict.json")["suites"]
                    for each in suite["cases"] if each["id"] == case)


class StoredCases(Given):
    """What becomes of the stored cases of a benchmark: only the benchmark knows which it has."""

    def setUp(self):
        super().setUp()
        self.refresh()
        self.path = next((self.folder / "baselines").rglob("mine.json"))

    def stored(self):
        return json.loads(self.path.read_text())["cases"]

    def test_prune_keeps_what_only_the_benchmark_knows(self):
        before = self.path.read_text()
        done = self.run_tool("baseline", "prune", "suite.yaml")
        self.assertIn("0 orphans removed", done.stdout)
        self.assertIn("3 cases of benchmarks kept", done.stdout)
        self.assertEqual(before, self.path.read_text())
        self.run_suite()

    def test_prune_takes_out_what_a_run_shows_to_be_gone(self):
        self.give(ROWS[:2])
        self.run_suite(code=1)
        done = self.run_tool("baseline", "prune", "suite.yaml", "perfgate-out/run.json")
        self.assertIn("bench/copy[n=8]", done.stdout)
        self.assertIn("1 orphan removed", done.stdout)
        self.assertEqual(2, len(self.stored()))
        self.run_suite()
        self.run_tool("baseline", "verify")

    def test_prune_learns_nothing_from_a_part_of_a_run_nor_from_one_that_failed(self):
        self.run_suite("--filter", "bench/sort*")
        done = self.run_tool("baseline", "prune", "suite.yaml", "perfgate-out/run.json", code=2)
        self.assert_one_line(done.stderr, "only some of its cases")
        self.give(exit=1)
        self.run_suite(code=3)
        done = self.run_tool("baseline", "prune", "suite.yaml", "perfgate-out/run.json")
        self.assertIn("0 orphans removed", done.stdout)
        self.assertEqual(3, len(self.stored()))

    def test_prune_takes_out_the_cases_of_a_benchmark_that_left_the_suite(self):
        self.write("suite.yaml", SUITE.replace("name: bench", "name: another"))
        self.assertIn("3 orphans removed", self.run_tool("baseline", "prune", "suite.yaml").stdout)

    def test_what_a_skipped_benchmark_has_is_neither_refreshed_away_nor_gone(self):
        self.bench("second")
        self.give(folder="second")
        second = ("  - benchmark: [./bench, '{out}']\n    name: second\n    cwd: second\n" +
                  SUITE.partition("name: bench\n")[2])
        self.write("suite.yaml", SUITE + second)
        self.refresh()
        self.assertEqual(6, len(self.stored()))
        self.write("suite.yaml", SUITE + second + "overrides:\n  - {match: 'bench/*', skip: slow}\n")
        self.run_suite("--processes", 8)
        diff = self.run_tool("baseline", "refresh", "perfgate-out/run.json", "--dry-run").stdout
        self.assertNotIn("only in the stored baseline", diff)
        self.run_tool("baseline", "refresh", "perfgate-out/run.json", "--reason", "again")
        self.assertEqual(6, len(self.stored()))

    def accept_line(self, stdout):
        lines = stdout.replace("\\\n", "").splitlines()  # long ones are folded
        return lines[lines.index("accept:") + 1].strip()

    def paste(self, line):
        folder = pathlib.Path(tool.PERFGATE).parent
        done = subprocess.run(["sh", "-c", line.replace("WHY", "renamed")], cwd=self.folder, text=True,
                              capture_output=True, env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)

    def test_the_printed_line_accepts_an_added_and_a_renamed_case_and_leaves_the_others(self):
        kept = {case: self.stored()[case] for case in ("bench/sort[n=8]", "bench/copy[n=8]")}
        self.give([ROWS[0], row("sort", 128, [8e-3, 8.1e-3]), ROWS[2], row("it's new", 1, [1e-3])])
        done = self.run_suite("--processes", 3, code=1)
        self.paste(self.accept_line(done.stdout))
        stored = self.stored()
        self.assertEqual({*kept, "bench/sort[n=128]", "bench/it's new[n=1]"}, set(stored))
        for case, expected in kept.items():
            self.assertEqual(expected, stored[case])
        self.run_tool("baseline", "verify")
        self.run_suite()

    def test_the_printed_line_leaves_out_what_accept_refuses(self):
        self.give([row("sort", 8, [2e-3, 2e-3]), dict(row("sort", 64, [8e-3]), seconds=[]), ROWS[2]])
        done = self.run_suite("--processes", 5, code=(1, 3))
        line = self.accept_line(done.stdout)
        self.assertIn("'bench/sort[n=8]'", line)
        self.assertNotIn("n=64", line)
        self.paste(line)

    def test_a_refresh_with_fewer_processes_keeps_those_of_cases_that_pass(self):
        before = self.stored()
        self.give(self.slower(3, "copy"))
        self.run_suite("--processes", 5, code=1)
        done = self.run_tool("baseline", "refresh", "perfgate-out/run.json", "--reset-anchor", "--reason", "faster")
        self.assertIn("2 cases kept", done.stdout)
        self.assertEqual(before["bench/sort[n=8]"], self.stored()["bench/sort[n=8]"])
        self.assertEqual("faster", self.stored()["bench/copy[n=8]"]["provenance"]["reason"])


class Canary(Given):
    def test_where_nothing_can_be_slowed_down_every_report_says_that_the_gate_was_not_tried(self):
        self.refresh()
        words = "the canary was not tried"
        done = self.run_suite("--set", "canary=true", "--report", "report.md", "--report", "report.html", "--report", "junit.xml")
        self.assertNotIn(words, done.stderr, "it is said once, in the report")
        # The console wraps its lines.
        self.assertIn(words, " ".join(done.stdout.split()))
        for name in ("report.md", "report.html", "junit.xml"):
            self.assertIn(words, (self.folder / name).read_text(), name)
        self.assertIn(words, " ".join(self.read_json("perfgate-out/verdict.json")["suites"][0]["notes"]))
        self.assertNotIn(words, self.run_suite().stdout)


EXPECT = """
expect:
  bench/copy.real_time: "<= 0.5 * bench/sort.real_time"
  bench/sort[n=64].steps: "== 7"
"""


class Related(Given):
    """Relations between the cases of a benchmark, which are not known when the suite is read."""

    def expect(self, text=EXPECT):
        self.write("suite.yaml", SUITE + text)

    def relations(self):
        return [(each["leading"], each["verdict"]) for suite in self.read_json("perfgate-out/verdict.json")["suites"]
                for each in suite["relations"]]

    def test_they_hold_or_fail_without_a_baseline(self):
        self.expect()
        self.assertIn("2 relations hold", self.run_suite().stdout)
        self.assertEqual([("bench/copy[n=8]", "pass"), ("bench/sort[n=64]", "pass")], self.relations())
        self.give([row("copy", 8, [2e-3]), *ROWS[:2]])
        self.assertRegex(" ".join(self.run_suite(code=1).stdout.split()),
                         r"broken: bench/copy\.real_time is .* and should be at most .* for \[n=8\]")
        self.run_tool("compare", "perfgate-out/run.json", code=1)
        self.give([{**each, "steps": 8} for each in ROWS])
        self.run_suite(code=1)

    def test_that_they_can_fail_is_proved(self):
        self.expect()
        self.run_suite()
        self.assertIn("2 relations tried: each relation can be broken",
                      self.run_tool("compare", "perfgate-out/run.json", "--prove").stderr)
        self.expect('expect: {bench/copy.real_time: ">= 0.5 * bench/copy.real_time"}')
        self.run_suite()
        self.assertIn("cannot be broken",
                      self.run_tool("compare", "perfgate-out/run.json", "--prove", code=(1, 3)).stderr)

    def test_list_and_validate_show_them_and_execute_nothing(self):
        self.expect()
        self.assertIn("2 relations\n", self.run_tool("validate", "suite.yaml").stdout)
        self.assertIn("bench/sort[n=64].steps == 7  (of cases that the benchmark reports)",
                      self.run_tool("list", "suite.yaml", *HOST).stdout)
        self.assertFalse((self.folder / "started").exists())

    def test_mistakes_are_found_before_the_benchmark_runs_or_before_anything_counts(self):
        self.expect('expect: {bench/copy.real_tim: "<= 1s"}')
        self.assertIn("unknown metric of the benchmark bench: 'real_tim'",
                      self.run_tool("validate", "suite.yaml", code=2).stderr)
        self.expect('expect: {bench/copied.real_time: "<= 1s"}')
        self.run_tool("validate", "suite.yaml")
        wrong = self.run_suite(code=2).stderr.splitlines()[-1]
        self.assert_one_line(wrong, "suite.yaml:15:16: unknown result of the benchmark bench: 'copied'; "
                             "expected one of copy, sort")
        self.assertEqual(1, len((self.folder / "started").read_text().splitlines()))

    def test_what_cannot_be_judged_is_no_pass(self):
        self.expect()
        # It fails before it has reported anything.
        self.give(exit=3)
        self.run_suite(code=3)
        self.assertEqual({"error"}, {verdict for _, verdict in self.relations()})
        # Later processes do not report the case.
        (self.folder / "started").unlink()
        self.give(late=ROWS[:2])
        self.run_suite(code=3)
        self.assertEqual([("bench/copy[n=8]", "error"), ("bench/sort[n=64]", "pass")], self.relations())
        self.write("suite.yaml", SUITE.replace(", steps: 0", "") + EXPECT)
        self.give([{key: value for key, value in each.items() if key != "steps"} for each in ROWS])
        self.run_suite(code=3)
        self.assertIn(("bench/sort[n=64]", "error"), self.relations())
        # Left out with --filter, it is skipped and says so.
        self.expect()
        self.give()
        self.run_suite("--filter", "bench/copy*")
        self.assertEqual([("bench/copy[n=8]", "skipped")], self.relations())

    def test_both_checkouts_of_ab(self):
        self.expect()
        for folder in ("base", "head"):
            self.bench(folder)
            self.give(folder=folder)
        words = ["ab", "--base", "dir:base", "--head", "dir:head", "suite.yaml", *HOST, "--processes", 6]
        self.run_tool(*words)
        self.assertEqual({"pass"}, {verdict for _, verdict in self.relations()})
        self.give([{**each, "steps": 8} for each in ROWS], folder="head")
        self.run_tool(*words, code=1)
        # The head no longer reports the partner.
        self.give(ROWS[2:], folder="head")
        self.run_tool(*words, code=(1, 3))
        self.assertEqual({"error"}, {verdict for _, verdict in self.relations()})


class Measured(Given):
    def test_results_become_cases(self):
        self.run_suite("--processes", 3)
        cases = self.cases()
        self.assertEqual(["bench/sort[n=8]", "bench/sort[n=64]", "bench/copy[n=8]"], list(cases))
        time = cases["bench/sort[n=64]"]["metrics"]["real_time"]
        self.assertEqual(("ns", "json"), (time["unit"], time["method"]))
        self.assertEqual([0, 1, 2], [batch["process"] for batch in time["batches"]])
        self.assertEqual([2, 2, 2], [len(batch["samples"]) for batch in time["batches"]])
        self.assertAlmostEqual(8.05e6, time["value"], delta=1e5)
        self.assertEqual(3e9, cases["bench/sort[n=8]"]["metrics"]["rate"]["value"])
        definition = self.read_json("perfgate-out/run.json")["metric_definitions"]["rate"]
        self.assertEqual(("bytes/s", "higher", "timing"),
                         (definition["unit"], definition["direction"], definition["class"]))
        # One process more than those that count: its results show the cases.
        self.assertEqual(4, len((self.folder / "started").read_text().splitlines()))

    def test_unchanged_passes_and_twice_the_time_fails(self):
        self.refresh()
        for _ in range(3):
            self.run_suite()
        self.assertEqual({"pass"}, set(self.verdicts().values()))
        self.give(self.slower(2))
        done = self.run_suite(code=1)
        self.assertRegex(done.stdout, r"regressed +bench/sort\[n=64\] .*\+(?:99\.|100).*\n +real_time \S+ \S+ → ")
        self.assertEqual({"bench/sort[n=8]": "regressed", "bench/sort[n=64]": "regressed", "bench/copy[n=8]": "pass"},
                         self.verdicts())
        self.give([row(each["name"], each["n"], each["seconds"], steps=8) for each in ROWS])
        self.assertIn("steps 7 → 8, tolerance", self.run_suite(code=1).stdout)
        # The stored run says the same, and nothing is executed.
        (self.folder / "started").unlink()
        self.run_tool("compare", "perfgate-out/run.json", code=1)
        self.run_tool("report", "perfgate-out/verdict.json", code=(0, 1, 2))
        self.run_tool("validate", "suite.yaml")
        self.run_tool("list", "suite.yaml")
        self.assertFalse((self.folder / "started").exists())

    def test_what_is_so_for_all_of_it_is_said_once(self):
        done = self.run_tool("baseline", "refresh", "suite.yaml", "--processes", 6, "--runs", 3,
                             env={"CUDA_VISIBLE_DEVICES": ""})
        self.assertNotIn("no GPU here", done.stderr)  # nothing of this suite is measured by perfgate's backend
        shutil.rmtree(self.folder / "baselines")
        # In the summary, and what to do about it.
        text = " ".join(self.run_suite().stdout.split())
        self.assertEqual(2, text.count("no baseline"), text)

    def test_what_a_refresh_measured_can_be_taken_again(self):
        def refresh(*words):
            return self.run_tool("baseline", "refresh", *words).stdout

        out = self.folder / "perfgate-out"
        refresh("suite.yaml", *HOST, "--processes", 9, "--runs", 3)
        runs = [out / f"run-{i}/run.json" for i in (1, 2, 3)]
        self.assertIn(f" 0 accepted, {len(ROWS)} unchanged", refresh(*runs))
        refresh("suite.yaml", *HOST, "--processes", 9)
        self.assertEqual([False] * 3, [run.exists() for run in runs])
        self.assertIn(f" 0 accepted, {len(ROWS)} unchanged", refresh(out / "run.json"))

    def test_a_rate_falls_and_rises(self):
        self.write("suite.yaml", SUITE.replace("real_time: 5%, steps: 0", "rate: 5%"))
        self.refresh()
        self.give([row(each["name"], each["n"], each["seconds"], rate=1.5) for each in ROWS])
        self.assertIn("rate 3.000 GB/s → 1.500 GB/s, tolerance", self.run_suite(code=1).stdout)
        # Far beyond: it must not hide behind too few processes.
        self.give([row(each["name"], each["n"], each["seconds"], rate=0.01) for each in ROWS])
        self.run_suite("--processes", 1, code=1)
        self.write("once.yaml", "policy: {rounds: 0}\n")
        self.run_suite("--processes", 1, "--config", "once.yaml", code=3)
        self.assertRegex(self.reason("bench/sort[n=8]"), r"-99\.7 %.*takes p ≤ .* on each side are enough")
        self.give([row(each["name"], each["n"], each["seconds"], rate=8) for each in ROWS])
        self.run_suite("--processes", 1)
        self.run_suite()
        self.assertEqual({"improved"}, set(self.verdicts().values()))
        self.give([row(each["name"], each["n"], each["seconds"], rate=9.1) for each in ROWS])
        self.run_suite()
        self.assertEqual({"inconclusive"}, set(self.verdicts().values()))
        self.run_suite("--set", "not_shown=fail", code=4)

    def test_a_case_that_is_no_longer_reported_is_missing(self):
        self.refresh()
        self.give(ROWS[:2] + [row("new", 1, [1e-3])])
        self.run_suite(code=1)
        self.assertEqual({"bench/sort[n=8]": "pass", "bench/sort[n=64]": "pass", "bench/new[n=1]": "no_baseline",
                          "bench/copy[n=8]": "missing"}, self.verdicts())

    def test_a_value_that_is_no_number_is_an_error_of_its_case(self):
        self.refresh()
        self.give([row("sort", 8, [float("nan")])] + ROWS[1:])
        self.run_suite(code=3)
        self.assertEqual({"bench/sort[n=8]": "error", "bench/sort[n=64]": "pass", "bench/copy[n=8]": "pass"}, self.verdicts())
        self.assertIn("'NaN' in '/seconds/*' is no number", self.reason("bench/sort[n=8]"))

    def test_a_benchmark_that_fails_is_an_error(self):
        self.refresh()
        failures = {
            "wrote no results": dict(nothing=True),
            "exited with 3 and not with 0; the last line of its stderr: no device": dict(exit=3, stderr="no device"),
            "the file is empty": dict(text=""),
            "the JSON ends too early": dict(text="{"),
            "not JSON": dict(text='{"rows": [none]}'),
            "it has no result": dict(rows=[]),
            r"rows\[3\]: sort\[n=8\] is already at rows\[0\], which differs in batch": dict(
                rows=ROWS + [row("sort", 8, [1e-3], batch=2)]),
            "'/n' leads to 0 values": dict(rows=[{"name": "sort", "seconds": [1]}]),
            "characters that are not printable": dict(rows=[row("a\nb", 1, [1])]),
            "more than 32 levels|nested deeper": dict(text="[" * 100 + "]" * 100),
        }
        for reason, given in failures.items():
            with self.subTest(reason):
                self.give(**given)
                self.run_suite(code=3)
                self.assertRegex(self.reason(), reason)
                self.assertEqual({"error"}, set(self.verdicts().values()))
                # The cases of the baseline are named too.
                self.assertIn("its benchmark failed", self.reason("bench/copy[n=8]"))
        failed = xml.parse(self.folder / "perfgate-out/junit.xml").getroot().findall(".//error")
        self.assertEqual(4, len(failed))

    def test_a_benchmark_that_hangs_is_ended(self):
        self.write("suite.yaml", SUITE.replace('[./bench, "{out}"]', '[sleep, "100"]') + "    timeout: 1s\n")
        self.run_suite(code=3)
        self.assertIn("took longer than 1 s", self.reason())

    def test_a_benchmark_that_ignores_term_is_killed_with_its_child(self):
        ignoring = "trap '' TERM; (echo $BASHPID >> pids; sleep 100) & echo $$ >> pids; sleep 100"
        self.write("suite.yaml", SUITE.replace('[./bench, "{out}"]', json.dumps(["bash", "-c", ignoring]))
                   + "    timeout: 1s\n")
        self.run_suite(code=3)
        self.assertIn("took longer than 1 s", self.reason())
        self.assertEqual({"error"}, {case["status"] for case in self.cases().values()})
        pids = (self.folder / "pids").read_text().split()
        self.assertEqual(2, len(pids))
        for pid in pids:
            state = pathlib.Path(f"/proc/{pid}/stat")
            self.assertTrue(not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z", pid)

    def test_mps_and_other_profilers_are_refused_before_it_runs(self):
        for name, words in (("CUDA_INJECTION64_PATH", "another profiler"), ("CUDA_MPS_PIPE_DIRECTORY", "an MPS server")):
            done = self.run_suite(code=2, env={name: "/somewhere"})
            self.assert_one_line(done.stderr, words, name)
        self.assertFalse((self.folder / "started").exists())

    def test_a_result_without_a_time_is_an_error_alone(self):
        self.refresh()
        self.give(ROWS[:2] + [row("copy", 8, [0])])
        self.run_suite(code=3)
        self.assertEqual("error", self.verdicts()["bench/copy[n=8]"])
        self.assertEqual("pass", self.verdicts()["bench/sort[n=8]"])
        self.assertIn("real_time is 0", self.reason("bench/copy[n=8]"))
        self.give(ROWS[:2] + [{"name": "copy", "n": 8, "seconds": [1e-6]}])
        self.run_suite(code=3)
        self.assertEqual("error", self.verdicts()["bench/copy[n=8]"])
        self.assertIn("steps is gated", self.reason("bench/copy[n=8]"))

    def test_a_later_process_must_report_the_same(self):
        self.give(late=ROWS[:2])
        self.run_suite(code=3)
        self.assertIn("does not report it, as another process", self.reason("bench/copy[n=8]"))

    def test_filter_selects_what_the_first_run_shows(self):
        self.refresh()
        self.run_suite("--filter", "bench/sort*")
        self.assertEqual(["bench/sort[n=8]", "bench/sort[n=64]"], list(self.cases()))
        # The baseline's other case is not missing.
        self.assertEqual(2, len(self.verdicts()))
        self.assert_one_line(self.run_suite("--filter", "bench/none", code=2).stderr.splitlines()[-1], "bench/none")
        (self.folder / "started").unlink()
        self.run_suite("--filter", "other/*", code=2)
        self.assertFalse((self.folder / "started").exists())

    def test_overrides_are_for_the_cases_it_reports(self):
        self.write("suite.yaml", SUITE + 'overrides:\n  - {match: "bench/copy*", skip: too noisy}\n'
                                         '  - {match: "bench/sort*", tolerances: {real_time: 300%}}\n')
        self.refresh()
        self.give(self.slower(2))
        self.run_suite()
        self.assertEqual("skipped", self.verdicts()["bench/copy[n=8]"])
        self.write("suite.yaml", SUITE + 'overrides:\n  - {match: "bench/none*", skip: too noisy}\n')
        self.run_tool("validate", "suite.yaml")
        self.assertIn("'bench/none*' matches no case", self.run_suite(code=2).stderr)
        self.write("suite.yaml", SUITE + 'overrides:\n  - {match: "bench/*", skip: needs a GPU}\n')
        (self.folder / "started").unlink()
        self.run_suite(code=2)
        self.assertFalse((self.folder / "started").exists())

    def test_a_skipped_combination_stands_for_no_other(self):
        self.write("suite.yaml", SUITE.replace("/rows/*", "/rows/*\n    matrix: {mode: [fast, slow]}")
                   .replace('"{out}"]', '"{out}", "{mode}"]'))
        self.refresh()
        self.write("suite.yaml", (self.folder / "suite.yaml").read_text() +
                   'overrides:\n  - {match: "bench/*mode=slow*", skip: too noisy}\n')
        self.give(ROWS[1:])
        self.run_suite(code=1)
        self.assertEqual({"missing": 1, "pass": 2, "skipped": 4},
                         {word: list(self.verdicts().values()).count(word)
                          for word in ("missing", "pass", "skipped")})
        self.assertEqual("missing", self.verdicts()["bench/sort[mode=fast,n=8]"])

    def test_only_verifying_finds_nothing_missing(self):
        self.refresh()
        self.run_suite("--verify-only", code=2)
        self.assertEqual({"skipped"}, set(self.verdicts().values()))
        self.assertIn("the suite states no 'check'", self.reason("bench/copy[n=8]"))

    def test_a_matrix_and_where_results_are_written(self):
        self.write("suite.yaml", SUITE.replace('"{out}"]', '"{out}", --n, "{n}"]\n    matrix: {n: [8]}'))
        self.give(ROWS[:1])
        self.run_suite()
        self.assertEqual(["bench/sort[n=8]"], list(self.cases()))
        self.run_suite("--verify-only", code=2)  # nothing verifies it
        self.give(ROWS[1:2])
        self.run_suite(code=3)
        self.assertIn("reports n=64 and was given n=8", self.reason("bench/*[n=8]"))
        # In a variable, and on standard output.
        for words in ('[./bench]\n    env: {RESULTS: "{out}"}', "[./bench]"):
            self.write("suite.yaml", SUITE.replace('[./bench, "{out}"]', words))
            self.give()
            self.run_suite()
            self.assertEqual(3, len(self.cases()))
        self.give(say="x" * 2000000)
        self.run_suite(code=3)
        self.assertIn("more than 1 MiB", self.reason())

    def test_a_wrong_result_has_no_times(self):
        self.write("suite.yaml", SUITE + "    check: [\"false\"]\n")
        self.run_suite(code=1)
        self.assertEqual({"incorrect"}, set(self.verdicts().values()))
        self.write("suite.yaml", SUITE + "    check: [\"true\"]\n")
        self.run_suite()
        self.assertTrue(self.cases()["bench/copy[n=8]"]["verification"]["passed"])

    def test_results_of_an_earlier_run_are_invalid(self):
        stored = [1.0234561e-3, 1.0312452e-3, 1.0198705e-3]
        self.give([row("sort", 8, stored)])
        cached = "#!/bin/sh\nexec cp results/rows-0 $1\n"
        self.write("bench", cached)
        self.run_suite("--processes", 2)
        self.run_suite(code=3)
        self.assertEqual({"bench/sort[n=8]": "invalid"}, self.verdicts())
        self.assertIn("real_time is invalid", self.reason("bench/sort[n=8]"))
        self.assertRegex(self.reason("bench/sort[n=8]"), r"each of \d processes reported the same 3 samples")
        # On one side of a comparison it hides what the other does.
        for folder in ("base", "head"):
            self.bench(folder)
            self.give([row("sort", 8, stored)], folder=folder)
        words = ["ab", "--base", "dir:base", "--head", "dir:head", "suite.yaml", *HOST, "--processes", 3]
        self.run_tool(*words)
        for folder in ("base", "head"):
            self.write(f"{folder}/bench", cached)
            self.run_tool(*words, code=3)
            self.bench(folder)
        # Nor do they become a baseline.
        done = self.run_tool("baseline", "refresh", "suite.yaml", *HOST, "--processes", 4, code=2)
        self.assertIn("the same 3 samples", done.stdout + done.stderr)
        self.assertEqual([], list((self.folder / "baselines").rglob("*.json")))
        # Where times repeat by design, the suite says that they are to be the same.
        self.write("suite.yaml", SUITE.replace("real_time: 5%", "real_time: 0"))
        self.run_suite()

    def test_far_fewer_samples_than_in_a_stored_baseline_are_noted(self):
        samples = [1e-3 + 1.3e-6 * number for number in range(10)]
        for count, noted in ((10, False), (4, True), (6, False)):
            with self.subTest(count):
                self.give([row("sort", 8, samples[:count])], noise=lambda name, process: 5e-4 * process)
                if count == 10:
                    self.refresh()
                self.run_suite()
                self.assertEqual(noted, "the baseline's gave at least 10" in json.dumps(
                    self.read_json("perfgate-out/verdict.json")))

    def test_a_csv_without_some_of_its_times_is_no_faster_one(self):
        def give(*fields):
            text = "".join(f"sort,{field}\\n" for field in fields)
            self.write("bench", f"#!/bin/sh\nprintf 'name,s\\n{text}' > $1\n")

        self.write("suite.yaml", "name: mine\nworkloads:\n  - benchmark: [./bench, \"{out}\"]\n    name: bench\n"
                   "    format: csv\n    case: name\n    values: {real_time: {from: s, unit: s}}\n"
                   "    tolerances: {real_time: 5%}\n")
        give("0.1", "0.9")
        self.run_suite("--processes", 2)
        give("0.1", "")
        self.run_suite("--processes", 2, code=3)
        self.assertIn("line 3: no value in column s, which line 2 of the same case has", self.reason("bench/sort"))

    def test_what_only_a_later_process_notes_is_a_note_of_its_cases(self):
        # The first run shows the cases, the second is the first that counts.
        bench = self.write("bench", tool.PYTHON + """
import json, os, sys
with open("started", "a") as started:
    started.write("x")
late = os.path.getsize("started") > 2
json.dump({"context": {"cpu_scaling_enabled": late, "library_build_type": "debug"},
           "benchmarks": [{"name": "sort", "run_type": "iteration", "iterations": 10, "real_time": 5.0,
                           "cpu_time": 5.0, "time_unit": "ms"}]}, open(sys.argv[1], "w"))
""")
        bench.chmod(bench.stat().st_mode | stat.S_IXUSR)
        self.write("suite.yaml", "name: mine\nworkloads:\n  - benchmark: [./bench, \"{out}\"]\n    name: bench\n"
                   "    format: google-benchmark\n    tolerances: {real_time: 5%}\n")
        self.run_suite("--processes", 4)
        notes = self.cases()["bench/sort"]["notes"]
        self.assertIn("debug build", notes[0])
        self.assertIn("frequency", notes[-1])
        self.assertEqual(len(set(notes)), len(notes))

    def test_two_environments_in_turns(self):
        # The head reports another case and a slower one; both sides run in the same folder.
        self.give(ROWS[1:])
        (self.folder / "results").rename(self.folder / "base")
        self.give(self.slower(2, "copy"))
        done = self.run_tool("ab", "suite.yaml", *HOST, "--processes", 6, "--base", "env:GIVEN=base", code=1)
        self.assertIn("environments differ in GIVEN", " ".join(done.stdout.split()))
        # Its value is the user's, who may have a secret there.
        base = self.read_json("perfgate-out/base/run.json")["suites"][0]["cases"][0]
        self.assertEqual([{"name": "GIVEN"}], base["env"])
        self.assertNotIn("env", self.cases()["bench/sort[n=64]"])
        self.assertEqual({"bench/sort[n=8]": "no_baseline", "bench/sort[n=64]": "pass",
                          "bench/copy[n=8]": "regressed"}, self.verdicts())
        done = self.run_tool("ab", "suite.yaml", *HOST, "--base", "env:RESULTS={out}", code=2)
        self.assert_one_line(done.stderr, "--base env: '{out}'")

    def test_what_both_sides_run_is_said(self):
        for folder in ("base", "head", "tools"):
            self.bench(folder)
            self.give(folder=folder)
        program = self.folder / "tools/bench"

        def notes(words, *more):
            self.write("suite.yaml", SUITE.replace("[./bench, ", f"[{words}, "))
            done = self.run_tool("ab", "--base", "dir:base", "--head", "dir:head", "suite.yaml", *HOST,
                                 "--processes", 2, *more)
            self.assertEqual("base and head" in done.stdout, bool(self.notes_of_suite()))
            return self.notes_of_suite()

        same = [f"base and head run the same file {program}: a change of it is not seen"]
        self.assertEqual([], notes("./bench"))
        self.assertEqual(same, notes(program))
        self.assertEqual(same, notes(f"sh, {program}"))
        self.assertEqual([], notes(program, "--base", "env:A=1"))
        for folder in ("base", "head"):
            os.remove(self.folder / folder / "bench")
            os.symlink(program, self.folder / folder / "bench")
        self.assertEqual(same, notes("./bench"))
        for folder in ("base", "head"):
            shutil.copy(shutil.which("env"), self.folder / folder / "env")
        head = self.folder / "head/env"
        self.assertEqual([f"base and head run the same program: {head} has the same content in both"],
                         notes(f"./env, sh, {program}"))
        with open(head, "ab") as binary:
            binary.write(b"another build")
        self.assertEqual([], notes(f"./env, sh, {program}"))

    def notes_of_suite(self):
        (suite,) = self.read_json("perfgate-out/verdict.json")["suites"]
        return [note for note in suite.get("notes", []) if note.startswith("base and head")]

    def test_two_checkouts_in_turns(self):
        for folder in ("base", "head"):
            self.bench(folder)
            self.give(folder=folder)
        words = ["ab", "--base", "dir:base", "--head", "dir:head", "suite.yaml", *HOST, "--processes", 6]
        self.run_tool(*words)
        self.assertEqual({"pass"}, set(self.verdicts().values()))
        self.give(self.slower(2, "copy"), folder="head")
        self.assertIn("bench/copy[n=8]", self.run_tool(*words, code=1).stdout)
        self.assertEqual("regressed", self.verdicts()["bench/copy[n=8]"])
        self.give(ROWS[1:] + [row("new", 1, [1e-3])], folder="head")
        self.run_tool(*words, code=3)
        self.assertEqual("error", self.verdicts()["bench/sort[n=8]"])
        self.assertEqual("no_baseline", self.verdicts()["bench/new[n=1]"])
        self.assertIn("does not report it", self.reason("bench/new[n=1]"))
        # A side that fails is never a pass.
        self.give(folder="head", exit=1)
        self.run_tool(*words, code=3)
        self.give(folder="head")
        self.give(folder="base", exit=1)
        self.run_tool(*words, code=3)
        self.assertEqual("error", self.verdicts()["bench/copy[n=8]"])
        self.assertIn("exited with 1", self.reason("bench/copy[n=8]"))
        self.run_tool("ab", "--base", "build:base", "suite.yaml", *HOST, code=(2, 3))

    def test_a_run_is_resumed_and_divided(self):
        self.run_suite("--processes", 2)
        self.assertIn("was not interrupted", self.run_suite("--processes", 2, "--resume", "perfgate-out", code=2).stderr)
        tool.take_end_from_journal(self.folder)
        self.run_tool("run", "suite.yaml", *HOST, "--processes", 2, "--resume", "perfgate-out")
        self.give(ROWS[:2])
        self.assertIn("do not belong to this run", self.run_tool(
            "run", "suite.yaml", *HOST, "--processes", 2, "--resume", "perfgate-out", code=2).stderr)
        self.give()
        self.write("bench", BENCH + "# edited\n")
        self.assertIn("bench is", self.run_tool(
            "run", "suite.yaml", *HOST, "--processes", 2, "--resume", "perfgate-out", code=2).stderr)
        for shard in (1, 2):
            self.run_suite("--processes", 2, "--shard", f"{shard}/2", "--out", f"shard-{shard}")
        self.run_tool("compare", "shard-1/run.json", "shard-2/run.json", "--out", "perfgate-out")
        self.assertEqual(3, len(self.cases()))


class Page(tool.Case):
    def test_its_suites_are_valid_and_it_names_every_format(self):
        page = (tool.SOURCE / "docs/benchmarks.md").read_text()
        whole, nccl, solver, rows, text, nvbench, expect, kernels = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
        self.write("whole.yaml", whole)
        self.write("solver.yaml", "name: solver\nworkloads:\n" + solver)
        self.write("nvbench.yaml", "name: nvbench\nworkloads:\n" + nvbench)
        self.write("others.yaml", "name: others\nworkloads:\n" + nccl + rows + text)
        self.write("kernels.yaml", kernels)
        self.write("related.yaml", whole.replace("mine", "related") + solver + expect)
        done = self.run_tool("validate", "whole.yaml", "solver.yaml", "nvbench.yaml", "related.yaml", "kernels.yaml",
                             "others.yaml").stdout
        self.assertIn("related.yaml: ok, 2 cases (0 cuda, 0 host, 2 of programs), 2 relations", done)
        self.assertIn("kernels.yaml: ok, 3 cases (0 cuda, 0 host, 3 of programs), 1 relation", done)
        named = set(re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE)) & self.formats()
        self.assertEqual(self.formats(), named)

    def formats(self):
        self.write("wrong.yaml", SUITE.replace("format: json", "format: x"))
        expected = self.run_tool("validate", "wrong.yaml", code=2).stderr
        return set(re.search(r"expected one of (.*)", expected).group(1).split(", "))


class Results(tool.Case):
    def imported(self, name, *words, **kwargs):
        """Stores a run of results as `name`."""
        done = self.run_tool("compare", *words, "--out", "imported", "--verbose", **kwargs)
        if done.returncode != 2:
            (self.folder / "imported/run.json").replace(self.folder / name)
        return done


class Imported(Given, Results):
    def hyperfine(self, name, factor=1.0, runs=1, commands=("a", "b")):
        self.write(name, json.dumps({"results": [
            {"command": command, "times": [0.01 * factor * (1 + 0.001 * i) for i in range(runs)],
             "exit_codes": [0] * runs} for command in commands]}))
        return name

    def series(self, side, factor=1.0, count=8, **kwargs):
        return [self.hyperfine(f"{side}{i}.json", factor * (1 + 0.001 * i), **kwargs) for i in range(count)]

    def compare(self, base, head, *words, **kwargs):
        return self.run_tool("compare", "--base", *base, "--head", *head, *words, "--out", "perfgate-out", **kwargs)

    def test_base_against_head_in_one_command(self):
        base = self.series("base")
        self.compare(base, self.series("same"))
        self.assertEqual({"bench/a": "pass", "bench/b": "pass"}, self.verdicts())
        done = self.compare(base, self.series("slow", 2), code=1)
        self.assertRegex(done.stdout, r"regressed +bench/b +10\.\d+ ms +20\.\d+ ms")
        self.compare(base, self.series("slow", 2), "--tolerance", "200%")
        self.compare(base, self.series("slow", 2), "--filter", "bench/none", code=2)

    def test_single_files_show_nothing(self):
        base, head = [self.hyperfine("base.json", runs=10)], [self.hyperfine("head.json", 1.0001, runs=10)]
        done = self.compare(base, head)
        self.assertEqual({"inconclusive"}, set(self.verdicts().values()))
        self.assertIn("not shown", done.stdout)
        self.compare(base, head, "--set", "not_shown=fail", code=4)
        # What is beyond the tolerance fails all the same.
        self.compare(base, [self.hyperfine("slow.json", 2)], code=1)

    def test_more_files_never_make_a_failure_a_pass(self):
        for factor, change in ((1.08, "+8.0 %"), (1.5, "+50.0 %"), (9, "+800.0 %")):
            for count in (1, 2, 3, 5, 8):
                with self.subTest(factor=factor, count=count):
                    done = self.compare(self.series("base", count=count), self.series("head", factor, count=count),
                                        code=1 if count in (1, 8) else 3)
                    self.assertIn(change, done.stdout)
                    if done.returncode == 3:
                        self.assertRegex(self.reason("bench/a"), "takes p ≤ .* on each side are enough")
        # Noise that the base has, too, explains it.
        noisy = [self.hyperfine(f"noisy{i}.json", factor) for i, factor in enumerate((1, 1.4))]
        self.compare(noisy, [self.hyperfine(f"as-noisy{i}.json", factor)
                             for i, factor in enumerate((1.39, 1.41))])

    def test_a_time_that_collapses_is_inconclusive_until_it_is_accepted(self):
        words = ["--suite", "mine/own", "--device-key", "box"]
        for count in (1, 2, 8):
            base, fast = self.series("base", count=count), self.series("fast", 1e-5, count=count)
            done = self.compare(base, fast)
            self.assertEqual({"inconclusive"}, set(self.verdicts().values()))
            self.assertIn("does it still do all of its work", done.stdout)
            self.assertIn("-100.0 %", done.stdout)
            self.compare(base, fast, "--set", "not_shown=fail", code=4)
        self.imported("base.json", *base, *words)
        self.imported("fast.json", *fast, *words)
        self.run_tool("baseline", "refresh", "base.json")
        ci = self.write("ci.yaml", "policy: {not_shown: fail}\nprove: true\n")
        done = self.run_tool("compare", "fast.json", "--config", ci, "--report", "junit.xml",
                             "--report", "report.md", "--report", "verdict.json", code=4)
        self.assertIn("perfgate baseline accept fast.json", done.stdout)
        self.assertIn("each gate fails", done.stderr)
        case = self.read_json("verdict.json")["suites"][0]["cases"][0]
        self.assertEqual("too_good", case["reason_code"])
        for report in ("junit.xml", "report.md"):
            self.assertIn("does it still do all of its work", (self.folder / report).read_text())
        self.run_tool("baseline", "accept", "fast.json", "--reason", "it is a table now")
        self.run_tool("compare", "fast.json", "--config", ci)

    def test_what_is_not_in_both(self):
        base = self.series("base")
        head = self.series("head", commands=("a", "c"))
        self.compare(base, head, code=1)
        self.assertEqual({"bench/a": "pass", "bench/b": "missing", "bench/c": "no_baseline"}, self.verdicts())
        head = self.series("head", commands=("x",))
        self.assertIn("no case in common", self.compare(base, head, code=2).stderr)
        # A case that one file lacks is an error.
        self.hyperfine("head3.json", commands=("a", "x"))
        self.hyperfine("head4.json", 1.001, commands=("a", "x"))
        self.compare(base, [f"head{i}.json" for i in (3, 4)] + base[:1], code=(1, 3))
        self.assertEqual("error", self.verdicts()["bench/x"])
        # Also in the base: how much slower the head is cannot be said.
        head = self.series("head", 3)
        self.hyperfine("base7.json", commands=("a",))
        self.compare(base, head, code=(1, 3))
        self.assertEqual("error", self.verdicts()["bench/b"])
        self.assertIn("in the base this case is error", self.reason("bench/b"))

    def test_a_result_is_one_process_however_often_it_is_named(self):
        base, head = self.series("base"), self.series("head")
        shutil.copy(self.folder / "base3.json", self.folder / "copy.json")
        for twice, first, second in ((["base3.json"] * 2, "base3.json", "base3.json"),
                                     ([*base, "copy.json"], "base3.json", "copy.json")):
            for done in (self.compare(twice, head, code=2), self.compare(head, twice, code=2),
                         self.imported("run.json", *twice, code=2)):
                self.assert_one_line(done.stderr, f"{first} and {second}", "the same content")
        # Base and head may be equal where chance explains it: times of a few digits.
        self.compare(base, base)

    def test_the_results_of_the_base_are_no_head(self):
        base, copies = self.series("base", 1.0234567), self.series("copy", 1.0234567)
        for name in copies:
            self.write(name, json.dumps(self.read_json(name), indent=1))
        shown = " ".join(self.compare(base, copies, code=3).stdout.split())
        self.assertIn("each of 8 processes reported times of the baseline to the last digit", shown)
        words = ["--suite", "mine/own", "--device-key", "box"]
        self.imported("run.json", *base, *words)
        run = {**self.read_json("run.json"), "started_at": "2026-01-01T10:00:00Z"}
        self.write("run.json", json.dumps(run))
        self.run_tool("compare", "--base", "run.json", "--head", "run.json", code=3)
        self.run_tool("baseline", "refresh", "run.json")
        self.imported("again.json", *copies, *words, code=3)
        # The run that was accepted may be judged again.
        self.run_tool("compare", "run.json")
        # One that perfgate measured is known by its beginning.
        self.write("run.json", json.dumps({**run, "backend": "host"}))
        done = self.run_tool("compare", "--base", "run.json", "--head", "run.json", code=2)
        self.assert_one_line(done.stderr, "base and head are one run, which began at 2026-01-01T10:00:00Z")

    def test_import_makes_a_run_document(self):
        self.imported("run.json", DATA / "google-benchmark-aggregates.json")
        run = self.read_json("run.json")
        self.assertEqual("imported", run["backend"])
        case = run["suites"][0]["cases"][0]
        self.assertEqual("bench/sum[arg0=4096]", case["id"])
        self.assertIn("measured with min_time 0.010", case["notes"])
        self.assertTrue(any("debug build" in note for note in case["notes"]), case["notes"])
        self.assertNotIn('"vm"', json.dumps(run))  # the machine's name stays here
        self.run_tool("compare", "run.json")
        self.run_tool("compare", "--base", "run.json", "--head", "run.json")
        self.write("profile.yaml", "prove: true")
        done = self.run_tool("compare", "--base", "run.json", "--head", "run.json", "--config", "profile.yaml")
        self.assert_one_line(done.stderr, "'prove: true' has no effect with --base")
        self.write("profile.yaml", "canary: true")
        done = self.run_tool("compare", "--base", "run.json", "--head", "run.json", "--config", "profile.yaml")
        self.assert_one_line(done.stderr, "'canary: true' has no effect with compare")
        # An error entry of the benchmark.
        done = self.imported("run.json", DATA / "google-benchmark.json", code=3)
        self.assertRegex(done.stdout, "bench/broken\n.*no such device")
        self.run_tool("compare", "run.json", code=3)

    def test_imported_runs_have_baselines(self):
        words = ["--suite", "mine/own", "--device-key", "box"]
        self.imported("base.json", *self.series("base"), *words)
        self.run_tool("baseline", "refresh", "base.json")
        self.assertTrue((self.folder / "baselines/box/mine.json").exists())
        self.imported("slow.json", *self.series("slow", 2), *words, code=1)
        self.assertIn("own/a", self.run_tool("compare", "slow.json", code=1).stdout)

    def test_what_import_refuses(self):
        def refused(*words):
            return self.imported("run.json", *words, code=2).stderr

        self.write("other.json", "{}")
        self.assertIn("no results in a format that is recognised", refused("other.json"))
        self.assertIn("absent.json", refused("absent.json"))
        self.write("text.json", "BM_sort 10 ns")
        self.assertIn("no results in a format that is recognised", refused("text.json"))
        self.write("cut.json", '{"context": ')
        self.assertIn("cut.json:1:", refused("cut.json"))
        self.assertIn("context", refused(DATA / "hyperfine.json", "--format", "google-benchmark"))
        refused(DATA / "hyperfine.json", "--format", "csv")
        refused(DATA / "hyperfine.json", "--tolerance", "-3")
        refused(DATA / "hyperfine.json", "--tolerance", "1")
        self.hyperfine("run.json")
        before = (self.folder / "run.json").read_text()
        done = self.run_tool("compare", "run.json", "--out", ".", code=2)
        self.assert_one_line(done.stderr, "./run.json: it is an input")
        self.assertEqual(before, (self.folder / "run.json").read_text())
        self.run_tool("compare", "--base", "run.json", code=2)
        self.run_tool("compare", code=2)
        self.run_tool("compare", "--base", "run.json", "--head", "run.json", "--baselines", "here", code=2)
        self.imported("document.json", "run.json")
        self.run_tool("compare", "document.json", "--tolerance", "3%", code=2)


NVBENCH = tool.PYTHON + """
# What nvbench 0.1.0 wrote, with the changes of given.json: the times, and which benchmarks and states there are.
import json, pathlib, struct, sys
data = pathlib.Path(DATA)
given = json.load(open("given.json"))
document = json.loads((data / "nvbench.json").read_text())
with open("started", "a") as mark: mark.write("x")
count = len(open("started").read())
noise = 1 + 0.001 * (count % 7) + 1e-6 * count
out = pathlib.Path(sys.argv[-1])
folder = out.with_name(out.name + "-bin")
folder.mkdir()
document["benchmarks"] = [each for each in document["benchmarks"] if each["name"] in given["benchmarks"]]
for benchmark in document["benchmarks"]:
    for state in benchmark["states"]:
        if state["name"] in given.get("skipped", []):
            state.update(is_skipped=True, skip_reason="not today", summaries=None)
        means = [each["data"][0] for each in state["summaries"] or [] if each["tag"] == "nv/cpu_only/time/cpu/mean"]
        for summary in state["summaries"] or []:
            if summary["tag"] != "nv/json/bin:nv/cpu_only/sample_times": continue
            name = summary["data"][0]["value"]
            samples = struct.unpack("<10f", (data / name).read_bytes())
            kept = samples[:given.get("written", 10)]
            written = folder / pathlib.Path(name).name
            times = [1e-3 * given.get("factor", 1) * noise * (1 + 0.01 * (s % 1e-7) * 1e7) for s in kept]
            written.write_bytes(struct.pack(f"<{len(kept)}f", *times))
            for mean in means: mean["value"] = repr(sum(times) / len(times))
            summary["data"][0]["value"] = given.get("prefix", "") + f"{folder.name}/{written.name}"
out.write_text(json.dumps(document))
"""


class Nvbench(Results):
    """Output of a real nvbench, with other times."""

    def setUp(self):
        super().setUp()
        for folder in (".", "base", "head"):
            self.write(f"{folder}/bench", NVBENCH.replace("DATA", repr(str(DATA)))).chmod(0o755)
            self.give(folder=folder)
        self.write("suite.yaml", """
name: mine
workloads:
  - benchmark: [./bench, "{out}"]
    name: bench
    format: nvbench
    values: {error: {better: none}}
    tolerances: {real_time: 5%}
""")

    def give(self, folder=".", benchmarks=("sum", "product"), **more):
        self.write(f"{folder}/given.json", json.dumps({"benchmarks": benchmarks, **more}))

    def run_suite(self, *words, **kwargs):
        return self.run_tool("run", "suite.yaml", *HOST, *words, **kwargs)

    def verdicts(self):
        return {case["id"]: case["verdict"] for suite in self.read_json("perfgate-out/verdict.json")["suites"]
                for case in suite["cases"]}

    def test_states_become_cases_with_the_samples_beside_the_json(self):
        self.run_suite("--processes", 2)
        cases = {case["id"]: case for case in self.read_json("perfgate-out/run.json")["suites"][0]["cases"]}
        self.assertEqual(8, len(cases))
        case = cases["bench/sum[N=1000,Order=linear]"]
        time = case["metrics"]["real_time"]
        self.assertEqual(("ns", "nvbench"), (time["unit"], time["method"]))
        self.assertEqual([10, 10], [len(batch["samples"]) for batch in time["batches"]])
        self.assertEqual(0.125, case["metrics"]["error"]["value"])
        self.assertEqual("the benchmark skips it: no random order yet",
                         cases["bench/sum[N=1000,Order=random]"]["reason"])
        self.assertEqual("skipped", self.verdicts()["bench/sum[N=1000,Order=random]"])

    def test_unchanged_passes_and_slower_fails(self):
        self.run_tool("baseline", "refresh", "suite.yaml", *HOST, "--processes", 8)
        self.run_suite()
        self.assertEqual({"pass", "skipped"}, set(self.verdicts().values()))
        self.give(factor=1.5)
        self.assertRegex(self.run_suite(code=1).stdout, r"regressed +bench/product\[Factor=0.5,T=F32\]")
        # What it measured before and skips now is missing.
        self.give(skipped=["T{ct}=F32 Factor=1"])
        self.run_suite(code=1)
        self.assertEqual("missing", self.verdicts()["bench/product[Factor=1,T=F32]"])
        self.give(benchmarks=["product"])
        self.run_suite(code=1)
        self.assertEqual("missing", self.verdicts()["bench/sum[N=1000,Order=linear]"])

    def test_what_failed_is_an_error(self):
        for given, reason in (
                ({"benchmarks": ["broken"]}, "the benchmark reports an error: Unexpected error: no such table"),
                ({"written": 9}, "has 36 bytes; expected 40: 10 samples"),
                ({"prefix": "../"}, "cannot be read"),
                ({"prefix": "../../../"}, "cannot be read"),
                ({"prefix": "/"}, "expected a relative path"),
                ({"factor": 0}, "is 0; expected a finite number above 0")):
            with self.subTest(reason):
                self.give(**given)
                self.run_suite("--processes", 1, code=3)
                self.assertIn(reason, (self.folder / "perfgate-out/verdict.json").read_text())

    def test_a_head_that_skips_what_the_base_measures_fails(self):
        words = ["ab", "--base", "dir:base", "--head", "dir:head", "suite.yaml", *HOST, "--processes", 6]
        self.run_tool(*words)
        self.give("head", skipped=["T{ct}=F32 Factor=1"])
        self.run_tool(*words, code=3)
        self.assertEqual("error", self.verdicts()["bench/product[Factor=1,T=F32]"])
        self.give("head")
        self.give("base", skipped=["T{ct}=F32 Factor=1"])
        self.run_tool(*words)
        self.assertEqual("no_baseline", self.verdicts()["bench/product[Factor=1,T=F32]"])

    def results(self, side, folder=".", **given):
        """Eight result files with their samples, in a folder of their own."""
        self.give(folder, **given)
        names = []
        for i in range(8):
            target = self.folder / side / f"{i}.json"
            target.parent.mkdir(exist_ok=True)
            subprocess.run(["./bench", target], cwd=self.folder / folder, check=True)
            names.append(f"{side}/{i}.json")
        return names

    def test_stored_results_are_compared(self):
        base, same = self.results("one"), self.results("two")
        slower = self.results("three", factor=1.5)
        skips = self.results("four", skipped=["T{ct}=F32 Factor=1"])
        compare = ["compare", "--tolerance", "5%", "--out", "perfgate-out"]
        self.run_tool(*compare, "--base", *base, "--head", *same)
        self.run_tool(*compare, "--base", *base, "--head", *slower, code=1)
        self.run_tool(*compare, "--base", *base, "--head", *skips, code=1)
        self.run_tool(*compare, "--base", *base, "--head", *same[:4], *skips[:4], code=3)
        self.assertRegex(self.imported("run.json", *base).stdout,
                         r"skipped +bench/sum\[N=1000,Order=random\]\n.*\n +the benchmark skips it: no random order yet\n")
        shutil.rmtree(self.folder / "one/3.json-bin")
        self.assert_one_line(self.imported("run.json", *base, code=2).stderr,
                             "one/3.json: the samples in '3.json-bin/0.bin' cannot be read")


def google(time, repetitions=5, names=("a", "b"), aggregates=False, delivered=None, **context):
    """Results in Google Benchmark's JSON."""
    entries = []
    for name in names:
        common = {"run_name": name, "repetitions": repetitions, "threads": 1, "time_unit": "ns", "cpu_time": time}
        if aggregates:
            entries.append({**common, "name": f"{name}_median", "run_type": "aggregate", "aggregate_name": "median",
                            "real_time": time})
        else:
            entries += [{**common, "name": name, "run_type": "iteration", "repetition_index": i,
                         "real_time": time * (1 + 0.0013 * i)} for i in range(delivered or repetitions)]
    return json.dumps({"context": {"library_build_type": "release", **context}, "benchmarks": entries})


def nvbench(time, device="NVIDIA X", devices=1, used=1, stated=None):
    """Results in nvbench's JSON, of `--json`."""
    def summary(tag, value):
        return {"tag": tag, "data": [{"name": "value", "type": "float64", "value": str(value)}]}

    states = [{"name": "s", "device": i, "is_skipped": False, "axis_values": [{"name": "N", "value": "8"}],
               "summaries": [summary("nv/cold/sample_size", stated or 10), summary("nv/cold/time/gpu/median", time)]}
              for i in range(used)]
    return json.dumps({"meta": {"version": {"json": {"major": 1}}},
                       "devices": [{"id": i, "name": device} for i in range(devices)],
                       "benchmarks": [{"name": "copy", "devices": list(range(used)), "states": states}]})


def pytest_benchmark(time, cpu="AMD EPYC", saved=True, rounds=5, delivered=None):
    data = [time * (1 + 0.0013 * i) for i in range(delivered or rounds)]
    stats = {"rounds": rounds, "median": data[len(data) // 2], **({"data": data} if saved else {})}
    return json.dumps({"version": "3.2.2", "machine_info": {"node": "box", "cpu": {"brand_raw": cpu}},
                       "benchmarks": [{"fullname": "test_b.py::test_a", "stats": stats}]})


class Comparable(Results):
    """What base and head were measured as: in two ways, on two devices or by two builds is no comparison, and no pass."""

    def given(self, name, text):
        self.write(name, text)
        return name

    def compare(self, base, head, *words, code=0):
        base, head = ([each] if isinstance(each, str) else each for each in (base, head))
        return self.run_tool("compare", "--base", *base, "--head", *head, *words, "--out", "perfgate-out", code=code)

    def cases(self):
        return {case["id"]: case for suite in self.read_json("perfgate-out/verdict.json")["suites"]
                for case in suite["cases"]}

    def verdicts(self):
        return {name: case["verdict"] for name, case in self.cases().items()}

    def assert_invalid(self, *words):
        for name, case in self.cases().items():
            self.assertEqual("invalid", case["verdict"], name)
            for word in words:
                self.assertIn(word, case["reason"])

    def test_values_of_another_method_are_invalid_whatever_the_policies_say(self):
        for base, head, method in (
                (google(1000), google(10000, aggregates=True), "google-benchmark/median"),
                (google(10000, aggregates=True), google(1000), "google-benchmark/median"),
                (pytest_benchmark(1e-3), pytest_benchmark(1e-2, saved=False), "pytest-benchmark/median")):
            with self.subTest(method):
                self.given("base.json", base)
                self.given("head.json", head)
                for words in ((), ("--set", "not_shown=pass", "--set", "inconclusive=pass")):
                    self.compare("base.json", "head.json", *words, code=3)
                    self.assert_invalid("its method is", method, "measure both alike")
        # So do stored runs of them.
        for side in ("base", "head"):
            self.imported(f"{side}-run.json", f"{side}.json")
        self.compare("base-run.json", "head-run.json", code=3)

    def test_samples_and_medians_of_nvbench_are_invalid(self):
        shutil.copytree(DATA / "nvbench.json-bin", self.folder / "nvbench.json-bin")
        document = json.loads((DATA / "nvbench.json").read_text())
        self.given("samples.json", json.dumps(document))
        for benchmark in document["benchmarks"]:
            for state in benchmark["states"]:
                state["summaries"] = [each for each in state["summaries"] or [] if not each["tag"].startswith("nv/json")]
        self.given("medians.json", json.dumps(document))
        self.compare("samples.json", "medians.json", "--filter", "bench/sum*Order=linear*", code=3)
        self.assert_invalid("'nvbench'", "nvbench/m")

    def test_a_new_case_or_metric_is_without_a_baseline(self):
        self.given("base.json", google(1000, names=("a",)))
        self.given("head.json", google(1001))
        self.compare("base.json", "head.json")
        self.assertEqual("no_baseline", self.verdicts()["bench/b"])

    def suite(self, folder="."):
        """A benchmark that writes what given.json has, with a little noise."""
        self.write(f"{folder}/suite.yaml", """
name: mine
workloads:
  - benchmark: [python3, -ES, bench.py, "{out}"]
    name: bench
    format: google-benchmark
    tolerances: {real_time: 5%}
""")
        self.write(f"{folder}/bench.py", """
import json, os, random, sys
document = json.load(open("given.json"))
for entry in document["benchmarks"]:
    entry["real_time"] *= 1 + random.Random(os.urandom(4)).uniform(-0.004, 0.004)
json.dump(document, open(sys.argv[1], "w"))
""")

    def test_a_run_against_a_stored_baseline_of_another_method_is_invalid(self):
        self.suite()
        self.given("given.json", google(1000))
        self.run_tool("baseline", "refresh", "suite.yaml", *HOST, "--processes", 8)
        self.run_tool("run", "suite.yaml", *HOST)
        for text, word in ((google(10000, aggregates=True), "google-benchmark/median"),
                           (google(1000, library_build_type="debug"), "debug-build")):
            self.given("given.json", text)
            self.run_tool("run", "suite.yaml", *HOST, "--set", "not_shown=pass", "--set", "inconclusive=pass", code=3)
            self.assert_invalid(word, "'perfgate baseline refresh'")
            # Nor is it accepted by the case, or joined as another board's; a refresh takes what there is now.
            refused = self.run_tool("baseline", "accept", "perfgate-out/run.json", "--author", "Ada", "--reason", "tested",
                                    code=2)
            self.assertIn("cannot be compared", refused.stderr)
            refused = self.run_tool("baseline", "refresh", "perfgate-out/run.json", "--add-board", code=2)
            self.assertIn("by the same method", refused.stderr)
        self.run_tool("baseline", "refresh", "suite.yaml", *HOST, "--processes", 8)
        self.run_tool("run", "suite.yaml", *HOST)

    def test_two_checkouts_that_measure_by_two_methods_are_invalid(self):
        for folder, aggregates in (("base", False), ("head", True)):
            self.suite(folder)
            self.given(f"{folder}/given.json", google(10000 if aggregates else 1000, aggregates=aggregates))
        self.run_tool("ab", "--base", "dir:base", "--head", "dir:head", "base/suite.yaml", *HOST, "--processes", 6,
                      cwd=self.folder, code=3)
        self.assert_invalid("google-benchmark/median")

    def test_results_of_two_devices_are_not_judged_and_shown_side_by_side(self):
        for base, head, words in (
                (nvbench(1e-5, "NVIDIA A"), nvbench(1e-5, "NVIDIA H"), ("NVIDIA A", "NVIDIA H")),
                (pytest_benchmark(1e-3, "AMD"), pytest_benchmark(1e-3, None), ("AMD", "imported")),
                (pytest_benchmark(1e-3, "AMD"), pytest_benchmark(1e-3, "Intel"), ("AMD", "Intel")),
                (google(10, num_cpus=8), google(10, num_cpus=64), ("8 CPUs", "64 CPUs")),
                (google(10, num_cpus=8, caches=[{"size": 1 << 20}]), google(10, num_cpus=8, caches=[{"size": 1 << 25}]),
                 ("8 CPUs with caches of 1.0", "8 CPUs with caches of 3"))):
            with self.subTest(words):
                names = self.given("base.json", base), self.given("head.json", head)
                done = self.compare(*names, code=2)
                self.assert_one_line(done.stderr, *words, "perfgate report --base")
                self.assertFalse((self.folder / "perfgate-out/verdict.json").exists())
                # They are no processes of one side, either.
                done = self.compare(names, names[0], code=2)
                self.assert_one_line(done.stderr, "base.json was measured on", "head.json on")
                shown = self.run_tool("report", "--base", names[0], "--head", names[1]).stdout
                self.assertIn("nothing is judged", shown)
                self.assertIn("real_time", shown)

    def test_a_second_gpu_of_one_model_has_cases_of_its_own(self):
        one = self.given("one.json", nvbench(1e-5, "NVIDIA A", 2))
        two = self.given("two.json", nvbench(1e-5, "NVIDIA A", 2, 2))
        self.compare(one, two)
        self.assertEqual({"bench/copy[N=8]": "inconclusive", "bench/copy[N=8,device=1]": "no_baseline"}, self.verdicts())
        self.compare(two, one, code=1)
        self.assertEqual("missing", self.verdicts()["bench/copy[N=8,device=1]"])
        self.compare(one, self.given("slow.json", nvbench(2e-5, "NVIDIA A", 2, 2)), code=1)
        self.assertEqual("regressed", self.verdicts()["bench/copy[N=8]"])
        # A process that measured one GPU less is not a process of the same side.
        self.compare(two, (one, two), code=(1, 2, 3))
        # Nor where the head never had it: what the base could not measure is not left out.
        self.compare((one, two), one, code=3)
        self.assertEqual("error", self.verdicts()["bench/copy[N=8,device=1]"])

    def test_a_stored_baseline_of_another_device_is_refused(self):
        for side, device in (("base", "NVIDIA A"), ("head", "NVIDIA H")):
            self.given(f"{side}.json", nvbench(1e-5, device))
            self.imported(f"{side}-run.json", f"{side}.json")
        self.run_tool("baseline", "refresh", "base-run.json")
        self.run_tool("compare", "base-run.json")
        self.assert_one_line(self.run_tool("compare", "head-run.json", code=2).stderr, "NVIDIA A", "NVIDIA H")

    def test_a_debug_and_a_release_build_are_not_judged_and_two_debug_builds_are_noted(self):
        release = self.given("release.json", google(1000))
        debug = self.given("debug.json", google(1000, library_build_type="debug"))
        other = self.given("other.json", google(1001, library_build_type="debug"))
        for base, head in ((release, debug), (debug, release)):
            done = self.compare(base, head, code=2)
            self.assert_one_line(done.stderr, "a debug build", "a release build", "perfgate report --base")
        self.run_tool("report", "--base", release, "--head", debug)
        self.compare(debug, other)
        self.assertIn("in base and head, the benchmark library is a debug build", json.dumps(self.cases()))
        # One side of both is no series.
        self.compare([release, debug], release, code=(1, 3))
        self.assertEqual({"error"}, set(self.verdicts().values()))

    def test_another_host_is_said_and_not_named(self):
        base = self.given("base.json", google(1000, host_name="alpha"))
        head = self.given("head.json", google(1001, host_name="beta"))
        more = self.given("more.json", google(1002, host_name="gamma"))
        same = self.given("same.json", google(1003, host_name="alpha"))
        self.compare(base, head)
        text = json.dumps(self.read_json("perfgate-out/verdict.json"))
        self.assertIn("another host than the baseline's", text)
        self.compare(base, [head, more])
        text = json.dumps(self.read_json("perfgate-out/verdict.json"))
        self.assertIn("the files were measured on 2 hosts; the first file of each: head.json, more.json", text)
        for name in ("alpha", "beta", "gamma"):
            self.assertNotIn(name, text)
        self.compare(base, same)
        self.assertNotIn("host", json.dumps([case["notes"] for case in self.cases().values()]))

    def test_fewer_samples_than_the_file_states_are_an_error(self):
        base = {"google": google(1000), "pytest": pytest_benchmark(1e-3)}
        head = {"google": google(1000, delivered=2), "pytest": pytest_benchmark(1e-3, delivered=2)}
        for name in base:
            self.compare(self.given("base.json", base[name]), self.given("head.json", head[name]), code=3)
            self.assertEqual({"error"}, set(self.verdicts().values()))
            self.assertIn("real_time has 2 samples, and the file says 5", json.dumps(self.cases()))
            # Also in the base: how much slower the head is cannot be said.
            self.compare("head.json", "base.json", code=3)
        self.given("head.json", json.dumps({"results": [{"command": "a", "times": [0.1, 0.11], "exit_codes": [0] * 5}]}))
        self.imported("run.json", "head.json", code=3)

    def test_far_fewer_or_more_samples_than_in_the_base_are_noted(self):
        base = self.given("base.json", google(1000))
        self.compare(base, self.given("head.json", google(1001, repetitions=1)))
        self.assertIn("each process gives 1 sample of real_time, the baseline's gave 5",
                      json.dumps([case["notes"] for case in self.cases().values()]))
        self.compare(base, self.given("head.json", google(1001, repetitions=11)))
        self.assertIn("each process gives 11 samples of real_time, the base's gave 5: are those of earlier runs among them?",
                      json.dumps([case["notes"] for case in self.cases().values()]))
        self.compare(base, self.given("head.json", google(1001, repetitions=4)))
        self.assertNotIn("each process gives", json.dumps([case["notes"] for case in self.cases().values()]))


@unittest.skipUnless(EXAMPLE.exists(), "Google Benchmark (libbenchmark-dev) is missing")
class GoogleBenchmark(Results):
    """A program as users have it, which states its times."""

    def setUp(self):
        super().setUp()
        stated = unittest.mock.patch.dict(os.environ, {"STATED": "1"})
        stated.start()
        self.addCleanup(stated.stop)
        self.write("suite.yaml", f"""
name: mine
workloads:
  - benchmark: ["{EXAMPLE}", "--benchmark_out={{out}}", --benchmark_out_format=json, --benchmark_repetitions=3]
    name: bench
    format: google-benchmark
    values: {{steps: {{better: none}}}}
    tolerances: {{real_time: 5%, steps: 0}}
""")

    def test_unchanged_passes_and_twice_the_work_fails(self):
        self.run_tool("baseline", "refresh", "suite.yaml", *HOST, "--processes", 5)
        self.run_tool("run", "suite.yaml", *HOST)
        done = self.run_tool("run", "suite.yaml", *HOST, env={"WORK": "4"}, code=1)
        self.assertRegex(done.stdout, r"regressed +bench/mix.*\n +bench/mix<std::uint32_t>\[manual_time=true,n=10000\]\n")

    @unittest.skipUnless(os.path.exists("/proc/self/schedstat") and PROCESSORS & set(pathlib.Path("/proc/stat").read_text().split()),
                         "/proc does not say who waited or used these processors")
    def test_a_time_is_not_blamed_for_what_others_took_from_its_processes(self):
        watched = {"PERFGATE_OTHER_WORK": ""}
        self.run_tool("baseline", "refresh", "suite.yaml", *HOST, "--processes", 8, env=watched)
        self.run_tool("run", "suite.yaml", *HOST, "--processes", 8, env=watched, code=(0, 4))
        (file,) = (self.folder / "baselines").glob("host-*/mine.json")
        baseline, run = json.loads(file.read_text()), self.read_json("perfgate-out/run.json")
        for case in baseline["cases"].values():
            self.assertNotIn("waited", case["metrics"]["steps"])
            self.assertEqual([0] * 8, case["metrics"]["cpu_time"]["waited"])
            self.assertEqual(8, len(case["metrics"]["real_time"]["waited"]))
            case["metrics"]["real_time"].update(waited=[0] * 8, others_busy=[0] * 8)
        file.write_text(json.dumps(baseline))
        for waited, code, verdict in ((0.25, 4, ("inconclusive", "other_work")), (0.1, 1, ("regressed", None)),
                                      (0, 1, ("regressed", None))):
            with self.subTest(waited):
                for case in run["suites"][0]["cases"]:
                    series = case["metrics"]["real_time"]
                    for batch, one in zip(series["batches"], baseline["cases"][case["id"]]["metrics"]["real_time"]["processes"]):
                        batch["other_work"] = {"waited": waited, "busy": 0}
                        batch["samples"] = [1.3 * one]
                stored = self.write("slow.json", json.dumps(run))
                self.run_tool("compare", stored, "--out", "judged", code=code)
                for case in self.read_json("judged/verdict.json")["suites"][0]["cases"]:
                    self.assertEqual(verdict, (case["verdict"], case.get("reason_code")))

    def test_two_checkouts(self):
        for folder, work in (("base", 1), ("head", 1), ("slow", 4)):
            script = self.write(f"{folder}/bench", f'#!/bin/sh\nWORK={work} exec {EXAMPLE} "$@"\n')
            script.chmod(0o755)
        suite = (self.folder / "suite.yaml").read_text().replace(f'"{EXAMPLE}"', "./bench")
        self.write("suite.yaml", suite)
        words = ["suite.yaml", *HOST, "--processes", 6]
        self.run_tool("ab", "--base", "dir:base", "--head", "dir:head", *words)
        done = self.run_tool("ab", "--base", "dir:base", "--head", "dir:slow", *words, code=1)
        self.assertRegex(done.stdout, r"regressed +bench/mix.*\n +bench/mix.*\n +real_time .* → .*, tolerance")

    def test_relations_between_its_cases(self):
        suite = (self.folder / "suite.yaml").read_text()
        small, large = (f"bench/mix<std::uint32_t>[n={n}]" for n in (1000, 10000))

        def run(expect, *words, code=0):
            self.write("suite.yaml", suite + f"expect:\n  '{large}.{expect}\n")
            return self.run_tool("run", "suite.yaml", *HOST, "--processes", 3, *words, code=code)

        # Ten times the steps take about ten times as long.
        holds = f"real_time': ['>= 2 * {small}.real_time', '<= 50 * {small}.real_time']"
        self.assertIn("2 relations hold", run(holds).stdout)
        self.assertIn("2 relations tried", self.run_tool("compare", "perfgate-out/run.json", "--prove").stderr)
        self.assertRegex(" ".join(run(f"real_time': '<= {small}.real_time'", code=1).stdout.split()),
                         r"broken: bench/mix<std::uint32_t>\[n=10000\]\.real_time is .* and should be at most")
        self.assertIn("2 relations hold", run(f"steps': ['== 10 * {small}.steps', '> 0']").stdout)
        wrong = run(f"real_time': '<= {small.replace('mix', 'mixed')}.real_time'", code=2)
        self.assert_one_line(wrong.stderr.splitlines()[-1], "unknown result of the benchmark bench: "
                             "'mixed<std::uint32_t>'; expected mix<std::uint32_t>; did you mean")


if __name__ == "__main__":
    tool.main()
