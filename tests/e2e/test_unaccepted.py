# SPDX-License-Identifier: Apache-2.0
"""Improvements that nobody accepts: their baseline does not see what gets worse again. Times are given."""

import json
import os
import shutil

import tool

BENCH = """#!/bin/sh
read t <time
echo name,ms; echo k,$t; echo other,10
"""

SUITE = """
name: slack
workloads:
  - benchmark: [./bench]
    name: b
    format: csv
    case: name
    values: {real_time: {from: ms, unit: ms}}
    tolerances: {real_time: 2%}
"""

FAIL = ("--set", "improved=fail")


class Unaccepted(tool.Case):
    def setUp(self):
        super().setUp()
        os.environ["PERFGATE_LOCK_DIR"] = str(self.folder / "locks")
        self.write("s.yaml", SUITE)
        self.script("bench", BENCH)
        self.takes(100)
        self.run_tool("baseline", "refresh", "s.yaml", "--backend", "host", "--processes", 5)
        self.accepted = self.ledger_file().read_text()

    def takes(self, milliseconds):
        self.write("time", f"{milliseconds}\n")

    def ledger_file(self):
        file, = self.folder.glob("baselines/*/slack.ledger.jsonl")
        return file

    def noted(self):
        return [json.loads(line) for line in self.ledger_file().read_text().splitlines() if '"improved"' in line]

    def run_suite(self, *words, code=0):
        return self.run_tool("run", "s.yaml", "--backend", "host", "--quiet", *words, code=code)

    def judge(self, day, *words, code=0, run="perfgate-out/run.json"):
        """A night's run as if it had begun on this day."""
        document = self.read_json(run)
        document["started_at"] = f"{day}T02:00:00Z"
        self.write("night.json", json.dumps(document))
        return self.run_tool("compare", "night.json", "--out", "judged", *words, code=code)

    def case(self, out="judged"):
        suite, = self.read_json(f"{out}/verdict.json")["suites"]
        return next(case for case in suite["cases"] if case["id"] == "b/k"), " ".join(suite["notes"])

    def test_an_improvement_fails_the_main_branch_when_its_days_are_over_and_is_a_note_elsewhere(self):
        self.takes(50)
        self.run_suite()
        self.assertEqual(self.accepted, self.ledger_file().read_text(), "a run that does not fail it notes nothing")
        case, notes = self.case("perfgate-out")
        self.assertEqual("improved", case["verdict"])
        self.assertNotIn("not accepted", notes)

        done = self.judge("2027-01-01", *FAIL)
        self.assertIn("slack.ledger.jsonl: commit it", done.stderr)
        entry, = self.noted()
        self.assertEqual(("b/k", "2027-01-01T02:00:00Z"), (entry["case"], entry["at"]))
        self.assertIn("1 improved case is not accepted: b/k may get 104 % worse and still pass", self.case()[1])
        self.run_tool("baseline", "verify")
        self.assertIn("improved", self.run_tool("baseline", "show", "s.yaml", "--log").stdout)

        self.judge("2027-01-31", *FAIL)
        self.assertEqual("improved", self.case()[0]["verdict"])
        self.assertIn("(first seen on 2027-01-01)", self.case()[1])
        self.judge("2027-02-01", *FAIL, code=4)
        case, notes = self.case()
        self.assertEqual(("inconclusive", "unaccepted"), (case["verdict"], case["reason_code"]))
        self.assertIn("104 % worse and still pass", case["metrics"][0]["sentence"])
        self.assertIn("1 case is so for more than 30 days, which fails this run", notes)
        self.judge("2027-02-01", *FAIL, "--set", "improvement_days=31")

        # The same day in a pull request, which did nothing for it.
        self.judge("2027-02-01")
        self.assertEqual("improved", self.case()[0]["verdict"])
        self.assertIn("which fails runs of the main branch", self.case()[1])
        self.assertEqual([entry], self.noted(), "each is noted once")

        done = self.judge("2027-02-01", *FAIL, code=4)
        self.assertIn("perfgate baseline accept", done.stdout)
        self.run_tool("baseline", "accept", "night.json", "--reason", "it is meant")
        self.judge("2027-02-01", *FAIL)
        self.assertEqual("pass", self.case()[0]["verdict"])
        self.run_tool("baseline", "verify")
        # The loss that the old baseline hid.
        self.takes(90)
        self.run_suite(code=1)

    def test_one_that_goes_away_begins_anew(self):
        for number, milliseconds in enumerate((50, 100, 51)):
            self.takes(milliseconds)
            self.run_suite()
            shutil.copy(self.folder / "perfgate-out/run.json", self.folder / f"run{number}.json")
        self.judge("2027-01-01", *FAIL, run="run0.json")
        self.judge("2027-01-20", *FAIL, run="run1.json")
        self.judge("2027-02-20", *FAIL, run="run2.json")
        self.assertEqual([["real_time"], [], ["real_time"]], [list(entry.get("changes", {})) for entry in self.noted()])
        self.judge("2027-03-22", *FAIL, run="run2.json")
        self.judge("2027-03-23", *FAIL, run="run2.json", code=4)

    def test_a_case_that_is_renamed_is_no_newer(self):
        self.takes(50)
        self.run_suite()
        self.judge("2027-01-01", *FAIL)
        self.write("s.yaml", SUITE + 'overrides: [{match: b/now, was: b/k}]\n')
        self.script("bench", BENCH.replace("k,", "now,"))
        self.run_suite()
        self.judge("2027-01-31", *FAIL)
        self.assertEqual(["2027-01-01T02:00:00Z"], [entry["at"] for entry in self.noted()])
        self.judge("2027-02-01", *FAIL, code=4)
        self.takes(100)
        self.run_suite()
        self.judge("2027-02-02", *FAIL)
        self.assertEqual(["b/k", "b/k"], [entry["case"] for entry in self.noted()])

    def test_what_cannot_be_noted_is_said_and_fails(self):
        self.takes(50)
        self.run_suite()
        shutil.rmtree(self.folder / "judged", ignore_errors=True)
        (self.folder / "baselines/.perfgate-change").write_text("in the way")
        done = self.judge("2027-01-01", *FAIL, code=3)
        self.assertIn("improvements are not noted: ", done.stderr)
        self.assertEqual([], self.noted())
        (self.folder / "baselines/.perfgate-change").unlink()
        self.ledger_file().write_text(self.accepted + '{"case":"b/k","at":"2027-01-01T02:00:00Z","action":"improved"\n')
        self.assert_one_line(self.judge("2027-01-02", code=2).stderr, "slack.ledger.jsonl:3")


if __name__ == "__main__":
    tool.main()
